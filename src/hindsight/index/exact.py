"""The reference of vector indexes: every vector compared, every filter asked in Python. Slow and plain on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hindsight.domain.entry import Entry
from hindsight.domain.query import Filters, Scored
from hindsight.index.best import ranked
from hindsight.index.keeper import Keeper
from hindsight.index.vectors import stacked


class ExactVectorIndex:
    """A `VectorIndex` that others are compared with; right for some thousands of entries."""

    def __init__(self) -> None:
        self._keeper = Keeper("exact", lambda _namespace: _Namespace())

    async def cursor(self, namespace: str) -> int:
        """The change number this index has followed to; 0 for an empty one."""
        return await self._keeper.glance(namespace, lambda held: held.cursor)

    async def mark(self, namespace: str) -> str:
        """What `apply` was told of the change at the cursor; empty for an empty index."""
        return await self._keeper.glance(namespace, lambda held: held.mark)

    async def count(self, namespace: str) -> int:
        """Entries held."""
        return await self._keeper.glance(namespace, lambda held: len(held.entries))

    async def drop(self, namespace: str) -> None:
        """Forget a namespace; its cursor is 0 again."""
        await self._keeper.call(namespace, _Namespace.clear)

    async def apply(
        self,
        namespace: str,
        upserts: Sequence[tuple[Entry, NDArray[np.float32]]],
        deletes: Sequence[str],
        *,
        cursor: int,
        mark: str = "",
    ) -> None:
        """Take in entries with their unit vectors, let others go, and move the cursor. Repeating it changes nothing."""
        await self._keeper.call(namespace, lambda held: held.apply(upserts, deletes, cursor, mark))

    async def search(
        self, namespace: str, vector: NDArray[np.float32], filters: Filters, *, limit: int
    ) -> Sequence[Scored]:
        """The `limit` entries with the highest cosine among those that match, best first; ties by id."""
        return await self._keeper.call(namespace, lambda held: held.search(vector, filters, limit))

    async def cosines(self, namespace: str, vector: NDArray[np.float32], ids: Sequence[str]) -> NDArray[np.float32]:
        """The cosine of each of these entries, in their order; NaN for one that is not held."""
        return await self._keeper.call(namespace, lambda held: held.cosines(vector, ids))

    async def aclose(self) -> None:
        """Close; nothing is saved."""
        await self._keeper.aclose(_Namespace.clear)


class _Namespace:
    __slots__ = ("cursor", "entries", "mark")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.cursor, self.mark = 0, ""
        self.entries: dict[str, tuple[Entry, NDArray[np.float32]]] = {}

    def apply(
        self, upserts: Sequence[tuple[Entry, NDArray[np.float32]]], deletes: Sequence[str], cursor: int, mark: str
    ) -> None:
        vectors = [vector for _, vector in upserts]
        if vectors:
            stacked([*vectors, *self._held()])
        self.entries.update((entry.id, (entry, vector.copy())) for entry, vector in upserts)
        for entry_id in deletes:
            self.entries.pop(entry_id, None)
        self.cursor, self.mark = cursor, mark

    def _held(self) -> list[NDArray[np.float32]]:
        """One of the vectors held, if there is any: all are of its length."""
        return [vector for _, vector in islice(self.entries.values(), 1)]

    def search(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> list[Scored]:
        matching = [(entry.id, own) for entry, own in self.entries.values() if filters.matches(entry)]
        if limit < 1 or not matching:
            return []
        ids, vectors = zip(*matching, strict=True)
        stacked([vector, *self._held()])
        cosines = np.einsum("ij,j->i", np.array(vectors, np.float64), vector.astype(np.float64))
        return ranked(ids, cosines, limit)

    def cosines(self, vector: NDArray[np.float32], ids: Sequence[str]) -> NDArray[np.float32]:
        stacked([vector, *self._held()])
        known = [self.entries.get(entry_id) for entry_id in ids]
        return np.array([np.nan if one is None else float(one[1] @ vector) for one in known], np.float32)

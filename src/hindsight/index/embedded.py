"""The vector index of the default installation: in memory, nothing but numpy, filters applied before the scan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hindsight.domain.entry import Entry
from hindsight.domain.query import Filters, Scored
from hindsight.index.best import keep_latest, ranked
from hindsight.index.columns import Columns
from hindsight.index.keeper import Keeper
from hindsight.index.vectors import Rows, Vectors, stacked

_FEW_DEAD = 1_000


class EmbeddedVectorIndex:
    """A `VectorIndex` in memory. Keeps no file: vectors lie in the store, and reading them takes little time."""

    def __init__(self) -> None:
        self._keeper = Keeper("vector", lambda _namespace: _Namespace())

    async def cursor(self, namespace: str) -> int:
        """The change number this index has followed to; 0 for an empty one."""
        return await self._keeper.glance(namespace, lambda held: held.cursor)

    async def mark(self, namespace: str) -> str:
        """What `apply` was told of the change at the cursor; empty for an empty index."""
        return await self._keeper.glance(namespace, lambda held: held.mark)

    async def count(self, namespace: str) -> int:
        """Entries held."""
        return await self._keeper.glance(namespace, lambda held: held.columns.count)

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
        """Take in entries with their unit vectors, let others go, and move the cursor. Repeating it changes nothing.

        `InvalidInput` if a vector is of another length than those the namespace holds.
        """
        await self._keeper.call(namespace, lambda held: held.apply(upserts, deletes, cursor, mark))

    async def search(
        self, namespace: str, vector: NDArray[np.float32], filters: Filters, *, limit: int
    ) -> Sequence[Scored]:
        """The `limit` entries with the highest cosine among those that match, best first; ties by id.

        Of more than two thousand matching entries the nearest are found by a short form first, which misses about one
        in three hundred.
        """
        return await self._keeper.look(namespace, lambda held: held.search(vector, filters, limit), size=_size)

    async def cosines(self, namespace: str, vector: NDArray[np.float32], ids: Sequence[str]) -> NDArray[np.float32]:
        """The cosine of each of these entries, in their order; NaN for one that is not held."""
        return await self._keeper.look(namespace, lambda held: held.cosines(vector, ids), size=_size)

    async def aclose(self) -> None:
        """Close; nothing is saved."""
        await self._keeper.aclose(_Namespace.clear)


def _size(held: _Namespace) -> int:
    return len(held.columns)


class _Namespace:
    """The vectors of one namespace; not for several threads."""

    __slots__ = ("_known_rows", "_vectors", "columns", "cursor", "mark")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.cursor, self.mark = 0, ""
        self.columns = Columns()
        self._vectors: Vectors | None = None
        self._known_rows: dict[Filters, Rows] = {}  # that match, until something changes

    def apply(
        self, upserts: Sequence[tuple[Entry, NDArray[np.float32]]], deletes: Sequence[str], cursor: int, mark: str
    ) -> None:
        latest = {entry.id: (entry, vector) for entry, vector in upserts}
        if latest:
            vectors = stacked([vector for _, vector in latest.values()])
            if self._vectors is None:
                self._vectors = Vectors(vectors.shape[1])
            self._vectors.extend(vectors)
            self.columns.add([entry for entry, _ in latest.values()])
        for entry_id in deletes:
            self.columns.remove(entry_id)
        self.cursor, self.mark = cursor, mark
        self._known_rows = {}
        if self.columns.dead > max(_FEW_DEAD, self.columns.count // 3) and self._vectors is not None:
            self._vectors.keep(self.columns.compact())

    def search(self, vector: NDArray[np.float32], filters: Filters, limit: int) -> list[Scored]:
        if limit < 1 or self._vectors is None:
            return []
        rows = self._known_rows.get(filters)
        if rows is None:
            rows = keep_latest(self._known_rows, filters, np.flatnonzero(self.columns.mask(filters)))
        found, cosines = self._vectors.nearest(vector, rows, limit)
        return ranked([self.columns.ids[row] for row in found.tolist()], cosines, limit)

    def cosines(self, vector: NDArray[np.float32], ids: Sequence[str]) -> NDArray[np.float32]:
        rows = self.columns.rows_of(ids)
        cosines = np.full(len(rows), np.nan, np.float32)
        if self._vectors is not None:
            cosines[rows >= 0] = self._vectors.cosines(vector, rows[rows >= 0])
        return cosines

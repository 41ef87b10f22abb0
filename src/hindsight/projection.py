"""Keeps the indexes level with the store's change log, so that what was written can be found at once.

An index is never written to by a request. Before each look-up the change log is read from the index's cursor on, and
the entries it names are taken in as they are now. Several processes on one store follow the same log, each at its pace.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hindsight.domain.entry import Entry
from hindsight.domain.memory import Layer
from hindsight.domain.query import Filters, Scored
from hindsight.ports import Index, LexicalIndex, Store, VectorIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

STEP = 2000  # changes read from the log at once
SLICE = 500  # entries read and taken in at once: bounds the memory of catching up, and how long a search waits for it


class Projection:
    """The two indexes of one store, kept level. Safe from several tasks: one at a time brings a namespace level."""

    def __init__(self, store: Store, lexical: LexicalIndex, vector: VectorIndex, *, model: str) -> None:
        self._store = store
        self._lexical = lexical
        self._vector = vector
        self._model = model
        self._locks: dict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def by_words(
        self, namespace: str, terms: Sequence[str], filters: Filters, *, limit: int
    ) -> tuple[Sequence[Scored], float]:
        """The best entries by BM25, and the sum of the terms' idf that puts their scores on an absolute scale."""
        await self._level(namespace, self._lexical, "lexical")
        hits = await self._lexical.search(namespace, terms, filters, limit=limit)
        return hits, await self._lexical.ceiling(namespace, terms)

    async def nearest(
        self, namespace: str, vector: NDArray[np.float32], filters: Filters, *, limit: int
    ) -> Sequence[Scored]:
        """The closest entries by cosine. Only vectors of this process's model are in the index."""
        await self._level(namespace, self._vector, "vector")
        return await self._vector.search(namespace, vector, filters, limit=limit)

    async def near_each(
        self, namespace: str, vectors: NDArray[np.float32], *, limit: int
    ) -> Sequence[Sequence[Scored]]:
        """For each row of `vectors`, the closest active semantic memories: what a new statement may repeat."""
        await self._level(namespace, self._vector, "vector")
        wanted = Filters(layers=(Layer.SEMANTIC,), episodes=False)
        return [await self._vector.search(namespace, vector, wanted, limit=limit) for vector in vectors]

    async def warm(self, namespace: str) -> None:
        """Bring both indexes level now, so that the first search does not pay for it."""
        await self._level(namespace, self._lexical, "lexical")
        await self._level(namespace, self._vector, "vector")

    async def lag(self, namespace: str) -> dict[str, int]:
        """By how many changes each index is behind the store."""
        head = await self._store.head(namespace)
        return {
            "lexical": head - await self._lexical.cursor(namespace),
            "vector": head - await self._vector.cursor(namespace),
        }

    async def _level(self, namespace: str, index: Index, name: str) -> None:
        head = await self._store.head(namespace)
        if await index.cursor(namespace) == head:
            return
        async with self._locks[name, namespace]:
            cursor = await index.cursor(namespace)
            if cursor > head:
                # The store is older than the index: it was restored from a backup or replaced.
                await index.drop(namespace)
                cursor = 0
            while cursor < head:
                cursor = await self._advance(namespace, index, cursor)

    async def _advance(self, namespace: str, index: Index, cursor: int) -> int:
        log = await self._store.touched(namespace, after=cursor, limit=STEP)
        if not log:
            return await self._store.head(namespace)
        ids = list(dict.fromkeys(entry_id for step in log for entry_id in step.entry_ids))
        reached = log[-1].change
        for start in range(0, max(1, len(ids)), SLICE):
            # Until the last slice is in, the cursor stays: whoever is interrupted takes them all in again.
            last = start + SLICE >= len(ids)
            await self._take(namespace, index, ids[start : start + SLICE], reached if last else cursor)
        return reached

    async def _take(self, namespace: str, index: Index, ids: Sequence[str], cursor: int) -> None:
        entries = await self._store.entries(namespace, ids)
        if index is self._vector:
            await self._take_vectors(namespace, ids, entries, cursor)
        else:
            gone = [entry_id for entry_id in ids if entry_id not in entries]
            await self._lexical.apply(namespace, list(entries.values()), gone, cursor=cursor)

    async def _take_vectors(
        self, namespace: str, ids: Sequence[str], entries: Mapping[str, Entry], cursor: int
    ) -> None:
        vectors = await self._store.vectors(namespace, list(entries), model=self._model)
        upserts = [(entry, vectors[entry.id]) for entry in entries.values() if entry.id in vectors]
        gone = [entry_id for entry_id in ids if entry_id not in vectors]
        await self._vector.apply(namespace, upserts, gone, cursor=cursor)

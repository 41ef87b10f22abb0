"""Vectors anew when the embedding model changes.

The vectors of the new model are made beside those of the old, which goes on serving; once nothing is missing the store
is told, in one step, which model it holds. What has been made stays, so a run that was cut short is simply begun again.
Vectors of two models are never compared: every look-up names its model.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from hindsight.domain.change import Batch, Embedding
from hindsight.domain.entry import Entry
from hindsight.ports import Clock, Embedder, Ids, Report, Store
from hindsight.write.embed import vectors_of

Pause = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ReindexPolicy:
    """Entries in one batch, and the most that are embedded in a minute (0: as many as the model can)."""

    batch: int = 256
    per_minute: int = 0


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a run did: `before` and `model` are the store's model then and now, `made` the vectors made."""

    before: str | None
    model: str
    made: int

    @property
    def switched(self) -> bool:
        """Whether the store has another model than before."""
        return self.before != self.model


class Reindexer:
    """Makes the vectors of one model, wherever they are missing."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        clock: Clock,
        ids: Ids,
        policy: ReindexPolicy | None = None,
        *,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._policy = policy or ReindexPolicy()
        self._pause = pause

    async def run(self, report: Report | None = None) -> Reindexed:
        """Make what is missing, then let the store hold this model.

        `ModelUnavailable` leaves what was made, and the old model in its place; `Conflict` if another process has
        meanwhile given the store a third model.
        """
        before = await self._store.embedding_model()
        made = await self.fill(report)
        if before != self._embedder.model:
            await self._store.set_embedding_model(self._embedder.model, expected=before)
            made += await self.fill(report)  # what came with the old model's vectors in the last moment
        return Reindexed(before, self._embedder.model, made)

    async def fill(self, report: Report | None = None, *, namespaces: Sequence[str] | None = None) -> int:
        """Give every entry that answers and has no vector of this model its vector; how many got one."""
        if namespaces is None:
            namespaces = await self._store.namespaces()
        sizes = [await self._entries(namespace) for namespace in namespaces]
        made, passed = 0, 0
        for namespace, size in zip(namespaces, sizes, strict=True):
            here = 0
            while entries := await self._missing(namespace):
                begun = time.monotonic()
                await self._embed(namespace, entries)
                here += len(entries)
                if report is not None:
                    report("embedding", min(passed + here, sum(sizes)), sum(sizes))
                await self._rest(len(entries), time.monotonic() - begun)
            made += here
            passed += size
        return made

    async def _entries(self, namespace: str) -> int:
        stats = await self._store.stats(namespace)
        return stats.episodes + sum(stats.memories_by_status.values())

    async def _missing(self, namespace: str) -> Sequence[Entry]:
        return await self._store.unembedded(namespace, model=self._embedder.model, limit=self._policy.batch)

    async def _embed(self, namespace: str, entries: Sequence[Entry]) -> None:
        model = self._embedder.model
        vectors = await vectors_of(self._embedder, [entry.content for entry in entries])
        # Read again: one that was changed or purged while the model worked must not get the vector of what it was.
        now = await self._store.entries(namespace, [entry.id for entry in entries])
        same = [entry for entry in entries if entry.id in now and now[entry.id].content == entry.content]
        embeddings = tuple(Embedding(entry.id, model, vectors[entry.content]) for entry in same)
        await self._store.apply(Batch(namespace, self._ids.new(), self._clock.now(), embeddings=embeddings))

    async def _rest(self, count: int, took: float) -> None:
        if self._policy.per_minute:
            await self._pause(max(0.0, count * 60 / self._policy.per_minute - took))

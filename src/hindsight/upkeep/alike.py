"""Memories that say the same, although each was written as if the other were not there, become one.

Closeness finds them; whether they are the same is for the reconciliation of a write to say (`write.reconcile`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from hindsight.domain.change import Act, Embedding, NewJob, Put
from hindsight.domain.entry import searchable_text
from hindsight.domain.memory import Layer, Memory, Statement, Status
from hindsight.language.statement.verdict import Relation
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.write.closeness import closeness
from hindsight.write.embed import embed_later, vectors_in_time
from hindsight.write.reconcile import Neighbours, judged, merged
from hindsight.write.topics import reading_of

NEAR = 6  # neighbours of each memory that are compared with it
EMBED_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Twin:
    """A memory, and the older one that says the same; `reason` is the verdict, with the closeness."""

    newer: Memory
    older: Memory
    reason: str


@dataclass(frozen=True, slots=True)
class Twins:
    """What finding and merging them needs."""

    store: Store
    embedder: Embedder | None
    neighbours: Neighbours | None
    clock: Clock
    ids: Ids

    @property
    def possible(self) -> bool:
        """Whether closeness of meaning is there to look by."""
        return self.embedder is not None and self.neighbours is not None

    async def among(self, namespace: str, memories: Sequence[Memory], bound: float) -> list[Twin]:
        """For each of these memories the older one that says the same, if there is one closer than `bound`."""
        if self.embedder is None or self.neighbours is None:
            return []
        asked = [one for one in memories if _statement(one)]
        model = self.embedder.model
        vectors = await self.store.vectors(namespace, [one.id for one in asked], model=model)
        asked = [one for one in asked if one.id in vectors]
        if not asked:
            return []
        found = await self.neighbours(namespace, np.stack([vectors[one.id] for one in asked]), limit=NEAR)
        close = {
            one.id: {
                hit.id: share for hit in hits if hit.id != one.id and (share := closeness(model, hit.score)) > bound
            }
            for one, hits in zip(asked, found, strict=True)
        }
        near = [one for one in asked if close[one.id]]
        if not near:
            return []
        others = await self.store.memories(namespace, list({name for one in near for name in close[one.id]}))
        twins: list[Twin] = []
        for one in near:
            twin = _twin(one, close[one.id], others)
            twins += [twin] if twin is not None else []
            await asyncio.sleep(0)  # reading a statement takes a millisecond, and searches wait
        return twins

    async def joined(
        self, twins: Sequence[Twin], at: datetime, actor: str
    ) -> tuple[tuple[Put, ...], tuple[Embedding, ...], tuple[NewJob, ...]]:
        """What a batch needs to merge each into its older one. Several may share an older one, in this order."""
        now: dict[str, Memory] = {}
        puts: list[Put] = []
        for twin in twins:
            before = now.get(twin.older.id, twin.older)
            into = replace(
                merged(before, twin.newer, at=at),
                version=before.version + 1,
                pinned=before.pinned or twin.newer.pinned,
                # Nobody has said it again just now: it was last confirmed when the later of the two was.
                updated_at=max(before.updated_at, twin.newer.updated_at),
            )
            ended = replace(
                twin.newer,
                status=Status.SUPERSEDED,
                superseded_by=before.id,
                valid_to=at if twin.newer.valid_to is None else min(at, twin.newer.valid_to),
                updated_at=at,
                version=twin.newer.version + 1,
            )
            # The newer one first: the other may take its words over, and with them its key.
            puts.append(Put(ended, twin.newer.version, Act.SUPERSEDED, twin.reason, (before.id,), actor))
            puts.append(Put(into, before.version, Act.MERGED, twin.reason, (twin.newer.id,), actor))
            now[before.id] = into
        first = {twin.older.id: twin.older for twin in reversed(twins)}
        worded = [one for one in now.values() if searchable_text(one) != searchable_text(first[one.id])]
        embeddings, missing = await self._embedded(worded)
        return tuple(puts), embeddings, (embed_later(self.ids, self.clock),) if missing else ()

    async def _embedded(self, memories: Sequence[Memory]) -> tuple[tuple[Embedding, ...], bool]:
        texts = {one.id: searchable_text(one) for one in memories}
        vectors, missing = await vectors_in_time(self.embedder, list(texts.values()), seconds=EMBED_SECONDS)
        model = self.embedder.model if self.embedder is not None else ""
        return tuple(Embedding(one, model, vectors[text]) for one, text in texts.items() if vectors), bool(missing)


def _twin(memory: Memory, close: Mapping[str, float], others: Mapping[str, Memory]) -> Twin | None:
    """The nearest older memory that says the same. Each pair is found from its newer side alone."""
    reading = reading_of(memory)
    if reading is None:
        return None
    for name, share in sorted(close.items(), key=lambda pair: -pair[1]):
        other = others.get(name)
        if other is None or not _statement(other) or _age(other) >= _age(memory):
            continue
        verdict = judged(other, memory, reading, share)
        if verdict.relation is Relation.SAME:
            return Twin(memory, other, f"says the same ({verdict.reason}; closeness {share:.2f})")
    return None


def _age(memory: Memory) -> tuple[datetime, str]:
    return memory.created_at, memory.id


def _statement(memory: Memory) -> bool:
    return memory.status is Status.ACTIVE and memory.layer is Layer.SEMANTIC and isinstance(memory.body, Statement)

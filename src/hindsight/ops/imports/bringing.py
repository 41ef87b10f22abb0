"""Records of one type, brought into a store: what is there is passed over, what does not fit is told by line."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from hindsight.domain.change import Batch, Embedding, Job, NewJob, Review
from hindsight.domain.kept import Kept, KeptEpisode, KeptMemory, KeptSession, Record
from hindsight.domain.memory import Memory, Source, Status
from hindsight.errors import Conflict, InvalidInput
from hindsight.ports import Clock, Ids, Store


@dataclass(frozen=True, slots=True)
class Item:
    """One record with the number of its line, the namespace it goes to, and the line itself."""

    number: int
    namespace: str
    record: Record
    raw: bytes


class Bringer:
    """Takes records in the order of a file. Counts into what it was given."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        ids: Ids,
        brought: Counter[str],
        there: Counter[str],
        rejected: dict[int, InvalidInput],
    ) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids
        self._brought = brought
        self._there = there
        self._rejected = rejected
        self._same: dict[tuple[str, str], str] = {}  # episodes that are here under another id
        self.purged = 0

    async def take(self, items: Sequence[Item]) -> None:
        """Bring records of one type, whatever their namespaces."""
        for namespace in dict.fromkeys(item.namespace for item in items):
            await self._bring(namespace, [item for item in items if item.namespace == namespace])

    async def _bring(self, namespace: str, items: Sequence[Item]) -> None:
        fresh = await self._fresh(namespace, items)
        if not fresh:
            return
        try:
            applied = await self._store.apply(self._batch(namespace, fresh))
        except (InvalidInput, Conflict) as error:
            if len(fresh) > 1:
                # One of them is at fault: halves are tried, down to that line.
                middle = len(fresh) // 2
                await self._bring(namespace, fresh[:middle])
                await self._bring(namespace, fresh[middle:])
                return
            told = (
                error if isinstance(error, InvalidInput) else InvalidInput("line", _name(fresh[0].record), str(error))
            )
            self._rejected[fresh[0].number] = told
            return
        counter = self._there if applied.repeated else self._brought
        counter[_type(fresh[0].record)] += len(fresh)

    async def _fresh(self, namespace: str, items: Sequence[Item]) -> list[Item]:
        """Those that are not there yet and can be."""
        first = items[0].record
        sieve: Callable[[str, Sequence[Item]], Awaitable[list[Item]]]
        match first:
            case KeptEpisode():
                sieve = self._fresh_episodes
            case KeptMemory():
                sieve = self._fresh_memories
            case Embedding():
                sieve = self._fresh_vectors
            case Review():
                sieve = self._fresh_reviews
            case KeptSession():
                sieve = self._fresh_sessions
            case Job():
                sieve = self._fresh_jobs
            case _:
                assert_never(first)
        return await sieve(namespace, items)

    async def _fresh_episodes(self, namespace: str, items: Sequence[Item]) -> list[Item]:
        episodes = {item.number: item.record.episode for item in items if isinstance(item.record, KeptEpisode)}
        keys = await self._store.known_episodes(namespace, [one.key for one in episodes.values()])
        ids = await self._store.episodes(namespace, [one.id for one in episodes.values()])
        gone = await self._purged(namespace, {one.id: one.key for one in episodes.values()})
        fresh = []
        for item in items:
            episode = episodes[item.number]
            if episode.key in keys:
                self._there["episode"] += 1
                if keys[episode.key] != episode.id:
                    self._same[namespace, episode.id] = keys[episode.key]
            elif episode.id in gone:
                self.purged += 1
            elif episode.id in ids:
                self._reject(item, InvalidInput("id", episode.id, "an id that no other episode here has"))
            else:
                fresh.append(item)
        return fresh

    async def _fresh_memories(self, namespace: str, items: Sequence[Item]) -> list[Item]:
        held = [(item, self._at_home(item.record)) for item in items if isinstance(item.record, KeptMemory)]
        memories = [kept.memory for _, kept in held]
        there = await self._store.memories(namespace, [memory.id for memory in memories])
        said = await self._store.by_content_key(namespace, [memory.content_key for memory in memories])
        sources = {source.episode_id for memory in memories for source in memory.sources}
        episodes = await self._store.episodes(namespace, sorted(sources))
        gone = await self._purged(namespace, {memory.id: memory.content_key for memory in memories})
        fresh = []
        for item, kept in held:
            fault = _fault(kept.memory, said, episodes)
            if kept.memory.id in gone:
                self.purged += 1
            elif kept.memory.id in there:
                self._there["memory"] += 1
            elif fault is not None:
                self._reject(item, fault)
            else:
                fresh.append(replace(item, record=kept))
        return fresh

    async def _purged(self, namespace: str, keys: Mapping[str, str]) -> set[str]:
        """Those of these ids that have been purged here, or whose keys have."""
        stones = await self._store.purged(namespace, list(keys))
        marked = await self._store.purged_keys(namespace, list(keys.values()))
        return {one for one, key in keys.items() if one in stones or key in marked}

    def _at_home(self, kept: KeptMemory) -> KeptMemory:
        """A memory that rests on the episodes as they are called here."""
        if not self._same:
            return kept
        past = tuple(replace(one, memory=self._resting(one.memory)) for one in kept.revisions)
        return replace(kept, memory=self._resting(kept.memory), revisions=past)

    def _resting(self, memory: Memory) -> Memory:
        namespace = memory.namespace
        sources = tuple(
            Source(self._same.get((namespace, one.episode_id), one.episode_id), one.start, one.end)
            for one in memory.sources
        )
        return replace(memory, sources=sources)

    async def _fresh_vectors(self, namespace: str, items: Sequence[Item]) -> list[Item]:
        vectors = [(item, item.record) for item in items if isinstance(item.record, Embedding)]
        model = await self._model(vectors[0][1].model)
        ids = [vector.entry_id for _, vector in vectors]
        known = await self._store.vectors(namespace, ids, model=model)
        entries = {**await self._store.memories(namespace, ids), **await self._store.episodes(namespace, ids)}
        fresh = []
        for item, vector in vectors:
            # Of another model, or of what is not here: made anew from the text.
            if vector.model == model and vector.entry_id in entries and vector.entry_id not in known:
                fresh.append(item)
            else:
                self._there["vector"] += 1
        return fresh

    async def _model(self, wanted: str) -> str:
        """The store's model; a new store takes the file's."""
        held = await self._store.embedding_model()
        if held is None:
            await self._store.set_embedding_model(wanted, expected=None)
        return held or wanted

    async def _fresh_sessions(self, namespace: str, items: Sequence[Item]) -> list[Item]:
        now = self._clock.now()
        fresh = []
        for item in items:
            assert isinstance(item.record, KeptSession)
            if await self._store.working(namespace, item.record.session.id, now=now, turns=0) is None:
                fresh.append(item)
            else:
                self._there["session"] += 1
        return fresh

    async def _fresh_jobs(self, namespace: str, items: Sequence[Item]) -> list[Item]:
        """Those that are not open here. What an earlier run has brought is known by the key of its batch."""
        known = {job.id for job in await self._store.jobs(namespace)}
        fresh = [item for item in items if isinstance(item.record, Job) and item.record.id not in known]
        if len(fresh) < len(items):
            self._there["job"] += len(items) - len(fresh)
        return fresh

    async def _fresh_reviews(self, namespace: str, items: Sequence[Item]) -> list[Item]:
        known = {
            one.memory_id for waiting in (True, False) for one in await self._store.reviews(namespace, waiting=waiting)
        }
        reviews = {item.number: item.record for item in items if isinstance(item.record, Review)}
        ids = {one.memory_id for one in reviews.values()} | {
            other for one in reviews.values() for other in one.other_ids
        }
        here = await self._store.memories(namespace, sorted(ids))
        fresh = []
        for item in items:
            review = reviews[item.number]
            others = tuple(other for other in review.other_ids if other in here)
            if review.memory_id in known:
                self._there["review"] += 1
            elif review.memory_id in here and others:
                fresh.append(replace(item, record=replace(review, other_ids=others)))
            else:
                self.purged += 1  # it asks about what is not here, which was left out before
        return fresh

    def _reject(self, item: Item, fault: InvalidInput) -> None:
        self._rejected[item.number] = fault

    def _batch(self, namespace: str, items: Sequence[Item]) -> Batch:
        made = hashlib.sha256()
        for item in items:
            made.update(item.raw.strip() + b"\n")
        records = [item.record for item in items]
        now = self._clock.now()
        return Batch(
            namespace,
            f"import:{made.hexdigest()[:32]}",
            now,
            kept=Kept(
                episodes=tuple(one for one in records if isinstance(one, KeptEpisode)),
                memories=tuple(one for one in records if isinstance(one, KeptMemory)),
                sessions=tuple(one for one in records if isinstance(one, KeptSession)),
            ),
            embeddings=tuple(one for one in records if isinstance(one, Embedding)),
            reviews=tuple(one for one in records if isinstance(one, Review)),
            jobs=tuple(
                NewJob(self._ids.new(), one.kind, one.payload, run_at=now, dedup_key=one.dedup_key)
                for one in records
                if isinstance(one, Job)
            ),
        )


def _fault(memory: Memory, said: Mapping[str, Memory], episodes: Mapping[str, object]) -> InvalidInput | None:
    other = said.get(memory.content_key)
    if memory.status is Status.ACTIVE and other is not None and other.id != memory.id:
        return InvalidInput("content_key", memory.content_key, f"what no other memory here says, and {other.id} does")
    for number, source in enumerate(memory.sources):
        if source.episode_id not in episodes:
            return InvalidInput(f"sources[{number}].episode_id", source.episode_id, "an episode of a line before")
    return None


def _type(record: Record) -> str:
    match record:
        case KeptEpisode():
            return "episode"
        case KeptMemory():
            return "memory"
        case KeptSession():
            return "session"
        case Embedding():
            return "vector"
        case Job():
            return "job"
        case Review():
            return "review"
        case _:
            assert_never(record)


def _name(record: Record) -> str:
    match record:
        case KeptEpisode():
            return record.episode.id
        case KeptMemory():
            return record.memory.id
        case KeptSession():
            return record.session.id
        case Embedding():
            return record.entry_id
        case Review():
            return record.memory_id
        case Job():
            return record.id
        case _:
            assert_never(record)

"""What is written and read of a namespace in the plain-Python store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from hindsight.domain.change import (
    Applied,
    Batch,
    Changeset,
    Job,
    Review,
    Revision,
    Touched,
)
from hindsight.domain.entry import Entry, entry_of_memory
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.memory import Memory, Statement, Status, short_id
from hindsight.domain.page import Order, Page, Stats
from hindsight.domain.purge import Purge, Purged, Tombstone
from hindsight.domain.query import Filters
from hindsight.errors import Ambiguous, Conflict, NotFound
from hindsight.storage.checks import (
    check_batch,
    check_filters,
    check_limit,
    check_purge,
    check_text,
    check_texts,
    check_time,
)
from hindsight.storage.oracle.applying import (
    add_episodes,
    add_job,
    check_ends,
    end_sessions,
    finish_job,
    keep,
    kept_uses,
    move_episodes,
    put_memories,
    put_vectors,
)
from hindsight.storage.oracle.beside import Beside
from hindsight.storage.oracle.purge import HeldIn, hidden_in, lay_stones, refuse_purged, take_out
from hindsight.storage.oracle.space import Space
from hindsight.storage.purging import batch_of, counted, planned
from hindsight.storage.sql import micros, place_after, place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = TypeVar("Value")


class OracleStore(Beside):
    """Implements `hindsight.ports.Store`; everything is gone with the object."""

    # Writing --------------------------------------------------------------------------------------------------------

    async def apply(self, batch: Batch) -> Applied:
        """See `Store.apply`. Works on copies, which take the place of the originals once all has gone well."""
        check_batch(batch)
        space = self._space(batch.namespace).copy()
        if batch.key in space.applied:
            return replace(space.applied[batch.key], repeated=True)
        refuse_purged(space, batch)
        jobs = self._step(space, batch)
        self._spaces[batch.namespace] = space
        self._jobs = jobs
        return space.applied[batch.key]

    async def purge(self, purge: Purge) -> Purged:
        """See `Store.purge`."""
        check_purge(purge)
        space = self._space(purge.namespace).copy()
        if purge.key in space.applied:
            return Purged(space.applied[purge.key].change)
        plan = planned(HeldIn(space), purge)
        if purge.done is None and not plan.memories and not plan.contents and space.purged.keys() >= set(purge.ids):
            return Purged(space.change)
        jobs = self._step(space, batch_of(purge, plan), also=(*sorted(plan.memories), *plan.contents))
        counts = take_out(space, plan)
        counts |= self._take_out_beside(purge.namespace, plan, jobs)
        removed = counted(counts)
        lay_stones(space, plan, removed)
        self._spaces[purge.namespace] = space
        self._jobs = jobs
        return Purged(space.change, plan.ids, tuple(plan.changed), tuple(plan.contents), removed, purge.scrub)

    def _step(self, space: Space, batch: Batch, also: Sequence[str] = ()) -> dict[str, Job]:
        """One step of the change log; gives the jobs as they are after it."""
        space.change += 1
        touched: dict[str, None] = dict.fromkeys(also)
        before: dict[str, EpisodeState | None] = {}
        jobs = dict(self._jobs)
        check_ends(space, batch)
        if batch.done is not None:
            finish_job(jobs, batch.namespace, batch.done)
        add_episodes(space, batch, before)
        touched.update(dict.fromkeys(before))
        put_memories(space, batch)
        touched.update((put.memory.id, None) for put in batch.puts)
        touched.update(dict.fromkeys(keep(space, batch, before)))
        put_vectors(space, batch)
        touched.update((embedding.entry_id, None) for embedding in batch.embeddings)
        move_episodes(space, batch, before)
        touched.update((episode_id, None) for episode_id, _ in batch.episode_states)
        end_sessions(space, batch)
        space.reviews.update((review.memory_id, review) for review in batch.reviews)
        for job in batch.jobs:
            add_job(jobs, batch.namespace, job)
        space.log.append(Touched(space.change, tuple(touched), batch.at))
        space.moved[space.change] = tuple(before.items())
        space.applied[batch.key] = Applied(space.change, batch.receipt)
        self._uses.update(kept_uses(batch))
        return jobs

    async def embedding_model(self) -> str | None:
        """See `Store.embedding_model`."""
        return self._model

    async def set_embedding_model(self, model: str, *, expected: str | None) -> None:
        """See `Store.set_embedding_model`."""
        check_text("model", model, empty=False)
        if self._model != expected:
            raise Conflict(f"the store's embedding model is {self._model!r} by now, not {expected!r}")
        self._model = model

    # The change log and the indexes ---------------------------------------------------------------------------------

    async def head(self, namespace: str) -> int:
        """See `Store.head`."""
        return self._space(namespace).change

    async def touched(self, namespace: str, *, after: int, limit: int) -> Sequence[Touched]:
        """See `Store.touched`."""
        check_limit(limit)
        return [step for step in self._space(namespace).log if step.change > after][:limit]

    async def entries(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Entry]:
        """See `Store.entries`."""
        check_texts("ids", ids)
        space = self._space(namespace)
        return {entry_id: entry for entry_id in ids if (entry := space.entry(entry_id)) is not None}

    async def vectors(self, namespace: str, ids: Sequence[str], *, model: str) -> Mapping[str, NDArray[np.float32]]:
        """See `Store.vectors`."""
        check_texts("ids", ids)
        vectors = self._space(namespace).vectors
        return {entry_id: vectors[entry_id, model] for entry_id in ids if (entry_id, model) in vectors}

    async def unembedded(self, namespace: str, *, model: str, limit: int) -> Sequence[Entry]:
        """See `Store.unembedded`."""
        check_limit(limit)
        space = self._space(namespace)
        born = {memory.id: memory.created_at for memory in space.memories.values() if memory.status is Status.ACTIVE}
        for episode in space.episodes.values():
            if space.states[episode.id][0] is EpisodeState.OPEN:
                born[episode.id] = episode.recorded_at
        missing = [entry_id for entry_id in born if (entry_id, model) not in space.vectors]
        found = [space.entry(entry_id) for entry_id in sorted(missing, key=lambda entry_id: (born[entry_id], entry_id))]
        return [entry for entry in found if entry is not None][:limit]

    # Memories -------------------------------------------------------------------------------------------------------

    async def memories(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Memory]:
        """See `Store.memories`."""
        check_texts("ids", ids)
        return _those(self._space(namespace).memories, ids)

    async def resolve(self, namespace: str, id_or_short: str) -> str:
        """See `Store.resolve`."""
        check_text("memory_id", id_or_short)
        space = self._space(namespace)
        ids = space.memories.keys() | space.episodes.keys()
        if id_or_short in ids:
            return id_or_short
        found = sorted(one for one in ids if short_id(one) == id_or_short)
        if not found:
            raise NotFound("memory_id", id_or_short)
        if len(found) > 1:
            raise Ambiguous(f"memory_id: {id_or_short!r} fits {', '.join(found)}")
        return found[0]

    async def by_content_key(self, namespace: str, keys: Sequence[str]) -> Mapping[str, Memory]:
        """See `Store.by_content_key`."""
        check_texts("keys", keys)
        active = (memory for memory in self._space(namespace).memories.values() if memory.status is Status.ACTIVE)
        return _those({memory.content_key: memory for memory in active}, keys)

    async def about(self, namespace: str, topics: Sequence[str], *, limit: int) -> Mapping[str, Sequence[str]]:
        """See `Store.about`."""
        check_texts("topics", topics)
        check_limit(limit)
        newest = [memory for memory in reversed(self._space(namespace).memories.values()) if _answers(memory)]
        found = {topic: [one.id for one in newest if topic in _topics(one)][:limit] for topic in topics}
        return {topic: ids for topic, ids in found.items() if ids}

    async def reviews(self, namespace: str, *, waiting: bool = True) -> Sequence[Review]:
        """See `Store.reviews`."""
        space = self._space(namespace)
        active = {memory.id for memory in space.memories.values() if _answers(memory)}
        found = [
            one
            for one in space.reviews.values()
            if waiting is (one.open and one.memory_id in active and not active.isdisjoint(one.other_ids))
        ]
        return sorted(found, key=lambda one: (one.at, one.memory_id))

    async def find(
        self,
        namespace: str,
        filters: Filters,
        *,
        order: Order = Order.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Memory]:
        """See `Store.find`."""
        check_filters(filters)
        check_limit(limit)
        space = self._space(namespace)
        found = [memory for memory in space.memories.values() if filters.matches(entry_of_memory(memory))]
        falling = order is not Order.OLDEST
        found.sort(key=lambda memory: _rank(memory, order), reverse=falling)
        if after is not None:
            place = place_of(after, order)
            found = [m for m in found if (_rank(m, order) < place if falling else _rank(m, order) > place)]
        items = tuple(found[:limit])
        return Page(items, place_after(items[-1], order) if len(found) > limit else None)

    async def history(self, namespace: str, memory_id: str) -> Sequence[Revision]:
        """See `Store.history`."""
        check_text("memory_id", memory_id)
        return [revision for found, revision in self._space(namespace).revisions if found == memory_id]

    async def changeset(self, namespace: str, key: str) -> Changeset | None:
        """See `Store.changeset`."""
        check_text("key", key)
        space = self._space(namespace)
        if key not in space.applied:
            return None
        change = space.applied[key].change
        return Changeset(
            change,
            tuple(revision for _, revision in space.revisions if revision.change == change),
            space.moved[change],
            tuple(one for step in space.log if step.change == change for one in step.entry_ids if one in space.purged),
        )

    # Episodes -------------------------------------------------------------------------------------------------------

    async def episodes(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Episode]:
        """See `Store.episodes`."""
        check_texts("ids", ids)
        return _those(self._space(namespace).episodes, ids)

    async def memories_and_episodes(
        self, namespace: str, memory_ids: Sequence[str], episode_ids: Sequence[str]
    ) -> tuple[Mapping[str, Memory], Mapping[str, Episode]]:
        """See `Store.memories_and_episodes`."""
        return await self.memories(namespace, memory_ids), await self.episodes(namespace, episode_ids)

    async def known_episodes(self, namespace: str, keys: Sequence[str]) -> Mapping[str, str]:
        """See `Store.known_episodes`."""
        check_texts("keys", keys)
        space = self._space(namespace)
        ids = {episode.key: episode.id for episode in space.episodes.values()}
        return {key: ids[held] for key in keys if (held := space.held_key(key)) in ids}

    async def session(self, namespace: str, session_id: str, *, limit: int = 100, after: int = -1) -> Sequence[Episode]:
        """See `Store.session`."""
        check_text("session_id", session_id)
        check_limit(limit)
        found = [
            episode
            for episode in self._space(namespace).episodes.values()
            if episode.session_id == session_id and episode.position > after
        ]
        return sorted(found, key=lambda episode: episode.position)[:limit]

    async def memories_of(self, namespace: str, episode_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """See `Store.memories_of`."""
        check_texts("episode_ids", episode_ids)
        memories = sorted(self._space(namespace).memories.values(), key=lambda memory: (memory.created_at, memory.id))
        return {
            episode_id: [m.id for m in memories if any(source.episode_id == episode_id for source in m.sources)]
            for episode_id in episode_ids
        }

    # What has been purged -------------------------------------------------------------------------------------------

    async def purged(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Tombstone]:
        """See `Store.purged`."""
        check_texts("ids", ids)
        return _those(self._space(namespace).purged, ids)

    async def purged_keys(self, namespace: str, keys: Sequence[str]) -> frozenset[str]:
        """See `Store.purged_keys`."""
        check_texts("keys", keys)
        return frozenset(self._space(namespace).marked(keys))

    async def tombstones(self, namespace: str) -> Sequence[Tombstone]:
        """See `Store.tombstones`."""
        return sorted(self._space(namespace).purged.values(), key=lambda stone: (stone.at, stone.id))

    async def hidden(self, *, now: datetime, grace: timedelta, limit: int) -> Sequence[tuple[str, str]]:
        """See `Store.hidden`."""
        check_time("now", now)
        check_limit(limit)
        found = [(name, one) for name, space in self._spaces.items() for one in hidden_in(space, now, grace)]
        return sorted(found)[:limit]

    async def scrub(self) -> bool:
        """See `Store.scrub`."""
        return True

    # The whole ------------------------------------------------------------------------------------------------------

    async def stats(self, namespace: str) -> Stats:
        """See `Store.stats`."""
        space = self._space(namespace)
        active = [memory for memory in space.memories.values() if memory.status is Status.ACTIVE]
        sessions = {episode.session_id for episode in space.episodes.values()} - {None}
        return Stats(
            episodes=len(space.episodes),
            memories_by_status=_counts(memory.status.value for memory in space.memories.values()),
            memories_by_kind=_counts(memory.kind.value for memory in active),
            memories_by_layer=_counts(memory.layer.value for memory in active),
            sessions=len(sessions),
            change=space.change,
        )

    async def namespaces(self) -> Sequence[str]:
        """See `Store.namespaces`."""
        return sorted(namespace for namespace, space in self._spaces.items() if space.change > 0)


def _those(found: Mapping[str, Value], wanted: Iterable[str]) -> dict[str, Value]:
    return {key: found[key] for key in wanted if key in found}


def _answers(memory: Memory) -> bool:
    return memory.status is Status.ACTIVE


def _topics(memory: Memory) -> tuple[str, ...]:
    return memory.body.topics if isinstance(memory.body, Statement) else ()


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(Counter(words))


def _rank(memory: Memory, order: Order) -> tuple[float, str]:
    return (memory.importance if order is Order.IMPORTANCE else micros(memory.created_at), memory.id)

"""The store in plain Python, in memory: as simple as it can be, so that it is plainly right.

Contract tests compare every backend with it. It is also a store for tests of whatever stands above one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from hindsight.domain.change import (
    Applied,
    Batch,
    Changeset,
    Job,
    JobDone,
    JobState,
    NewJob,
    Review,
    Revision,
    Touched,
)
from hindsight.domain.entry import Entry, entry_of_memory, searchable_text
from hindsight.domain.episode import Episode, EpisodeState, JsonValue
from hindsight.domain.memory import Memory, Statement, Status, short_id
from hindsight.domain.page import Order, Page, Stats, Use
from hindsight.domain.query import Filters
from hindsight.errors import Ambiguous, Conflict, NotFound, StorageUnavailable
from hindsight.storage.checks import (
    check_batch,
    check_filters,
    check_limit,
    check_text,
    check_texts,
    check_time,
    encoded,
)
from hindsight.storage.space import Space
from hindsight.storage.sql import micros, place_after, place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = TypeVar("Value")

OPEN_STATES = (JobState.READY, JobState.LEASED)


class OracleStore:
    """Implements `hindsight.ports.Store`; everything is gone with the object."""

    def __init__(self, *, traces_kept: int = 1000) -> None:
        self._spaces: dict[str, Space] = {}
        self._jobs: dict[str, Job] = {}
        self._model: str | None = None
        self._uses: dict[tuple[str, str], Use] = {}
        self._traces: dict[str, dict[str, dict[str, JsonValue]]] = {}
        self._traces_kept = traces_kept
        self._closed = False

    def _space(self, namespace: str) -> Space:
        if self._closed:
            raise StorageUnavailable("the store has been closed")
        check_text("namespace", namespace)
        return self._spaces.get(namespace, Space())

    # Writing --------------------------------------------------------------------------------------------------------

    async def apply(self, batch: Batch) -> Applied:
        """See `Store.apply`. Works on copies, which take the place of the originals once all has gone well."""
        check_batch(batch)
        space = self._space(batch.namespace).copy()
        if batch.key in space.applied:
            return replace(space.applied[batch.key], repeated=True)
        space.change += 1
        touched: dict[str, None] = {}
        before: dict[str, EpisodeState | None] = {}
        jobs = dict(self._jobs)
        if batch.done is not None:
            _finish_job(jobs, batch.namespace, batch.done)
        _add_episodes(space, batch, before)
        touched.update(dict.fromkeys(before))
        _put_memories(space, batch)
        touched.update((put.memory.id, None) for put in batch.puts)
        _put_vectors(space, batch)
        touched.update((embedding.entry_id, None) for embedding in batch.embeddings)
        _move_episodes(space, batch, before)
        touched.update((episode_id, None) for episode_id, _ in batch.episode_states)
        space.reviews.update((review.memory_id, review) for review in batch.reviews)
        for job in batch.jobs:
            _add_job(jobs, batch.namespace, job)
        space.log.append(Touched(space.change, tuple(touched), batch.at))
        space.moved[space.change] = tuple(before.items())
        space.applied[batch.key] = Applied(space.change, batch.receipt)
        self._spaces[batch.namespace] = space
        self._jobs = jobs
        return space.applied[batch.key]

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
        return _those({episode.key: episode.id for episode in self._space(namespace).episodes.values()}, keys)

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
        return sorted(self._spaces)

    # Beside the truth -----------------------------------------------------------------------------------------------

    async def record_use(self, namespace: str, ids: Sequence[str], at: datetime) -> None:
        """See `Store.record_use`."""
        self._space(namespace)
        check_texts("ids", ids)
        check_time("at", at)
        for used in ids:
            use = self._uses.get((namespace, used), Use(0, None))
            last = at.timestamp() if use.last_used is None else max(use.last_used, at.timestamp())
            self._uses[namespace, used] = Use(use.count + 1, last)

    async def uses(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Use]:
        """See `Store.uses`."""
        self._space(namespace)
        check_texts("ids", ids)
        return {used: self._uses[namespace, used] for used in ids if (namespace, used) in self._uses}

    async def save_trace(self, namespace: str, trace_id: str, at: datetime, body: Mapping[str, JsonValue]) -> None:
        """See `Store.save_trace`."""
        self._space(namespace)
        check_text("trace_id", trace_id)
        check_time("at", at)
        encoded("body", body)
        traces = self._traces.setdefault(namespace, {})
        traces.pop(trace_id, None)
        traces[trace_id] = deepcopy(dict(body))
        while len(traces) > self._traces_kept:
            del traces[next(iter(traces))]

    async def trace(self, namespace: str, trace_id: str) -> Mapping[str, JsonValue] | None:
        """See `Store.trace`."""
        self._space(namespace)
        check_text("trace_id", trace_id)
        return self._traces.get(namespace, {}).get(trace_id)

    async def traces(self, namespace: str, *, limit: int) -> Sequence[Mapping[str, JsonValue]]:
        """See `Store.traces`."""
        self._space(namespace)
        return list(self._traces.get(namespace, {}).values())[-limit:] if limit > 0 else []

    # Jobs -----------------------------------------------------------------------------------------------------------

    async def lease_job(self, kinds: Sequence[str], *, owner: str, now: datetime, until: datetime) -> Job | None:
        """See `Store.lease_job`."""
        check_texts("kinds", (owner, *kinds))
        check_time("now", now)
        check_time("until", until)
        for job in self._jobs.values():
            ready = job.state is JobState.READY and job.run_at <= now
            abandoned = job.state is JobState.LEASED and job.lease_until is not None and job.lease_until <= now
            if job.kind in kinds and (ready or abandoned):
                leased = replace(job, state=JobState.LEASED, attempts=job.attempts + 1, owner=owner, lease_until=until)
                self._jobs[job.id] = leased
                return leased
        return None

    async def renew_job(self, job_id: str, *, owner: str, until: datetime) -> None:
        """See `Store.renew_job`."""
        check_time("until", until)
        check_texts("job_id", (job_id, owner))
        self._jobs[job_id] = replace(_owned(self._jobs, job_id, owner), lease_until=until)

    async def fail_job(self, job_id: str, *, owner: str, error: str, retry_at: datetime | None) -> None:
        """See `Store.fail_job`."""
        check_texts("job_id", (job_id, owner, error))
        if retry_at is not None:
            check_time("retry_at", retry_at)
        job = _owned(self._jobs, job_id, owner)
        self._jobs[job_id] = replace(
            job,
            state=JobState.DEAD if retry_at is None else JobState.READY,
            run_at=job.run_at if retry_at is None else retry_at,
            last_error=error,
            owner=None,
            lease_until=None,
        )

    async def jobs(self, namespace: str) -> Sequence[Job]:
        """See `Store.jobs`."""
        self._space(namespace)
        return [job for job in self._jobs.values() if job.namespace == namespace]

    async def aclose(self) -> None:
        """Nothing is accepted any more."""
        self._closed = True


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


def _add_episodes(space: Space, batch: Batch, before: dict[str, EpisodeState | None]) -> None:
    ids = {episode.key: episode.id for episode in space.episodes.values()}
    left_out = set()
    for episode in batch.episodes:
        if episode.key in ids:
            if ids[episode.key] != episode.id:
                left_out.add(episode.id)
            continue
        if episode.id in space.episodes:
            raise Conflict("an episode with this id is there already")
        ids[episode.key] = episode.id
        position = sum(other.session_id == episode.session_id for other in space.episodes.values())
        space.episodes[episode.id] = replace(episode, position=position)
        space.states[episode.id] = (EpisodeState.OPEN, batch.at)
        before[episode.id] = None
    named = {*batch.receipt.episode_ids, *(embedding.entry_id for embedding in batch.embeddings)}
    named.update(episode_id for episode_id, _ in batch.episode_states)
    named.update(source.episode_id for put in batch.puts for source in put.memory.sources)
    if left_out & named:
        raise Conflict("the batch refers to an episode that is stored already under another id")


def _put_memories(space: Space, batch: Batch) -> None:
    for put in batch.puts:
        old = space.memories.get(put.memory.id)
        if (None if old is None else old.version) != put.expected_version:
            raise Conflict(f"memory {put.memory.id} has changed since it was read")
        if any(source.episode_id not in space.episodes for source in put.memory.sources):
            raise Conflict("a memory rests on an episode that is not stored")
        if old is not None and searchable_text(old) != searchable_text(put.memory):
            space.vectors = {key: vector for key, vector in space.vectors.items() if key[0] != put.memory.id}
        space.memories[put.memory.id] = put.memory
        revision = Revision(space.change, batch.at, put.act, put.memory, put.reason, put.other_ids, put.actor)
        space.revisions.append((put.memory.id, revision))
    keys = [memory.content_key for memory in space.memories.values() if memory.status is Status.ACTIVE]
    if len(keys) != len(set(keys)):
        raise Conflict("another active memory says the same (content_key)")


def _put_vectors(space: Space, batch: Batch) -> None:
    for embedding in batch.embeddings:
        if embedding.entry_id not in space.memories and embedding.entry_id not in space.episodes:
            raise Conflict(f"there is no memory or episode {embedding.entry_id} for its embedding")
        space.vectors[embedding.entry_id, embedding.model] = np.array(embedding.vector, dtype=np.float32)


def _move_episodes(space: Space, batch: Batch, before: dict[str, EpisodeState | None]) -> None:
    for episode_id, state in batch.episode_states:
        if episode_id not in space.episodes:
            raise Conflict(f"there is no episode {episode_id}")
        old, _ = space.states[episode_id]
        before.setdefault(episode_id, old)
        if old is not state:
            ended = space.ended(episode_id) if state is EpisodeState.CLOSED else None
            space.states[episode_id] = (state, ended or batch.at)


def _owned(jobs: Mapping[str, Job], job_id: str, owner: str) -> Job:
    job = jobs.get(job_id)
    if job is None or job.state is not JobState.LEASED or job.owner != owner:
        raise Conflict(f"job {job_id} is not leased to {owner} any more")
    return job


def _finish_job(jobs: dict[str, Job], namespace: str, done: JobDone) -> None:
    if _owned(jobs, done.job_id, done.owner).namespace != namespace:
        raise Conflict(f"job {done.job_id} is not of this namespace")
    del jobs[done.job_id]


def _add_job(jobs: dict[str, Job], namespace: str, new: NewJob) -> None:
    for job in jobs.values():
        same = job.namespace == namespace and job.dedup_key == new.dedup_key
        if new.dedup_key is not None and same and job.state in OPEN_STATES:
            return
    if new.id in jobs:
        raise Conflict("a job with this id is there already")
    leased = new.owner is not None
    jobs[new.id] = Job(
        id=new.id,
        namespace=namespace,
        kind=new.kind,
        payload=deepcopy(dict(new.payload)),
        state=JobState.LEASED if leased else JobState.READY,
        run_at=new.run_at,
        attempts=int(leased),
        owner=new.owner,
        lease_until=(new.lease_until or new.run_at) if leased else new.lease_until,
        dedup_key=new.dedup_key,
    )

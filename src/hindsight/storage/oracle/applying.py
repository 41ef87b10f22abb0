"""What `apply` does to the copy of a namespace, part by part."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace

import numpy as np

from hindsight.domain.change import Batch, Job, JobDone, JobState, NewJob, Revision
from hindsight.domain.entry import searchable_text
from hindsight.domain.episode import EpisodeState
from hindsight.domain.kept import Kept, KeptMemory
from hindsight.domain.memory import Status
from hindsight.domain.page import Use
from hindsight.errors import Conflict
from hindsight.storage.oracle.space import Space

OPEN_STATES = (JobState.READY, JobState.LEASED)


def add_episodes(space: Space, batch: Batch, before: dict[str, EpisodeState | None]) -> None:
    """Episodes that are not there yet, at the end of their sessions."""
    ids = {episode.key: episode.id for episode in space.episodes.values()}
    left_out = set()
    for episode in batch.episodes:
        key = space.held_key(episode.key)
        if key in ids:
            if ids[key] != episode.id:
                left_out.add(episode.id)
            continue
        if episode.id in space.episodes:
            raise Conflict("an episode with this id is there already")
        ids[episode.key] = episode.id
        position = sum(other.session_id == episode.session_id for other in space.episodes.values())
        space.episodes[episode.id] = replace(episode, position=position)
        space.states[episode.id] = (EpisodeState.OPEN, batch.at)
        before[episode.id] = None
        if episode.session_id is not None:
            space.awake(episode.session_id, batch.at)
    named = {*batch.receipt.episode_ids, *(embedding.entry_id for embedding in batch.embeddings)}
    named.update(episode_id for episode_id, _ in batch.episode_states)
    named.update(source.episode_id for put in batch.puts for source in put.memory.sources)
    if left_out & named:
        raise Conflict("the batch refers to an episode that is stored already under another id")


def put_memories(space: Space, batch: Batch) -> None:
    """Memories in their new state, each with its revision."""
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


def keep(space: Space, batch: Batch, before: dict[str, EpisodeState | None]) -> list[str]:
    """Part of an export as it is; the ids that it brings."""
    if batch.kept is None:
        return []
    for one in batch.kept.episodes:
        keys = {episode.key for episode in space.episodes.values()}
        if one.episode.id in space.episodes or one.episode.key in keys:
            raise Conflict("an episode with this id or key is there already")
        session = [other.position for other in space.episodes.values() if other.session_id == one.episode.session_id]
        position = one.episode.position
        if position < 0 or position in session:
            position = max(session, default=-1) + 1
        space.episodes[one.episode.id] = replace(one.episode, position=position)
        space.states[one.episode.id] = (one.state, one.since)
        before[one.episode.id] = None
    for kept in batch.kept.memories:
        _keep_memory(space, kept)
    for session_ in batch.kept.sessions:
        if session_.session.id not in space.sessions:
            space.sessions[session_.session.id] = session_.session
            space.variables.update({(session_.session.id, name): value for name, value in session_.variables})
    return [one.episode.id for one in batch.kept.episodes] + [one.memory.id for one in batch.kept.memories]


def _keep_memory(space: Space, kept: KeptMemory) -> None:
    memory = kept.memory
    if memory.id in space.memories:
        raise Conflict("a memory with this id is there already")
    if any(source.episode_id not in space.episodes for source in memory.sources):
        raise Conflict("a memory rests on an episode that is not stored")
    if memory.status is Status.ACTIVE and any(
        other.status is Status.ACTIVE and other.content_key == memory.content_key for other in space.memories.values()
    ):
        raise Conflict("another active memory says the same (content_key)")
    space.memories[memory.id] = memory
    space.revisions.extend((memory.id, replace(revision, change=space.change)) for revision in kept.revisions)


def kept_uses(batch: Batch) -> dict[tuple[str, str], Use]:
    """How often what a batch takes over was given back."""
    kept = batch.kept or Kept()
    ids = [(one.episode.id, one.use) for one in kept.episodes] + [(one.memory.id, one.use) for one in kept.memories]
    return {(batch.namespace, entry_id): use for entry_id, use in ids if use is not None}


def put_vectors(space: Space, batch: Batch) -> None:
    """Embeddings of entries that are there."""
    for embedding in batch.embeddings:
        if embedding.entry_id not in space.memories and embedding.entry_id not in space.episodes:
            raise Conflict(f"there is no memory or episode {embedding.entry_id} for its embedding")
        space.vectors[embedding.entry_id, embedding.model] = np.array(embedding.vector, dtype=np.float32)


def move_episodes(space: Space, batch: Batch, before: dict[str, EpisodeState | None]) -> None:
    """Episodes in and out of sight."""
    for episode_id, state in batch.episode_states:
        if episode_id not in space.episodes:
            raise Conflict(f"there is no episode {episode_id}")
        old, _ = space.states[episode_id]
        before.setdefault(episode_id, old)
        if old is not state:
            ended = space.ended(episode_id) if state is EpisodeState.CLOSED else None
            space.states[episode_id] = (state, ended or batch.at)


def owned(jobs: Mapping[str, Job], job_id: str, owner: str) -> Job:
    """The job, if it is leased to this owner; else `Conflict`."""
    job = jobs.get(job_id)
    if job is None or job.state is not JobState.LEASED or job.owner != owner:
        raise Conflict(f"job {job_id} is not leased to {owner} any more")
    return job


def finish_job(jobs: dict[str, Job], namespace: str, done: JobDone) -> None:
    """Take a job out."""
    if owned(jobs, done.job_id, done.owner).namespace != namespace:
        raise Conflict(f"job {done.job_id} is not of this namespace")
    del jobs[done.job_id]


def add_job(jobs: dict[str, Job], namespace: str, new: NewJob) -> None:
    """Put a job in, unless an open one has its `dedup_key`."""
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


def check_ends(space: Space, batch: Batch) -> None:
    """`Conflict` for a session that is over already, or has gone on since it was read."""
    for end in batch.ends:
        known = space.sessions.get(end.session_id)
        if known is None or known.ended_at is not None or known.active_at != end.active_at:
            raise Conflict(f"session {end.session_id} has gone on or ended since it was read")


def end_sessions(space: Space, batch: Batch) -> None:
    """Close sessions; their variables go."""
    for end in batch.ends:
        space.sessions[end.session_id] = replace(space.sessions[end.session_id], ended_at=batch.at)
        space.variables = {key: one for key, one in space.variables.items() if key[0] != end.session_id}

"""Where memories are, and copies of all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from hindsight.domain.access import ApiKey
from hindsight.domain.change import Applied, Batch, Changeset, Job, NewJob, Review, Revision, Touched
from hindsight.domain.entry import Entry
from hindsight.domain.episode import Episode, JsonValue
from hindsight.domain.memory import Memory
from hindsight.domain.page import Order, Page, Stats, Use
from hindsight.domain.purge import Purge, Purged, Tombstone
from hindsight.domain.query import Filters
from hindsight.domain.schedule import Due
from hindsight.domain.session import Session, Working

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Keyring(Protocol):
    """The keys of callers, beside the memories they reach."""

    async def put_key(self, key: ApiKey) -> None:
        """Keep a new key. Of one that is kept already only its end is taken over, and never taken back."""
        ...

    async def key(self, key_id: str) -> ApiKey | None:
        """The key with this id, revoked or not; `None`: there is none."""
        ...

    async def keys(self) -> Sequence[ApiKey]:
        """All keys, oldest first."""
        ...


class Store(Keyring, Protocol):
    """The source of truth. `apply` is the only way in."""

    async def apply(self, batch: Batch) -> Applied:
        """Apply a batch, all or nothing, durably.

        New episodes get their `position`; an episode whose `key` the namespace already holds is left out together with
        nothing else (its id in the batch must not be referred to: read `known_episodes` first; a race is a `Conflict`).
        Raises `Conflict` for a stale version, a taken `content_key` or `key` of an episode, a session that has gone on
        or ended, or a job now owned by another; `StorageFull`; `StorageUnavailable`.
        """
        ...

    async def head(self, namespace: str) -> int:
        """The namespace's change number; 0 before the first write."""
        ...

    async def touched(self, namespace: str, *, after: int, limit: int) -> Sequence[Touched]:
        """The change log after a change number, oldest first."""
        ...

    async def entries(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Entry]:
        """Index entries of memories and episodes by id, as they are now; what is gone or covered is left out."""
        ...

    async def vectors(self, namespace: str, ids: Sequence[str], *, model: str) -> Mapping[str, NDArray[np.float32]]:
        """Embeddings of index entries that were made by this model."""
        ...

    async def unembedded(self, namespace: str, *, model: str, limit: int) -> Sequence[Entry]:
        """Entries that answer (active memories, open episodes) and have no vector of this model, oldest first."""
        ...

    async def embedding_model(self) -> str | None:
        """The model whose vectors this store holds; `None` in a new one."""
        ...

    async def set_embedding_model(self, model: str, *, expected: str | None) -> None:
        """Make `model` the store's. `Conflict` if it is no longer `expected`."""
        ...

    async def memories(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Memories by whole id, whatever their status."""
        ...

    async def resolve(self, namespace: str, id_or_short: str) -> str:
        """The whole id of a memory or an episode. `NotFound`, or `Ambiguous` for a short id of several."""
        ...

    async def by_content_key(self, namespace: str, keys: Sequence[str]) -> Mapping[str, Memory]:
        """The active memory of each content key that has one."""
        ...

    async def about(self, namespace: str, topics: Sequence[str], *, limit: int) -> Mapping[str, Sequence[str]]:
        """For each topic that has some, ids of active memories whose statement is about it: the `limit` newest."""
        ...

    async def reviews(self, namespace: str, *, waiting: bool = True) -> Sequence[Review]:
        """Reviews, oldest first: those that are open and whose memory is active and has an active one beside it.

        Not `waiting`: all the others, which have been decided or ask nothing any more.
        """
        ...

    async def find(
        self,
        namespace: str,
        filters: Filters,
        *,
        order: Order = Order.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Memory]:
        """Memories that match, a page at a time. `after` is the `next` of the page before."""
        ...

    async def history(self, namespace: str, memory_id: str) -> Sequence[Revision]:
        """Every state of one memory, oldest first."""
        ...

    async def changeset(self, namespace: str, key: str) -> Changeset | None:
        """What the batch with this key did; `None` if there was none."""
        ...

    async def episodes(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Episode]:
        """Episodes by id."""
        ...

    async def memories_and_episodes(
        self, namespace: str, memory_ids: Sequence[str], episode_ids: Sequence[str]
    ) -> tuple[Mapping[str, Memory], Mapping[str, Episode]]:
        """Both by id, as `memories` and `episodes` give them, of one moment."""
        ...

    async def known_episodes(self, namespace: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Episode ids by episode key, for the keys that are there."""
        ...

    async def session(self, namespace: str, session_id: str, *, limit: int = 100, after: int = -1) -> Sequence[Episode]:
        """Episodes of one session in order of position, those after a position."""
        ...

    async def memories_of(self, namespace: str, episode_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """For each episode, the ids of memories of any status that rest on it, oldest first."""
        ...

    async def set_working(
        self,
        namespace: str,
        session_id: str,
        values: Mapping[str, JsonValue],
        *,
        at: datetime,
        expires_at: datetime | None,
    ) -> None:
        """Note variables of a running task, durably; `None` takes one away. Keeps the session awake.

        No change number: nothing of it is a memory before the session ends.
        """
        ...

    async def working(self, namespace: str, session_id: str, *, now: datetime, turns: int) -> Working | None:
        """A session with its variables that have not expired, and its last turns that are not forgotten.

        `None` for one that has never been heard of.
        """
        ...

    async def sessions(self, namespace: str, *, limit: int) -> Sequence[Session]:
        """The sessions that were active last, newest first."""
        ...

    async def idle_sessions(self, *, before: datetime, limit: int) -> Sequence[tuple[str, Session]]:
        """Sessions that have not ended and were last active before then, each with its namespace; oldest first."""
        ...

    async def purge(self, purge: Purge) -> Purged:
        """Take memories and turns out for good, with their past, their spans in turns, and what tells of them.

        All or nothing, as one step of the change log; then free pages and logs are cleared (`Purged.scrubbed`). Other
        memories on other spans of a turn stay. Raises as `apply` does.
        """
        ...

    async def purged(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Tombstone]:
        """The tombstones of those ids that have been purged."""
        ...

    async def purged_keys(self, namespace: str, keys: Sequence[str]) -> frozenset[str]:
        """Those of these keys, of contents or of episodes, whose owner has been purged: an import leaves them out."""
        ...

    async def tombstones(self, namespace: str) -> Sequence[Tombstone]:
        """All that has been purged, oldest first. A restore purges it again from what it brings back."""
        ...

    async def hidden(self, *, now: datetime, grace: timedelta, limit: int) -> Sequence[tuple[str, str]]:
        """Namespace and id of what has been out of sight for longer than the time of grace, in order.

        Forgotten memories, forgotten turns on which nothing else rests, and archived memories whose own time is over.
        """
        ...

    async def scrub(self) -> bool:
        """Clear free pages and logs of what was purged, if anything waits for that; whether nothing waits any more."""
        ...

    async def stats(self, namespace: str) -> Stats:
        """Counts of one namespace."""
        ...

    async def namespaces(self) -> Sequence[str]:
        """Every namespace that holds something, in alphabetical order."""
        ...

    async def record_use(self, namespace: str, ids: Sequence[str], at: datetime) -> None:
        """Count one use of each. No change number; may be lost in a crash."""
        ...

    async def uses(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Use]:
        """Use counts of those that have one."""
        ...

    async def save_trace(self, namespace: str, trace_id: str, at: datetime, body: Mapping[str, JsonValue]) -> None:
        """Keep the record of one search, bounded in number; no change number; may be lost in a crash."""
        ...

    async def trace(self, namespace: str, trace_id: str) -> Mapping[str, JsonValue] | None:
        """The record of one search."""
        ...

    async def traces(self, namespace: str, *, limit: int) -> Sequence[Mapping[str, JsonValue]]:
        """The records of the latest searches, oldest first."""
        ...

    async def lease_job(self, kinds: Sequence[str], *, owner: str, now: datetime, until: datetime) -> Job | None:
        """Take the oldest job that is due, or whose lease has run out, in any namespace."""
        ...

    async def renew_job(self, job_id: str, *, owner: str, until: datetime) -> None:
        """Prolong a lease. `Conflict` if another owns it by now."""
        ...

    async def fail_job(self, job_id: str, *, owner: str, error: str, retry_at: datetime | None) -> None:
        """Give a job back, to be tried again then; `None`: never (dead). `Conflict` if another owns it by now."""
        ...

    async def close_job(self, job_id: str, *, owner: str) -> None:
        """A job is done that changed nothing of its namespace. `Conflict` if another owns it by now."""
        ...

    async def cancel_job(self, namespace: str, job_id: str) -> Job:
        """Take a job out, also one at work: its owner can't store what comes of it any more. `NotFound`."""
        ...

    async def scheduled(self) -> Sequence[Due]:
        """All entries of the schedule, by name."""
        ...

    async def put_scheduled(
        self, entry: Due, *, expected: datetime | None, jobs: Sequence[tuple[str, NewJob]] = ()
    ) -> bool:
        """Put an entry in, or move it on, with its jobs, each with its namespace; the empty one is the whole store.

        False, and nothing is changed, where it is not due at `expected` (`None`: not there) any more.
        """
        ...

    async def jobs(self, namespace: str) -> Sequence[Job]:
        """Jobs of a namespace that are not done, oldest first."""
        ...

    async def aclose(self) -> None:
        """Finish what is queued and close; a second call does nothing."""
        ...

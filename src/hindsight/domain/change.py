"""How the store changes: batches that go in, outcomes and receipts that come out, the log that indexes follow."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from hindsight.domain.episode import Episode, EpisodeState, JsonValue
from hindsight.domain.memory import Kind, Memory
from hindsight.domain.session import SessionEnd

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindsight.domain.kept import Kept


class Act(StrEnum):
    """What was done to a memory; the word that stands in its history."""

    ADDED = "added"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    UPDATED = "updated"
    PINNED = "pinned"
    DECAYED = "decayed"
    FORGOTTEN = "forgotten"
    ARCHIVED = "archived"
    FEEDBACK = "feedback"
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNDONE = "undone"


class OutcomeAction(StrEnum):
    """What became of one statement of a write (SPEC §8), or of a memory that was changed by name."""

    ADDED = "added"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    KEPT_APART = "kept_apart"
    IGNORED = "ignored"
    UPDATED = "updated"
    PINNED = "pinned"
    DECAYED = "decayed"
    FORGOTTEN = "forgotten"
    ARCHIVED = "archived"
    PROPOSED = "proposed"
    REJECTED = "rejected"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """What became of one statement. `memory_id` is `None` where it was ignored.

    `review`: it contradicts `other_ids`, and only the user can say which of them holds.
    """

    action: OutcomeAction
    memory_id: str | None
    content: str
    kind: Kind
    importance: float
    other_ids: tuple[str, ...] = ()
    reason: str = ""
    review: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a write. `facts`: statements understood; `verbatim`: kept word for word as none was.

    `pending`: a job finishes the work later; `degraded` names parts that were missing; `undo` takes it back.
    """

    outcomes: tuple[WriteOutcome, ...] = ()
    episode_ids: tuple[str, ...] = ()
    facts: int = 0
    verbatim: bool = False
    pending: bool = False
    degraded: tuple[str, ...] = ()
    undo: str | None = None


@dataclass(frozen=True, slots=True)
class Put:
    """One memory in its new state, whole.

    `expected_version` is the version it was read at, `None` for a new one; another version in the store is a
    `Conflict`, and so is another active memory with the same `content_key`.
    """

    memory: Memory
    expected_version: int | None
    act: Act
    reason: str = ""
    other_ids: tuple[str, ...] = ()
    actor: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """The vector of one index entry: float32, unit length, shape `(dimensions,)`, and the model that made it."""

    entry_id: str
    model: str
    vector: NDArray[np.float32]


class JobState(StrEnum):
    """Where a job stands."""

    READY = "ready"
    LEASED = "leased"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to be done later. A second job with the same `dedup_key` that is still open is dropped.

    With an `owner` it is born leased until `lease_until`: the writer means to do it at once, and another takes over
    only if it dies.
    """

    id: str
    kind: str
    payload: dict[str, JsonValue]
    run_at: datetime
    dedup_key: str | None = None
    owner: str | None = None
    lease_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job as the store holds it."""

    id: str
    namespace: str
    kind: str
    payload: dict[str, JsonValue]
    state: JobState
    run_at: datetime
    attempts: int
    owner: str | None = None
    lease_until: datetime | None = None
    last_error: str | None = None
    dedup_key: str | None = None


@dataclass(frozen=True, slots=True)
class JobDone:
    """Closes a job in the same transaction as its results. Another owner by now is a `Conflict`."""

    job_id: str
    owner: str


@dataclass(frozen=True, slots=True)
class Review:
    """A question for the user: `memory_id` and `other_ids` contradict, and nothing decides between them.

    There is one at most per `memory_id`; it is asked while it is `open` and that memory and one of the others are
    active.
    """

    memory_id: str
    other_ids: tuple[str, ...]
    reason: str
    at: datetime
    open: bool = True


class ReviewState(StrEnum):
    """Whether a review still waits for the user."""

    OPEN = "open"
    CLOSED = "closed"  # decided, or one side has ended by itself


class ReviewChoice(StrEnum):
    """What the user says of a contradiction."""

    NEW = "new"  # the memory that the review is about holds, in place of the others
    OLD = "old"  # it does not hold; the others go on
    BOTH = "both"  # they do not contradict


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A review as a person reads it: `new` came later and contradicts `old`; oldest of these first."""

    new: Memory
    old: tuple[Memory, ...]
    reason: str
    at: datetime
    state: ReviewState


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything one call changes in one namespace: all of it or nothing.

    `key`: the same key a second time changes nothing and gives the first answer. `receipt` is that answer.
    `episode_states` moves episodes in and out of sight; episodes new in this batch start as `OPEN`, and a closed one
    ends when the last of its superseded memories did, or now where none tells. A review takes the place of one with
    the same `memory_id`. A new episode keeps its session awake; `ends` are sessions that are over with this batch.
    `kept` is part of an export.
    """

    namespace: str
    key: str
    at: datetime
    episodes: tuple[Episode, ...] = ()
    puts: tuple[Put, ...] = ()
    embeddings: tuple[Embedding, ...] = ()
    jobs: tuple[NewJob, ...] = ()
    done: JobDone | None = None
    receipt: Receipt = field(default_factory=Receipt)
    episode_states: tuple[tuple[str, EpisodeState], ...] = ()
    reviews: tuple[Review, ...] = ()
    ends: tuple[SessionEnd, ...] = ()
    kept: Kept | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What `Store.apply` did. `repeated`: the key was known, `receipt` is the first answer and nothing changed."""

    change: int
    receipt: Receipt
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of a memory in its history."""

    change: int
    at: datetime
    act: Act
    memory: Memory
    reason: str = ""
    other_ids: tuple[str, ...] = ()
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Touched:
    """The index entries that one step of the change log touched: read them anew from the store.

    `at`: the time of its batch, by which a step is told from another log's with the same number.
    """

    change: int
    entry_ids: tuple[str, ...]
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changeset:
    """What one batch did, by its key: the revisions it made and the episodes it brought in or moved.

    `episodes` has the state each episode had before the batch; `None` for those that were new. `purged`: what
    it touched and is gone for good, so that it can't be taken back.
    """

    change: int
    revisions: tuple[Revision, ...]
    episodes: tuple[tuple[str, EpisodeState | None], ...]
    purged: tuple[str, ...] = ()

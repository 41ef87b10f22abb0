"""What a server answers, as values: the shapes of SPEC §8 under their names.

A newer server may send more fields than are named here; they can be read by name all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import BaseModel, ConfigDict, JsonValue

from hindsight.domain.change import Act, OutcomeAction, ReviewState
from hindsight.domain.episode import Origin
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Kind, Layer, Status


class Answered(BaseModel):
    """A part of an answer. It does not change."""

    model_config = ConfigDict(frozen=True, extra="allow")


class WriteOutcome(Answered):
    """What became of one statement."""

    action: OutcomeAction
    memory_id: str | None
    content: str
    kind: Kind
    importance: float
    other_ids: tuple[str, ...] = ()
    reason: str = ""
    review: bool = False


class Receipt(Answered):
    """What a write, a change or a forget did; `undo` takes it back."""

    outcomes: tuple[WriteOutcome, ...]
    episode_ids: tuple[str, ...]
    facts: int
    verbatim: bool
    pending: bool
    degraded: tuple[str, ...]
    undo: str | None


class Source(Answered):
    """The evidence of a hit: the words it rests on, who said them and when."""

    episode_id: str
    session_id: str | None
    speaker: str | None
    agent: str | None
    occurred_at: datetime
    text: str
    metadata: Mapping[str, JsonValue]


class Trigger(Answered):
    """The situation an experience applies to."""

    context: str
    keywords: tuple[str, ...]


class Outcome(Answered):
    """The record of an experience; `confidence` from 0 to 1."""

    status: OutcomeStatus
    confidence: float
    call_count: int
    successes: int
    failures: int
    last_used: datetime | None
    expected: float
    proven: float


class Procedure(Answered):
    """What an experience has beside other memories; empty for those."""

    trigger: Trigger | None = None
    steps: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    outcome: Outcome | None = None


class Hit(Procedure):
    """A memory found, or a turn where no memory says the same."""

    memory_id: str
    short_id: str
    content: str
    layer: Layer
    kind: Kind
    score: float
    scores: Mapping[str, float]
    importance: float
    confidence: float
    occurred_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    session_id: str | None
    tags: tuple[str, ...]
    sources: tuple[Source, ...]
    warning: str | None


class SearchResult(Answered):
    """What a search found, with the block for the agent to read."""

    hits: tuple[Hit, ...]
    standing: tuple[Hit, ...]
    context: str
    confident: bool
    tokens: int
    trace_id: str
    degraded: tuple[str, ...]
    cached: bool


class Memory(Procedure):
    """One memory as it stands."""

    memory_id: str
    short_id: str
    content: str
    layer: Layer
    kind: Kind
    status: Status
    importance: float
    confidence: float
    strength: float
    pinned: bool
    verbatim: bool
    origin: Origin
    occurred_at: datetime
    timezone: str | None
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    superseded_by: str | None
    session_id: str | None
    speaker: str | None
    agent: str | None
    tags: tuple[str, ...]
    entities: tuple[str, ...]
    episode_ids: tuple[str, ...]
    metadata: Mapping[str, JsonValue]
    version: int

    @property
    def id(self) -> str:
        """Its `memory_id`, under the name that embedded memories have for it."""
        return self.memory_id


class Revision(Answered):
    """One state of a memory in its history."""

    change: int
    at: datetime
    act: Act
    reason: str
    other_ids: tuple[str, ...]
    actor: str
    memory: Memory


class Contradiction(Answered):
    """What only the user can decide: memories that contradict, or a proposed experience, as its `kind` says."""

    kind: str = "contradiction"
    memory_id: str
    state: ReviewState
    reason: str
    at: datetime
    new: Memory
    old: tuple[Memory, ...]


class MemoryPage(Answered):
    """Some of many memories; `next` is the `after` of the page that follows."""

    items: tuple[Memory, ...]
    next: str | None


class ReviewPage(Answered):
    """Some of many reviews."""

    items: tuple[Contradiction, ...]
    next: str | None


class Stats(Answered):
    """Counts of one namespace."""

    episodes: int
    sessions: int
    memories_by_status: Mapping[str, int]
    memories_by_kind: Mapping[str, int]
    memories_by_layer: Mapping[str, int]
    change: int

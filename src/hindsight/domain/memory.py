"""What is worth finding again."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from hindsight.domain.episode import EMPTY, Metadata, Origin
from hindsight.domain.experience import Experience


class Layer(StrEnum):
    """Where a memory lives."""

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


class Kind(StrEnum):
    """What sort of statement a memory is."""

    FACT = "fact"
    PREFERENCE = "preference"
    CONSTRAINT = "constraint"
    EVENT = "event"
    RELATION = "relation"
    RULE = "rule"
    SUMMARY = "summary"
    EXPERIENCE = "experience"


class Status(StrEnum):
    """Whether a memory answers. Only `active` ones answer about now."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    ARCHIVED = "archived"
    PROPOSED = "proposed"  # waits for a person to accept it; answers at no time


UNSEEN = frozenset((Status.FORGOTTEN, Status.PROPOSED))
"""What no search shows, not even one about another time."""


@dataclass(frozen=True, slots=True)
class Source:
    """The span of an episode a memory rests on: characters `[start, end)` of its content."""

    episode_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """What a statement says, as far as it was understood; `None` where it was not.

    `subject` and `slot` say what it is about («user», «place of living»), `value` what it says of it. `topics` are
    keys under which statements about the same are found, whatever their words (`write.topics`).
    """

    subject: str | None = None
    slot: str | None = None
    value: str | None = None
    negated: bool = False
    topics: tuple[str, ...] = ()


Body: TypeAlias = Statement | Experience


@dataclass(frozen=True, slots=True)
class Memory:
    """One statement worth finding again.

    `importance` and `confidence` lie in 0 to 1, `strength` too (1: fresh, 0: faded). `valid_from` and `valid_to` bound
    when it was true of the world, half-open; `None` is an open end. `content_key` is equal for contents that are the
    same once folded: the store keeps at most one active memory per key. `version` grows by one with each change.
    """

    id: str
    namespace: str
    content: str
    layer: Layer
    kind: Kind
    occurred_at: datetime
    timezone: str
    created_at: datetime
    updated_at: datetime
    content_key: str
    body: Body = field(default_factory=Statement)
    status: Status = Status.ACTIVE
    importance: float = 0.5
    confidence: float = 0.5
    strength: float = 1.0
    pinned: bool = False
    verbatim: bool = False
    origin: Origin = Origin.USER
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None
    session_id: str | None = None
    speaker: str | None = None
    agent: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    metadata: Metadata = field(default_factory=lambda: EMPTY)
    version: int = 1

    @property
    def short_id(self) -> str:
        """The eight characters a person or an agent may use in place of the whole id."""
        return short_id(self.id)


SHORT_ID_LENGTH = 8


def short_id(identifier: str) -> str:
    """The last eight characters of an id: its random part."""
    return identifier[-SHORT_ID_LENGTH:]

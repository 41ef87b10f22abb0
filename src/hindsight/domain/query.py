"""What is asked for and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from hindsight.domain.entry import Entry
from hindsight.domain.hit import Hit, MemoryHit
from hindsight.domain.memory import UNSEEN, Kind, Layer, Status


@dataclass(frozen=True, slots=True)
class TimeRange:
    """The half-open interval `[start, end)`; `None` is an open end."""

    start: datetime | None = None
    end: datetime | None = None

    def contains(self, moment: datetime) -> bool:
        """Whether a moment lies inside."""
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)


@dataclass(frozen=True, slots=True)
class Filters:
    """What a hit must satisfy. Empty tuples and `None` ask for nothing.

    `kinds`, `layers` and `session_ids`: any of them; `tags` and `entities`: at least one in common;
    `min_confidence` binds experiences only; `as_of` asks what was true then (validity, not time of writing).
    """

    kinds: tuple[Kind, ...] = ()
    layers: tuple[Layer, ...] = ()
    session_ids: tuple[str, ...] = ()
    exclude_sessions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    time_range: TimeRange | None = None
    min_confidence: float | None = None
    as_of: datetime | None = None
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    episodes: bool = True
    pinned: bool | None = None

    def matches(self, entry: Entry) -> bool:
        """The reference that every backend's filter is compared with."""
        return (
            (entry.kind is not None or self.episodes)
            and (not self.kinds or entry.kind in self.kinds)
            and (not self.layers or entry.layer in self.layers)
            and (not self.session_ids or entry.session_id in self.session_ids)
            and (entry.session_id is None or entry.session_id not in self.exclude_sessions)
            and (not self.tags or bool(set(self.tags) & set(entry.tags)))
            and (not self.entities or bool(set(self.entities) & set(entry.entities)))
            and (not self.speakers or entry.speaker in self.speakers)
            and (self.time_range is None or self.time_range.contains(entry.occurred_at))
            and (self.pinned is None or entry.pinned is self.pinned)
            and self._trusts(entry)
            and self._answers(entry)
        )

    def _trusts(self, entry: Entry) -> bool:
        return (
            self.min_confidence is None or entry.kind is not Kind.EXPERIENCE or entry.confidence >= self.min_confidence
        )

    def _answers(self, entry: Entry) -> bool:
        if self.as_of is None:
            return not self.statuses or entry.status in self.statuses
        if entry.status in UNSEEN:
            return False
        begin = entry.valid_from or entry.occurred_at
        return begin <= self.as_of and (entry.valid_to is None or self.as_of < entry.valid_to)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each part of the score counts (SPEC §4.3)."""

    relevance: float
    freshness: float
    importance: float
    use: float


@dataclass(frozen=True, slots=True)
class Query:
    """One question. The search chooses `top_k` and `max_tokens` where they are `None`; `timezone` is the asker's."""

    text: str
    asked_at: datetime
    top_k: int | None = None
    filters: Filters = field(default_factory=Filters)
    max_tokens: int | None = None
    timezone: str | None = None
    session_id: str | None = None


class Scored(NamedTuple):  # hundreds are made for a search: a tuple takes half the time of a frozen dataclass
    """An index entry's id with the score one route gave it; higher is better."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search gives back. `confident`: something fits well; `degraded` names the parts that were missing.

    `cached`: it was given before, to the same question, and nothing has changed since.
    """

    hits: tuple[Hit, ...]
    standing: tuple[MemoryHit, ...]
    context: str
    confident: bool
    tokens: int
    trace_id: str
    degraded: tuple[str, ...] = ()
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A result with the namespace's change number, read before all else, and the time it was given.

    `change` is `None` where the store was not reached.
    """

    result: SearchResult
    change: int | None
    at: datetime

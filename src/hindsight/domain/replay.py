"""A search looked at again: what moved and why, and what became of one memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from hindsight.domain.query import Weights

Fact: TypeAlias = float | int | str | list[str] | None


class Stage(StrEnum):
    """Where a search has a memory at the end: given, or lost at one of its stages, the earliest first."""

    NOT_YET_WRITTEN = "not_yet_written"
    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    FILTERED = "filtered"
    NOT_RECALLED = "not_recalled"  # no route found it
    OUTSIDE_POOL = "outside_pool"  # found, but too far down to be ranked
    STANDS_BEHIND = "stands_behind"  # a turn whose hit is a memory that came of it
    TOO_WEAK = "too_weak"  # ranked, but it fits much less than the best
    REPEATED = "repeated"  # says the same as a better one
    BEYOND_TOP_K = "beyond_top_k"
    NO_ROOM = "no_room"  # among the hits, but the block had no room for it
    STANDING = "standing"  # in the block whatever is asked
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of one memory in one search.

    `reason` is a sentence for a person; `facts` has the numbers behind it by name. `recomputed`: the trace does not
    tell, so the search was run again as of then.
    """

    trace_id: str
    memory_id: str
    stage: Stage
    reason: str
    content: str
    facts: Mapping[str, Fact]
    recomputed: bool = False

    @property
    def returned(self) -> bool:
        """Whether the answer had it."""
        return self.stage in (Stage.GIVEN, Stage.NO_ROOM, Stage.STANDING)


@dataclass(frozen=True, slots=True)
class Cause:
    """What one part did to the distance between a hit and another one, in units of the score.

    `part` is one of the four, or the signal that relevance was made of. `effect` > 0 lifts the hit. `by_weight` is the
    share of the effect that comes of another weight, the rest comes of other values. Pairs are before and after.
    """

    part: str
    effect: float
    by_weight: float
    weight: tuple[float, float]
    value: tuple[float, float]
    against: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a ranking, counted from 1. `given`: it was among the hits."""

    place: int
    score: float
    given: bool


@dataclass(frozen=True, slots=True)
class Move:
    """One candidate whose place is another now; `None`: not among the candidates that are compared.

    `passed`: the one it is compared with in `causes`, which stood on its other side before.
    """

    memory_id: str
    content: str
    before: Place | None
    after: Place | None
    reason: str
    passed: str | None = None
    causes: tuple[Cause, ...] = ()
    stage: Stage | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """A search run again, beside what its trace says. `same`: every compared candidate has its place.

    `depth`: places compared. `changes`: steps that the namespace has made since. `degraded` names what was missing in
    either of the two runs: then they can't be compared well.
    """

    trace_id: str
    query: str
    asked_at: datetime
    as_of_then: bool
    weights: tuple[Weights, Weights]
    changes: int
    depth: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    moves: tuple[Move, ...]
    degraded: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing has moved, come or gone."""
        return not self.moves and self.before == self.after

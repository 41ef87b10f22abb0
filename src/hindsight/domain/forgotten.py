"""Forgetting many things at once: what is meant, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from hindsight.domain.change import WriteOutcome
from hindsight.domain.purge import Purged, Tombstone


@dataclass(frozen=True, slots=True)
class About:
    """Whatever names this: a person, a place, any word."""

    name: str


@dataclass(frozen=True, slots=True)
class OfSession:
    """Whatever was said in a session, and what rests on that alone."""

    session_id: str


@dataclass(frozen=True, slots=True)
class Everything:
    """The whole namespace."""


Meant: TypeAlias = About | OfSession | Everything


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What was forgotten, or would be in a `dry_run`: how many memories and turns, and examples of them.

    `touched`: memories that stay, but rest on these turns no more. `undo` takes it back until `purge_after`; `purged`
    is set where it went for good at once.
    """

    dry_run: bool
    memories: int
    turns: int
    touched: int = 0
    examples: tuple[WriteOutcome, ...] = field(default=())
    undo: str | None = None
    purge_after: datetime | None = None
    purged: Purged | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """What is left of something that was purged. `stone` is `None` where it has not been.

    `left`: by place, how often its id or words of it were found there; empty when all is gone.
    """

    id: str
    stone: Tombstone | None
    left: Mapping[str, int]
    looked: tuple[str, ...]

    @property
    def gone(self) -> bool:
        """Whether it has been purged and nothing of it was found."""
        return self.stone is not None and not self.left

"""A running task: when its session was last active, its variables, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hindsight.domain.episode import Episode, JsonValue

LONGEST_TTL = 7 * 24 * 3600  # seconds that a variable may be given


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation or task run. A turn or a variable that comes after its end opens it again."""

    id: str
    active_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """What a running task has noted. `expires_at`: from then on it is not shown; `None`: it lasts for the session."""

    value: JsonValue
    set_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Working:
    """The working memory of a session: its variables by name, and its last turns, oldest first."""

    session: Session
    variables: Mapping[str, Variable] = field(default_factory=lambda: MappingProxyType({}))
    turns: tuple[Episode, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The end of a session in a batch: its variables go. `active_at` is what was read; another by now: `Conflict`."""

    session_id: str
    active_at: datetime

"""What happened, word for word: messages as they come in and episodes as they are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"
Metadata: TypeAlias = Mapping[str, JsonValue]

EMPTY: Metadata = MappingProxyType({})


class Role(StrEnum):
    """Who produced an episode."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"
    DOCUMENT = "document"


class Origin(StrEnum):
    """Where a statement comes from; in falling order of trust."""

    USER = "user"
    TOOL = "tool"
    DOCUMENT = "document"


def origin_of(role: Role) -> Origin:
    """Trust follows the role: what a tool or a document says never weighs more than what the user says."""
    if role is Role.USER:
        return Origin.USER
    return Origin.DOCUMENT if role is Role.DOCUMENT else Origin.TOOL


class EpisodeState(StrEnum):
    """How an episode answers. It never leaves the store but by a purge."""

    OPEN = "open"  # found by its own words
    COVERED = "covered"  # a memory says the same word for word and is found in its place
    CLOSED = "closed"  # all facts that came of it have ended: only history and `as_of` show it
    FORGOTTEN = "forgotten"  # it says what was forgotten: nothing shows it, `as_of` neither; undo brings it back


@dataclass(frozen=True, slots=True)
class Message:
    """One thing said or done, as a caller hands it in. `None`: not known, filled from the options of the write."""

    content: str
    role: Role = Role.USER
    speaker: str | None = None
    occurred_at: datetime | None = None
    timezone: str | None = None
    agent: str | None = None
    tool: str | None = None
    metadata: Metadata = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Episode:
    """One thing that happened, verbatim after redaction. Never changed but by a purge.

    `position` counts from 0 within its session (within the namespace where there is none); the store assigns it, so an
    episode that has not been stored carries -1. `key` makes a second import of the same thing recognisable.
    """

    id: str
    namespace: str
    content: str
    occurred_at: datetime
    recorded_at: datetime
    timezone: str
    key: str
    session_id: str | None = None
    position: int = -1
    role: Role = Role.USER
    speaker: str | None = None
    agent: str | None = None
    tool: str | None = None
    metadata: Metadata = field(default_factory=lambda: EMPTY)

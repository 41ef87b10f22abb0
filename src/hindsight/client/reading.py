"""Arguments as JSON has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime

from hindsight.domain.episode import Message
from hindsight.domain.query import Filters, TimeRange
from hindsight.errors import Unsupported

NAMES = {"kinds": "types", "session_ids": "sessions"}  # of `Filters`, where SPEC §7 has another


def moment(given: datetime | str | None) -> str | None:
    """A moment in ISO 8601; without an offset the server reads it in its own zone."""
    return given.isoformat() if isinstance(given, datetime) else given


def interval(given: TimeRange | str | None) -> str | None:
    """`from/to`, either side may be empty."""
    return f"{moment(given.start) or ''}/{moment(given.end) or ''}" if isinstance(given, TimeRange) else given


def messages(given: str | Message | Sequence[Message | Mapping[str, object]]) -> str | list[dict[str, object]]:
    """The content of a write."""
    if isinstance(given, str):
        return given
    many = [given] if isinstance(given, Message) else given
    return [_message(one) for one in many]


def _message(given: Message | Mapping[str, object]) -> dict[str, object]:
    named = {one.name: getattr(given, one.name) for one in fields(given)} if isinstance(given, Message) else given
    return {name: plain(value) for name, value in named.items() if value is not None}


def filters(given: Filters | Mapping[str, object] | None) -> dict[str, object] | None:
    """Filters by the names of REST. `Unsupported` for what only the embedded form can ask."""
    if not isinstance(given, Filters):
        return None if given is None else {name: plain(value) for name, value in given.items()}
    usual, asked = Filters(), {}
    for name in Filters.__dataclass_fields__:
        value = getattr(given, name)
        if value != getattr(usual, name):
            asked[name] = value
    only_here = asked.keys() & {"statuses", "episodes", "pinned"}
    if only_here:
        raise Unsupported(f"filters: {', '.join(sorted(only_here))} can't be asked over HTTP")
    return {NAMES.get(name, name): plain(value) for name, value in asked.items()}


def plain(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, TimeRange):
        return interval(value)
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return value

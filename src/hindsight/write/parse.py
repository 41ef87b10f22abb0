"""A write as callers hand it in, by the names of SPEC §8, made into a `WriteRequest`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeVar, cast

from hindsight.domain.episode import EMPTY, Message, Metadata, Role
from hindsight.domain.memory import Kind
from hindsight.errors import InvalidInput
from hindsight.write.request import WriteRequest

Word = TypeVar("Word", bound=StrEnum)

FIELDS = (
    "content",
    "session_id",
    "occurred_at",
    "timezone",
    "speaker",
    "role",
    "kind",
    "importance",
    "tags",
    "metadata",
    "idempotency_key",
    "agent",
    "tool",
)
MESSAGE_FIELDS = tuple(field.name for field in fields(Message))


def parse_write(given: Mapping[str, object], *, timezone: str) -> WriteRequest:
    """The request of one write. What stands in a message counts before what is given for all. `InvalidInput`."""
    _known(given, FIELDS, "write")
    messages = _messages(given.get("content"))
    common = _message({"content": "", **{name: given.get(name) for name in MESSAGE_FIELDS if name != "content"}})
    tags = given.get("tags") or ()
    if isinstance(tags, str) or not isinstance(tags, Sequence):
        raise InvalidInput("tags", tags, "a list of texts")
    return WriteRequest(
        messages=tuple(_filled(message, common) for message in messages),
        session_id=_text("session_id", given.get("session_id")),
        kind=_word("kind", given.get("kind"), Kind),
        importance=cast("float | None", given.get("importance")),  # `request.check` refuses what is no share
        tags=tuple(tags),
        timezone=_text("timezone", given.get("timezone")) or timezone,
        idempotency_key=_text("idempotency_key", given.get("idempotency_key")),
    )


def _messages(content: object) -> list[Message]:
    if isinstance(content, str):
        return [Message(content)]
    if isinstance(content, Message):
        return [_message(content)]
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        raise InvalidInput("content", content, "text, or a list of messages")
    return [_message(item) for item in content]


def _message(given: object) -> Message:
    if isinstance(given, Message):
        role = _word("role", given.role, Role) or Role.USER
        return replace(given, role=role, occurred_at=_moment(given.occurred_at))
    if not isinstance(given, Mapping):
        raise InvalidInput("content", given, f"a message: an object with {', '.join(MESSAGE_FIELDS)}")
    _known(given, MESSAGE_FIELDS, "content")
    content = given.get("content")
    if not isinstance(content, str):
        raise InvalidInput("content", content, "text")
    return Message(
        content=content,
        role=_word("role", given.get("role"), Role) or Role.USER,
        speaker=_text("speaker", given.get("speaker")),
        occurred_at=_moment(given.get("occurred_at")),
        timezone=_text("timezone", given.get("timezone")),
        agent=_text("agent", given.get("agent")),
        tool=_text("tool", given.get("tool")),
        metadata=_metadata(given.get("metadata")),
    )


def _filled(message: Message, common: Message) -> Message:
    return replace(
        message,
        role=common.role if message.role is Role.USER else message.role,
        speaker=message.speaker or common.speaker,
        occurred_at=message.occurred_at or common.occurred_at,
        timezone=message.timezone or common.timezone,
        agent=message.agent or common.agent,
        tool=message.tool or common.tool,
        metadata={**common.metadata, **message.metadata} if common.metadata else message.metadata,
    )


def _metadata(given: object) -> Metadata:
    if given is None:
        return EMPTY
    if not isinstance(given, Mapping):
        raise InvalidInput("metadata", given, "an object of JSON values")
    return given


def _moment(given: object) -> datetime | None:
    if given is None or isinstance(given, datetime):
        return given
    allowed = "ISO 8601, e.g. 2024-01-15T09:30:00+08:00"
    if not isinstance(given, str):
        raise InvalidInput("occurred_at", given, allowed)
    try:
        return datetime.fromisoformat(given.strip())
    except ValueError as error:
        raise InvalidInput("occurred_at", given, allowed) from error


def _word(field: str, given: object, words: type[Word]) -> Word | None:
    if given is None:
        return None
    if isinstance(given, str) and given.strip().lower() in tuple(words):
        return words(given.strip().lower())
    raise InvalidInput(field, given, f"one of {', '.join(words)}")


def _text(field: str, given: object) -> str | None:
    if given is not None and not isinstance(given, str):
        raise InvalidInput(field, given, "text")
    return given


def _known(given: Mapping[str, object], names: Sequence[str], where: str) -> None:
    for name in given:
        if name not in names:
            raise InvalidInput(where, name, f"any of {', '.join(names)}")

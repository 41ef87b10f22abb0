"""What a caller may hand in, and its checks: each refusal names the field, the value and what is allowed."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hindsight.domain.episode import Message, Role
from hindsight.domain.memory import Kind
from hindsight.errors import InvalidInput

MAX_CHARACTERS = 4_000_000  # text of one call, all messages together
MAX_MESSAGES = 1_000  # of one call: bounds the time the store's only writer is held
MAX_NAME = 200  # characters of a session id, speaker, agent, tool or key
MAX_TAG = 100
MAX_TAGS = 50
MAX_METADATA = 65_536  # characters of one message's metadata as JSON
MAX_DEPTH = 20  # nesting of metadata

_OFFSET = re.compile(r"([+-])(\d{2}):?([0-5]\d)")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """Messages to be remembered, with what holds for all of them.

    `kind` says that each message is one statement of that kind: it is taken as it is. `importance` (0 to 1) overrules
    the rules. `timezone` is where messages were said that do not tell. The same `idempotency_key` gives the first
    answer again and changes nothing.
    """

    messages: tuple[Message, ...]
    session_id: str | None = None
    kind: Kind | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    timezone: str | None = None
    idempotency_key: str | None = None
    actor: str = ""


def check(requests: Sequence[WriteRequest]) -> None:
    """Refuse what can't be kept as it is. `InvalidInput`."""
    count = sum(len(request.messages) for request in requests)
    if not 1 <= count <= MAX_MESSAGES:
        raise InvalidInput("messages", f"{count} messages", f"1 to {MAX_MESSAGES} messages in one call")
    size = 0
    for request in requests:
        _check_request(request)
        for message in request.messages:
            _check_message(message)
            size += len(message.content)
    if size > MAX_CHARACTERS:
        raise InvalidInput("content", f"{size} characters", f"at most {MAX_CHARACTERS} characters in one call")


def check_text(field: str, given: object) -> str:
    """Text that says something and that every store can hold."""
    if not isinstance(given, str):
        raise InvalidInput(field, given, "text")
    _check_characters(field, given)
    if not given.strip():
        raise InvalidInput(field, given, "text with at least one character that is not a space")
    return given


def check_share(field: str, given: object) -> float:
    """A number from 0 to 1."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InvalidInput(field, given, "a number from 0 to 1")
    return float(given)


def zone_of(field: str, name: str) -> tzinfo:
    """The zone with this name: an IANA name («Asia/Shanghai») or an offset («+08:00»). `InvalidInput`."""
    if offset := _OFFSET.fullmatch(name):
        sign, hours, minutes = offset.groups()
        distance = timedelta(hours=int(hours), minutes=int(minutes))
        if distance <= timedelta(hours=14):
            return timezone(distance if sign == "+" else -distance)
    elif name == "UTC":
        return UTC
    else:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass  # refused below, like an offset that no place on earth has
    raise InvalidInput(field, name, "an IANA time zone such as Asia/Shanghai, or an offset such as +08:00")


def moment_of(message: Message, default_zone: str | None, now: datetime) -> tuple[datetime, str]:
    """When a message was said, in UTC, and the name of the zone it was said in.

    A time without an offset is in the message's zone, else in the default one. An offset other than UTC tells the zone
    too; UTC does not, as programs write it for everyone.
    """
    given = message.occurred_at
    name = message.timezone or _zone_name(given) or default_zone or "UTC"
    zone = zone_of("timezone", name)
    if given is None:
        return now.astimezone(UTC), name
    try:
        return (given if given.tzinfo is not None else given.replace(tzinfo=zone)).astimezone(UTC), name
    except OverflowError as error:
        raise InvalidInput("occurred_at", given, "a time between the years 1 and 9999") from error


def _zone_name(moment: datetime | None) -> str | None:
    if moment is None or moment.tzinfo is None:
        return None
    if isinstance(moment.tzinfo, ZoneInfo):
        return None if moment.tzinfo.key in ("UTC", "Etc/UTC") else moment.tzinfo.key
    seconds = int((moment.utcoffset() or timedelta()).total_seconds())
    if seconds == 0:
        return None
    return f"{'+' if seconds > 0 else '-'}{abs(seconds) // 3600:02d}:{abs(seconds) // 60 % 60:02d}"


def _check_request(request: WriteRequest) -> None:
    _check_name("session_id", request.session_id)
    _check_name("idempotency_key", request.idempotency_key)
    if request.timezone is not None:
        _check_zone(request.timezone)
    if request.importance is not None:
        check_share("importance", request.importance)
    _check_tags(request.tags)
    if request.kind is None:
        return
    if not isinstance(request.kind, Kind):
        raise InvalidInput("kind", request.kind, f"one of {', '.join(Kind)}")
    if request.kind is Kind.EXPERIENCE:
        others = ", ".join(kind for kind in Kind if kind is not Kind.EXPERIENCE)
        raise InvalidInput("kind", request.kind.value, f"one of {others}; an experience has a call of its own")


def _check_message(message: Message) -> None:
    check_text("content", message.content)
    if not isinstance(message.role, Role):
        raise InvalidInput("role", message.role, f"one of {', '.join(Role)}")
    _check_name("speaker", message.speaker)
    _check_name("agent", message.agent)
    _check_name("tool", message.tool)
    if message.timezone is not None:
        _check_zone(message.timezone)
    if message.occurred_at is not None and not isinstance(message.occurred_at, datetime):
        raise InvalidInput("occurred_at", message.occurred_at, "a date and time")
    if message.metadata:
        _check_metadata(message.metadata)


def _check_zone(given: object) -> None:
    if not isinstance(given, str):
        raise InvalidInput("timezone", given, "an IANA time zone such as Asia/Shanghai, or an offset such as +08:00")
    zone_of("timezone", given)


def _check_name(field: str, given: object) -> None:
    if given is not None and len(check_text(field, given)) > MAX_NAME:
        raise InvalidInput(field, given, f"at most {MAX_NAME} characters")


def _check_tags(tags: object) -> None:
    if not isinstance(tags, tuple) or len(tags) > MAX_TAGS:
        raise InvalidInput("tags", tags, f"at most {MAX_TAGS} tags")
    for tag in tags:
        if len(check_text("tags", tag)) > MAX_TAG:
            raise InvalidInput("tags", tag, f"at most {MAX_TAG} characters in a tag")


def _check_metadata(metadata: object) -> None:
    if not isinstance(metadata, Mapping):
        raise InvalidInput("metadata", metadata, "an object of JSON values")
    _check_json(metadata, MAX_DEPTH)
    size = len(json.dumps(dict(metadata), ensure_ascii=False))
    if size > MAX_METADATA:
        raise InvalidInput("metadata", f"{size} characters", f"at most {MAX_METADATA} characters as JSON")


def _check_json(value: object, depth: int) -> None:
    """Only what JSON has, so that what is read back is what was written: no `NaN`, no keys other than text."""
    if depth == 0:
        raise InvalidInput("metadata", value, f"values nested at most {MAX_DEPTH} deep")
    if isinstance(value, str):
        _check_characters("metadata", value)
    elif isinstance(value, Mapping):
        _check_object(value, depth)
    elif isinstance(value, list):
        for item in value:
            _check_json(item, depth - 1)
    elif isinstance(value, int | float):
        if abs(value) > sys.float_info.max or not math.isfinite(value):
            raise InvalidInput("metadata", value, "finite numbers")
    elif value is not None:
        raise InvalidInput("metadata", value, "JSON values: text, numbers, true, false, null, lists and objects")


def _check_object(value: Mapping[object, object], depth: int) -> None:
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidInput("metadata", key, "names that are text")
        _check_characters("metadata", key)
        _check_json(item, depth - 1)


def _check_characters(field: str, text: str) -> None:
    if "\x00" in text:
        raise InvalidInput(field, text[max(0, text.index("\x00") - 20) :], "text without NUL characters")
    if not text.isascii() and (lone := _SURROGATE.search(text)):
        raise InvalidInput(field, text[max(0, lone.start() - 20) :], "valid Unicode text; this has a lone surrogate")

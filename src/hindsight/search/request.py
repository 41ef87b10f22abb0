"""A question as callers write it, made into a `Query`: filters by name, ISO intervals, bounds checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeVar
from zoneinfo import ZoneInfo

from hindsight.domain.memory import Kind, Layer
from hindsight.domain.query import Filters, Query, TimeRange
from hindsight.errors import InvalidInput
from hindsight.language.time import find_times

Name = TypeVar("Name", bound=StrEnum)

FILTER_NAMES = (
    "types",
    "layers",
    "tags",
    "entities",
    "speakers",
    "sessions",
    "exclude_sessions",
    "min_confidence",
    "time_range",
    "as_of",
)
RANGE_FORM = "an ISO interval from/to, either side may be empty, e.g. 2024-01-01/2024-02-01 (the end is not included)"
MAX_TOP_K = 100
MIN_TOKENS, MAX_TOKENS = 200, 100_000  # at least room for the fence and the standing memories
LONGEST_PHRASE = 100  # characters
_MOMENTS = {"hour": timedelta(hours=1), "minute": timedelta(minutes=1), "second": timedelta(seconds=1)}
MAX_NAMES = 100  # values in one filter: bounds the work of a single search


def parse_filters(given: Mapping[str, object] | None, *, timezone: str = "UTC", now: datetime | None = None) -> Filters:
    """Filters by the names of SPEC §7 (`types`, `tags`, `entities`, `exclude_sessions`, `min_confidence`, `as_of`, …).

    `kinds` is accepted for `types`. Times without an offset are in `timezone`; `now` as in `parse_time_range`. Raises
    `InvalidInput`.
    """
    if given is None:
        return Filters()
    if not isinstance(given, Mapping):
        raise InvalidInput("filters", given, f"an object with any of {', '.join(FILTER_NAMES)}")
    values = {("types" if name == "kinds" else name): value for name, value in given.items() if value is not None}
    for name in values:
        if name not in FILTER_NAMES:
            raise InvalidInput("filters", name, f"any of {', '.join(FILTER_NAMES)}")
    zone = ZoneInfo(timezone)
    return Filters(
        kinds=_members("filters.types", values.get("types"), Kind),
        layers=_members("filters.layers", values.get("layers"), Layer),
        session_ids=_names("filters.sessions", values.get("sessions")),
        exclude_sessions=_names("filters.exclude_sessions", values.get("exclude_sessions")),
        tags=_names("filters.tags", values.get("tags")),
        entities=_names("filters.entities", values.get("entities")),
        speakers=_names("filters.speakers", values.get("speakers")),
        time_range=parse_time_range("filters.time_range", values.get("time_range"), zone, now),
        min_confidence=_share("filters.min_confidence", values.get("min_confidence")),
        as_of=parse_moment("filters.as_of", values.get("as_of"), zone),
    )


def parse_time_range(field: str, given: object, zone: ZoneInfo, now: datetime | None = None) -> TimeRange | None:
    """A half-open interval from `from/to`, or from a phrase («上周», "last week") seen from `now` where that is given.

    `now` with an offset is on the asker's clock; in UTC it is read in their zone. What can't be read is refused: it
    never means any time.
    """
    if given is None or isinstance(given, TimeRange):
        return given
    if isinstance(given, str) and "/" not in given and now is not None:
        return _time_named(field, given, now if now.utcoffset() else now.astimezone(zone))
    if not isinstance(given, str) or given.count("/") != 1:
        raise InvalidInput(field, given, RANGE_FORM)
    first, last = (part.strip().removeprefix("..") for part in given.split("/"))
    start = parse_moment(field, first, zone) if first else None
    end = parse_moment(field, last, zone) if last else None
    if start is None and end is None:
        raise InvalidInput(field, given, RANGE_FORM)
    if start is not None and end is not None and start >= end:
        raise InvalidInput(field, given, "a start before the end")
    return TimeRange(start, end)


def _time_named(field: str, given: str, now: datetime) -> TimeRange:
    """The one time that a phrase names; an instant lasts as long as it was said exactly."""
    found = find_times(given, now) if len(given) <= LONGEST_PHRASE else []
    if len(found) != 1:
        raise InvalidInput(field, given, f"{RANGE_FORM}; or a phrase that names one time, such as «上周» or last week")
    start, end = found[0].start, found[0].end
    if start is not None and start == end:
        end = start + _MOMENTS.get(found[0].grain, timedelta(days=1))
    return TimeRange(start, end)


def parse_moment(field: str, given: object, zone: ZoneInfo) -> datetime | None:
    """An aware moment from ISO 8601; without an offset it is in `zone`."""
    if given is None:
        return None
    if isinstance(given, str):
        try:
            given = datetime.fromisoformat(given.strip())
        except ValueError as error:
            raise InvalidInput(field, given, "ISO 8601, e.g. 2024-01-15 or 2024-01-15T09:30:00+08:00") from error
    if not isinstance(given, datetime):
        raise InvalidInput(field, given, "a date and time, or ISO 8601 text")
    return given if given.tzinfo is not None else given.replace(tzinfo=zone)


def _share(field: str, given: object) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InvalidInput(field, given, "a number from 0 to 1")
    return float(given)


def _names(field: str, given: object) -> tuple[str, ...]:
    if given is None:
        return ()
    values = [given] if isinstance(given, str) else given
    if not isinstance(values, Iterable) or isinstance(values, Mapping | bytes):
        raise InvalidInput(field, given, "a list of names")
    names = tuple(values)
    if len(names) > MAX_NAMES or not all(isinstance(name, str) and name.strip() for name in names):
        raise InvalidInput(field, given, f"a list of at most {MAX_NAMES} names, none empty")
    return names


def _members(field: str, given: object, members: type[Name]) -> tuple[Name, ...]:
    names = _names(field, given)
    try:
        return tuple(members(name.strip().lower()) for name in names)
    except ValueError as error:
        raise InvalidInput(field, given, f"any of {', '.join(members)}") from error


def parse_query(
    text: str,
    *,
    now: datetime,
    timezone: str,
    top_k: object = None,
    session_id: str | None = None,
    time_range: TimeRange | str | None = None,
    filters: Filters | Mapping[str, object] | None = None,
    asked_at: datetime | str | None = None,
    max_tokens: object = None,
    as_of: datetime | str | None = None,
) -> Query:
    """A question with its options; these count before what stands in `filters`. Raises `InvalidInput`."""
    zone = ZoneInfo(timezone)
    asked = parse_moment("asked_at", asked_at, zone) or now
    wanted = filters if isinstance(filters, Filters) else parse_filters(filters, timezone=timezone, now=asked)
    if session_id is not None:
        wanted = replace(wanted, session_ids=_names("session_id", session_id))
    if time_range is not None:
        wanted = replace(wanted, time_range=parse_time_range("time_range", time_range, zone, asked))
    if as_of is not None:
        wanted = replace(wanted, as_of=parse_moment("as_of", as_of, zone))
    return Query(
        text=text,
        asked_at=asked,
        top_k=whole_number("top_k", top_k, 1, MAX_TOP_K),
        filters=wanted,
        max_tokens=whole_number("max_tokens", max_tokens, MIN_TOKENS, MAX_TOKENS),
        timezone=timezone,
        session_id=session_id,
    )


def whole_number(field: str, given: object, least: int, most: int) -> int | None:
    """A whole number within bounds; digits in a string count, as an agent may send them. Raises `InvalidInput`."""
    if given is None:
        return None
    # At most nine digits: Python refuses to read numbers of thousands, with an error of its own.
    value = int(given) if isinstance(given, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", given) else given
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidInput(field, given, f"a whole number from {least} to {most}")
    return value

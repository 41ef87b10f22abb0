"""Calendar arithmetic on the clock of one zone: units, shifts, parts of units. Weeks start on Monday (ISO 8601).

All moments are aware and in the speaker's zone. Hours, minutes and seconds are counted in real time, days and more by
the calendar, so that «in a day» crosses a change of the clocks at the same time of day.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

Grain: TypeAlias = Literal[
    "second", "minute", "hour", "day", "week", "month", "quarter", "half", "year", "decade", "century"
]
GRAINS: tuple[Grain, ...] = (
    "second", "minute", "hour", "day", "week", "month", "quarter", "half", "year", "decade", "century",
)  # fmt: skip
_SECONDS: dict[Grain, int] = {"second": 1, "minute": 60, "hour": 3600}
_DAYS: dict[Grain, int] = {"day": 1, "week": 7}
_MONTHS: dict[Grain, int] = {"month": 1, "quarter": 3, "half": 6, "year": 12, "decade": 120, "century": 1200}

Third: TypeAlias = Literal["early", "mid", "late"]

PAST, OPEN, FUTURE = -1, 0, 1


@dataclass(frozen=True, slots=True)
class Interval:
    """Half-open; an instant where start == end; `None` is an open side."""

    start: datetime | None
    end: datetime | None
    grain: Grain
    vague: bool = False


@dataclass(frozen=True, slots=True)
class Now:
    """The moment of speaking, and where a name that recurs points: back, ahead, or (`OPEN`) as the language has it.

    `calendar`: an open name is of the year, month or week at hand, as in Chinese («3月» is March of this year), rather
    than the next one, as in English. `weekday`: the day of the week that a date without a year must fall on.
    """

    at: datetime
    lean: int = OPEN
    calendar: bool = False
    weekday: int | None = None

    @property
    def today(self) -> datetime:
        """The start of the day of speaking."""
        return floor(self.at, "day")


Narrow: TypeAlias = Callable[[Interval | None, Now], Interval | None]


def floor(at: datetime, grain: Grain) -> datetime:
    """The start of the unit that holds `at`."""
    if grain in _SECONDS:
        return at.replace(
            microsecond=0,
            second=0 if grain != "second" else at.second,
            minute=0 if grain == "hour" else at.minute,
        )
    day = at.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if grain == "day":
        return day
    if grain == "week":
        return day - timedelta(days=day.weekday())
    if grain in ("decade", "century"):
        years = _MONTHS[grain] // 12
        return day.replace(year=max(1, day.year - day.year % years), month=1, day=1)
    return day.replace(month=(day.month - 1) // _MONTHS[grain] * _MONTHS[grain] + 1, day=1)


def add(at: datetime, count: float, grain: Grain) -> datetime:
    """`at` moved by `count` units; a month that is too short gives its last day. Raises where the calendar ends."""
    if grain in _SECONDS:
        return (at.astimezone(UTC) + timedelta(seconds=count * _SECONDS[grain])).astimezone(at.tzinfo)
    if grain in _DAYS:
        return at + timedelta(days=int(count * _DAYS[grain]))
    months = at.year * 12 + at.month - 1 + int(count * _MONTHS[grain])
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        raise OverflowError(year)
    return at.replace(year=year, month=month + 1, day=min(at.day, calendar.monthrange(year, month + 1)[1]))


def unit(at: datetime, grain: Grain, shift: int = 0, count: int = 1) -> Interval:
    """The calendar unit that holds `at`, `shift` units on, `count` units long."""
    start = add(floor(at, grain), shift, grain)
    return Interval(start, add(start, count, grain), grain)


def day_of(now: Now, year: int, month: int, day: int) -> Interval | None:
    """One day by its date; nothing where there is none."""
    if not (1 <= year < 9999 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    return unit(now.today.replace(year=year, month=month, day=day), "day")


def rolling(now: Now, count: float, grain: Grain) -> Interval:
    """The last (count < 0) or next units counted from now: whole days, today with the last ones, or real hours."""
    if grain in _SECONDS:
        start, end = sorted((now.at, add(now.at, count, grain)))
        return Interval(start, end, grain)
    tomorrow = add(now.today, 1, "day")
    if count < 0:
        return Interval(add(now.today, count, grain), tomorrow, grain)
    return Interval(tomorrow, add(tomorrow, count, grain), grain)


def shifted(now: Now, base: datetime, count: float, grain: Grain) -> Interval:
    """«3 days ago», «in 2 hours»: an instant for hours and less, else the day; its grain says how exact that is."""
    if grain in _SECONDS:
        at = add(base, count, grain)
        return Interval(at, at, grain)
    if count != int(count):  # half a year, a week and a half: in the next smaller unit
        finer: dict[Grain, tuple[float, Grain]] = {
            "day": (24, "hour"), "week": (7, "day"), "month": (30, "day"), "quarter": (3, "month"),
            "year": (12, "month"), "decade": (10, "year"), "century": (10, "decade"),
        }  # fmt: skip
        factor, smaller = finer.get(grain, (6, "month"))
        return replace(shifted(now, base, round(count * factor), smaller), vague=True)
    start = add(floor(base, "day"), count, grain)
    return Interval(start, add(start, 1, "day"), grain, vague=grain not in ("day", "week"))


def pick(now: Now, candidates: Iterable[Interval | None], *, strict: bool = False) -> Interval | None:
    """The candidate (in order of time) that a recurring name means: the last one begun, or the next one not over.

    `strict`: one that holds today is neither («on Tuesday», said on a Tuesday, is not today).
    """
    tomorrow = add(now.today, 1, "day")
    best = None
    for found in candidates:
        if found is None or found.start is None or found.end is None:
            continue
        if now.weekday is not None and found.start.weekday() != now.weekday:
            continue
        if now.lean == PAST:
            if found.start > (now.today if not strict else add(now.today, -1, "day")):
                return best or found
            best = found
        elif found.end > (tomorrow if strict else now.today):
            return found
        else:
            best = found
    return best


def yearly(make: Callable[[int], Interval | None]) -> Narrow:
    """What comes once a year, within the year given, or that of the speaker's meaning."""

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if outer is not None and outer.start is not None:
            return make(outer.start.year)
        if now.weekday is not None:
            return _nearest(now, [make(year) for year in range(now.at.year - 8, now.at.year + 9)])
        this = make(now.at.year)
        if now.calendar and this is not None and _fits(this, now):
            return this
        near = [make(year) for year in range(now.at.year - 1, now.at.year + 2)]
        if None not in near:
            return pick(now, near)
        return pick(now, (make(year) for year in range(now.at.year - 8, now.at.year + 9)))

    return narrow


def _nearest(now: Now, candidates: Iterable[Interval | None]) -> Interval | None:
    """The candidate on the weekday said that is nearest in time."""
    days = [found for found in candidates if found and found.start and found.start.weekday() == now.weekday]
    return min(days, key=lambda found: abs((found.start or now.at) - now.today), default=None)


def _fits(found: Interval, now: Now) -> bool:
    """Whether the direction of speaking allows it."""
    if found.start is None or found.end is None:
        return True
    return not (now.lean == PAST and found.start > now.at) and not (now.lean == FUTURE and found.end <= now.today)


def month(number: int) -> Narrow:
    """«March»."""

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        return yearly(lambda year: unit(now.today.replace(year=year, month=number, day=1), "month"))(outer, now)

    return narrow


def month_day(number: int, day: int) -> Narrow:
    """«5 March», in a year given or meant."""

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        return yearly(lambda year: day_of(now, year, number, day))(outer, now)

    return narrow


def day_of_month(day: int) -> Narrow:
    """«the 5th»."""

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if outer is not None and outer.start is not None:
            return day_of(now, outer.start.year, outer.start.month, day)
        months = [add(now.today.replace(day=1), shift, "month") for shift in range(-12, 13)]
        days = [day_of(now, first.year, first.month, day) for first in months]
        if now.calendar and now.weekday is None and (this := days[12]) is not None and _fits(this, now):
            return this
        return pick(now, days)

    return narrow


def weekday(number: int) -> Narrow:
    """«Friday» (0 is Monday): of the week given, or the nearest one as meant; said alone it is never today."""

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if outer is not None and outer.start is not None:
            if outer.grain == "week" or (outer.end is not None and outer.end - outer.start <= timedelta(days=1)):
                return unit(add(floor(outer.start, "week"), number, "day"), "day")
            return nth(outer, 1, "day", number)
        weeks = (add(floor(now.at, "week"), 7 * shift + number, "day") for shift in (-1, 0, 1))
        return pick(now, (unit(day, "day") for day in weeks), strict=True)

    return narrow


def weekday_of_week(number: int, shift: int) -> Narrow:
    """«Friday of last week» (shift −1), of this week (0), of the next (1)."""
    return lambda _, now: unit(add(floor(now.at, "week"), 7 * shift + number, "day"), "day")


def within(outer: Interval | None, now: Now, grain: Grain) -> Interval:
    """The larger period given, or the one of `grain` that holds now."""
    return outer if outer is not None and outer.start is not None else unit(now.at, grain)


def season(now: Now, year: int, first: int) -> Interval:
    """Three months from month `first`; a winter is that of the year in which it begins."""
    return replace(unit(now.today.replace(year=year, month=first, day=1), "month", count=3), grain="quarter")


def relative(grain: Grain, shift: int) -> Narrow:
    """«last month» (−1), «this year» (0), «next week» (1)."""
    return lambda _, now: unit(now.at, grain, shift)


def nth(outer: Interval, count: int, grain: Grain, day: int | None = None, length: int = 1) -> Interval | None:
    """The `count`-th unit (or weekday `day`) inside `outer`, from its end where negative; weeks by their Thursday.

    `length` > 1: that many units, the first or the last of them.
    """
    if outer.start is None or outer.end is None:
        return None
    anchor = 3 if grain == "week" else day
    if anchor is None:
        first = floor(outer.start, grain)
        start = add(first, count - 1, grain) if count > 0 else add(outer.end, count, grain)
    else:
        if count > 0:
            hit = outer.start + timedelta(days=(anchor - outer.start.weekday()) % 7 + 7 * (count - 1))
        else:
            last = outer.end - timedelta(days=1)
            hit = last - timedelta(days=(last.weekday() - anchor) % 7 + 7 * (-count - 1))
        if not outer.start <= hit < outer.end:
            return None
        start = floor(hit, "week") if grain == "week" else hit
    if anchor is None and not outer.start <= start < outer.end:
        return None
    return Interval(start, add(start, length, grain), grain)


def edge(outer: Interval | None, which: Third) -> Interval | None:
    """«the end of May» as a bound: the moment at which it ends; the middle has none and stays a part."""
    if outer is None or outer.start is None or outer.end is None:
        return None
    at = {"early": outer.start, "late": outer.end}.get(which)
    return Interval(at, at, outer.grain) if at else part(outer, which)


def part(outer: Interval, which: Third) -> Interval | None:
    """The first, middle or last third: ten days of a month, four months of a year, Monday to Wednesday of a week."""
    start, end = outer.start, outer.end
    if start is None or end is None or start == end:
        return outer
    steps: dict[Grain, tuple[int, int, Grain]] = {
        "week": (3, 4, "day"), "month": (10, 20, "day"), "quarter": (1, 2, "month"), "half": (2, 4, "month"),
        "year": (4, 8, "month"), "decade": (3, 7, "year"), "century": (30, 70, "year"),
        "day": (9, 15, "hour"),
    }  # fmt: skip
    if outer.grain not in steps:
        third = (end - start) / 3
        cuts = (start + third, end - third)
        grain = outer.grain
    else:
        low, high, grain = steps[outer.grain]
        cuts = (add(start, low, grain), add(start, high, grain))
    edges = {"early": (start, cuts[0]), "mid": cuts, "late": (cuts[1], end)}[which]
    return Interval(*edges, grain, vague=True)

"""Times that come again, written as cron does: minute, hour, day of the month, month, day of the week.

`*`, numbers, ranges (`1-5`), lists (`1,15`), steps (`*/10`, `8-18/2`), names of months and days in English; Sunday is 0
or 7. Where both days are limited, one of them is enough, as in cron. `@hourly`, `@daily`, `@weekly`, `@monthly`,
`@yearly`; `off` for never. Times are on the clock of a zone: what falls into an hour that summer time skips comes right
after it, and what falls into an hour that comes twice comes once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from hindsight.errors import InvalidInput

OFF = "off"
SHORT = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day of the month", 1, 31), ("month", 1, 12), ("day of the week", 0, 7))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_ITEM = re.compile(r"(\*|[a-z0-9]+)(?:-([a-z0-9]+))?(?:/(\d+))?")
_FURTHEST = timedelta(days=366 * 9)  # 29 February comes at least every eight years


@dataclass(frozen=True, slots=True)
class Cron:
    """A rule, read. `days` and `weekdays` both limited: either is enough."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 is Sunday
    either: bool

    def after(self, moment: datetime, zone: tzinfo) -> datetime:
        """The first time later than `moment`, in UTC. `InvalidInput` for a date that never comes."""
        local = moment.astimezone(zone)
        day = local.date()
        while day - local.date() <= _FURTHEST:
            if self._is_on(day):
                for hour in sorted(self.hours):
                    for minute in sorted(self.minutes):
                        found = datetime.combine(day, time(hour, minute), zone).astimezone(UTC)
                        if found > moment:
                            return found
            day += timedelta(days=1)
        raise InvalidInput("cron", self.text, "a date that comes at all")

    def _is_on(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        by_date, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return by_date or by_week if self.either else by_date and by_week


def parse(text: str, *, field: str = "cron") -> Cron | None:
    """Read a rule; `None` for `off`. `InvalidInput` names the field and what is wrong with it."""
    given = text.strip().lower()
    if given == OFF:
        return None
    parts = SHORT.get(given, given).split()
    if len(parts) != len(_FIELDS):
        raise InvalidInput(field, text, f"five fields such as 0 4 * * sun, one of {', '.join(SHORT)}, or {OFF}")
    sets = [_values(part, number, text, field) for number, part in enumerate(parts)]
    weekdays = frozenset(day % 7 for day in sets[4])
    either = not parts[2].startswith("*") and not parts[4].startswith("*")
    return Cron(text, sets[0], sets[1], sets[2], sets[3], weekdays, either)


def _values(part: str, number: int, text: str, field: str) -> frozenset[int]:
    name, low, high = _FIELDS[number]
    found: set[int] = set()
    for item in part.split(","):
        match = _ITEM.fullmatch(item)
        if match is None:
            raise InvalidInput(field, text, f"numbers, ranges, lists and steps for the {name}, not {item!r}")
        first, last, step = match.groups()
        if first == "*":
            begin, end = low, high
        else:
            begin = _number(first, number, text, field)
            end = _number(last, number, text, field) if last else (high if step else begin)
        every = int(step or 1)
        if begin > end or every < 1:
            raise InvalidInput(field, text, f"a range that rises, and steps of 1 or more, for the {name}, not {item!r}")
        found.update(range(begin, end + 1, every))
    return frozenset(found)


def _number(word: str, number: int, text: str, field: str) -> int:
    name, low, high = _FIELDS[number]
    names = {3: _MONTHS, 4: _DAYS}.get(number, ())
    if word in names:
        return names.index(word) + low
    if not word.isdecimal() or not low <= int(word) <= high:
        raise InvalidInput(field, text, f"{low} to {high} for the {name}, not {word!r}")
    return int(word)

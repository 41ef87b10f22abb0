"""Times of day: clock times, their ranges, parts of the day, names of zones."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Literal

from hindsight.language.time.values import PAST, Grain, Interval, Narrow, Now, add, day_of, floor

# Standard and summer time of the names people write, in hours from UTC. CST is America's.
ZONES: dict[str, float] = {
    "utc": 0, "gmt": 0, "z": 0, "wet": 0, "bst": 1, "cet": 1, "west": 1, "cest": 2, "eet": 2, "eest": 3, "msk": 3,
    "ist": 5.5, "sgt": 8, "hkt": 8, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12, "est": -5, "edt": -4,
    "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7, "北京时间": 8, "东京时间": 9,
}  # fmt: skip
_NIGHT_ENDS = 5  # «tonight at 2» is after midnight, «tonight at 7» is not


@dataclass(frozen=True, slots=True)
class Clock:
    """A time on the clock. `half`: am or pm where it was said; `sure`: read on 24 hours; `zone`: if one was named."""

    hour: int
    minute: int | None = None
    second: int | None = None
    half: Literal["am", "pm"] | None = None
    sure: bool = False
    zone: tzinfo | None = None

    @property
    def valid(self) -> bool:
        """Whether a clock can show it; 24:00 is the end of a day."""
        if self.half and not 1 <= self.hour <= 12:
            return self.half == "pm" and 12 < self.hour < 24 and self.fits
        return self.fits

    @property
    def fits(self) -> bool:
        """Whether hour, minute and second are within their bounds."""
        late = self.hour == 24 and (self.minute or self.second)
        return self.hour <= 24 and (self.minute or 0) < 60 and (self.second or 0) < 60 and not late

    @property
    def hours(self) -> tuple[int, ...]:
        """The hours it can mean, the literal one first."""
        if self.half:
            return (self.hour % 12 + (12 if self.half == "pm" else 0),)
        if self.sure or self.zone or self.hour == 0 or self.hour > 12:
            return (self.hour,)
        return (12,) if self.hour == 12 else (self.hour, self.hour + 12)

    @property
    def grain(self) -> Grain:
        """How exactly it was said."""
        return "second" if self.second is not None else "minute" if self.minute is not None else "hour"

    def on(self, day: datetime, hour: int) -> datetime:
        """This time on a day, in the zone of that day."""
        days, hour = divmod(hour, 24)
        at = (day + timedelta(days=days)).replace(hour=hour, minute=self.minute or 0, second=self.second or 0)
        return at.replace(tzinfo=self.zone).astimezone(day.tzinfo) if self.zone else at


def at_clock(clock: Clock) -> Narrow:
    """«3 pm», «三点一刻»: an instant on the day given, else on the nearest day as meant."""

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        at = _moment(clock, outer, now)
        return Interval(at, at, clock.grain)

    return narrow


def clock_range(first: Clock, last: Clock) -> Narrow:
    """«9:30–11:00», «3-4pm»: am or pm said once counts for both, and the end comes after the beginning."""
    if last.half and not first.half and not first.sure and first.hour <= 12:
        later = first.hour % 12 > last.hour % 12 and last.half == "pm"
        first = replace(first, half="am" if later else last.half)

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        start = _moment(first, outer, now)
        ends = sorted(last.on(floor(start, "day"), hour + more) for hour in last.hours for more in (0, 24))
        end = next((at for at in ends if at > start), None)
        return Interval(start, end, "hour" if "hour" == last.grain == first.grain else "minute") if end else None

    return narrow


def _moment(clock: Clock, outer: Interval | None, now: Now) -> datetime:
    if outer is not None and outer.start is not None and outer.end is not None:
        day = floor(outer.start, "day")
        if outer.grain == "hour" and outer.start != outer.end:
            return _in_part(clock, outer.start, outer.end)
        if day != now.today or len(clock.hours) == 1:
            return clock.on(day, _usual(clock))
    today = [clock.on(now.today, hour) for hour in sorted(clock.hours)]
    if now.lean == PAST:
        past = [at for at in today if at <= now.at]
        return past[-1] if past or outer else clock.on(add(now.today, -1, "day"), clock.hours[-1])
    ahead = [at for at in today if at > now.at]
    if ahead:
        return ahead[0]
    if outer or now.calendar:
        return today[-1]
    return clock.on(add(now.today, 1, "day"), min(clock.hours))


def _usual(clock: Clock) -> int:
    """Without a hint, one to six are in the afternoon: people are awake then."""
    return clock.hours[1] if len(clock.hours) == 2 and clock.hour < 7 else clock.hours[0]


def _in_part(clock: Clock, start: datetime, end: datetime) -> datetime:
    """The reading inside a part of the day; a small hour of the night is after midnight."""
    day = floor(start, "day")
    hours = set(clock.hours)
    if not clock.half and not clock.zone and clock.hour <= 12:
        hours = {0, 12, 24} if clock.hour == 12 else {clock.hour, clock.hour + 12}
    inside = [at for hour in sorted(hours) if start <= (at := clock.on(day, hour)) <= end]
    if inside:
        return inside[0]
    if (floor(end, "day") > day) and clock.hour < _NIGHT_ENDS and not clock.half:
        return clock.on(day, clock.hour + 24)
    return clock.on(day, max(hours) if start.hour >= 12 and clock.hour < 12 else clock.hours[0])


ISO_MOMENT = (
    r"(?<![\d.])(?<!\d-)(\d{4})-(\d\d)-(\d\d)(?:T|\s+)(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z"
    r"|[+-]\d\d:?\d\d)?(?![\d:]|\s*[ap]\.?m)"
)


def iso_moment(match: re.Match[str]) -> Narrow | None:
    """«2024-03-05T14:30:00Z»: hours of 24, in the zone given or the speaker's."""
    year, month, day, hour, minute = (int(match[index]) for index in range(1, 6))
    clock = Clock(hour, minute, int(match[6]) if match[6] else None, sure=True, zone=zone_named(match[7]))
    if not clock.valid:
        return None
    return lambda _, now: at_clock(clock)(found, now) if (found := day_of(now, year, month, day)) else None


def part_of_day(first: int, last: int, shift: int | None = None) -> Narrow:
    """«the morning» of the day given or of today; `shift`: of the day so many days from today («last night» is −1)."""

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        day = now.today if outer is None or outer.start is None else floor(outer.start, "day")
        if shift is not None:
            day = add(now.today, shift, "day")
        return Interval(_hour(day, first), _hour(day, last), "hour")

    return narrow


def _hour(day: datetime, hour: int) -> datetime:
    days, hour = divmod(hour, 24)
    return (day + timedelta(days=days)).replace(hour=hour)


def zone_named(name: str | None) -> tzinfo | None:
    """A zone by its name or offset («CET», «UTC+8», «+08:00»); nothing for an unknown one."""
    if not name:
        return None
    name = name.strip(" ()").lower()
    letters = name.rstrip("0123456789:+-−")
    hours = ZONES.get(letters, 0.0 if not letters else None)
    offset = name[len(letters) :].replace("−", "-")
    if hours is None:
        return None
    if offset:
        whole, _, minutes = offset[1:].partition(":")
        if not minutes and len(whole) == 4:
            whole, minutes = whole[:2], whole[2:]
        size = int(whole or 0) + int(minutes or 0) / 60
        hours += -size if offset[0] == "-" else size
    return timezone(timedelta(hours=hours)) if abs(hours) < 24 else None

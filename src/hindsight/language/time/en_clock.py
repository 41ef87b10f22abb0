"""English parts of the day and clock times."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta, tzinfo
from typing import Literal

from hindsight.language.time.clock import (
    ISO_MOMENT,
    ZONES,
    Clock,
    at_clock,
    clock_range,
    iso_moment,
    part_of_day,
    zone_named,
)
from hindsight.language.time.en_words import (
    CARDINAL,
    CARDINALS,
    ORDINAL,
    SHIFTS,
    number,
    unit_named,
)
from hindsight.language.time.grammar import (
    CLOCK,
    PART,
    Piece,
    Rulebook,
)
from hindsight.language.time.values import (
    Grain,
    Interval,
    Now,
    add,
    floor,
    rolling,
)

rule = Rulebook()
_PARTS = {
    "morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24), "lunch": (12, 14),
    "pm": (12, 18), "lunchtime": (12, 14), "midday": (12, 13), "am": (0, 12), "dinner": (18, 21), "breakfast": (6, 10),
}  # fmt: skip


@rule(ISO_MOMENT)
def _moment(match: re.Match[str]) -> Piece | None:
    narrow = iso_moment(match)
    return Piece(CLOCK, narrow) if narrow else None


@rule(
    r"\b(?:(early|late)\s+)?(last\s+night|tonight|tonite|this\s+(?:morning|afternoon|evening)"
    r"|last\s+(?:morning|evening|afternoon)|today\s+(?:am|pm))\b"
)
def _named_part(match: re.Match[str]) -> Piece:
    words = match[2].lower().split()
    name = "night" if words[-1] in ("tonight", "tonite") else words[-1]
    first, last = _part_hours(name, (match[1] or "").lower())
    return Piece(PART, part_of_day(first, last, -1 if words[0] == "last" else 0))


def _part_hours(name: str, edge: str) -> tuple[int, int]:
    first, last = _PARTS[name.removesuffix("ish")]
    if edge.startswith("early"):
        return first, 9 if name == "morning" else first + 3
    if edge.startswith("late"):
        return {"morning": 10, "afternoon": 15}.get(name, 21), last
    return first, last


@rule(
    r"\b(?:in\s+the\s+)?(?:(early\s+hours\s+of\s+the|early|late)\s+)?(?:in\s+)?(?:the\s+)?(morning"
    r"|afternoon|afternoonish|evening|night|lunchtime|lunch|dinner|breakfast)s?\b(?!\s+(?:person|shift"
    r"|school|break|room|club|routine|meal|every|all))"
)
def _part(match: re.Match[str]) -> Piece:
    first, last = _part_hours(match[2].lower(), (match[1] or "").lower())
    strong = re.match(r"in\s+the\s+(?:\w+\s+)*(?:morning|afternoon|evening)", match[0], re.IGNORECASE)
    habit = match[0].lower().endswith("s") or re.search(
        r"\b(?:every|good|each|most)\s*$", match.string[: match.start()], re.IGNORECASE
    )
    return Piece(PART, part_of_day(first, last), weak=not strong or bool(habit))


_H = r"(2[0-4]|1\d|0?\d)"
_AMPM = r"(a\.?\s?m\b\.?|p\.?\s?m\b\.?|[ap]\b\.?|in the (?:am|pm)\b)"
_ZONES = "|".join(sorted((name for name in ZONES if name.isascii() and len(name) > 1), key=len, reverse=True))
_ZONE = rf"(?:\s*\(?((?:{_ZONES})(?:[+-]\d{{1,2}}(?::?\d\d)?)?|(?<=\d)z|(?<=\d)[+-]\d\d:\d\d)\b\)?)?"
_TIME = rf"{_H}(?:[:h.]([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?|h)?(?:\s?-?ish)?(?:\s*o'?\s?clock)?(?:\s*{_AMPM})?(?:\s?ish)?"


def _half(text: str | None) -> Literal["am", "pm"] | None:
    if not text:
        return None
    return "pm" if re.search(r"\bp|^p", text.lower()) else "am"


@rule(
    rf"(?<![\w.:$/#-])(?<!\d,){_TIME}(?![\w:%]|[.,]\d|-\d{{3}}){_ZONE}(?!\s*(?:days?|weeks?|months?"
    rf"|years?|minutes?|mins?|hours?|seconds?|people|times|percent|%)\b)"
)
def _time(match: re.Match[str]) -> Piece | None:
    hour, minute, half = int(match[1]), match[2], _half(match[4])
    text = match[0].lower()
    written_h, oclock = bool(re.match(r"\d+h", text)), "clock" in text
    if re.search(r"\d\.\d", text) and not half and not match[5]:
        return None
    bare = not minute and not half and not written_h and not oclock
    if (bare and not _led(match) and not _beside(match)) or (
        half and len(match[4].strip(". ")) == 1 and not minute and not _led(match)
    ):
        return None
    sure = written_h or bool(minute and (len(match[1]) == 2 and match[1][0] == "0")) or bool(match[5])
    clock = Clock(
        hour,
        int(minute) if minute else None,
        int(match[3]) if match[3] else None,
        half,
        sure and not half,
        zone_named(match[5]),
    )
    ratio = (
        minute
        and not half
        and not match[5]
        and re.match(r"\s*(?:aspect|ratio|scale|odds|meeting)", match.string[match.end() :], re.IGNORECASE)
    )
    return Piece(CLOCK, at_clock(clock), weak=bare) if clock.valid and not ratio else None


def _led(match: re.Match[str]) -> bool:
    return bool(
        re.search(
            r"(?:^|\b|\s)(?:at|@|by|around|about|until|till|for|than|approximately)\s*(?:about\s+)?$",
            match.string[: match.start()],
            re.IGNORECASE,
        )
    )


def _beside(match: re.Match[str]) -> bool:
    """«9 tomorrow», «8 tonight»: a bare hour beside a day."""
    part = r"this\s+(?:morning|afternoon|evening)"
    after = rf"\s+(?:tomorrow|tonight|{part}|in\s+the\s+(?:morning|afternoon|evening|pm|am))\b"
    before = rf"(?:{part}|tonight|morning)\s+(?:at|@|around)?\s*$"
    return bool(
        re.match(after, match.string[match.end() :], re.IGNORECASE)
        or re.search(before, match.string[: match.start()], re.IGNORECASE)
    )


@rule(
    rf"\b(?:at\s+)?({CARDINAL})(?:[\s-]+(oh[\s-](?:one|two|three|four|five|six|seven|eight|nine)\b"
    rf"|{CARDINAL}))?(?:\s+minutes)?(\s*o'?clock)?\s*{_AMPM}?(?!\w|-)"
)
def _spoken(match: re.Match[str]) -> Piece | None:
    hour = int(number(match[1]))
    minute = (
        int(sum(CARDINALS[word] for word in re.split(r"[\s-]+", match[2].lower()) if word != "oh"))
        if match[2]
        else None
    )
    half = _half(match[4])
    led = (
        match[0].lower().startswith("at")
        or _led(match)
        or _beside(match)
        or re.search(rf"\b(?:{ORDINAL}|\d)\s*$", match.string[: match.start()], re.IGNORECASE)
    )
    if not (half or match[3] or led) or (minute is not None and not 1 <= minute < 60):
        return None
    clock = Clock(hour, minute, half=half)
    whole = match[0].lower().startswith("at") and minute is not None
    return (
        Piece(CLOCK, at_clock(clock), weak=not (half or match[3] or whole)) if clock.valid and 1 <= hour <= 12 else None
    )


@rule(
    rf"\b(?:at|around(?!\s+(?:19|20)\d\d)|approximately)\s+([01]?\d"
    rf"|2[0-3])\s?([0-5]\d)(?:ish)?(?:\s*{_AMPM})?(?![\w:%$]|[.,-]\d)|\b(1[0-2]"
    rf"|[1-9])([0-5]\d)\s*([ap]\.?m\b\.?)"
)
def _military(match: re.Match[str]) -> Piece | None:
    hour, minute, half = int(match[1] or match[4]), int(match[2] or match[5]), _half(match[3] or match[6])
    clock = Clock(hour, minute, half=half, sure=(match[1] or "").startswith("0"))
    return Piece(CLOCK, at_clock(clock)) if clock.valid else None


_SMALL = rf"(?:(a\s+)?(quarter|half)|(\d{{1,2}}|{CARDINAL})(?:\s+minutes?)?)"


@rule(
    rf"(?<![\w:/.-])(?:for\s+|at\s+)?{_SMALL}\s+(past|after|to|before|of|till|from)\s+(?:{_TIME}"
    rf"|({CARDINAL})(?:\s*{_AMPM})?|(noon|midday|midnight))(?![\w:/]){_ZONE}"
)
def _past_hour(match: re.Match[str]) -> Piece | None:
    minutes = {"quarter": 15, "half": 30}.get((match[2] or "").lower()) or int(number(match[3] or "0"))
    half = _half(match[8] or match[10])
    if match[11]:
        hour, half = 12, "am" if match[11].lower() == "midnight" else "pm"
    else:
        hour = int(match[5]) if match[5] else int(number(match[9]))
    marked = half or "h" in match[0][-4:]
    if match[6] or (match[4].lower() in ("of", "from", "after", "before") and not marked) or minutes > 59:
        return None
    earlier = match[4].lower() in ("to", "before", "of", "till")
    clock = Clock(hour, 0, half=half, sure="h" in match[0][-4:].lower() and not half)
    base = at_clock(replace(clock, minute=minutes) if not earlier else clock)
    if not clock.valid or not 0 < hour <= 24:
        return None

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        found = base(outer, now)
        if found is None or found.start is None:
            return None
        at = found.start - timedelta(minutes=minutes) if earlier else found.start
        return Interval(at, at, "minute")

    return Piece(CLOCK, narrow)


@rule(
    r"\bhalf\s+(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b(?!\s+(?:of|the"
    r"|hundred|thousand|times|as))"
)
def _half_hour(match: re.Match[str]) -> Piece:
    return Piece(CLOCK, at_clock(Clock(int(number(match[1])), 30)))


@rule(r"\b(?:at\s+)?(?:the\s+)?(noon|midday|mid day|midnight)(?:ish)?\b")
def _noon(match: re.Match[str]) -> Piece:
    midnight = match[1].lower() == "midnight"

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if midnight and outer is not None and outer.start is not None:
            at = add(floor(outer.start, "day"), 1, "day")
            return Interval(at, at, "hour")
        return at_clock(Clock(12, half="am" if midnight else "pm"))(outer, now)

    return Piece(CLOCK, narrow)


@rule(
    rf"(?<![\w:$/.-])(?:(?:from|between)\s+)?{_TIME}{_ZONE}\s*(-|–|—|~|to|until+|till|til|and|through"
    rf"|thru)\s*{_TIME}(?![\w:%/]|-\d){_ZONE}|\b(?:from\s+|between\s+)({CARDINAL})\s+(?:to|and|until"
    rf"|till)\s+({CARDINAL})(?:\s*{_AMPM})?"
)
def _clock_range(match: re.Match[str]) -> Piece | None:
    if match[12]:
        first, last = Clock(int(number(match[12]))), Clock(int(number(match[13])), half=_half(match[14]))
        return (
            Piece(CLOCK, clock_range(first, last), weak=not last.half)
            if first.valid and last.valid and first.hour
            else None
        )
    zone = zone_named(match[5] or match[11])
    first, last = _side(match, 1, zone), _side(match, 7, zone)
    dotted = re.search(r"\d\.\d\d?(?!\d)", match[0]) and not (first.half or last.half)
    if not (first.valid and last.valid) or dotted:
        return None
    if match[6].lower() == "and" and not match[0].lower().startswith("between"):
        return None
    marked = (
        first.minute is not None
        or last.minute is not None
        or first.half
        or last.half
        or zone
        or "h" in match[0].lower()[:4]
    )
    return Piece(CLOCK, clock_range(first, last), weak=not marked)


def _side(match: re.Match[str], at: int, zone: tzinfo | None) -> Clock:
    minute, second = match[at + 1], match[at + 2]
    hour_mark = bool(re.match(r"\d+h", match.string[match.start(at) : match.end(at) + 1]))
    half = _half(match[at + 3])
    return Clock(
        int(match[at]),
        int(minute) if minute else None,
        int(second) if second else None,
        half,
        sure=not half and (hour_mark or match[at][0] == "0"),
        zone=zone,
    )


@rule(
    r"\b(?:right\s+now|just\s+now|now|at\s+the\s+(?:present\s+)?(?:moment|time)|at\s+this\s+(?:time"
    r"|moment)|atm|currently)\b(?!\s+(?:that|and then))"
)
def _now(match: re.Match[str]) -> Piece:
    return Piece(CLOCK, lambda _, now: Interval(now.at, now.at, "second"), distance=True)


@rule(r"\b(?:the\s+)?(last|past|previous|next|coming)\s+(hour|minute|half\s+hour)\b")
def _last_hour(match: re.Match[str]) -> Piece:
    half = "half" in match[2].lower()
    grain: Grain = "minute" if half else unit_named(match[2])
    count = (30 if half else 1) * SHIFTS[match[1].lower()]
    return Piece(CLOCK, lambda _, now: rolling(now, count, grain))


@rule(r"\bfrom\s+now\s+on\b")
def _from_now(match: re.Match[str]) -> Piece:
    return Piece(CLOCK, lambda _, now: Interval(now.at, None, "second"), distance=True)

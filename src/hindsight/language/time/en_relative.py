"""English times by their distance from the moment of speaking, and parts of periods."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from hindsight.language.time.en_words import (
    COUNT,
    DURATION,
    PERIOD,
    REL,
    SHIFTS,
    UNIT,
    WITHIN,
    length,
    number,
    shift_named,
    unit_named,
)
from hindsight.language.time.grammar import (
    CLOCK,
    DAY,
    ERA,
    MONTH,
    PORTION,
    SEASON,
    WEEK,
    YEAR,
    Piece,
    Rulebook,
)
from hindsight.language.time.values import (
    PAST,
    Grain,
    Interval,
    Now,
    Third,
    add,
    edge,
    part,
    relative,
    rolling,
    shifted,
    unit,
)

rule = Rulebook()

# Units by their distance


@rule(rf"\b(?:the\s+|that\s+)?({REL}|same)\s+({PERIOD})(?:'?s)?(?!\s*(?:day|of week))(?!{WITHIN})")
def _period(match: re.Match[str]) -> Piece:
    grain = unit_named(match[2])
    ranks = {"century": ERA, "decade": YEAR, "year": YEAR, "quarter": SEASON, "month": MONTH, "week": WEEK}
    return Piece(ranks.get(grain, DAY), relative(grain, shift_named(match[1])))


@rule(rf"\b(?:the\s+)({PERIOD})\s+(after\s+next|before\s+last)\b")
def _period_after(match: re.Match[str]) -> Piece:
    shift = 2 if match[2].lower().startswith("after") else -2
    grain = unit_named(match[1])
    return Piece({"year": YEAR, "month": MONTH, "week": WEEK}.get(grain, DAY), relative(grain, shift))


@rule(
    r"\bthe\s+(week|month|year|day)(?=\s*[.!?]?$)|(?<=of )the\s+(week|month|year)\b(?!\s+(?:of|after"
    r"|before|\d))|(?<=of )(week|month|year|day)(?=\s*[.!?]?$)|(?<=in )the\s+(month|year"
    r"|week)\b(?!\s+(?:of|after|before|\d))"
)
def _the_period(match: re.Match[str]) -> Piece:
    grain = unit_named(next(group for group in match.groups() if group))
    return Piece({"year": YEAR, "month": MONTH, "week": WEEK}.get(grain, DAY), relative(grain, 0))


@rule(r"\b(?:the\s+)?(?:all|rest\s+of\s+the|remaining\s+of\s+the|remainder\s+of\s+the)\s+(week|month|year|day)\b")
def _whole(match: re.Match[str]) -> Piece:
    grain = unit_named(match[1])
    rest = not match[0].lower().startswith("all")

    def narrow(_: Interval | None, now: Now) -> Interval:
        whole = unit(now.at, grain)
        return replace(whole, start=now.today) if rest else whole

    return Piece(DAY, narrow)


@rule(r"\b(earlier|later)\s+(?:(?:in\s+)?(this|the|last|next|previous)\s+(week|month|year)|(?:in\s+)?(today))\b")
def _earlier(match: re.Match[str]) -> Piece:
    grain = unit_named(match[3]) if match[3] else "day"
    later = match[1].lower() == "later"

    def narrow(_: Interval | None, now: Now) -> Interval | None:
        whole = unit(now.at, grain, shift_named(match[2]))
        if shift_named(match[2]):
            return part(whole, "late" if later else "early")
        return replace(whole, start=now.at, vague=True) if later else replace(whole, end=now.at, vague=True)

    return Piece(DAY, narrow)


@rule(
    rf"\b(?:(?:in|over|during|for|within)\s+)?(?:the\s+)?(?:(last|past|previous|next|coming|upcoming"
    rf"|following)\s+({COUNT}|half)(?:\s+an?)?\s+(business\s+|working\s+)?({UNIT})"
    rf"|({COUNT})\s+(last|past|previous|next|coming|upcoming)\s+({UNIT}(?<=s)))(?!\s+(?:ago|before|after|of))"
)
def _span(match: re.Match[str]) -> Piece | None:
    word, count_text, unit_text = (match[1] or match[6]).lower(), match[2] or match[5], match[4] or match[7]
    grain = unit_named(unit_text)
    ahead = SHIFTS[word] > 0
    count = 0.5 if count_text.lower() == "half" else number(count_text)
    vague = "few" in count_text.lower() or "couple" in count_text.lower()
    within = match[0].lower().startswith("within")

    def narrow(_: Interval | None, now: Now) -> Interval:
        if grain in ("quarter", "decade", "century"):
            return unit(now.at, grain, 1 if ahead else -int(count), int(count))
        if match[3]:
            return _business_days(now, int(count), ahead)
        size, of = (
            (count, grain)
            if count == int(count) or grain in ("hour", "minute")
            else (count * 12, "month")
            if grain == "year"
            else (count * 30, "day")
        )
        found = rolling(now, size if ahead else -size, of)
        return replace(found, vague=vague, start=now.at) if within and ahead else replace(found, vague=vague)

    return Piece(CLOCK if grain in ("hour", "minute", "second") else DAY, narrow)


def _business_days(now: Now, count: int, ahead: bool) -> Interval:
    day, left = now.today, count
    while left:
        day = add(day, 1 if ahead else -1, "day")
        left -= day.weekday() < 5
    return (
        Interval(add(now.today, 1, "day"), add(day, 1, "day"), "day")
        if ahead
        else Interval(day, add(now.today, 1, "day"), "day")
    )


def distance(text: str, sign: int) -> Piece:
    count, grain = length(text)
    vague = bool(re.search("few|several", text, re.IGNORECASE))

    def narrow(_: Interval | None, now: Now) -> Interval | None:
        if vague and sign < 0 and grain not in ("hour", "minute", "second"):
            far, near = shifted(now, now.at, -6, grain), shifted(now, now.at, -2, grain)
            return Interval(far.start, near.end, grain, vague=True)
        found = shifted(now, now.at, sign * count, grain)
        return replace(found, vague=found.vague or vague)

    return Piece(CLOCK if grain in ("hour", "minute", "second") else DAY, narrow, distance=True)


@rule(rf"\b({DURATION})\s+(ago|back\b(?!\s+(?:to|in|at|from|on|home))|earlier\b|before\s+now)")
def _ago(match: re.Match[str]) -> Piece:
    return distance(match[1], -1)


@rule(
    rf"\bin\s+(?:about\s+|around\s+|approximately\s+)?({DURATION})(?!\s+(?:ago|since"
    rf"|or\b))(?:'s)?(?:\s+time)?|\b({DURATION})\s+(?:from\s+(?:right\s+)?now|hence|later)\b"
)
def _in(match: re.Match[str]) -> Piece:
    return distance(match[1] or match[2], 1)


@rule(rf"\bwithin\s+(?:the\s+next\s+)?({DURATION})")
def _within(match: re.Match[str]) -> Piece:
    count, grain = length(match[1])

    def narrow(_: Interval | None, now: Now) -> Interval:
        if now.lean == PAST:
            return rolling(now, -count, grain)
        far = shifted(now, now.at, count, grain)
        return Interval(now.at, far.end, far.grain)

    return Piece(DAY, narrow)


# Portions and vague words


@rule(
    r"\b(?:around\s+|at\s+)?(?:the\s+)?(early|mid|late|beginning|start|middle|end)(?:-|\s+)(?:of\s+"
    r"|in\s+)?(?:around\s+|the day\s+)?(?=\w)"
)
def _portion(match: re.Match[str]) -> Piece | None:
    word = match[1].lower()
    which: Third = (
        "early" if word in ("early", "beginning", "start") else "mid" if word in ("mid", "middle") else "late"
    )
    if word in ("beginning", "start", "middle", "end") and " of" not in match[0].lower():
        return None
    bound = (lambda outer, _: edge(outer, which)) if " of" in match[0].lower() else None
    return Piece(PORTION, lambda outer, _: part(outer, which) if outer else None, weak=True, bound=bound)


_EDGES: dict[str, tuple[Literal["early", "late"], Grain]] = {
    "d": ("late", "day"),
    "w": ("late", "week"),
    "m": ("late", "month"),
    "q": ("late", "quarter"),
    "y": ("late", "year"),
}


@rule(
    r"\b(?:the\s+|at\s+the\s+)?(E|B)O(D|W|M|Q|Y)\b|\b(?:at\s+)?(?:the\s+)?end\s+of\s+(?:the\s+)?(day"
    r"|week|month|quarter|year)\b(?!\s*\w)|\b(?:at\s+)?(?:the\s+)?(?:beginning"
    r"|start)\s+of\s+(?:the\s+)?(week|month|quarter|year)\b(?!\s*\w)"
)
def _edge(match: re.Match[str]) -> Piece | None:
    if match[2] and match[0][-3:] != match[0][-3:].upper():
        return None
    letter = (match[2] or match[3] or match[4])[0].lower()
    _, grain = _EDGES[letter]
    early = (match[1] or "").upper() == "B" or bool(match[4])
    which: Literal["early", "late"] = "early" if early else "late"
    return Piece(
        DAY, lambda _, now: part(unit(now.at, grain), which), bound=lambda _, now: edge(unit(now.at, grain), which)
    )


_VAGUE = {"recently": -30, "lately": -30, "these days": -30, "the other day": -7, "the other week": -28, "soon": 14}


@rule(
    r"\b(recently|lately|these days|the other day|the other week)\b|\b(?:ages"
    r"|(?:a\s+)?long(?:\s+time)?|many\s+years|years)\s+ago\b"
)
def _vague(match: re.Match[str]) -> Piece:
    days = _VAGUE.get((match[1] or "").lower())

    def narrow(_: Interval | None, now: Now) -> Interval:
        if days is None:
            return Interval(None, add(now.today, -1, "year"), "year", vague=True)
        return replace(rolling(now, days, "day"), vague=True)

    return Piece(DAY, narrow)


@rule(r"\b(?:the\s+)?week\s+(?:of|beginning|commencing|(?<=the week )starting)\s+(?:on\s+)?(?=\w)")
def _week_of(match: re.Match[str]) -> Piece:
    return Piece(PORTION, lambda outer, _: unit(outer.start, "week") if outer and outer.start else None, weak=True)


@rule(r"\b(?:the\s+)?weekend\s+of\s+(?=\w)")
def _weekend_of(match: re.Match[str]) -> Piece:
    def narrow(outer: Interval | None, _: Now) -> Interval | None:
        week = unit(outer.start, "week").start if outer and outer.start else None
        return Interval(add(week, 5, "day"), add(week, 7, "day"), "day") if week else None

    return Piece(PORTION, narrow, weak=True)

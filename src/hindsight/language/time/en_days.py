"""English weeks and days by name: weekdays, «the third Thursday of», weekends, festivals, «yesterday»."""

from __future__ import annotations

import re
from dataclasses import replace

from hindsight.language.time import festivals
from hindsight.language.time.en_words import (
    COUNT,
    DAYNUM,
    MONTH_NAME,
    MONTHS,
    ORDINAL,
    REL,
    WEEKDAY_NAME,
    WEEKDAYS,
    WITHIN,
    number,
    ordinal,
    shift_named,
    unit_named,
)
from hindsight.language.time.grammar import DAY, MONTH, PART, SEASON, WEEK, Piece, Rulebook
from hindsight.language.time.values import (
    FUTURE,
    PAST,
    Grain,
    Interval,
    Now,
    add,
    month_day,
    nth,
    relative,
    unit,
    weekday,
    weekday_of_week,
    within,
)

rule = Rulebook()


@rule(rf"\b(?:the\s+)?({REL})\s+({WEEKDAY_NAME})(?!\w)(?!{WITHIN})")
def _relative_weekday(match: re.Match[str]) -> Piece:
    word, index = match[1].lower(), WEEKDAYS[match[2].lower()]
    if word in ("coming", "upcoming", "past", "this past"):
        lean = FUTURE if "coming" in word else PAST
        return Piece(DAY, lambda _, now: weekday(index)(None, replace(now, lean=lean)), day=-1)
    return Piece(DAY, weekday_of_week(index, shift_named(word)), day=-1)


@rule(rf"\b({WEEKDAY_NAME})\s+(?:after\s+next|(week))\b(?!end)")
def _weekday_after_next(match: re.Match[str]) -> Piece:
    index = WEEKDAYS[match[1].lower()]

    def narrow(_: Interval | None, now: Now) -> Interval:
        first = weekday(index)(None, replace(now, lean=FUTURE))
        return unit((first.start if first else None) or now.today, "day", 7)

    return Piece(DAY, narrow)


@rule(rf"\b({COUNT})\s+({WEEKDAY_NAME}s)\s+(from\s+now|ago|back|hence)")
def _weekdays_off(match: re.Match[str]) -> Piece:
    index, count = WEEKDAYS[match[2].lower()[:-1]], int(number(match[1]))
    back = match[3].lower() in ("ago", "back")

    def narrow(_: Interval | None, now: Now) -> Interval | None:
        first = weekday(index)(None, replace(now, lean=PAST if back else FUTURE))
        return unit(first.start, "day", (1 - count if back else count - 1) * 7) if first and first.start else None

    return Piece(DAY, narrow)


@rule(rf"\b({WEEKDAY_NAME})(?:\.(?=\s|,|$))?(?:'s)?(?![\w'])")
def _weekday(match: re.Match[str]) -> Piece | None:
    name = match[1].lower()
    if name in ("sun", "sat", "wed", "mon", "fri"):
        before, after = match.string[: match.start()], match.string[match.end() :]
        clear = (
            re.search(r"(?:^|\b(?:on|by|until|since|from|till|to|this|and)|,|-)\s*$", before, re.IGNORECASE)
            if match[1][0].isupper()
            else not before.strip() and not after.strip()
        )
        dated = re.match(
            rf"\.?,?\s*(?:{DAYNUM}|{MONTH_NAME}\b|at\s|morning|afternoon|evening|night|\d)", after, re.IGNORECASE
        )
        if name in ("sun", "sat") and not (clear or (dated and match[1][0].isupper())):
            return None
        if not clear and not dated and not match[1][0].isupper():
            return None
    return Piece(DAY, weekday(WEEKDAYS[name]), day=WEEKDAYS[name])


@rule(
    rf"\b(?:the\s+)?({ORDINAL}|last|{ORDINAL}\s+(?:to\s+)?last)\s+({WEEKDAY_NAME}|day|week-?\s?end"
    rf"|wkend|week)(?=\s+(?:(?:morning|afternoon|evening|night)\s+)?(?:of|in)\b)"
    rf"|\b(?:the\s+)?({ORDINAL})\s+(week|{WEEKDAY_NAME})(?=\s+{MONTH_NAME})"
)
def _nth_in(match: re.Match[str]) -> Piece | None:
    words, what = (match[1] or match[3]).lower(), (match[2] or match[4]).lower()
    count = (
        -1
        if words == "last"
        else (-1 if words.endswith("last") else 1) * ordinal(re.sub(r"\s+(?:to\s+)?last$", "", words))
    )
    if what.startswith(("week-", "weeke", "week e", "wke")):
        return Piece(WEEK, lambda outer, now: _weekend_in(within(outer, now, "month"), count), weak=True)
    grain: Grain = "week" if what == "week" else "day"
    day = WEEKDAYS.get(what)
    return Piece(
        WEEK if grain == "week" else DAY,
        lambda outer, now: nth(within(outer, now, "month"), count, grain, day),
        weak=True,
    )


@rule(
    rf"\b(?:the\s+)?({ORDINAL}|last)\s+month(?=\s+of)|\b(?:the\s+)?(first|last)\s+({COUNT})\s+(days"
    rf"|weeks|months|quarters)(?=\s+of)"
)
def _some_of(match: re.Match[str]) -> Piece:
    if match[1]:
        count = -1 if match[1].lower() == "last" else ordinal(match[1])
        return Piece(MONTH, lambda outer, now: nth(within(outer, now, "year"), count, "month"), weak=True)
    grain, many = unit_named(match[4]), int(number(match[3]))
    back = match[2].lower() == "last"
    rank = {"quarter": SEASON, "month": MONTH, "week": WEEK}.get(grain, DAY)
    return Piece(
        rank, lambda outer, now: nth(within(outer, now, "year"), -many if back else 1, grain, length=many), weak=True
    )


def _weekend_in(outer: Interval, count: int) -> Interval | None:
    saturday = nth(outer, count, "day", 5)
    return Interval(saturday.start, add(saturday.start, 2, "day"), "day") if saturday and saturday.start else None


@rule(r"\bweek\s+(\d\d?)\b(?!\s*(?:days|hours))")
def _week_number(match: re.Match[str]) -> Piece | None:
    count = int(match[1])
    return Piece(WEEK, lambda outer, now: nth(within(outer, now, "year"), count, "week")) if 1 <= count <= 53 else None


@rule(
    rf"\b(?:(?:the|this|that|on|over|for)\s+|(?:this\s+)?({REL})\s+|(?<=\w )|^)(?:week-?\s?end|wkend"
    rf"|workweek|work\s+week)\b(?:\s+(before\s+last|after\s+next))?(?!\s+(?:of|in)\s+\w+\s+\d)"
)
def _weekend(match: re.Match[str]) -> Piece:
    shift = shift_named(match[1])
    if match[2]:
        shift = -2 if "last" in match[2].lower() else 2
    work = "work" in match[0].lower()

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        base, by = (outer.start, 0) if outer and outer.start else (now.at, shift)
        if outer is None and not shift and now.lean == PAST and now.at.weekday() < 5:
            by = -1
        week = unit(base, "week", by).start or now.today
        return (
            Interval(week, add(week, 5, "day"), "day")
            if work
            else Interval(add(week, 5, "day"), add(week, 7, "day"), "day")
        )

    strong = (
        re.match(
            r"(?:this\s+)?(?:the|this|that|on|over|last|next|past|previous|coming|upcoming)", match[0], re.IGNORECASE
        )
        or match[0].strip() == match.string.strip()
    )
    return Piece(PART, narrow, weak=not strong)


_DAY_WORDS = {
    "today": 0,
    "tomorrow": 1,
    "tomorrows": 1,
    "tmrw": 1,
    "tmr": 1,
    "yesterday": -1,
    "tonight": 0,
    "tonite": 0,
}


@rule(
    r"\b(today|tomorrows?|tmrw|yesterday)\b(?:'s)?|\b(?:the\s+)?day\s+(after\s+tomorrow"
    r"|before\s+yesterday)\b|\b(otd|current date|(?<=till )date|(?<!up )(?<=to )date(?=\s*[?.!]?$))\b"
)
def _day_word(match: re.Match[str]) -> Piece:
    if match[2]:
        shift = 2 if match[2].lower().startswith("after") else -2
    else:
        shift = _DAY_WORDS.get((match[1] or "today").lower(), 0)
    return Piece(DAY, lambda _, now: unit(now.at, "day", shift), distance=True)


@rule(r"\b(?:the|that|on the)\s+day\s+before(?=\s*[.!?]?$)")
def _day_before(match: re.Match[str]) -> Piece:
    return Piece(DAY, relative("day", -1))


@rule(festivals.EN_PATTERN.join((rf"\b(?:({REL})\s+)?", r"(?:\s+of\s+this\s+year)?")))
def _festival(match: re.Match[str]) -> Piece:
    name = re.sub(rf"^{REL}\s+|\s+of\s+this\s+year$", "", match[0], flags=re.IGNORECASE).lower()
    shift = shift_named(match[1]) if match[1] else 0
    narrow = festivals.named_en(name)
    if match[1] and shift:
        lean = PAST if shift < 0 else FUTURE
        return Piece(DAY, lambda outer, now: narrow(outer, replace(now, lean=lean)), festival=True)
    return Piece(DAY, narrow, loose=True, festival=True)


@rule(rf"\b(?:the\s+)?ides\s+of\s+({MONTH_NAME})\b")
def _ides(match: re.Match[str]) -> Piece:
    value = MONTHS[match[1].lower()]
    return Piece(DAY, month_day(value, 15 if value in (3, 5, 7, 10) else 13), loose=True)

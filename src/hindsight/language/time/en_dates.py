"""English dates: days by number, months, quarters, seasons, years and what is longer."""

from __future__ import annotations

import re
from dataclasses import replace

from hindsight.language.time.en_words import (
    CARDINAL,
    DAYNUM,
    MONTH_NAME,
    MONTHS,
    ORDINAL,
    ORDINAL_WORD,
    REL,
    WEEKDAY_NAME,
    YEAR4,
    YEAR_TAIL,
    in_year,
    number,
    ordinal,
    shift_named,
    year_number,
)
from hindsight.language.time.grammar import (
    DAY,
    ERA,
    MONTH,
    SEASON,
    YEAR,
    Piece,
    Rulebook,
)
from hindsight.language.time.values import (
    Interval,
    Now,
    Third,
    day_of,
    day_of_month,
    month,
    month_day,
    nth,
    part,
    relative,
    season,
    unit,
    within,
    yearly,
)

rule = Rulebook()
_TIES = ("twenties", "thirties", "forties", "fifties", "sixties", "seventies", "eighties", "nineties")

# Days by date


def _date(year: str | None, number: int, day: int) -> Piece | None:
    if not (1 <= number <= 12 and 1 <= day <= 31):
        return None
    if year:
        return Piece(DAY, lambda _, now: day_of(now, year_number(year, now), number, day))
    return Piece(DAY, month_day(number, day), loose=True)


@rule(
    rf"(?:\bthe\s+)?\b({MONTH_NAME})\.?,?\s*(?:the\s+)?[/-]?({DAYNUM})(?:st|nd|rd|th)?(?!\s*(?:am|pm"
    rf"|a\.m|p\.m|o'?clock|%)|[\d./-]\d){YEAR_TAIL}(?![\w-])"
)
def _month_day(match: re.Match[str]) -> Piece | None:
    return _date(match[3], MONTHS[match[1].lower()], ordinal(match[2]))


@rule(
    rf"(?<![\d.,/:$-])(?<!\$ )\b({DAYNUM})(?:st|nd|rd|th)?(?:\s+day)?\s*(?:of\s+)?[/-]?({MONTH_NAME})"
    rf"\b\.?(?:[/-](\d{{4}}|\d\d(?!\d))| (\d\d)(?=\s*(?:$|[.,;!?]))|{YEAR_TAIL})?"
)
def _day_month(match: re.Match[str]) -> Piece | None:
    return _date(match[3] or match[4] or match[5], MONTHS[match[2].lower()], ordinal(match[1]))


@rule(rf"\b({ORDINAL}|{CARDINAL})\s+({MONTH_NAME})(?!\w){YEAR_TAIL}")
def _word_day_month(match: re.Match[str]) -> Piece | None:
    day = match[1].lower()
    ordered = day[0].isdigit() or re.search(ORDINAL_WORD, day)
    if not ordered and match[2] in ("may", "march", "mar"):
        return None
    value = ordinal(day) if ordered else int(number(day))
    return _date(match[3], MONTHS[match[2].lower()], value)


@rule(
    rf"(?<!\w)(?:(\d{{4}})[-/]({MONTH_NAME})[-/](\d{{1,2}})|({MONTH_NAME})-(\d{{4}})-(\d{{1,2}})"
    rf"|(\d{{1,2}})-(\d{{4}})-({MONTH_NAME}))\b"
)
def _named_numeric(match: re.Match[str]) -> Piece | None:
    name = match[2] or match[4] or match[9]
    return _date(match[1] or match[5] or match[8], MONTHS[name.lower()], int(match[3] or match[6] or match[7]))


@rule(
    r"(?<![\d.])(?<!\d-)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:T(?=\d)|(?![\d/]))|(?<![\d./-])((?:19"
    r"|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])(?!\d)"
)
def _iso(match: re.Match[str]) -> Piece | None:
    return _date(match[1] or match[5], int(match[3] or match[6]), int(match[4] or match[7]))


@rule(r"(?<![\d./])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\d/]|-\d{3}|\.\d)")
def _us(match: re.Match[str]) -> Piece | None:
    if (
        re.search(r"(?<!\d{4})(?<!/\d)(?<!/\d\d)-$", match.string[: match.start()])
        and match.start() > 1
        and match.string[match.start() - 2].isdigit()
    ):
        return None
    first, second = int(match[1]), int(match[3])
    if first > 12 or (match[2] == "." and second <= 12):
        first, second = second, first
    return _date(match[4], first, second)


@rule(
    r"(?<![\d./,$])(?<![^/\d]\d-)(?<![^/]\d\d-)(\d{1,2})(/|\.|-)(\d{1,2})(?![\d/%:]|\.\d"
    r"|-(?!\d{1,2}/)\d|\s*(?:percent|%|h\b|hours?|of|cups?|an?\b|in\b(?! the|\s*\d)|million|stars?"
    r"|[ap]\.?m))"
)
def _slashed(match: re.Match[str]) -> Piece | None:
    first, second = int(match[1]), int(match[3])
    before = match.string[: match.start()]
    led = re.search(
        rf"(?:\b(?:on|by|from|to|until|since|before|after|this|{WEEKDAY_NAME}),?|^|[(-]|\d/\d\d?\s*(?:to|-|–))\s*$",
        before,
        re.IGNORECASE,
    )
    if match[2] != "/" and not (re.search(r"\b(?:on|due|by)\s*$", before) and match[2] == "."):
        return None
    if first > 12:
        first, second = second, first
    piece = _date(None, first, second)
    small = first < second < 9 and first < 4
    return replace(piece, weak=not led and (small or (first, second) == (7, 24))) if piece else None


@rule(rf"\b(?:the\s+)?({ORDINAL})(?:\s+day(?=\s*[,.]|$))?(?:\s+(?:of\s+)?this\s+month)?")
def _the_nth(match: re.Match[str]) -> Piece | None:
    before, after = match.string[: match.start()], match.string[match.end() :]
    day = rf"(?:{WEEKDAY_NAME}),?\s*(?:on\s+)?$"
    led = re.search(
        r"\b(?:on|by|before|after|until|since|around|of|between|from|to|till)\s+$|^$", before, re.IGNORECASE
    )
    ends = re.match(
        r"\s*(?:$|[.,;!?)]|(?:at|from|until|till|to|between|for|in the)\b|of (?:the |this |next |last |that ))",
        after,
        re.IGNORECASE,
    )
    strong = re.search(day, before, re.IGNORECASE) or match[0].lower().endswith("this month")
    if not strong and not ends:
        return None
    return Piece(
        DAY,
        day_of_month(ordinal(match[1])),
        loose=True,
        weak=not strong and not (led and "the" in match[0].lower().split()),
    )


@rule(
    r"(?:(?<=day )|(?<=on )|(?<=the ))(?:the\s+)?(3[01]|[12]\d|[1-9])(?:st|nd|rd|th)?(?![\w:./-]"
    r"|\s*(?:[ap]\.?m|o'?clock|hours?|days?|weeks?|months?|minutes?|years?|of\b|people|%))"
)
def _bare_day(match: re.Match[str]) -> Piece:
    return Piece(DAY, day_of_month(int(match[1])), loose=True, weak=True)


@rule(rf"\b(?:the\s+)?(\d{{1,2}}(?:st|nd|rd|th)?|{ORDINAL})(?:\s+day)?\s+of\s+(?:the\s+)?({REL})\s+month\b")
def _day_of_relative(match: re.Match[str]) -> Piece:
    return Piece(DAY, lambda _, now: day_of_month(ordinal(match[1]))(unit(now.at, "month", shift_named(match[2])), now))


@rule(
    rf"\b(?:the\s+)?({DAYNUM})\s*(?:-|–|to|through|thru|till|until"
    rf"|and)\s*(?:the\s+)?({DAYNUM})\s*(?:of\s+)?({MONTH_NAME}"
    rf"|(?:in\s+)?(?:{REL})\s+month)\b{YEAR_TAIL}"
)
def _days_of_month(match: re.Match[str]) -> Piece | None:
    return _days(match[3], match[1], match[2], match[4])


@rule(
    rf"\b({MONTH_NAME})\.?\s*(?:the\s+)?({DAYNUM})\s*(?:-|–|to|through|thru|till"
    rf"|until)\s*(?:the\s+)?({DAYNUM})(?![\w:/-]){YEAR_TAIL}"
)
def _month_days(match: re.Match[str]) -> Piece | None:
    return _days(match[1], match[2], match[3], match[4])


def _days(name: str, first: str, last: str, year: str | None) -> Piece | None:
    start, end = ordinal(first), ordinal(last)
    relative_month = re.search(rf"({REL})\s+month", name, re.IGNORECASE)

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if relative_month:
            whole: Interval | None = unit(now.at, "month", shift_named(relative_month[1]))
        else:
            named = MONTHS[name.lower()]
            context = in_year(year)(None, now) if year else outer
            far = month_day(named, end)(context, now)
            whole = unit(far.start, "month") if far and far.start else None
        if whole is None or whole.start is None:
            return None
        until = day_of(now, whole.start.year, whole.start.month, end)
        if start > end:
            whole = unit(whole.start, "month", -1)
        since = day_of(now, whole.start.year, whole.start.month, start) if whole.start else None
        return Interval(since.start, until.end, "day") if since and until else None

    return Piece(DAY, narrow)


# Years, months, seasons

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}


@rule(
    rf"(?:\b(?:in the year|the year|year|cy|fy)\s+|(?<=in )|(?<=of )|(?<=since )|(?<=before )"
    rf"|(?<=after )|(?<=until )|(?<=till )|(?<=by )|(?<=from )|(?<=to )|(?<=between )|(?<=during )"
    rf"|(?<=than )|(?<=through )|(?<=not )|(?<=on )|^|(?<==)"
    rf"|(?<== ))({YEAR4})(?:\s*a\.?d\.?\b)?(?![\w$-]|\s*(?:pieces|people|words|dollars|euros|items|%)"
    rf"|[.,]\d)"
)
def _led_year(match: re.Match[str]) -> Piece:
    return Piece(YEAR, in_year(match[1]))


@rule(
    rf"(?<![\w.,$/-])({YEAR4})(?![\w$/]|-(?!\d{{4}}(?![\d-]))\d|\.\d|,\d| ?%)(?:\s*a\.?d\.?\b)?"
    rf"|(?<=\d[~–-])({YEAR4})(?![\w-])"
)
def _bare_year(match: re.Match[str]) -> Piece:
    return Piece(YEAR, in_year(match[1] or match[2]), weak=True)


@rule(r"\b(\d{4})[-/](0?[1-9]|1[0-2])(?![-/\d])|(?<![\d/])(0?[1-9]|1[0-2])/(\d{4})(?!\d)")
def _year_month(match: re.Match[str]) -> Piece | None:
    year, number = int(match[1] or match[4]), int(match[2] or match[3])
    if not 1900 <= year <= 2100 or re.search(r"\d[\s-]+$", match.string[: match.start()]):
        return None
    return Piece(MONTH, lambda _, now: unit(now.today.replace(year=year, month=number, day=1), "month"))


@rule(rf"\b(?:the\s+)?({REL})\s+({MONTH_NAME})\b\.?(?!\s*\d{{1,2}}\b)|\b({MONTH_NAME})\s+after\s+next\b")
def _relative_month(match: re.Match[str]) -> Piece | None:
    if (match[2] or "") == "may" and match[1].lower() == "this":
        return None
    value = MONTHS[(match[2] or match[3]).lower()]
    shift = shift_named(match[1]) if match[1] else 2

    def narrow(_: Interval | None, now: Now) -> Interval:
        this = unit(now.today.replace(month=value, day=1), "month")
        if shift > 0:
            return (
                unit(this.start or now.today, "year", 0)
                if False
                else _month_on(now, value, shift - (value > now.at.month))
            )
        if shift < 0:
            return _month_on(now, value, -1 + (value < now.at.month))
        return this

    return Piece(MONTH, narrow)


def _month_on(now: Now, value: int, years: int) -> Interval:
    return unit(now.today.replace(year=now.at.year + years, month=value, day=1), "month")


@rule(rf"\b({MONTH_NAME})(?![\w])\.?(?:,?\s*-?(?:of\s+)?({YEAR4}|'\d\d(?!\d)))?(?!\s*-\s*\d)")
def _month(match: re.Match[str]) -> Piece | None:
    name, year = match[1].lower(), match[2]
    value = MONTHS[name]
    if year:
        return Piece(
            MONTH, lambda _, now: unit(now.today.replace(year=year_number(year, now), month=value, day=1), "month")
        )
    if name in ("may", "march", "mar", "dec", "jun") and not _named(match):
        return None
    return Piece(MONTH, month(value), loose=True)


def _named(match: re.Match[str]) -> bool:
    """Whether a month that is also a word is meant: the whole text, or led by what leads a time."""
    if match[0].strip() == match.string.strip():
        return True
    before = match.string[: match.start()]
    led = (
        r"\b(?:in|of|since|until|till|by|from|during|before|after|early|mid|late|through|between|next|last"
        r"|this)[ -](?:the |early |mid |late )?$"
    )
    ranged = r"(?:to|and|through|-|–)\s*$"
    capital = match[1][0].isupper()
    if re.search(led, before, re.IGNORECASE):
        return (
            capital
            or match[1].lower() != "may"
            or bool(re.search(r"\b(?:in|since|until|during|last|next|this|early|mid|late)[ -]$", before))
        )
    return bool(re.search(rf"\b{MONTH_NAME}\s*{ranged}", before, re.IGNORECASE)) or bool(
        re.match(rf"\s*(?:to|through|-|–|and)\s*{MONTH_NAME}\b", match.string[match.end() :], re.IGNORECASE)
    )


@rule(
    rf"\b(?:(?:the\s+)?({ORDINAL}|last)\s+(?:quarter|qtr)|(?:(\d{{4}}"
    rf"|\d\d)\s*-?\s*)?q([1-4])(?:\s*(?:of\s+)?(\d{{4}}))?)\b(?:\s+(?:of\s+)?(?:the\s+)?(?:this\s+)"
    rf"?year\b(?!\s+\d))?"
)
def _quarter(match: re.Match[str]) -> Piece | None:
    if (match[1] or "").lower() == "last":
        return Piece(SEASON, relative("quarter", -1))
    count = ordinal(match[1]) if match[1] else int(match[3])
    year = match[2] or match[4]
    if count > 4:
        return None
    return Piece(
        SEASON,
        lambda outer, now: nth(
            in_year(year)(None, now) or unit(now.at, "year") if year else within(outer, now, "year"), count, "quarter"
        ),
    )


@rule(
    r"\b(?:(\d{4})\s*-?\s*)?h([12])(?:\s*(?:of\s+)?(\d{4}))?\b|\b(?:the\s+)?(first"
    r"|second)\s+half(?=\s+of\s+(?:the\s+year|\d{4}|last\s+year|this\s+year"
    r"|next\s+year))(?:\s+of\s+the\s+year)?"
)
def _half(match: re.Match[str]) -> Piece | None:
    count = (1 if match[4].lower() == "first" else 2) if match[4] else int(match[2])
    year = match[1] or match[3]
    if not match[4] and not year:
        return None
    return Piece(
        SEASON,
        lambda outer, now: nth(
            in_year(year)(None, now) or unit(now.at, "year") if year else within(outer, now, "year"), count, "half"
        ),
    )


@rule(
    rf"\b(?:({REL})\s+|(?:in|during|since|of|until|by)\s+(?:the\s+)?|(?:the|early|mid|late)[ -])(spring"
    rf"|summer|autumn|fall|winter)\b(?!\s+(?:break|camp|coat|of code|in love|from|off|down|school"
    rf"|jacket|roll|festival))|\b(spring|summer|autumn|fall|winter)(?=,?\s+(?:of\s+)?(?:19|20)\d\d)"
)
def _season(match: re.Match[str]) -> Piece:
    first = _SEASONS[(match[2] or match[3]).lower()]
    shift = shift_named(match[1]) if match[1] else None

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if outer is not None or shift is None:
            return yearly(lambda year: season(now, year, first))(outer, now)
        around = [season(now, now.at.year + step, first) for step in (-2, -1, 0, 1, 2)]
        held = [one for one in around if one.start and one.end and one.start <= now.at < one.end]
        if shift == 0:
            return held[0] if held else season(now, now.at.year, first)
        if shift > 0:
            return next(one for one in around if one.start and one.start > now.at)
        return [one for one in around if one.end and one.end <= now.at][-1]

    return Piece(SEASON, narrow)


@rule(
    r"\b(?:the\s+)?(?:(early|mid|late)[ -])?(?:(\d{3}0)'?s|'?(\d0)\s?'?s|(twenties|thirties|forties"
    r"|fifties|sixties|seventies|eighties|nineties))(?!\w)(?:\s+of\s+the\s+last\s+century)?"
)
def _decade(match: re.Match[str]) -> Piece | None:
    before = match.string[: match.start()]
    led = re.search(r"\b(?:the|in)\s*$", before, re.IGNORECASE) or match[0][:3].lower() == "the"
    if not (match[2] or led) or re.search(r"\b(?:my|his|her|their)\s+$", before):
        return None
    value = int(match[2] or match[3] or 0) if not match[4] else 20 + 10 * _TIES.index(match[4].lower())

    def narrow(_: Interval | None, now: Now) -> Interval | None:
        year = value if value > 99 else now.at.year // 100 * 100 + value
        decade = unit(now.today.replace(year=year if year <= now.at.year else year - 100, month=1, day=1), "decade")
        which: dict[str, Third] = {"early": "early", "mid": "mid", "late": "late"}
        return part(decade, which[match[1].lower()]) if match[1] else decade

    return Piece(YEAR, narrow)


@rule(rf"\b(?:the\s+)?({ORDINAL})\s+century\b")
def _century(match: re.Match[str]) -> Piece:
    return Piece(
        ERA,
        lambda _, now: unit(now.today.replace(year=max(1, (ordinal(match[1]) - 1) * 100), month=1, day=1), "century"),
    )

"""Chinese weeks and days: weekdays, dates in words and figures, the lunar calendar, festivals."""

from __future__ import annotations

import re

from hindsight.language.time import festivals
from hindsight.language.time.grammar import DAY, MONTH, SEASON, WEEK, YEAR, Piece, Rulebook
from hindsight.language.time.values import (
    PAST,
    Interval,
    Narrow,
    Now,
    add,
    day_of,
    day_of_month,
    month,
    month_day,
    nth,
    relative,
    unit,
    weekday,
    weekday_of_week,
    within,
)
from hindsight.language.time.zh_words import HAN, SHIFTS, UNITS, WEEK_WORD, WEEKDAYS, N, in_year, number, year_number

rule = Rulebook()
_DAY_WORDS = {
    "大前": -3,
    "前": -2,
    "昨": -1,
    "今": 0,
    "明": 1,
    "后": 2,
    "大后": 3,
    "寻": -1,
    "听": 1,
    "次": 1,
    "翌": 1,
    "当": 0,
    "即": 0,
}


@rule(
    rf"((?:上+|下+|这|本|当|今|次)(?:一?个|一)?|每?)?{WEEK_WORD}([一二三四五六日天末1-7])(?![个年月天岁]|[一二三四五六七八九十]*(?:年|个月))(?!点)"
)
def _weekday(match: re.Match[str]) -> Piece | None:
    word, day = (match[1] or "").rstrip("个一"), match[2]
    if word.startswith("每"):
        return None
    shift = SHIFTS[word[0]] * len(word) if word else 0
    if day == "末":
        return Piece(DAY, _weekend(shift))
    index = WEEKDAYS[day]
    if not word:
        return Piece(DAY, weekday(index), day=index)
    return Piece(DAY, weekday_of_week(index, shift), day=-1)


def _weekend(shift: int) -> Narrow:
    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if outer is not None and outer.start is not None:
            week = unit(outer.start, "week") if outer.grain == "week" else nth(outer, 1, "week")
        else:
            week = unit(now.at, "week", shift)
        if week is None or week.start is None:
            return None
        if shift == 0 and outer is None and now.lean == PAST and now.at.weekday() < 5:
            week = unit(now.at, "week", -1)
        start = add(week.start or now.today, 5, "day")
        return Interval(start, add(start, 2, "day"), "day")

    return narrow


@rule(rf"(上+|下+|这|本|当|今)(?:一?个|一)?{WEEK_WORD}(?![一二三四五六日天末1-7])")
def _week(match: re.Match[str]) -> Piece:
    return Piece(WEEK, relative("week", SHIFTS[match[1][0]] * len(match[1])))


@rule(
    rf"第({N})个?(周|星期|礼拜|月|季度|天|日)(?![一二三四五六日天末])|(最后)一?个?(周|星期|礼拜|月|季度|天|日)(?![一二三四五六日天末])"
)
def _nth_unit(match: re.Match[str]) -> Piece:
    count = -1 if match[3] else number(match[1])
    grain = UNITS[(match[2] or match[4])[0]]
    rank = {"week": WEEK, "month": MONTH, "quarter": SEASON}.get(grain, DAY)
    return Piece(rank, lambda outer, now: nth(within(outer, now, "year"), count, grain), weak=True)


@rule(rf"(?:第({N})|(最后一))个?{WEEK_WORD}([一二三四五六日天])")
def _nth_weekday(match: re.Match[str]) -> Piece:
    count = -1 if match[2] else number(match[1])
    day = WEEKDAYS[match[3]]
    return Piece(DAY, lambda outer, now: nth(within(outer, now, "month"), count, "day", day), weak=True)


# Days


@rule(
    r"(大*前|昨|今|明|大*后|寻|听)[天日儿](?![的下]?(?:头条|之后》))|(即日|当[天日](?=[早晚上下中凌]))"
    r"|(今|明|昨|前|后|当)(?=早|晚|晨|夜|午后)"
)
def _day_word(match: re.Match[str]) -> Piece:
    word = match[1] or match[3] or match[2][:1]
    near = _DAY_WORDS[word.lstrip("大")]
    extra = word.count("大") * (1 if near > 0 else -1)

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        day = unit(now.at, "day", near + extra)
        if outer is None or outer.start is None or day.start is None:
            return day
        return day_of(now, outer.start.year, day.start.month, day.start.day)  # «去年今天»

    return Piece(DAY, narrow, distance=True)


@rule(
    rf"(?<![\d.第])({N})月份?的?\s*({N})\s*(?:[日号](?![线楼院店房门码台机车馆厅床桌公路])|(?!\d|\s*(?:[点时:月年天个周日号~–—至到-]|[一-龥]月)))"
)
def _month_day(match: re.Match[str]) -> Piece | None:
    first, second = number(match[1]), number(match[2])
    return Piece(DAY, month_day(first, second), loose=True) if 1 <= first <= 12 and 1 <= second <= 31 else None


# The first side of a range whose unit stands at the end: «1~6月», «12到15日», «1995-1997年».
@rule(
    r"(?<![\d.:/-])(\d{4})(?=\s*[-–—~至到]\s*\d{4}\s*年)|(?<![\d.:/第-])(\d{1,2}"
    r"|[一二三四五六七八九十]{1,2})(?=\s*[-–—~至到]\s*(?:\d{1,2}|[一二三四五六七八九十]{1,2})\s*(月|[日号]))"
)
def _first_side(match: re.Match[str]) -> Piece | None:
    if match[1]:
        return Piece(YEAR, in_year(match[1]))
    value = number(match[2])
    if match[3] == "月":
        return Piece(MONTH, month(value), loose=True) if 1 <= value <= 12 else None
    return Piece(DAY, day_of_month(value), loose=True) if 1 <= value <= 31 else None


@rule(rf"(?<![\d.:第点])({N})\s*[日号](?![线楼院店房门码台机车馆厅床桌公路])")
def _day(match: re.Match[str]) -> Piece | None:
    value = number(match[1])
    return Piece(DAY, day_of_month(value), loose=True) if 1 <= value <= 31 else None


@rule(rf"(?:农历|阴历|旧历)(?:(\d{{4}}|{HAN}{{4}})年)?(闰)?({N}|正|腊|冬)月(?:(初{HAN}|{N}|[廿卅]{HAN}?)[日号]?)?")
def _lunar(match: re.Match[str]) -> Piece | None:
    name = match[3]
    value = {"正": 1, "冬": 11, "腊": 12}.get(name) or number(name)
    day = number(match[4].lstrip("初")) if match[4] else None
    year = number(match[1]) if match[1] else None
    narrow = festivals.lunar_date(value, day, leap=bool(match[2]), year=year)
    return Piece(DAY if day else MONTH, narrow, loose=True) if value <= 12 else None


@rule(rf"(?:(正|腊|冬|{N})月)?(?:初({HAN})(?![中高次步期级一二三]|三[班的]))|(?:(正|腊)月)([廿卅]?{HAN}{{1,3}})(?!月)")
def _lunar_day(match: re.Match[str]) -> Piece | None:
    name = match[1] or match[3]
    if not name:
        return None
    value = {"正": 1, "冬": 11, "腊": 12}.get(name) or number(name)
    return Piece(DAY, festivals.lunar_date(value, number(match[2] or match[4])), loose=True)


@rule(
    r"(?<![\d./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?:[T日]|(?![\d/-]))"
    r"|(?<![\d./-])(\d{2})-(\d{1,2})-(\d{1,2})(?![\d/-])"
    r"|(?<![\d./-])((?:19|20)\d\d)(0[1-9]|1[0-2])([0-2]\d|3[01])(?!\d)"
)
def _iso(match: re.Match[str]) -> Piece | None:
    year, first, second = (
        (match[1] or match[5] or match[8]),
        (match[3] or match[6] or match[9]),
        (match[4] or match[7] or match[10]),
    )
    return Piece(DAY, lambda _, now: day_of(now, year_number(year, now), int(first), int(second)))


@rule(r"(?<![\d./-])(\d{4})([-/.])(0?[1-9]|1[0-2])(?![\d./-])(?!\s*(?:元|万|亿|%))")
def _year_month(match: re.Match[str]) -> Piece | None:
    if not 1900 <= int(match[1]) <= 2100 or match[2] == ".":
        return None
    first = int(match[3])
    return Piece(MONTH, lambda _, now: unit(now.today.replace(year=int(match[1]), month=first, day=1), "month"))


@rule(r"(?<![\d./-])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?(?![\d/%]|\.\d)|(?<=年)的?(\d{1,2})[.](\d{1,2})(?!\d)")
def _slashed(match: re.Match[str]) -> Piece | None:
    first, second = int(match[1] or match[4]), int(match[2] or match[5])
    if first > 12 >= second:
        first, second = second, first
    if not (1 <= first <= 12 and 1 <= second <= 31):
        return None
    if year := match[3]:
        return Piece(DAY, lambda _, now: day_of(now, year_number(year, now), first, second))
    return Piece(DAY, month_day(first, second), loose=True, weak=match[4] is None and second < 10 and first < second)


@rule(festivals.ZH_PATTERN)
def _festival(match: re.Match[str]) -> Piece:
    return Piece(DAY, festivals.named_zh(match[0]), loose=True, festival=True)

"""Days with a name: of fixed date, nth weekdays of a month, from Easter, of the Chinese lunar calendar, solar terms.

Only what the two languages name often; feasts of other calendars (Islamic, Jewish, Hindu) are not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache
from typing import TypeAlias

from hindsight.language.time.values import Interval, Narrow, Now, add, day_of, pick, unit, yearly

_DayInYear: TypeAlias = Callable[[int], date]

# Lengths of the lunar months 1900–2050, five hexadecimal digits a year: bits 0–12 are set where a month has 30 days,
# in order with the leap month in place; from bit 13 on, the number of the month followed by a leap one (0: none).
_LUNAR_FIRST, _LUNAR_START = 1900, date(1900, 1, 31)
_LUNAR = (
    "116d20075200ea50b64a0064b00a9b095560056a00b5905752007520db2500b2500a4b0b4ab002ad0056b04b6900da90fd9200e9200d25"
    "0ba4d00a56002b6095b5006d400ea905e9200e920cd260052b00a570b2d600b5a006d406ec9007490f69300a930052b0ca5b00aad0056a"
    "09b5500ba400b4905a9300a950f52d0053600aad0b5aa005b200ba507d4a00d4a10a9500a97005560cab500ad5006d208ea500ea50064a"
    "06c9700a9b0f55a0056a00b690b75200b5200b250964b00a4b114ab002ad005ad0cb6900da900d9209d2500d2515a4d00a56002b60c5b5"
    "006d500ea90be9200e9200d2606a5600a57114d60035a006d50b6c900749006930952b0052b00a5b0555a0056a0fb5500ba400b490ba93"
    "00a950052d08aad00ab5135aa005d200da50dd4a00d4a00c950952e0055600ab5055b2006d20cea5007250064b0ac9700cab0055a06ad6"
    "00b691775200b5200b250da4b00a4b004ab0a55b005ad00b6a05b5200d920fd2500d2500a550b4ad004b6005b506daa"
)


@lru_cache(maxsize=256)
def _lunar_year(year: int) -> tuple[date, tuple[int, ...], int]:
    """First day, lengths of the months in order, number of the month before the leap month (0: none)."""
    index = year - _LUNAR_FIRST
    if index < 0 or 5 * index >= len(_LUNAR):
        raise ValueError(f"lunar year {year}: only 1900 to 2050 are known")
    bits = int(_LUNAR[5 * index : 5 * index + 5], 16)
    leap = bits >> 13
    lengths = tuple(30 if bits >> month & 1 else 29 for month in range(13 if leap else 12))
    if index == 0:
        return _LUNAR_START, lengths, leap
    start, before, _ = _lunar_year(year - 1)
    return start + timedelta(days=sum(before)), lengths, leap


def lunar_day(year: int, month: int, day: int, *, leap: bool = False) -> date:
    """The common date of a lunar one. Raises `ValueError` where there is none or the year is unknown."""
    start, lengths, leap_month = _lunar_year(year)
    if leap and leap_month != month:
        raise ValueError(f"no leap month {month} in {year}")
    index = month - 1 + (1 if leap or 0 < leap_month < month else 0)
    if not (1 <= month <= 12 and 1 <= day <= lengths[index]):
        raise ValueError(f"no lunar day {month}/{day} in {year}")
    return start + timedelta(days=sum(lengths[:index]) + day - 1)


def easter(year: int) -> date:
    """Easter Sunday of the western churches (Meeus, Jones and Butcher)."""
    a, (b, c) = year % 19, divmod(year, 100)
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    month, day = divmod(h + k - 7 * ((a + 11 * h + 22 * k) // 451) + 114, 31)
    return date(year, month, day + 1)


def orthodox_easter(year: int) -> date:
    """Easter Sunday of the eastern churches by the Gregorian calendar, 1900–2099 (Meeus)."""
    d = (19 * (year % 19) + 15) % 30
    month, day = divmod(d + (2 * (year % 4) + 4 * (year % 7) - d + 34) % 7 + 114, 31)
    return date(year, month, day + 1) + timedelta(days=13)


@lru_cache(maxsize=256)
def solar_term(year: int, longitude: int) -> date:
    """The day in China on which the sun reaches a longitude, good to some minutes.

    After J. Meeus, Astronomical Algorithms, 2nd edition 1998, chapter 25.
    """
    days = (longitude - 280.46) % 360 * 365.2422 / 360 + (year - 2000) * 365.2422
    if longitude >= 280 and days < (date(year, 1, 1) - date(2000, 1, 1)).days:
        days += 365.2422
    for _ in range(4):
        anomaly = math.radians(357.5291 + 0.98560028 * days)
        centre = 1.9146 * math.sin(anomaly) + 0.02 * math.sin(2 * anomaly) + 0.0003 * math.sin(3 * anomaly)
        apparent = (
            280.4665 + 0.98564736 * days + centre - 0.00569 - 0.00478 * math.sin(math.radians(125.04 - 0.052954 * days))
        )
        days += ((longitude - apparent + 180) % 360 - 180) / 0.98564736
    return date(2000, 1, 1) + timedelta(days=math.floor(days + 0.5 + 8 / 24 - 68 / 86400))


def _fixed(month: int, day: int) -> _DayInYear:
    return lambda year: date(year, month, day)


def _nth(month: int, count: int, weekday: int) -> _DayInYear:
    def find(year: int) -> date:
        if count > 0:
            first = date(year, month, 1)
            return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (count - 1))
        last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        return last - timedelta(days=(last.weekday() - weekday) % 7)

    return find


def _from_easter(days: int, *, orthodox: bool = False) -> _DayInYear:
    return lambda year: (orthodox_easter if orthodox else easter)(year) + timedelta(days=days)


def _lunar(month: int, day: int) -> _DayInYear:
    return lambda year: lunar_day(year, month, day)


def _solar(longitude: int) -> _DayInYear:
    return lambda year: solar_term(year, longitude)


def _thanksgiving(days: int) -> _DayInYear:
    return lambda year: _nth(11, 4, 3)(year) + timedelta(days=days)


def _eve(year: int) -> date:
    return lunar_day(year, 1, 1) - timedelta(days=1)


_TERMS = (
    "春分 清明 谷雨 立夏 小满 芒种 夏至 小暑 大暑 立秋 处暑 白露 "
    "秋分 寒露 霜降 立冬 小雪 大雪 冬至 小寒 大寒 立春 雨水 惊蛰"
)
_EASTER_ZH = {
    "复活节": 0, "复活节星期一": 1, "主受难[日节]|受难日|圣周五|耶稣受难日": -2, "圣周六": -1, "圣周四|濯足节": -3,
    "棕枝主日|圣枝主日": -7, "大斋首日|圣灰日|灰日": -46, "耶稣升天节": 39, "五旬节|圣灵降临[节日]": 49,
    "圣三一主日|圣三节": 56,
}  # fmt: skip
_EASTER_EN = {
    "easter(?: sunday)?": 0, "easter mon(?:day)?": 1, "good friday": -2, "holy saturday": -1,
    "maundy thu(?:rsday)?": -3, "palm sunday": -7, "ash wednesday": -46,
    "mardi gras|shrove tuesday|pancake (?:day|tuesday)": -47,
    "ascension day": 39, "pentecost|whit sunday|white sunday": 49, "whit monday": 50, "trinity sunday": 56,
    "corpus christi": 60,
}  # fmt: skip
_ZH: dict[str, _DayInYear] = {
    "元旦节?|阳历新年": _fixed(1, 1),
    "(?:圣瓦伦丁|情人)节": _fixed(2, 14),
    "(?:三八)?(?:国际)?妇女节|三八节": _fixed(3, 8),
    "植树节": _fixed(3, 12),
    "(?:国际)?消费者权益日|三一五": _fixed(3, 15),
    "愚人节": _fixed(4, 1),
    "(?:五一)?(?:国际)?劳动节|五一(?!世纪)": _fixed(5, 1),
    "(?:五四)?青年节": _fixed(5, 4),
    "(?:六一)?(?:国际)?儿童节|六一": _fixed(6, 1),
    "(?:七一)?建党节": _fixed(7, 1),
    "(?:八一)?建军节": _fixed(8, 1),
    "教师节": _fixed(9, 10),
    "国庆节?|十一(?:假期|黄金周|长假)": _fixed(10, 1),
    "万圣节": _fixed(10, 31),
    "双十一|光棍节": _fixed(11, 11),
    "双十二": _fixed(12, 12),
    "澳门回归纪念日": _fixed(12, 20),
    "平安夜|圣诞夜": _fixed(12, 24),
    "圣诞节?": _fixed(12, 25),
    "母亲节": _nth(5, 2, 6),
    "父亲节": _nth(6, 3, 6),
    "感恩节": _thanksgiving(0),
    "黑色星期五": _thanksgiving(1),
    "跨年夜": _fixed(12, 31),
    "春节|农历新年|大年初一|新春|正月初一|正月朔日": _lunar(1, 1),
    "大年初二": _lunar(1, 2),
    "大年初三": _lunar(1, 3),
    "除夕夜?|大年三十|年三十": _eve,
    "元宵节?": _lunar(1, 15),
    "龙抬头": _lunar(2, 2),
    "端午节?": _lunar(5, 5),
    "七夕节?": _lunar(7, 7),
    "中元节": _lunar(7, 15),
    "中秋节?": _lunar(8, 15),
    "重阳节?": _lunar(9, 9),
    "腊八节?": _lunar(12, 8),
    **{name: _from_easter(days) for name, days in _EASTER_ZH.items()},
    **{f"东正教(?:{name})": _from_easter(days, orthodox=True) for name, days in _EASTER_ZH.items()},
    **{f"{name}节?": _solar(15 * index % 360) for index, name in enumerate(_TERMS.split())},
}
_EN: dict[str, _DayInYear] = {
    r"new year'?s?'? day|new years?": _fixed(1, 1),
    r"new year'?s'? eve|nye": _fixed(12, 31),
    r"(?:martin luther king(?: jr\.?)?(?:'?s)?|mlk(?: jr\.?)?|civil rights) day": _nth(1, 3, 0),
    "groundhog day": _fixed(2, 2),
    r"valentine'?s?(?: day)?": _fixed(2, 14),
    r"president'?s'? day": _nth(2, 3, 0),
    r"(?:st\.?|saint) (?:patrick|paddy)(?:'?s)?(?: day)?": _fixed(3, 17),
    r"april fools?'?s?(?: day)?": _fixed(4, 1),
    "earth day": _fixed(4, 22),
    r"(?:international )?workers'? day|may day": _fixed(5, 1),
    r"mother'?s'? day": _nth(5, 2, 6),
    "memorial day": _nth(5, -1, 0),
    "juneteenth": _fixed(6, 19),
    r"father'?s'? day": _nth(6, 3, 6),
    "independence day": _fixed(7, 4),
    "bastille day": _fixed(7, 14),
    "labou?r day": _nth(9, 1, 0),
    "columbus day": _nth(10, 2, 0),
    "halloween": _fixed(10, 31),
    r"all saints'? day|world vegan day": _fixed(11, 1),
    r"veteran'?s'? day": _fixed(11, 11),
    "thanksgiving(?: day)?": _thanksgiving(0),
    "black friday": _thanksgiving(1),
    "cyber monday": _thanksgiving(4),
    "(?:christmas|xmas) eve": _fixed(12, 24),
    "(?:christmas|xmas)(?: day)?(?! eve)": _fixed(12, 25),
    "boxing day": _fixed(12, 26),
    r"(?:chinese|lunar)(?: lunar)? new year(?:'?s)?(?: day)?|spring festival": _lunar(1, 1),
    "lantern festival": _lunar(1, 15),
    "dragon boat festival": _lunar(5, 5),
    "mid-?autumn(?: festival)?": _lunar(8, 15),
    "qingming(?: festival)?": _solar(15),
    **{name: _from_easter(days) for name, days in _EASTER_EN.items()},
    **{f"orthodox (?:{name})": _from_easter(days, orthodox=True) for name, days in _EASTER_EN.items()},
}


def _pattern(table: dict[str, _DayInYear]) -> str:
    return "|".join(sorted(table, key=len, reverse=True))


ZH_PATTERN = f"(?:{_pattern(_ZH)})"
EN_PATTERN = rf"\b(?:{_pattern(_EN)})(?![a-z'])"
_NAMES = {
    "zh": [(re.compile(name), find) for name, find in _ZH.items()],
    "en": [(re.compile(name, re.IGNORECASE), find) for name, find in _EN.items()],
}


@lru_cache(maxsize=512)
def _finder(language: str, name: str) -> _DayInYear:
    return next(find for pattern, find in _NAMES[language] if pattern.fullmatch(name))


def _named(language: str, name: str) -> Narrow:
    find = _finder(language, name)

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        years = range(now.at.year - 1, now.at.year + 2)
        if outer is not None and outer.start is not None:
            return _interval(now, find, outer.start.year)
        return pick(now, (_interval(now, find, year) for year in years))

    return narrow


def _interval(now: Now, find: _DayInYear, year: int) -> Interval | None:
    try:
        day = find(year)
    except ValueError:
        return None
    return day_of(now, day.year, day.month, day.day)


def named_zh(name: str) -> Narrow:
    """The day of a festival or solar term by its Chinese name."""
    return _named("zh", name)


def named_en(name: str) -> Narrow:
    """The day of a festival by its English name."""
    return _named("en", name)


def lunar_date(month: int, day: int | None, *, leap: bool = False, year: int | None = None) -> Narrow:
    """A day or (`day` None) a month of the lunar calendar, in the lunar year given or meant."""

    def make(now: Now, which: int) -> Interval | None:
        try:
            first = lunar_day(which, month, day or 1, leap=leap)
            start = now.today.replace(year=first.year, month=first.month, day=first.day)
            if day:
                return unit(start, "day")
            _, lengths, leap_month = _lunar_year(which)
            index = month - 1 + (1 if leap or 0 < leap_month < month else 0)
            return Interval(start, add(start, lengths[index], "day"), "month")
        except ValueError:
            return None

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if year is not None:
            return make(now, year)
        return yearly(lambda which: make(now, which))(outer, now)

    return narrow


def lunar_month(month: int) -> Narrow:
    """A month of the lunar calendar by its own name («腊月»)."""
    return lunar_date(month, None)

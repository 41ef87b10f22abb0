"""Chinese years and what is longer, parts of a year, months and their parts."""

from __future__ import annotations

import re
from dataclasses import replace

from hindsight.language.time import festivals
from hindsight.language.time.grammar import (
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
    Interval,
    Now,
    add,
    edge,
    month,
    nth,
    part,
    relative,
    rolling,
    season,
    unit,
    within,
    yearly,
)
from hindsight.language.time.zh_words import (
    HAN,
    SHIFTS,
    THIRDS,
    UNITS,
    M,
    N,
    in_year,
    number,
)

rule = Rulebook()
# First years of the reigns that people still count in.
_REIGNS = {
    "贞观": 627,
    "神龙": 705,
    "开元": 713,
    "天宝": 742,
    "洪武": 1368,
    "永乐": 1403,
    "嘉靖": 1522,
    "万历": 1573,
    "崇祯": 1628,
    "顺治": 1644,
    "康熙": 1662,
    "雍正": 1723,
    "乾隆": 1736,
    "嘉庆": 1796,
    "道光": 1821,
    "咸丰": 1851,
    "同治": 1862,
    "光绪": 1875,
    "宣统": 1909,
    "民国": 1912,
}
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_YEAR_WORDS = {
    "大前": -3,
    "前": -2,
    "去": -1,
    "上": -1,
    "今": 0,
    "本": 0,
    "这一": 0,
    "明": 1,
    "下": 1,
    "后": 2,
    "大后": 3,
    "来": 1,
}
# Years and larger


@rule(r"(?<![\d.])(\d{4}|[一二][〇零一二三四五六七八九]{3})\s*年(?![代级])度?")
def _full_year(match: re.Match[str]) -> Piece:
    return Piece(YEAR, in_year(match[1]))


@rule(
    r"(?<![\d.〇零一二三四五六七八九十百千第])(?:(0\d|[5-9]\d|[〇零八九][〇零一二三四五六七八九])\s*年(?!代|级)"
    rf"|(\d\d)\s*年(?=\s*(?:{N}\s*月|{N}\s*[~-]\s*{N}\s*月|[上下]半年|第?[一二三四1-4]季度|[初底末春夏秋冬])))"
)
def _short_year(match: re.Match[str]) -> Piece:
    return Piece(YEAR, in_year(match[1] or match[2]))


@rule(r"(大前|前|去|上|今|本|这一|明|下|大后|后|来)一?年(?![级轻龄])(?!前半|后半)度?|(次|翌|同|当)年")
def _year_word(match: re.Match[str]) -> Piece | None:
    if word := match[1]:
        return Piece(YEAR, relative("year", _YEAR_WORDS[word]))
    shift = 1 if match[2] in "次翌" else 0
    return Piece(YEAR, relative("year", shift), weak=match[2] in "同当")


@rule(rf"({'|'.join(_REIGNS)})({HAN}+|\d+|元)年")
def _reign(match: re.Match[str]) -> Piece:
    year = _REIGNS[match[1]] + (1 if match[2] == "元" else number(match[2])) - 1
    return Piece(YEAR, lambda _, now: unit(now.today.replace(year=year, month=1, day=1), "year"))


@rule(rf"(?:(上上?|本|这)个?世纪|(\d\d?|{HAN}{{1,3}})世纪)(?!之交)")
def _century(match: re.Match[str]) -> Piece:
    def narrow(_: Interval | None, now: Now) -> Interval:
        if match[1]:
            return unit(now.at, "century", -match[1].count("上"))
        return unit(now.today.replace(year=max(1, (number(match[2]) - 1) * 100), month=1, day=1), "century")

    return Piece(ERA, narrow)


@rule(r"(?<!\d)(\d0|\d\d\d0|[一二三四五六七八九]十)\s*年代")
def _decade(match: re.Match[str]) -> Piece:
    value = number(match[1])

    def narrow(outer: Interval | None, now: Now) -> Interval:
        base = outer.start.year if outer and outer.start else now.at.year // 100 * 100
        year = value if value > 99 else base + value
        if not outer and year > now.at.year:
            year -= 100
        return unit(now.today.replace(year=year, month=1, day=1), "decade")

    return Piece(YEAR, narrow)


# Parts of a year


@rule(r"(?:(上|下|前|后)半年|(上|这|下)个半年)")
def _half(match: re.Match[str]) -> Piece:
    second = (match[1] or match[2]) in "下后"
    return Piece(SEASON, lambda outer, now: nth(within(outer, now, "year"), 2 if second else 1, "half"))


@rule(
    r"(?:(?:第)?([一二三四1-4])季度|第([一二三四1-4])季(?=$|[^一-龥])|(首|末)季度?|([上下本这])个?季度|(?<![a-z0-9])q([1-4])(?![a-z0-9]))"
)
def _quarter(match: re.Match[str]) -> Piece:
    if match[4]:
        return Piece(SEASON, relative("quarter", SHIFTS[match[4]]))
    index = {"首": 1, "末": 4}[match[3]] if match[3] else number(match[1] or match[2] or match[5])
    return Piece(SEASON, lambda outer, now: nth(within(outer, now, "year"), index, "quarter"))


@rule(rf"(最后|前|头|(?<!最)后|末|首)\s*({M})\s*个?(季度|月|周|星期|天|日)(?![之以]?[前后内])")
def _some_units(match: re.Match[str]) -> Piece:
    count, grain = number(match[2]), UNITS[match[3][0]]
    back = match[1] in ("后", "最后", "末")

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if outer is None:
            if grain == "quarter" or match[1] == "首":
                return nth(unit(now.at, "year"), -count if back else 1, grain, length=count)
            return rolling(now, count if back else -count, grain)
        return nth(outer, -count if back else 1, grain, length=count)

    return Piece({"quarter": SEASON, "month": MONTH, "week": WEEK}.get(grain, DAY), narrow)


@rule(r"([春夏秋冬])(?:天|季|日里?)|(?<=年)的?([春夏秋冬])(?!节|游|运|装|奥)|[今明去]([春夏秋冬])(?!节)")
def _season(match: re.Match[str]) -> Piece:
    first = _SEASONS[match[1] or match[2] or match[3]]
    shift = SHIFTS[match[0][0]] if match[3] else None

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        if shift is not None:
            return season(now, now.at.year + shift, first)
        if outer is None and first == 12 and now.at.month < 3:
            return season(now, now.at.year - 1, first)
        return yearly(lambda year: season(now, year, first))(outer, now)

    return Piece(SEASON, narrow)


@rule(r"年(初|头|中(?![秋国央间东心学文])|底|末|尾)|(?<![0-9一二三四五六七八九十])(?:开年|岁(末))")
def _year_part(match: re.Match[str]) -> Piece:
    edges = {"early": (0, 3), "mid": (5, 7), "late": (10, 12)}[THIRDS[match[1] or match[2] or "初"]]

    def narrow(outer: Interval | None, now: Now) -> Interval:
        start = within(outer, now, "year").start or now.today
        return Interval(add(start, edges[0], "month"), add(start, edges[1], "month"), "month", vague=True)

    which = THIRDS[match[1] or match[2] or "初"]
    return Piece(MONTH, narrow, bound=lambda outer, now: edge(within(outer, now, "year"), which))


# The word «年» of the year before it: «明年初», «2018年底».
@rule(r"(?<=[年])(初|中(?![秋国央间东心学文])|底|末|尾)")
def _year_edge(match: re.Match[str]) -> Piece | None:
    return _year_part(match)


@rule(r"(?<=世纪|年代|季度)(初期?|中(?!期|叶|旬|国|学|心)|底|中期|中叶|末期?|后期|前期|早期|晚期)")
def _age_part(match: re.Match[str]) -> Piece:
    return Piece(PORTION, lambda outer, _: part(outer, THIRDS[match[1][0]]) if outer else None)


# Months


@rule(rf"(?<![\d.第])({N}|元|正|腊|冬)月(?!饼|球|亮|光|嫂|票)份?(?!大|花|嫂)")
def _month(match: re.Match[str]) -> Piece | None:
    name = match[1]
    value = {"元": 1, "正": 1, "冬": 11, "腊": 12}.get(name) or number(name)
    if name in "正腊冬":
        return Piece(MONTH, festivals.lunar_month(value))
    return Piece(MONTH, month(value), loose=True) if 1 <= value <= 12 else None


@rule(r"(?<![\d第])(?:([一二三四五六七八九])、?([二三四五六七八九十])|(\d{1,2})、(\d{1,2}))月份?")
def _two_months(match: re.Match[str]) -> Piece | None:
    first, second = number(match[1] or match[3]), number(match[2] or match[4])
    if second != first + 1 or second > 12:
        return None

    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        found = month(first)(outer, now)
        return unit(found.start, "month", count=2) if found and found.start else None

    return Piece(MONTH, narrow)


@rule(r"(上+|下+|这|本|当|今|次)一?个?月(?!球|亮|饼|光)份?|(?:农历|阴历)?闰月")
def _month_word(match: re.Match[str]) -> Piece | None:
    word = match[1]
    return Piece(MONTH, relative("month", SHIFTS[word[0]] * len(word))) if word else None


@rule(r"(?:(?<=月)|(?<=月份))(初|中(?![旬国秋学文])|底|末|尾)|([上中下])旬|(上|下|前|后)半个?月")
def _month_part(match: re.Match[str]) -> Piece:
    def narrow(outer: Interval | None, now: Now) -> Interval | None:
        whole = within(outer, now, "month")
        if match[3] and whole.start and whole.end:
            half = add(whole.start, 15, "day")
            return Interval(whole.start, half, "day") if match[3] in "上前" else Interval(half, whole.end, "day")
        found = part(whole, THIRDS[match[1] or match[2]])
        return replace(found, vague=not match[2]) if found else None

    name = match[1]
    bound = (lambda outer, now: edge(within(outer, now, "month"), THIRDS[name])) if name else None
    return Piece(DAY, narrow, bound=bound)


@rule(r"月(初|中(?![旬国秋学文])|底|末|尾)()()")
def _month_edge(match: re.Match[str]) -> Piece | None:
    return _month_part(match)

"""Times in Chinese, larger units before smaller ones: what stands around them, and the grammar as a whole.

Patterns are written for simplified characters in half width.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from hindsight.language.time import zh_clock, zh_dates, zh_days, zh_relative
from hindsight.language.time.clock import (
    zone_named,
)
from hindsight.language.time.grammar import (
    AFTER,
    BEFORE,
    SINCE,
    UNTIL,
    Change,
    Grammar,
    Modifier,
    from_start,
)
from hindsight.language.time.values import (
    Interval,
    Now,
    add,
    shifted,
)
from hindsight.language.time.zh_words import (
    HAN,
    UNITS,
    M,
    N,
    number,
)

# What stands around


def _after_days(match: re.Match[str]) -> Change:
    """«春节前三天», «国庆后第二天»: a distance from the time named."""
    count, grain = number(match[2]), UNITS[match[3][0]]
    sign = -1 if match[1].endswith("前") else 1

    def effect(interval: Interval) -> Interval | None:
        if interval.start is None:
            return None
        now = Now(interval.start)
        return shifted(now, interval.start, sign * count, grain)

    return Change(effect)


def _change(change: Change) -> Callable[[re.Match[str]], Change]:
    return lambda _: change


def _days_around(match: re.Match[str]) -> Change:
    """«春节前三天»: the three days before it."""
    count, grain = number(match[2]), UNITS[match[3][0]]

    def effect(interval: Interval) -> Interval | None:
        if interval.start is None or interval.end is None:
            return None
        if match[1] == "前":
            return Interval(add(interval.start, -count, grain), interval.start, grain)
        return Interval(interval.end, add(interval.end, count, grain), grain)

    return Change(effect)


def _in_china(interval: Interval) -> Interval | None:
    """«北京时间»: the clock of China, whatever the zone of the speaker."""
    if interval.start is None or interval.start != interval.end:
        return interval
    at = interval.start.replace(tzinfo=zone_named("北京时间")).astimezone(interval.start.tzinfo)
    return replace(interval, start=at, end=at)


_AFTER = (
    Modifier(re.compile(rf"的?(前|后)({M})(天|日|周|个?月)(?![之以]?[前后])"), _days_around),
    Modifier(re.compile(rf"的?([之以]?[前后])第({N})(天|日|周|个?月|年)"), _after_days),
    Modifier(re.compile(r"\s*(?:(?:或|及|和)(?:其|者)?(?:[之以]前|更早)|为止|截止)"), _change(UNTIL)),
    Modifier(re.compile(r"\s*(?:(?:或|及|和)(?:其|者)?(?:[之以]后|更晚)|以来|至今|到现在|到今天)"), _change(SINCE)),
    Modifier(
        re.compile(r"\s*(?:起(?=$|[^一-龥]|[就的我他她到])|开始(?=$|[^一-龥]|[发的我他她就]))"),
        _change(Change(from_start)),
    ),
    Modifier(re.compile(r"的?\s*(?:[之以]前|前(?=$|[^一-龥]|[就要必完交把会能去回到])|更早)"), _change(BEFORE)),
    Modifier(re.compile(r"的?\s*(?:[之以]后|后(?=$|[^一-龥]|[就要才再我他她会能去开]))"), _change(AFTER)),
)
_BEFORE = (
    Modifier(re.compile(r"(?:截[至止]到?|直到|不?(?:晚|迟)于|到(?=今|明|昨|现|目前|20|19))\s*$"), _change(UNTIL)),
    Modifier(re.compile(r"(?:自从|自打|自)\s*$"), _change(SINCE)),
    Modifier(re.compile(r"北京时间\s*$"), _change(Change(_in_china))),
)

GRAMMAR = Grammar(
    hint=re.compile(
        rf"\d|[{HAN[1:-1]}半几数]\s*个?[年月日号天周星礼季点时刻分秒小钟世]|[今明昨前后去上下这本次当翌初末][天日年月周星礼早晚晨季半个儿一两二三四五六七八九十几]"
        rf"|[早晚晨夜午]|周|星期|礼拜|年[初中底末]|月[初中底末]|[上中下]旬|[春夏秋冬]|世纪|现在|目前|当前|此[时刻]|近|刚|节|五一|双十|十一[假黄长]|除夕|元旦|国庆|圣诞|三一五|新春|正月"
        rf"|腊月|农历|阴历|阳历|宜家|而家|依家|久|从前|日|诞|过[去几两阵]|未来|至今|[白寒雨雪霜露惊谷清立大小冬夏春秋][露霜雪暑寒分至明雨蛰满种]"
    ),
    rules=(*zh_dates.rule.rules, *zh_days.rule.rules, *zh_clock.rule.rules, *zh_relative.rule.rules),
    glue=re.compile(r"[\s,，、的]{0,3}(?:[在于]|那天|那年)?\s*"),
    join=re.compile(r"\s*(?:到了?|至|~|-|–|—|直到|一直到)\s*"),
    opening=re.compile(r"(?:从|自|由)\s*$"),
    between=(
        re.compile(r"(?:在)?\s*$"),
        re.compile(r"\s*(?:和|与|跟|到|至|及)\s*"),
        re.compile(r"\s*(?:之间|间|期间)"),
    ),
    before=_BEFORE,
    after=_AFTER,
    never=re.compile(r"每(?:一|个|逢|到)?(?:天|日|周|星期|礼拜|月|个月|年|晚|早)?(?:的|都)?\s*$"),
    past=re.compile(r"了|过(?!几|两|年)|曾|当时|那时|刚"),
    future=re.compile(r"将|[^重不需主]要|会(?!议)|打算|准备|计划|提醒|记得|预约|预定|安排"),
    descending=True,
    calendar=True,
)

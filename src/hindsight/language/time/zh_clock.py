"""Chinese parts of the day and clock times."""

from __future__ import annotations

import re
from typing import Literal

from hindsight.language.time.clock import (
    ISO_MOMENT,
    Clock,
    at_clock,
    iso_moment,
    part_of_day,
    zone_named,
)
from hindsight.language.time.grammar import (
    CLOCK,
    PART,
    Piece,
    Rulebook,
)
from hindsight.language.time.zh_words import (
    HAN,
    N,
    number,
)

rule = Rulebook()
_PARTS = {
    "凌晨": (0, 6),
    "清晨": (5, 8),
    "拂晓": (4, 7),
    "黎明": (4, 7),
    "清早": (4, 12),
    "大早": (4, 12),
    "早上": (4, 12),
    "早晨": (4, 12),
    "早间": (8, 12),
    "早": (4, 12),
    "晨": (4, 12),
    "上午": (8, 12),
    "午前": (8, 12),
    "中午": (11, 14),
    "正午": (11, 14),
    "午间": (11, 14),
    "午后": (12, 18),
    "下午": (12, 18),
    "晏昼": (12, 18),
    "傍晚": (17, 20),
    "黄昏": (17, 20),
    "晚上": (18, 24),
    "晚间": (18, 24),
    "夜晚": (18, 24),
    "晚": (18, 24),
    "夜里": (18, 30),
    "夜间": (18, 30),
    "深夜": (22, 30),
    "半夜": (23, 30),
    "午夜": (23, 25),
    "夜": (18, 24),
    "白天": (6, 18),
}
_PART = "|".join(sorted(_PARTS, key=len, reverse=True))


# Parts of the day and the clock


@rule(ISO_MOMENT)
def _moment(match: re.Match[str]) -> Piece | None:
    narrow = iso_moment(match)
    return Piece(CLOCK, narrow) if narrow else None


@rule(rf"(?<![最])(?:({_PART})(?![一-龥]*?餐?(?:饭|餐))|(?<=[今明昨前后当]天)(?:一?)(大早))")
def _part(match: re.Match[str]) -> Piece:
    name = match[1] or match[2]
    return Piece(PART, part_of_day(*_PARTS[name]), weak=len(name) == 1)


_MINUTE = (
    rf"(?:[踏搭]?(?P<half>半)|(?P<quarter>[一三123])刻钟?|(?:[踏搭](?P<fives>{HAN}{{1,2}})"
    rf"|(?P<words>{HAN}{{1,2}})个字)|(?:过|零|\u3007)?(?P<minute>[0-5]?\d|[二三四五]?十?{HAN[:-1]}]?)分?(?![个天年月周小点度岁倍]))"
)
_NOT_CLOCK = (
    r"(?![一二三四五六七八九十\d]?(?:建议|意见|想法|要求|原因|看法|理由|体会|内容|区别|不同|好处|问题|也不|都不|儿|点))"
)
_BEFORE_CLOCK = r"(?<![第几这那有差多少.\d])"


@rule(
    rf"{_BEFORE_CLOCK}(?P<hour>2[0-4]|[01]?\d|二?十?{HAN})\s*(?P<word>点钟|点|时(?![候间而常刻代期差空])){_NOT_CLOCK}"
    rf"(?:整|{_MINUTE}(?:(?P<second>[0-5]?\d|{HAN}+)秒)?)?(?:左右|许|多|前后)?"
)
def _hour_word(match: re.Match[str]) -> Piece | None:
    clock = _clock(match)
    if clock is None or not clock.valid:
        return None
    tail = match.string[match.end() : match.end() + 2]
    plain = match["word"] == "点" and not (match["half"] or match["quarter"] or match["minute"])
    alone = not plain or not tail or not re.match(r"[一-龥a-z]", tail, re.I) or re.match(_AFTER_CLOCK, tail)
    weak = not alone or match["hour"] in ("一", "1") or (match["word"] == "时" and plain)
    return Piece(CLOCK, at_clock(clock), weak=bool(weak) and match["word"] != "点钟")


_AFTER_CLOCK = "[的去到开见走起来出回睡吃上集叫提和在就才要半左之前后吧吗呢给打接下放结]"


def _clock(match: re.Match[str]) -> Clock | None:
    minute: int | None = None
    if match["half"]:
        minute = 30
    elif match["quarter"]:
        minute = 15 * number(match["quarter"])
    elif fives := match["fives"] or match["words"]:  # Cantonese counts minutes in fives
        minute = 5 * number(fives)
    elif match["minute"]:
        minute = number(match["minute"])
    second = number(match["second"]) if match["second"] else None
    return Clock(number(match["hour"]), minute, second, sure=match["word"] == "时")


@rule(rf"差\s*({N}|一刻)\s*(?:分钟?|)\s*(?:到)?({N})点|({N})点差({N}|一刻)(?:分钟?)?")
def _to_hour(match: re.Match[str]) -> Piece | None:
    short, hour = match[1] or match[4], number(match[2] or match[3])
    minutes = 15 if short == "一刻" else number(short)
    if not (0 < hour <= 24 and 0 < minutes < 60):
        return None
    return Piece(CLOCK, at_clock(Clock((hour - 1) % 24 or 12, 60 - minutes)))


_DIGITAL = r"([01]?\d|2[0-4])[::]([0-5]\d)(?:[::]([0-5]\d))?\s*([ap]\.?m\.?|[ap](?![a-z]))?"
_ZONE = r"(?:\s*(\(?(?:UTC|GMT|CET|CEST|EST|EDT|CST|PST|PDT|JST|BST|IST)(?:[+-]\d{1,2})?\)?|北京时间)(?![a-z]))?"


@rule(rf"(?<![\d:.]){_DIGITAL}(?![\d:]){_ZONE}|(?<![\d:.])(1[0-2]|0?[1-9])\s*([ap])\.?m\b\.?{_ZONE}")
def _digital(match: re.Match[str]) -> Piece | None:
    half: Literal["am", "pm"] | None = None
    if letter := (match[4] or match[7] or "")[:1].lower():
        half = "pm" if letter == "p" else "am"
    zone = zone_named(match[5] or match[8])
    if match[6]:
        clock = Clock(int(match[6]), half=half, zone=zone)
    else:
        clock = Clock(int(match[1]), int(match[2]), int(match[3]) if match[3] else None, half, not half, zone)
    return Piece(CLOCK, at_clock(clock)) if clock.valid else None

"""Chinese times by their distance from the moment of speaking."""

from __future__ import annotations

import re
from dataclasses import replace

from hindsight.language.time.grammar import (
    CLOCK,
    DAY,
    Piece,
    Rulebook,
)
from hindsight.language.time.values import (
    PAST,
    Grain,
    Interval,
    Now,
    add,
    rolling,
    shifted,
    unit,
)
from hindsight.language.time.zh_words import (
    DIGITS,
    SOME,
    UNIT,
    UNITS,
    M,
    number,
)

rule = Rulebook()

# Vague ones, as wide as people mean them: days
_VAGUE = {
    "最近": -30, "近来": -30, "近日": -7, "近期": -30, "前几天": -7, "前些天": -14, "这几天": -3, "这两天": -2,
    "前阵子": -60, "前段时间": -60, "这阵子": -30, "这段时间": -30, "过几天": 7, "过两天": 3, "过阵子": 60,
}  # fmt: skip


@rule("|".join(sorted(_VAGUE, key=len, reverse=True)) + r"|很久(?:以前|之前)|好久以前|多年(?:以?前|之前)|从前")
def _vague(match: re.Match[str]) -> Piece:
    days = _VAGUE.get(match[0])

    def narrow(_: Interval | None, now: Now) -> Interval:
        if days is None:
            return Interval(None, add(now.today, -1, "year"), "year", vague=True)
        return replace(rolling(now, days, "day"), vague=True)

    return Piece(DAY, narrow)


# Distances from now


@rule(
    rf"(?<![\d.月/])({M}|半|{SOME})(多)?\s*个?(半)?({UNIT})(半)?(?:多)?(?:[之以]?(前|后)(?!天|年|期|[三四五两]天)|(?:过后))"
)
def _ago(match: re.Match[str]) -> Piece | None:
    grain = UNITS[match[4][0]]
    sign = -1 if match[6] == "前" else 1
    rank = CLOCK if grain in ("hour", "minute", "second") else DAY
    if re.fullmatch(SOME, match[1]):
        return Piece(rank, lambda _, now: _some(now, 2 * sign, 6 * sign, grain), distance=True)
    if _about(match[1]) and (match[4] != "月" or "个" in match[0]):
        few, many = (sign * DIGITS[digit] for digit in match[1])
        return Piece(rank, lambda _, now: _some(now, few, many, grain), distance=True)
    if match[1] != "半" and (
        match[1][0] == "0" or (match[4] == "月" and "个" not in match[0]) or _is_year(match[1], grain)
    ):
        return None
    count = 0.5 if match[1] == "半" else number(match[1]) + (0.5 if match[3] or match[5] else 0)
    vague = bool(match[2])

    def narrow(_: Interval | None, now: Now) -> Interval:
        found = shifted(now, now.at, sign * count, grain)
        return replace(found, vague=found.vague or vague)

    return Piece(rank, narrow, distance=True)


def _is_year(text: str, grain: Grain) -> bool:
    """«二零一八年之后», «98年以前»: a year, not a count."""
    return grain == "year" and len(text) > 1 and not re.search("[十百]", text) and not text.isdigit()


def _some(now: Now, few: int, many: int, grain: Grain) -> Interval | None:
    """From the nearer to the farther of two distances: «几天前» is two to six days ago, «两三天前» two or three."""
    near, far = shifted(now, now.at, few, grain), shifted(now, now.at, many, grain)
    first, last = (far, near) if few < 0 else (near, far)
    return Interval(first.start, last.end, grain, vague=True)


def _about(text: str) -> bool:
    """«两三», «三五»: two digits side by side are about, not tens and ones."""
    return len(text) == 2 and all(digit in DIGITS for digit in text) and 0 < DIGITS[text[0]] < DIGITS[text[1]]


@rule(
    rf"(?<!最)(?<!公元)(过去|最近|近|前|之前|以前|后|之后|接下来|未来|今后|往后|下|上|这|还剩|剩下)(?:的|这)?\s*({M}|半|{SOME})\s*个?(半)?({UNIT})"
    r"(?:[之以]?内|里|间|来)?(?![前后])"
)
def _span(match: re.Match[str]) -> Piece | None:
    word, grain = match[1], UNITS[match[4][0]]
    if match[4] in ("日", "月") and "个" not in match[0]:
        return None
    if re.fullmatch(SOME, match[2]):
        count: float = 3
    elif _about(match[2]):
        count = DIGITS[match[2][1]]
    else:
        count = 0.5 if match[2] == "半" else number(match[2]) + (0.5 if match[3] else 0)
    ahead = word in ("后", "之后", "接下来", "未来", "今后", "往后", "下", "还剩", "剩下")
    vague = bool(re.fullmatch(SOME, match[2]))

    def narrow(_: Interval | None, now: Now) -> Interval:
        if word in ("上", "下") and grain not in ("day", "hour", "minute", "second") and count == int(count):
            whole = unit(now.at, grain, 1 if ahead else -int(count), int(count))
            return replace(whole, vague=vague)
        if count != int(count) and grain == "year":
            return replace(rolling(now, (12 if ahead else -12) * count, "month"), vague=vague)
        if count != int(count) and grain == "month":
            return replace(rolling(now, (30 if ahead else -30) * count, "day"), vague=vague)
        return replace(rolling(now, count if ahead else -count, grain), vague=vague)

    return Piece(CLOCK if grain in ("hour", "minute", "second") else DAY, narrow)


@rule(r"上个?(小时|钟头|分钟)|下个?(小时|钟头|分钟)")
def _last_hour(match: re.Match[str]) -> Piece:
    grain = UNITS[(match[1] or match[2])[0]]
    return Piece(CLOCK, lambda _, now: rolling(now, -1 if match[1] else 1, grain))


@rule(rf"(?<![\d.月/])({M}|半|{SOME})\s*个?({UNIT})(?:[之以]内|内|里(?!面|程))")
def _within(match: re.Match[str]) -> Piece | None:
    grain = UNITS[match[2][0]]
    count = 0.5 if match[1] == "半" else 3 if re.fullmatch(SOME, match[1]) else number(match[1])

    def narrow(_: Interval | None, now: Now) -> Interval:
        if now.lean == PAST:
            return rolling(now, -count, grain)
        far = shifted(now, now.at, count, grain)
        return Interval(now.at, far.end, far.grain)

    return Piece(DAY, narrow)


@rule(r"现在|此时此刻|此时|此刻|目前|当前|眼下|刚刚|刚才|宜家|而家|依家")
def _now(match: re.Match[str]) -> Piece:
    vague = match[0].startswith("刚")
    return Piece(CLOCK, lambda _, now: Interval(now.at, now.at, "second", vague=vague), distance=True)

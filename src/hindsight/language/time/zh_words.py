"""Chinese words of time: numbers, units, and the patterns made of them."""

from __future__ import annotations

from hindsight.language.time.values import (
    Grain,
    Narrow,
    Now,
    Third,
    unit,
)

DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"\u3007": 0, "两": 2}
_TENS = {"十": 10, "廿": 20, "卅": 30}
HAN = "[〇零一二两三四五六七八九十百廿卅]"
N = rf"(?:\d{{1,4}}|{HAN}+)"
UNITS: dict[str, Grain] = {
    "秒": "second", "分": "minute", "小": "hour", "钟": "hour", "天": "day", "日": "day", "周": "week", "星": "week",
    "礼": "week", "月": "month", "季": "quarter", "年": "year", "世": "century",
}  # fmt: skip
M = rf"(?:(?<!\d)\d{{1,3}}(?!\d)|{HAN}{{1,4}})"  # a count, never a year
UNIT = "(?:秒钟?|分钟|小时|钟头|钟|天|日|周|星期|礼拜|月|季度|年|世纪)"
SOME = "(?:几|数|若干|好几|好多|多少)"
WEEK_WORD = "(?:周|星期|礼拜)"
WEEKDAYS = {c: n for n, c in enumerate("一二三四五六日")} | {"天": 6} | {str(n): n - 1 for n in range(1, 8)}
SHIFTS = dict.fromkeys("上前去昨", -1) | dict.fromkeys("这本今当此", 0) | dict.fromkeys("下次明后", 1)
_PARTS: dict[Third, str] = {"early": "初头早前上", "mid": "中", "late": "底末尾晚后下"}
THIRDS: dict[str, Third] = {character: third for third, characters in _PARTS.items() for character in characters}


def number(text: str) -> int:
    """«12», «十二», «廿三», «二零一三» as a number."""
    if text.isdigit():
        return int(text)
    if not any(character in "十百廿卅" for character in text):
        return int("".join(str(DIGITS[character]) for character in text))
    total, digit = 0, None
    for character in text:
        if character in DIGITS:
            digit = DIGITS[character]
        elif character == "百":
            total, digit = total + (1 if digit is None else digit) * 100, None
        else:
            tens = 10 * digit if character == "十" and digit else _TENS[character]
            total, digit = total + tens, None
    return total + (digit or 0)


def year_number(text: str, now: Now) -> int:
    """Two digits are the nearest such year, up to ten years ahead."""
    value = number(text)
    if len(text) > 2 or value > 99:
        return value
    century = now.at.year // 100 * 100
    return century + value if century + value <= now.at.year + 10 else century - 100 + value


def in_year(text: str) -> Narrow:
    """A year by its digits."""
    return lambda _, now: unit(now.today.replace(year=year_number(text, now), month=1, day=1), "year")

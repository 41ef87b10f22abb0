"""The numbers a text names, in one form, so that «三只», "three" and 3 are the same and 101 is not 102."""

import re
from decimal import Decimal

from hindsight.language.fold import fold

# \u3007 is the round zero of years.
_DIGITS_ZH = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"\u3007": 0, "两": 2}
_UNITS_ZH = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS_ZH = {"万": 10_000, "亿": 100_000_000}

_ONES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS_EN = {word: value for value, word in enumerate(_ONES.split())} | {
    word: 20 + 10 * index for index, word in enumerate(_TENS.split())
}
_SCALES_EN = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}

_WORD_EN = "|".join(sorted([*_WORDS_EN, *_SCALES_EN], key=len, reverse=True))
_NUMBER = re.compile(
    r"(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?)(?P<unit>[万亿千百](?![年岁家])|k\b)?"
    r"|(?P<chinese>[零\u3007一二两三四五六七八九十百千万亿]+(?:点[零\u3007一二三四五六七八九]+)?)"
    rf"|\b(?P<english>(?:{_WORD_EN})(?:(?:-| and | )(?:{_WORD_EN}))*)\b",
)

# «一» and "one" count rarely («一起», «有一只猫», "the one"), and these words hold a numeral that counts nothing.
_NO_NUMBER = re.compile(
    "一(?:起|些|样|直|般|定|切|旦|致|向|再|同|边|面|会儿|下|点|带|律|味|家人|块儿|共|方面)|万一|统一|唯一|之一|进一步|"
    "十分(?!钟|之)|千万(?=[别不要])|百度|万岁|三明治|五花肉|四川|三亚|九寨沟|九江|八卦|七夕|百姓|百货|千克|万能|万圣|老百姓|"
    r"\b(?:no one|someone|anyone|everyone|one another|each other|one of)\b"
)


def numbers(text: str) -> tuple[str, ...]:
    """Return the numbers of `text` in order, as plain decimals («1,200.50» → "1200.5", «两百三» → "230").

    Codes count by their digits («UA123» → "123"). A bare «一» or "one" is an article more often than a count and is
    left out.
    """
    folded = _NO_NUMBER.sub(" ", fold(text))
    values = (_value(match) for match in _NUMBER.finditer(folded))
    return tuple(value for value in values if value is not None)


def _value(match: re.Match[str]) -> str | None:
    if digits := match["digits"]:
        scale = {"k": 1_000, **_UNITS_ZH, **_MYRIADS_ZH}.get(match["unit"] or "", 1)
        return _plain(Decimal(digits.replace(",", "")) * scale)
    if chinese := match["chinese"]:
        return None if chinese == "一" else _plain(_chinese(chinese))
    english = match["english"]
    return None if english == "one" else _plain(Decimal(_english(english)))


def _plain(value: Decimal) -> str:
    plain = f"{value:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _chinese(text: str) -> Decimal:
    """Read a Chinese numeral: digit by digit («二零二三») or by units, the last unit implied («两百三» is 230)."""
    whole, _, fraction = text.partition("点")
    if all(character in _DIGITS_ZH for character in whole):
        value = int("".join(str(_DIGITS_ZH[character]) for character in whole) or "0")
    else:
        value = _by_units(whole)
    decimals = "".join(str(_DIGITS_ZH[character]) for character in fraction)
    return Decimal(f"{value}.{decimals}") if decimals else Decimal(value)


def _by_units(text: str) -> int:
    total = section = 0
    digit: int | None = None
    last_unit = 1
    for character in text:
        if character in _DIGITS_ZH:
            digit = _DIGITS_ZH[character]
            last_unit = 1 if digit == 0 else last_unit
        elif character in _UNITS_ZH:
            last_unit = _UNITS_ZH[character]
            section += (1 if digit is None else digit) * last_unit
            digit = None
        else:
            last_unit = _MYRIADS_ZH[character]
            total = (total + section + (digit or 0) or 1) * last_unit
            section, digit = 0, None
    implied = last_unit // 10 if last_unit > 10 else 1
    return total + section + (digit or 0) * implied


def _english(text: str) -> int:
    total = section = 0
    for word in re.split(r"-| and | ", text):
        if word in _WORDS_EN:
            section += _WORDS_EN[word]
        elif word == "hundred":
            section = (section or 1) * 100
        else:
            total += (section or 1) * _SCALES_EN[word]
            section = 0
    return total + section

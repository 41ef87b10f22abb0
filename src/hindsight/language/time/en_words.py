"""English words of time: numbers, names of units, months and days, and the patterns made of them."""

from __future__ import annotations

import re

from hindsight.language.time.values import (
    Grain,
    Narrow,
    Now,
    unit,
)

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NTH = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
CARDINALS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 20 + 10 * index for index, word in enumerate(_TENS.split())
}
ORDINALS = {word: value for value, word in enumerate(_NTH.split(), 1)} | {"thirtieth": 30}
CARDINAL_WORD = "|".join(sorted(CARDINALS, key=len, reverse=True))
ORDINAL_WORD = "|".join(sorted(ORDINALS, key=len, reverse=True))
_DIGIT = "(?:one|two|three|four|five|six|seven|eight|nine)"
CARDINAL = rf"(?:(?:{_TENS.replace(' ', '|')})[- ]{_DIGIT}\b|(?:{CARDINAL_WORD})\b)"
COUNT = rf"(?:\d+(?:\.\d+)?|{CARDINAL}|an?\b|a few|few|several|a couple(?: of)?|a pair of)"
ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|(?:twenty|thirty)[- ](?:{ORDINAL_WORD})\b|(?:{ORDINAL_WORD})\b)"
DAYNUM = rf"(?:{ORDINAL}|(?:3[01]|[12]\d|0?[1-9])(?![\d:])|(?:twenty|thirty)[- ]{_DIGIT}\b)"
_YEARWORD = (
    rf"(?:(?:two thousand|(?:seventeen|eighteen|nineteen) hundred)(?: and)?(?: {CARDINAL})?"
    rf"|(?:seventeen|eighteen|nineteen|twenty) (?:oh {_DIGIT}|(?!hundred|thousand){CARDINAL}))"
)
YEAR4 = rf"(?:(?:1[0-9]|20|21)\d\d(?![\d:%])|{_YEARWORD})"
YEAR_TAIL = rf"(?:,?\s*(?:of\s+|in\s+)?({YEAR4}|'\d\d(?!\d)|(?<=of )\d\d(?![\d:])))?"

_MONTH_NAMES = (
    "january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, september sept sep, "
    "october oct, november nov, december dec"
)
_DAY_NAMES = (
    "monday mon, tuesday tues tue, wednesday wed, thursday thurs thur thu, friday fri, saturday sat, sunday sun"
)
MONTHS = {name: index for index, names in enumerate(_MONTH_NAMES.split(","), 1) for name in names.split()}
WEEKDAYS = {name: index for index, names in enumerate(_DAY_NAMES.split(",")) for name in names.split()}
MONTH_NAME = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
WEEKDAY_NAME = rf"(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})"
_UNIT_NAMES: dict[Grain, str] = {
    "second": "s sec second", "minute": "min minute", "hour": "h hr hour", "day": "day night", "week": "week wk",
    "month": "month", "quarter": "quarter qtr", "year": "year yr", "decade": "decade", "century": "century centurie",
}  # fmt: skip
UNITS: dict[str, Grain] = {name: grain for grain, names in _UNIT_NAMES.items() for name in names.split()}
UNIT = (
    r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|h(?![a-z])|days?|nights?|weeks?|wks?|months?|quarters?"
    r"|qtrs?|years?|yrs?|decades?|centur(?:y|ies))(?![a-z])"
)
PERIOD = r"(?:calendar\s+)?(?:day|week|wk|month|quarter|qtr|year|yr|decade|century)(?![a-z-])"
SHIFTS = {
    **dict.fromkeys(("last", "previous", "past", "prior"), -1),
    **dict.fromkeys(("this", "current", "same", "the", "that"), 0),
    **dict.fromkeys(("next", "following", "coming", "upcoming"), 1),
}
REL = "(?:last|previous|past|prior|this past|this|current|next|following|coming|upcoming)"
WITHIN = rf"\s+(?:of|in)\s+(?:the\s+)?(?:{MONTH_NAME}\b|{YEAR4}|{REL}\s+(?:month|year|quarter)|month\b|year\b)"


def number(text: str) -> float:
    """«3», «twenty-one», "a couple of" as a number; «few» is three."""
    text = text.lower().strip()
    if text[:1].isdigit():
        return float(text)
    if text in ("a", "an"):
        return 1
    if "couple" in text or "pair" in text:
        return 2
    if "few" in text or "several" in text:
        return 3
    return sum(CARDINALS[word] for word in re.split(r"[- ]", text))


def ordinal(text: str) -> int:
    """«3rd», «twenty-first», «15» as a number."""
    text = text.lower()
    if digits := re.match(r"\d+", text):
        return int(digits[0])
    return sum(ORDINALS.get(word) or CARDINALS[word] for word in re.split(r"[- ]", text))


def year_number(text: str, now: Now | None = None) -> int:
    """«2018», «'87», «nineteen ninety six» as a year; two digits are the nearest such year, up to ten years ahead."""
    text = text.lower().lstrip("'")
    if text.isdigit():
        value = int(text)
        if len(text) > 2 or now is None:
            return value
        century = now.at.year // 100 * 100
        return century + value if century + value <= now.at.year + 10 else century - 100 + value
    words = [word for word in text.split() if word != "and"]
    if "thousand" in words:
        return 2000 + int(sum(CARDINALS[word] for word in re.split(r"[- ]", " ".join(words[2:])) if word))
    high = CARDINALS[words[0]] * 100
    rest = [word for word in re.split(r"[- ]", " ".join(words[1:])) if word not in ("hundred", "oh")]
    return high + int(sum(CARDINALS[word] for word in rest))


def unit_named(word: str) -> Grain:
    """The unit a word names, singular or plural."""
    word = word.lower().rsplit(None, 1)[-1]
    return UNITS[word if word in UNITS else "century" if word.startswith("centur") else word.rstrip("s")]


def shift_named(word: str | None) -> int:
    """-1 for «last», 0 for «this», 1 for «next» and their like."""
    return SHIFTS[(word or "this").lower().split()[-1]]


def in_year(text: str) -> Narrow:
    """A year by its digits or words."""
    return lambda _, now: unit(now.today.replace(year=year_number(text, now), month=1, day=1), "year")


_PART_HOURS = {
    30: "half an hour;a half hour;half hour;1/2h;1/2 h;1/2 hour",
    15: "a quarter of an hour;quarter of an hour;1/4h;1/4 h;1/4 hour",
    45: "three-quarters of an hour;three quarters of an hour;3/4h;3/4 h;3/4 hour",
}
_HALF_HOUR = {text: minutes for minutes, texts in _PART_HOURS.items() for text in texts.split(";")}
DURATION = (
    rf"(?:(?:{'|'.join(sorted(_HALF_HOUR, key=len, reverse=True))})\b|half\s+a\s+(?:year|day|month)"
    rf"|{COUNT}(?:\s+more|\s+and\s+an?\s+half)?\s*{UNIT}(?:\s+and\s+an?\s+half\b)?|an?\s+fortnight"
    rf"|{COUNT}\s+fortnights?)"
)


def length(text: str) -> tuple[float, Grain]:
    """«two weeks», «half an hour», «a year and a half» as a count of a unit."""
    lower = text.lower()
    if lower in _HALF_HOUR:
        return _HALF_HOUR[lower], "minute"
    if lower.endswith(("fortnight", "fortnights")):
        return 2 * number(lower.rsplit(None, 1)[0]), "week"
    if lower.startswith("half"):
        return 0.5, unit_named(lower)
    half = 0.5 if "half" in lower else 0
    lower = re.sub(r"\s+and\s+an?\s+half|\s+more", "", lower)
    match = re.fullmatch(rf"({COUNT})\s*({UNIT})", lower)
    return (number(match[1]) + half, unit_named(match[2])) if match else (0, "day")

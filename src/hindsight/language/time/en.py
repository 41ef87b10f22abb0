"""Times in English, in any order of units: what stands around them, and the grammar as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from hindsight.language.time import en_clock, en_dates, en_days, en_relative
from hindsight.language.time.en_words import (
    CARDINAL_WORD,
    DURATION,
    MONTH_NAME,
    ORDINAL_WORD,
    UNIT,
    WEEKDAY_NAME,
    length,
)
from hindsight.language.time.grammar import (
    AFTER,
    BEFORE,
    SINCE,
    UNTIL,
    Change,
    Grammar,
    Modifier,
)
from hindsight.language.time.values import (
    Interval,
    Now,
    add,
    shifted,
)

# What stands around


def _change(change: Change) -> Callable[[re.Match[str]], Change]:
    return lambda _: change


def _anchored(match: re.Match[str]) -> Change:
    """«3 weeks from tomorrow», "two days before Christmas"."""
    count, grain = length(match[1])
    sign = -1 if match[2].lower() == "before" else 1

    def effect(interval: Interval) -> Interval | None:
        return shifted(Now(interval.start), interval.start, sign * count, grain) if interval.start else None

    return Change(effect)


def _lasting(match: re.Match[str]) -> Change:
    count, grain = length(match[1])
    return Change(lambda interval: replace(interval, end=add(interval.start, count, grain)) if interval.start else None)


_I = re.IGNORECASE
_BEFORE = (
    Modifier(
        re.compile(
            rf"\b(?:for\s+|an?\s+|in\s+)?({DURATION})\s*,?\s+(?:starting|beginning"
            rf"|commencing)(?:\s+(?:on|from|at))?\s+$",
            _I,
        ),
        _lasting,
    ),
    Modifier(re.compile(rf"\bfor\s+({DURATION}),?\s+(?:from|starting from|starting)\s+(?:the\s+)?$", _I), _lasting),
    Modifier(re.compile(rf"\b({DURATION})\s+(before|after|from|since)\s+(?:the\s+)?$", _I), _anchored),
    Modifier(
        re.compile(
            r"\b(?:no later than|not later than|as late as|on or before|up to|up until|by|until|untill"
            r"|till|til|due)\s+(?:the\s+)?$|<\s*=\s*$",
            _I,
        ),
        _change(UNTIL),
    ),
    Modifier(re.compile(r"\b(?:before|prior to|earlier than)\s+(?:the\s+)?$|<\s*$", _I), _change(BEFORE)),
    Modifier(
        re.compile(
            r"\b(?:ever since|since|as early as|starting on|starting from|starting|beginning on"
            r"|beginning from|on or after|as of)\s+(?:the\s+)?$|>\s*=\s*$",
            _I,
        ),
        _change(SINCE),
    ),
    Modifier(
        re.compile(r"(?<!year )(?<!\bday )\b(?:after|later than|greater than)\s+(?:the\s+)?$|>\s*$", _I), _change(AFTER)
    ),
)
_AFTER = (
    Modifier(re.compile(rf",?\s+for\s+({DURATION})", _I), _lasting),
    Modifier(re.compile(r",?\s+(?:or|and)\s+(?:later|after(?!\s+\w)|onwards?)\b|\s+onwards?\b", _I), _change(SINCE)),
    Modifier(re.compile(r",?\s+(?:or|and)\s+(?:earlier|before(?!\s+\w))\b", _I), _change(UNTIL)),
)

GRAMMAR = Grammar(
    hint=re.compile(
        rf"\d|\b(?:{MONTH_NAME}|{WEEKDAY_NAME}|now|atm|currently|moment|today|tomorrows?|tonight|tonite"
        rf"|tmrw|yesterday|{UNIT}|mornings?|afternoon(?:ish)?|evening|night|noon|midnight|midday"
        rf"|present|mid|lunch|spring|summer|autumn|fall|winter|week-?ends?|work ?week|fortnight|ago|recently"
        rf"|lately|these days|other day|o'?clock|[EB]O[DWMQY]|otd|new year|easter|christmas|xmas|lent"
        rf"|halloween|thanksgiving|festival|pentecost|eve|sunday|gras|king|twenties|thirties|forties"
        rf"|fifties|sixties|seventies|eighties|nineties|[ap]\.? ?m|half|at (?:{CARDINAL_WORD})"
        rf"|till date|thousand|hundred|nineteen|juneteenth|nye|mid-?autumn|{ORDINAL_WORD})(?![a-z])"
        rf"|day\b",
        _I,
    ),
    rules=(*en_dates.rule.rules, *en_days.rule.rules, *en_relative.rule.rules, *en_clock.rule.rules),
    glue=re.compile(
        r"\s*(?:,|@|\(|'s)?\s*(?:(?:of|in|on|at|the|for|from|around|about|approximately|during"
        r"|sometime|to be|day|between|this)\s+){0,3}",
        _I,
    ),
    join=re.compile(r"\s*(?:-|–|—|~|/|to|until+|till|til|thru|through|up to)\s*(?:the\s+)?(?:on\s+)?", _I),
    opening=re.compile(r"\b(?:from|between|in between)\s+(?:the\s+)?$", _I),
    between=(
        re.compile(r"\bbetween\s+(?:the\s+)?$", _I),
        re.compile(r"\s*,?\s*(?:and|to|through|~|-)\s*(?:the\s+)?", _I),
        re.compile(""),
    ),
    before=_BEFORE,
    after=_AFTER,
    never=re.compile(r"\b(?:every|each|most)\s+(?:day|week|month|year|other)?\s*(?:at|on|in)?\s*(?:the\s+)?$", _I),
    past=re.compile(
        r"\b(?:was|were|did|didn't|had|went|met|bought|got|saw|told|said|took|came|left|ate|made|felt"
        r"|found|gave|began|lost|won|spent|wrote|ran|flew|drove|held|heard|kept"
        r"|\w{3,}(?<!ne)(?<!spe)ed)\b",
        _I,
    ),
    future=re.compile(
        r"\b(?:will|won't|going to|gonna|plan(?:ning)? to|shall|should|please|schedule|let's|remind"
        r"|need to|want to|would like)\b|'ll\b",
        _I,
    ),
    descending=False,
    calendar=False,
)

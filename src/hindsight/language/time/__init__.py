"""Times in what people say, Chinese and English, as half-open intervals in the zone of the speaker.

`find_times` reads a text against the moment and zone of speaking. Pure; the same when a memory is written and when a
question is asked. The convention («next Friday», 月底, hours of the evening) stands in docs/time.md. What can't be
read is not a mention: a phrase is never taken for «any time».
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from hindsight.errors import InvalidInput
from hindsight.language.fold import fold_in_place
from hindsight.language.time import en, zh
from hindsight.language.time.grammar import Found, read
from hindsight.language.time.values import Grain

__all__ = ["TimeMention", "find_times"]
_HAN = re.compile("[\u3007\u4e00-\u9fff]")
_LETTERS = re.compile("[A-Za-z]{2}")


@dataclass(frozen=True, slots=True)
class TimeMention:
    """One time in a text. `start` and `end` are half-open, aware, in the zone of speaking; `None` is an open side.

    An instant has start == end. `grain` says how exactly it was said: «two years ago» is a day of grain year. `span`:
    offsets in the text. `vague`: about («几天前», "ages ago", "early March"). `festival`: read from the name of one.
    """

    start: datetime | None
    end: datetime | None
    grain: Grain
    span: tuple[int, int]
    text: str
    vague: bool = False
    festival: bool = False


def find_times(text: str, reference: datetime) -> list[TimeMention]:
    """The times that `text` names, in order, seen from `reference`: the moment of speaking in the speaker's zone.

    The language is told by the script; of two readings of the same words the longer counts. Raises `InvalidInput` for a
    reference without a zone.
    """
    if reference.tzinfo is None:
        raise InvalidInput("reference", reference.isoformat(), "a moment with a zone, that of the speaker")
    plain = fold_in_place(text)
    found: list[Found] = []
    if _HAN.search(plain):
        found += read(zh.GRAMMAR, plain, reference)
    if not _HAN.search(plain) or _LETTERS.search(plain):
        found += read(en.GRAMMAR, plain, reference)
    return [
        TimeMention(
            item.interval.start, item.interval.end, item.interval.grain, (item.start, item.end),
            text[item.start : item.end], item.interval.vague, item.festival,
        )
        for item in _longest(found)
    ]  # fmt: skip


def _longest(found: list[Found]) -> list[Found]:
    """Without what overlaps something longer; the grammar that came first wins a tie."""
    taken: list[Found] = []
    for item in sorted(found, key=lambda item: item.start - item.end):
        if all(item.end <= other.start or item.start >= other.end for other in taken):
            taken.append(item)
    return sorted(taken, key=lambda item: item.start)

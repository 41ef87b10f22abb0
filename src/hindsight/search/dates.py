"""The times a question speaks of, and how near to them each candidate lies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hindsight.language.time import TimeMention, find_times

# A longer time than this tells nothing about which of somebody's memories is meant.
LONGEST = timedelta(days=400)
# Days beside a window at which nearness has fallen to 1/e. Between 3 and 30 recall@10 moves by less than a point.
NEAR_DAYS = 7.0
_DAY = 86_400.0
_FINE = ("hour", "minute", "second")
_RECENT = timedelta(days=2)
# A name that comes again every year, and what says which of them is meant.
_YEARLY = re.compile(
    r"月|[春夏秋冬]|\d[/.-]\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(?:spring|summer|autumn|fall|winter)\b",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\d{4}|年|[下这本]个?月|个月|\b(?:next|this|coming|upcoming|following|later|year|months?)\b", re.IGNORECASE
)

Window: TypeAlias = tuple[datetime, datetime]


def windows_of(text: str, asked_at: datetime) -> tuple[Window, ...]:
    """The times that a question names, seen from the asker's clock; those that narrow nothing down are left out."""
    known = [
        (mention, window)
        for mention in _times(text, asked_at)
        if mention.start is not None and mention.end is not None and not _idle(mention, asked_at)
        for window in _readings(mention, asked_at)
    ]
    # «In February, what did she say had happened recently»: recently is then in February.
    firm = [window for mention, window in known if not (mention.vague and abs(asked_at - window[1]) < _RECENT)]
    return tuple(firm or [window for _, window in known])


@lru_cache(maxsize=64)
def _times(text: str, asked_at: datetime) -> tuple[TimeMention, ...]:
    """The times in a text, which a question is asked for twice."""
    return tuple(find_times(text, asked_at))


def _readings(mention: TimeMention, asked_at: datetime) -> tuple[Window, ...]:
    """What a mention may mean. «In April», asked in June, is read as the next one; a memory is rather of the last.

    Both count: a plan lies ahead. With the last one too, recall@10 of LifeBench Chinese rises from 56.6 to 57.9, and
    hit@10 of Chinese questions over English records from 78.5 to 81.2; the other sets stay as they are.
    """
    assert mention.start is not None  # only such mentions are looked at
    assert mention.end is not None
    ahead = mention.start, mention.end
    yearly = mention.festival or (_YEARLY.search(mention.text) and not _CHOSEN.search(mention.text))
    if not yearly or mention.start <= asked_at:
        return (ahead,)
    return ahead, (_a_year_before(mention.start), _a_year_before(mention.end))


def _a_year_before(moment: datetime) -> datetime:
    last_of_february = moment.month == 2 and moment.day == 29
    return moment.replace(year=moment.year - 1, day=28 if last_of_february else moment.day)


def without_times(text: str, asked_at: datetime) -> str:
    """A question without the words that name times."""
    for mention in reversed(_times(text, asked_at)):
        text = f"{text[: mention.span[0]]} {text[mention.span[1] :]}"
    return text


def _idle(mention: TimeMention, asked_at: datetime) -> bool:
    """Too long to tell anything, or a time of the clock alone, which is read as one of the day of asking."""
    assert mention.start is not None  # only such mentions are looked at
    assert mention.end is not None
    if mention.grain in _FINE and mention.start.date() == asked_at.date():
        return True
    return mention.end - mention.start > LONGEST


def nearness(windows: Sequence[Window], times: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each time (seconds since 1970): how near the nearest window lies, 1 inside it; and whether it is inside."""
    gaps = np.full(len(times), np.inf)
    inside = np.zeros(len(times), np.bool_)
    for first, last in windows:
        start, end = first.timestamp(), last.timestamp()
        gaps = np.fmin(gaps, np.maximum(np.maximum(start - times, times - end), 0.0))  # not known: not near
        inside |= (start <= times) & (times < end)
    return np.exp(-gaps / (_DAY * NEAR_DAYS)), inside.astype(np.float64)

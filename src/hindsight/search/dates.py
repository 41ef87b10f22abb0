"""The times a question speaks of, and how near to them each candidate lies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
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

Window: TypeAlias = tuple[datetime, datetime]


def windows_of(text: str, asked_at: datetime) -> tuple[Window, ...]:
    """The times that a question names, seen from the asker's clock; those that narrow nothing down are left out."""
    known = [
        (mention, (mention.start, mention.end))
        for mention in find_times(text, asked_at)
        if mention.start is not None and mention.end is not None and not _idle(mention, asked_at)
    ]
    # «In February, what did she say had happened recently»: recently is then in February.
    firm = [window for mention, window in known if not (mention.vague and abs(asked_at - window[1]) < _RECENT)]
    return tuple(firm or [window for _, window in known])


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

"""Which turns belong together: a stretch of conversation read as one, and records of about the same time.

What a question asks is seldom said in one turn: «We went to Lisbon» answers with the «last summer?» before it. Nor is
an event one record: a call, a message and a photo tell of it, each in other words.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hindsight.search.context import Turns, Values

# Turns on either side that make one stretch with a turn. With 3 LoCoMo loses 0.3 points, others gain 0.1.
EITHER_SIDE = 2
# A session half of whose turns come so many seconds after the one before is a day of records, and no conversation.
APART = 600.0
# The best, whose times count by what each has above this share of what the last of them has.
SEEDS, ABOVE = 5, 0.8
# Seconds beside one of them at which nearness has fallen to 1/e.
NEAR = 86_400.0


def stretch_words(turns: Turns, gains: NDArray[np.float32]) -> Values:
    """For each turn, the question's words in its stretch: of every term the most that it adds to one of the turns.

    `gains`: a row for each entry, a column for each term.
    """
    if not gains.size:
        return np.zeros(len(turns.starts))
    own = np.maximum.reduceat(gains, turns.starts, axis=0)
    most = own.copy()
    for step in range(1, EITHER_SIDE + 1):
        same = (turns.sessions[step:] == turns.sessions[:-step]) & (turns.sessions[step:] >= 0)
        told = np.where(same[:, np.newaxis], own[:-step], 0)
        most[step:] = np.maximum(most[step:], told)
        told = np.where(same[:, np.newaxis], own[step:], 0)
        most[:-step] = np.maximum(most[:-step], told)
    summed: Values = most.sum(axis=1, dtype=np.float64)
    return summed


def same_time(turns: Turns, times: Values, fits: Values) -> Values:
    """For each entry of a day of records, how near in time it lies to the entries that fit best, 0 to 1.

    `times`: seconds since 1970. `fits`: how well each fits by all else. An entry is not near to itself.
    """
    recorded = _days_of_records(turns, times)[turns.of_entry]
    if not recorded.any():
        return np.zeros(len(fits))
    best = np.argpartition(-fits, SEEDS - 1)[:SEEDS] if len(fits) > SEEDS else np.arange(len(fits))
    share = fits[best] - ABOVE * fits[best].min()
    near = np.exp(-np.abs(times[:, np.newaxis] - times[best]) / NEAR)
    near[best, np.arange(len(best))] = 0.0
    found: Values = np.nan_to_num(near @ (share / max(share.sum(), 1e-9)))
    return np.where(recorded, found, 0.0)


def _days_of_records(turns: Turns, times: Values) -> NDArray[np.bool_]:
    """For each turn, whether its session is a day of records."""
    known = np.maximum(turns.sessions, 0)  # those without a session come first, and are not counted
    sessions, at = turns.sessions, times[turns.starts]
    goes_on = (sessions[1:] == sessions[:-1]) & (sessions[1:] >= 0)
    count = int(known.max(initial=0)) + 1
    gaps = np.bincount(known[1:][goes_on], minlength=count)
    wide = np.bincount(known[1:][goes_on & (np.diff(at) > APART)], minlength=count)
    return (sessions >= 0) & ((2 * wide > gaps) & (gaps > 0))[known]

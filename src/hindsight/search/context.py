"""What stands around a candidate: the turns before and after it, and the best of its session.

A turn is what was said at one place of a session: an episode, and the facts that came of it. It fits as well as the
best of them does. An entry without a session has nothing around it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hindsight.domain.ranking import (
    DENSE,
    DENSE_NEXT,
    DENSE_PREVIOUS,
    DENSE_SESSION,
    LEXICAL,
    NEXT,
    PREVIOUS,
    SESSION,
)
from hindsight.domain.surroundings import Surroundings

Values = NDArray[np.float64]

BEST_OF_SESSION = 3  # turns whose mean speaks for a session
SIGNAL_BOUND = 2.0  # no signal is as high


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Where the turns of some surroundings begin, which turn each entry belongs to, and the session of each turn.

    `begins`, `counts`: of each session, the number of its first turn, and how many it has. `goes_on`: whether the turn
    after each but the last is of the same session.
    """

    starts: NDArray[np.intp]
    of_entry: NDArray[np.intp]
    sessions: NDArray[np.int32]
    begins: NDArray[np.intp]
    counts: NDArray[np.intp]
    goes_on: NDArray[np.bool_]

    @classmethod
    def of(cls, around: Surroundings) -> Turns:
        """The turns, in the order of the entries."""
        sessions, positions = around.sessions, around.positions
        begins = np.ones(len(sessions), np.bool_)
        same = (sessions[1:] == sessions[:-1]) & (positions[1:] == positions[:-1])
        begins[1:] = ~same | (sessions[1:] < 0) | (positions[1:] < 0)
        starts = np.flatnonzero(begins)
        of_turn = sessions[starts]
        same = of_turn[1:] == of_turn[:-1]
        first = np.ones(len(of_turn), np.bool_)
        first[1:] = ~same
        groups = np.flatnonzero(first)
        counts = np.empty(len(groups), np.intp)
        if len(groups):
            counts[:-1], counts[-1] = groups[1:] - groups[:-1], len(of_turn) - groups[-1]
        return cls(starts, begins.cumsum() - 1, of_turn, groups, counts, same & (of_turn[1:] >= 0))

    def best(self, values: Values) -> Values:
        """The best of each turn's entries."""
        return np.maximum.reduceat(values, self.starts) if len(values) else values

    def before(self, values: Values) -> Values:
        """For each turn, the value of the turn before it in its session."""
        moved = np.zeros_like(values)
        moved[1:] = np.where(self.goes_on, values[:-1], 0.0)
        return moved

    def after(self, values: Values) -> Values:
        """For each turn, the value of the turn after it in its session."""
        moved = np.zeros_like(values)
        moved[:-1] = np.where(self.goes_on, values[1:], 0.0)
        return moved

    def session(self, values: Values) -> Values:
        """For each turn, the mean of the best three of its session."""
        begins, sizes = self.begins, self.counts
        groups = np.arange(len(begins)).repeat(sizes)
        order = (groups * (1 + 2 * SIGNAL_BOUND) - values).argsort()  # session by session, the best first
        places = np.arange(len(values)) - begins.repeat(sizes)
        first = np.where(places < BEST_OF_SESSION, values[order], 0.0)
        sums = np.add.reduceat(first, begins) if len(values) else values
        means: Values = (sums / np.minimum(sizes, BEST_OF_SESSION)).repeat(sizes)
        return np.where(self.sessions < 0, 0.0, means)

    def sizes(self) -> Values:
        """For each turn, how many its session has; 0 without a session."""
        return np.where(self.sessions < 0, 0.0, self.counts.repeat(self.counts))


def signals_around(turns: Turns, lexical: Values | None, dense: Values | None) -> dict[str, Values]:
    """The signals of each entry, by name: its own, and those of what stands around it."""
    signals: dict[str, Values] = {}
    if lexical is not None:
        of_turn = turns.best(lexical)
        around = {PREVIOUS: turns.before(of_turn), NEXT: turns.after(of_turn), SESSION: turns.session(of_turn)}
        signals |= {LEXICAL: lexical} | {name: values[turns.of_entry] for name, values in around.items()}
    if dense is not None:
        of_turn = turns.best(dense)
        around = {
            DENSE_PREVIOUS: turns.before(of_turn),
            DENSE_NEXT: turns.after(of_turn),
            DENSE_SESSION: turns.session(of_turn),
        }
        signals |= {DENSE: dense} | {name: values[turns.of_entry] for name, values in around.items()}
    return signals

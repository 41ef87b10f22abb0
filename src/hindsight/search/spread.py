"""Answers to «what happened last week»: what fits best, from the whole length of the time and not from one busy day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from hindsight.search.dates import Window
from hindsight.search.rank import Ranked, Ranking

STEP = 0.15  # of the best score: what each hit of a stretch of time costs the others of it


def spread(ranking: Ranking, windows: Sequence[Window], stretches: int) -> Ranking:
    """The same hits, each window cut into so many stretches that take turns as far as their hits fit alike."""
    if not ranking.ranked:
        return ranking
    step = STEP * ranking.ranked[0].score
    given: Counter[tuple[int, int]] = Counter()
    waiting = [(one, _stretch(one, windows, stretches)) for one in ranking.ranked]
    ranked: list[Ranked] = []
    while waiting:
        place = max(range(len(waiting)), key=lambda at: _left(*waiting[at], given, step))
        one, stretch = waiting.pop(place)
        score = _left(one, stretch, given, step)
        if stretch is not None:
            given[stretch] += 1
        ranked.append(one if score == one.score else replace(one, score=score))
    return replace(ranking, ranked=tuple(ranked))


def _left(one: Ranked, stretch: tuple[int, int] | None, given: Counter[tuple[int, int]], step: float) -> float:
    return one.score if stretch is None else one.score - step * given[stretch]


def _stretch(one: Ranked, windows: Sequence[Window], stretches: int) -> tuple[int, int] | None:
    """Which window a hit lies in, and which stretch of it."""
    for number, (start, end) in enumerate(windows):
        if start <= one.entry.occurred_at < end:
            return number, int((one.entry.occurred_at - start) / (end - start) * stretches)
    return None

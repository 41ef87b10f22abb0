"""Measures of a ranking against the items that are right. Pure arithmetic; ranks count from 1.

`ranked` is a list of ids in order, one a rank. An id that comes twice fills both ranks and counts once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def recall(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Share of `gold` among the first `k` ranks."""
    return len(set(ranked[:k]).intersection(gold)) / len(gold)


def hit(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 where any of `gold` is among the first `k` ranks, else 0."""
    return float(not set(ranked[:k]).isdisjoint(gold))


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """1 / rank of the first right one; 0 where none is in the list."""
    return next((1 / rank for rank, name in enumerate(ranked, 1) if name in gold), 0.0)


def ndcg(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain at `k` with gains 0 and 1: Σ 1/log2(rank + 1) over that of the best order.

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.
    """
    seen: set[str] = set()
    gain = 0.0
    for rank, name in enumerate(ranked[:k], 1):
        if name in gold and name not in seen:
            seen.add(name)
            gain += 1 / math.log2(rank + 1)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(gold), k) + 1))


def mean(values: Sequence[float]) -> float:
    """The mean of one value or more."""
    return math.fsum(values) / len(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0–1) of the values lie, with linear interpolation between neighbours."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

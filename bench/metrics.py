"""Measures of a ranking against the items that are right. Pure arithmetic; ranks count from 1.

`ranked` is a list of ids in order, one a rank. An id that comes twice fills both ranks and counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hindsight.domain.measures import hit, mean, ndcg, percentile, recall, reciprocal_rank

__all__ = ["expand", "hit", "mean", "ndcg", "percentile", "recall", "reciprocal_rank"]


def expand(hits: Iterable[Sequence[str]]) -> list[str]:
    """One rank for every source of every hit, in order, so that a hit resting on many sources gains nothing."""
    return [source for sources in hits for source in sources]

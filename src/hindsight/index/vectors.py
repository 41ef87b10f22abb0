"""Many vectors in little room, and the nearest of them: whole vectors in 16 bits, and a short form to scan.

The short form is the projection on the leading principal directions of the vectors themselves (Rao 1964; used so for
two-stage nearest-neighbour search since). On real sentence embeddings a quarter of the dimensions holds most of every
cosine, so a scan of it finds the candidates, and the whole vectors of those decide: figures in docs/indexes.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hindsight.errors import InvalidInput
from hindsight.index.best import leading
from hindsight.index.growing import Growing

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]

_SCAN_WHOLE = 2_000  # up to so many rows a scan of whole vectors takes a millisecond
_SAMPLE = 8_192  # rows the directions are found from, evenly spread
_SHORT = 128  # dimensions of the short form, or a quarter where that is more
_ENOUGH = 0.6  # share of the square length that the short form must hold, or it tells nothing and is not used
_UNIT = 32_767  # whole vectors are 16-bit fractions: no component of a unit vector exceeds 1, so no scale is needed
_CHUNK = 1_024  # rows turned to single precision at once: bounds the memory of a scan
_EQUAL = 1e-6  # cosines closer than this may trade places by rounding


def stacked(vectors: Sequence[Floats]) -> Floats:
    """Vectors of one length as rows. `InvalidInput` if they are not."""
    shapes = {vector.shape for vector in vectors}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        raise InvalidInput("vector", sorted(shapes), "vectors of one length")
    return np.array(vectors, np.float32)


class Vectors:
    """Rows of unit vectors of one length, numbered from 0."""

    __slots__ = ("_directions", "_fitted_at", "_known", "_short", "_whole")

    def __init__(self, dimensions: int) -> None:
        self._whole = Growing(np.int16, dimensions)
        self._directions: Floats | None = None
        self._short: Growing | None = None
        self._fitted_at = _SCAN_WHOLE // 2
        self._known: tuple[Floats, Floats] | None = None  # a vector, and its cosine with each row, NaN where not asked

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self._whole.rows.shape[1])

    def __len__(self) -> int:
        return len(self._whole.rows)

    def extend(self, vectors: Floats) -> None:
        """Append rows."""
        if vectors.shape[1] != self.dimensions:
            raise InvalidInput("vector", vectors.shape[1], f"{self.dimensions} dimensions, as those before it")
        self._known = None
        self._whole.extend(np.rint(vectors.clip(-1, 1) * _UNIT).astype(np.int16))
        if len(self) > 2 * self._fitted_at:
            self._fit()
        elif self._short is not None and self._directions is not None:
            self._short.extend(vectors @ self._directions)

    def keep(self, kept: NDArray[np.int64]) -> None:
        """Leave only these rows, in this order."""
        self._known = None
        self._whole.replace(self._whole.rows[kept])
        if self._short is not None:
            self._short.replace(self._short.rows[kept])

    def nearest(self, vector: Floats, rows: Rows, limit: int) -> tuple[Rows, NDArray[np.float64]]:
        """Of these rows the `limit` nearest, all that equal the last of them, and their cosines; unsorted."""
        self._must_fit(vector)
        candidates = self._candidates(vector, rows, limit)
        cosines = self._cosines(vector, candidates)
        best = leading(cosines, limit, slack=_EQUAL)
        # Summed row by row in double precision: equal vectors get equal cosines, wherever they lie.
        nearest = self._whole.rows.take(candidates[best], axis=0).astype(np.float64)
        return candidates[best], np.einsum("ij,j->i", nearest, vector.astype(np.float64)) / _UNIT

    def cosines(self, vector: Floats, rows: Rows) -> Floats:
        """The cosine of each of these rows. `InvalidInput` for a vector of another length."""
        self._must_fit(vector)
        return self._cosines(vector, rows)

    def _must_fit(self, vector: Floats) -> None:
        if vector.shape != (self.dimensions,):
            raise InvalidInput("vector", vector.shape, f"one vector of {self.dimensions} dimensions")

    def _candidates(self, vector: Floats, rows: Rows, limit: int) -> Rows:
        wanted = 4 * limit + 200 + len(rows) // 200
        if self._short is None or self._directions is None or len(rows) <= max(_SCAN_WHOLE // 2, wanted):
            return rows
        aim = vector @ self._directions
        short = self._short.rows
        # Few rows are gathered; of many it is quicker to compare all, and look at those asked for.
        scores = short[rows] @ aim if len(rows) * 4 < len(short) else (short @ aim)[rows]
        return rows[leading(scores, wanted)]

    def _cosines(self, vector: Floats, rows: Rows) -> Floats:
        """Of one question the same rows are asked for several times: by each filter, and for what stands around."""
        if self._known is None or self._known[0] is not vector:
            self._known = vector, np.full(len(self), np.nan, np.float32)
        known = self._known[1]
        new = rows[np.isnan(known[rows])]
        known[new] = self._compared(vector, new)
        return known[rows]

    def _compared(self, vector: Floats, rows: Rows) -> Floats:
        scaled = vector / np.float32(_UNIT)
        parts = [
            self._whole.rows.take(rows[start : start + _CHUNK], axis=0).astype(np.float32) @ scaled
            for start in range(0, len(rows), _CHUNK)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)

    def _fit(self) -> None:
        """Find the directions anew, each time the rows have doubled: the first memories are not like the later."""
        self._fitted_at = len(self)
        spread = np.linspace(0, len(self) - 1, min(len(self), _SAMPLE)).astype(np.intp)
        products = np.zeros((self.dimensions, self.dimensions), np.float32)
        for start in range(0, len(spread), _CHUNK):
            sample = self._whole.rows[spread[start : start + _CHUNK]].astype(np.float32)
            products += sample.T @ sample
        strengths, directions = np.linalg.eigh(products)
        self._directions = self._short = None  # before the new ones: both at once would be the peak
        width = max(_SHORT, self.dimensions // 4)
        if strengths[-width:].sum() < _ENOUGH * strengths.sum() or width >= self.dimensions:
            return
        self._directions = np.ascontiguousarray(directions[:, -width:], np.float32)
        short = np.empty((len(self), width), np.float32)
        for start in range(0, len(self), _CHUNK):
            part = self._whole.rows[start : start + _CHUNK].astype(np.float32) / np.float32(_UNIT)
            short[start : start + _CHUNK] = part @ self._directions
        self._short = Growing(np.float32, width)
        self._short.replace(short)

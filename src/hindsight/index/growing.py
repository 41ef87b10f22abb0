"""A numpy array that grows at its end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_FIRST = 64
_GROWTH = 1.3  # less than doubling: what is spare here is counted in the server's memory


class Growing:
    """An array of rows; appending is cheap on average, and the rows so far can be looked at without a copy."""

    __slots__ = ("_array", "_length")

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._array: NDArray[Any] = np.empty((0,) if width is None else (0, width), dtype)
        self._length = 0

    @property
    def rows(self) -> NDArray[Any]:
        """The rows so far; a view, to be used before the next change."""
        return self._array[: self._length]

    def extend(self, values: NDArray[Any]) -> None:
        """Append rows."""
        end = self._length + len(values)
        if end > len(self._array):
            larger = np.empty((max(end, _FIRST, int(end * _GROWTH)), *self._array.shape[1:]), self._array.dtype)
            larger[: self._length] = self.rows
            self._array = larger
        self._array[self._length : end] = values
        self._length = end

    def replace(self, values: NDArray[Any]) -> None:
        """Put other rows in place of all of them."""
        self._array = np.ascontiguousarray(values, self._array.dtype)
        self._length = len(values)

"""Entries in the order in which they were said, so that each can be read with what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """Some entries and the rest of their sessions, session by session, each from its first turn to its last.

    Arrays have one value per entry. `sessions`: the same number for entries of one session, -1 without a session (these
    come first). `positions`, `replies`: as in `Entry`. `times`: when it occurred, seconds since 1970. `scores`: BM25.
    """

    ids: Sequence[str]
    sessions: NDArray[np.int32]
    positions: NDArray[np.int64]
    replies: NDArray[np.bool_]
    times: NDArray[np.float64]
    scores: NDArray[np.float64]

    def only(self, kept: NDArray[np.bool_]) -> Surroundings:
        """Those of the entries that are `kept`, one value per entry."""
        columns = {column.name: getattr(self, column.name)[kept] for column in fields(self) if column.name != "ids"}
        return Surroundings(list(compress(self.ids, kept)), **columns)

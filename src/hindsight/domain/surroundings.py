"""Entries in the order in which they were said, so that each can be read with what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    `gains`: a row for each entry, with what each of the question's strongest terms adds to its score; `None` where the
    index does not tell.
    """

    ids: Sequence[str]
    sessions: NDArray[np.int32]
    positions: NDArray[np.int64]
    replies: NDArray[np.bool_]
    times: NDArray[np.float64]
    scores: NDArray[np.float64]
    gains: NDArray[np.float32] | None = None

    def only(self, kept: NDArray[np.bool_]) -> Surroundings:
        """Those of the entries that are `kept`, one value per entry."""
        told = ("sessions", "positions", "replies", "times", "scores", *(("gains",) if self.gains is not None else ()))
        columns = {name: getattr(self, name)[kept] for name in told}
        return replace(self, ids=list(compress(self.ids, kept)), **columns)

"""Which rows hold a term, and how often: an inverted index over numbers.

Every batch of new rows becomes a segment of sorted arrays, and segments of like size are merged, so that there are
never many and a posting costs five bytes. A question's terms are looked up all at once, since numpy's cost per call
outweighs that of most lists. Rows only ever rise, so a merge is an insertion behind what is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_TIMES = 255  # BM25 saturates long before
_ROW_BITS = np.uint64(32)

Terms = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Found:
    """Postings of several terms: posting `i` says that row `rows[i]` holds the term asked for at `which[i]`."""

    which: NDArray[np.intp]
    rows: NDArray[np.int32]
    times: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Sorted postings: those of `terms[i]` lie at `starts[i]:starts[i + 1]` of `rows` and `times`."""

    terms: Terms
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    times: NDArray[np.uint8]

    @classmethod
    def of(cls, terms: Terms, rows: NDArray[np.int32], times: NDArray[np.uint8]) -> _Segment:
        """Postings sorted by term and row."""
        first = np.flatnonzero(np.diff(terms, prepend=terms[:1] + np.uint32(1)))
        return cls(terms[first], np.append(first, len(terms)).astype(np.int64), rows, times)

    def spread(self) -> Terms:
        """The term of each posting."""
        return np.repeat(self.terms, np.diff(self.starts))

    def find(self, terms: Terms) -> Found:
        """The postings of these terms."""
        places = np.searchsorted(self.terms, terms)
        places[places == len(self.terms)] = 0
        here = np.flatnonzero(self.terms[places] == terms) if len(self.terms) else np.empty(0, np.intp)
        starts, ends = self.starts[places[here]], self.starts[places[here] + 1]
        lengths = ends - starts
        # The ranges starts[i]..ends[i], one after the other.
        at = np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(lengths.sum())
        return Found(np.repeat(here, lengths), self.rows[at], self.times[at])

    def with_later(self, later: _Segment) -> _Segment:
        """These postings and those of later rows. Linear, and works in little memory beside the result."""
        terms = np.union1d(self.terms, later.terms)
        counts = np.zeros(len(terms) + 1, np.int64)
        for part in (self, later):
            counts[1 + np.searchsorted(terms, part.terms)] += np.diff(part.starts)
        # A later posting comes after all of this segment's postings of its term and of lower ones.
        after = self.starts[np.searchsorted(self.terms, later.terms, side="right")]
        places = np.repeat(after, np.diff(later.starts)) + np.arange(len(later.rows))
        mine = np.ones(len(self.rows) + len(later.rows), np.bool_)
        mine[places] = False
        rows, times = np.empty(len(mine), np.int32), np.empty(len(mine), np.uint8)
        rows[places], times[places] = later.rows, later.times
        rows[mine], times[mine] = self.rows, self.times
        return _Segment(terms, np.cumsum(counts), rows, times)


class Postings:
    """An inverted index. Terms are 32-bit hashes: of half a million, some thirty share theirs with another."""

    __slots__ = ("_segments",)

    def __init__(self) -> None:
        self._segments: list[_Segment] = []

    def add(self, terms: Terms, rows: NDArray[np.int64]) -> None:
        """Put in one posting per occurrence of a term in a row; the rows are higher than all before."""
        keys, times = np.unique(terms.astype(np.uint64) << _ROW_BITS | rows.astype(np.uint64), return_counts=True)
        fresh = _Segment.of(
            (keys >> _ROW_BITS).astype(np.uint32),
            keys.astype(np.uint32).astype(np.int32),
            times.clip(max=_MOST_TIMES).astype(np.uint8),
        )
        self._segments.append(fresh)
        while len(self._segments) > 1 and len(self._segments[-2].rows) < 2 * len(self._segments[-1].rows):
            self._merge_last()

    def find(self, terms: Terms) -> Found:
        """The postings of these terms, those of one row in the order of the terms."""
        parts = [segment.find(terms) for segment in self._segments] or [_NOTHING]
        return Found(
            np.concatenate([part.which for part in parts]),
            np.concatenate([part.rows for part in parts]),
            np.concatenate([part.times for part in parts]),
        )

    def compact(self, kept: NDArray[np.int64], before: int) -> None:
        """Leave only the `kept` of the rows `0..before`, renumbered in that order."""
        moved = np.full(before, -1, np.int32)
        moved[kept] = np.arange(len(kept), dtype=np.int32)
        segment = self._whole()
        rows = moved[segment.rows]
        stay = rows >= 0
        self._segments = [_Segment.of(segment.spread()[stay], rows[stay], segment.times[stay])]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All postings as arrays, for a snapshot."""
        segment = self._whole()
        return {"terms": segment.terms, "starts": segment.starts, "rows": segment.rows, "times": segment.times}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Postings:
        """Postings from a snapshot."""
        postings = cls()
        postings._segments = [_Segment(arrays["terms"], arrays["starts"], arrays["rows"], arrays["times"])]
        return postings

    def _whole(self) -> _Segment:
        """Everything in one segment."""
        if not self._segments:
            self.add(np.empty(0, np.uint32), np.empty(0, np.int64))
        while len(self._segments) > 1:
            self._merge_last()
        return self._segments[0]

    def _merge_last(self) -> None:
        *others, before, last = self._segments
        self._segments = [*others, before.with_later(last)]


_NOTHING = Found(np.empty(0, np.intp), np.empty(0, np.int32), np.empty(0, np.uint8))

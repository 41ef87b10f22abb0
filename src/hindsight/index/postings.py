"""Which rows hold a term, and how often: an inverted index over numbers.

New rows go into a small dictionary; from time to time it is sealed into sorted arrays, and arrays of like size are
merged, so that a term is looked up in a handful of places and a posting costs five bytes. Rows only ever rise, so a
merge is a sort.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SEAL_AT = 500  # rows in the dictionary, where a posting costs ten times as much
_MOST_TIMES = 255  # BM25 saturates long before

RowsOfTerm = NDArray[np.int32]
Times = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Sealed postings: those of `terms[i]` lie at `starts[i]:starts[i + 1]` of `rows` and `times`."""

    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]
    rows: RowsOfTerm
    times: Times

    @classmethod
    def of(cls, terms: NDArray[np.uint32], rows: RowsOfTerm, times: Times) -> _Segment:
        """Sort postings that come in any order."""
        order = np.argsort(terms.astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64))
        terms = terms[order]
        first = np.flatnonzero(np.concatenate(([True], terms[1:] != terms[:-1]))) if len(terms) else np.empty(0, int)
        starts = np.append(first, len(terms)).astype(np.int64)
        return cls(terms[first], starts, rows[order], times[order])

    def spread(self) -> NDArray[np.uint32]:
        """The term of each posting."""
        return np.repeat(self.terms, np.diff(self.starts))

    def find(self, term: int) -> slice:
        """Where the postings of a term lie."""
        place = int(np.searchsorted(self.terms, np.uint32(term)))
        if place == len(self.terms) or self.terms[place] != term:
            return slice(0, 0)
        return slice(int(self.starts[place]), int(self.starts[place + 1]))


class Postings:
    """An inverted index. Terms are 32-bit hashes: of half a million, some thirty share theirs with another."""

    __slots__ = ("_fresh", "_fresh_rows", "_segments")

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._fresh: dict[int, array[int]] = {}
        self._fresh_rows = 0

    def add(self, row: int, counts: Mapping[int, int]) -> None:
        """Put in a row, higher than all before, with the times it holds each term."""
        for term, times in counts.items():
            self._fresh.setdefault(term, array("q")).append(row << 8 | min(times, _MOST_TIMES))
        self._fresh_rows += 1
        if self._fresh_rows >= _SEAL_AT:
            self._seal()

    def find(self, term: int) -> tuple[RowsOfTerm, Times]:
        """The rows that hold a term, rising, and how often each does."""
        slices = [(segment, segment.find(term)) for segment in self._segments]
        rows = [segment.rows[place] for segment, place in slices]
        times = [segment.times[place] for segment, place in slices]
        if term in self._fresh:
            packed = np.array(self._fresh[term], np.int64)
            rows.append((packed >> 8).astype(np.int32))
            times.append((packed & _MOST_TIMES).astype(np.uint8))
        if not rows:
            return np.empty(0, np.int32), np.empty(0, np.uint8)
        return (rows[0], times[0]) if len(rows) == 1 else (np.concatenate(rows), np.concatenate(times))

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

    def _seal(self) -> None:
        terms = np.array(list(self._fresh), np.uint32)
        packed = [np.array(postings, np.int64) for postings in self._fresh.values()]
        lengths = [len(postings) for postings in packed]
        together = np.concatenate(packed) if packed else np.empty(0, np.int64)
        self._segments.append(
            _Segment.of(
                np.repeat(terms, lengths),
                (together >> 8).astype(np.int32),
                (together & _MOST_TIMES).astype(np.uint8),
            )
        )
        self._fresh, self._fresh_rows = {}, 0
        while len(self._segments) > 1 and len(self._segments[-2].rows) < 2 * len(self._segments[-1].rows):
            self._merge_last()

    def _whole(self) -> _Segment:
        """Everything in one segment."""
        if self._fresh or not self._segments:
            self._seal()
        while len(self._segments) > 1:
            self._merge_last()
        return self._segments[0]

    def _merge_last(self) -> None:
        *others, before, last = self._segments
        merged = _Segment.of(
            np.concatenate((before.spread(), last.spread())),
            np.concatenate((before.rows, last.rows)),
            np.concatenate((before.times, last.times)),
        )
        self._segments = [*others, merged]

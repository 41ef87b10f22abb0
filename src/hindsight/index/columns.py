"""What filters ask about, in columns: one row per entry held, so that a filter is a mask over all of them.

An entry that changes gets a new row and its old one dies; dead rows are taken out when they are many. Words to compare
(sessions, speakers, tags, entities) are kept as 64-bit hashes: equality is all that filters ask, and what a snapshot
of the columns holds on disk is then no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight.domain.entry import Entry
from hindsight.domain.memory import UNSEEN, Kind, Layer, Status
from hindsight.domain.query import Filters, TimeRange
from hindsight.index.growing import Growing

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FOR_EVER = np.iinfo(np.int64).max
_FEW = 8  # values of a filter
_NOTHING = 0  # the hash of no session, no speaker

_KINDS: dict[Kind | None, int] = {None: 0} | {kind: code for code, kind in enumerate(Kind, start=1)}
_LAYERS = {layer: code for code, layer in enumerate(Layer)}
_STATUSES = {status: code for code, status in enumerate(Status)}

_COLUMNS = {
    "alive": np.bool_,
    "kind": np.int8,
    "layer": np.int8,
    "status": np.int8,
    "occurred": np.int64,  # microseconds since 1970, as the two below
    "begin": np.int64,
    "end": np.int64,
    "session": np.int64,
    "position": np.int32,
    "reply": np.bool_,
    "pinned": np.bool_,
    "speaker": np.int64,
    "confidence": np.float64,
    # Of tags and entities there are many to an entry: pairs of a row and a hash.
    "tag_row": np.int64,
    "tag": np.int64,
    "entity_row": np.int64,
    "entity": np.int64,
}
_PAIRS = (("tag_row", "tag"), ("entity_row", "entity"))

# The meaning of the codes; a snapshot made under another one is of no use.
CODES = "3 " + " ".join(name.value for enum in (Kind, Layer, Status) for name in enum)


@lru_cache(maxsize=16_384)
def _hash(word: str) -> int:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


class Columns:
    """The filter columns of one namespace."""

    __slots__ = ("_columns", "_dead", "_numbers", "_rows", "_sessions", "ids")

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._columns = {name: Growing(dtype) for name, dtype in _COLUMNS.items()}
        self._numbers: dict[int, int] = {}  # of sessions by their hash
        self._sessions = Growing(np.int32)
        self._dead = 0

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def count(self) -> int:
        """Entries held, without the dead."""
        return len(self._rows)

    @property
    def dead(self) -> int:
        """Rows that hold nothing any more."""
        return self._dead

    @property
    def alive(self) -> Mask:
        """Which rows hold an entry."""
        return self._columns["alive"].rows

    def add(self, entries: Sequence[Entry]) -> None:
        """Append a row for each entry; an earlier row of the same id dies."""
        first = len(self.ids)
        for row, entry in enumerate(entries, start=first):
            self.remove(entry.id)
            self.ids.append(entry.id)
            self._rows[entry.id] = row
            self._columns["alive"].extend(np.ones(1, np.bool_))
        for name, values in _values(entries).items():
            self._columns[name].extend(np.array(values, _COLUMNS[name]))
        self._number_sessions(first)
        for row_name, name in _PAIRS:
            of_entry = [entry.tags if name == "tag" else entry.entities for entry in entries]
            pairs = [(row, _hash(word)) for row, words in enumerate(of_entry, start=first) for word in words]
            self._columns[row_name].extend(np.array([row for row, _ in pairs], np.int64))
            self._columns[name].extend(np.array([word for _, word in pairs], np.int64))

    def remove(self, entry_id: str) -> bool:
        """Let the row of an entry die; whether there was one."""
        row = self._rows.pop(entry_id, None)
        if row is None:
            return False
        self.alive[row] = False
        self._dead += 1
        return True

    def compact(self) -> Rows:
        """Take the dead rows out. Returns the old numbers of the rows that stay, in their new order."""
        kept = np.flatnonzero(self.alive)
        moved = np.full(len(self), -1, np.int64)
        moved[kept] = np.arange(len(kept))
        for row_name, name in _PAIRS:
            rows = moved[self._columns[row_name].rows]
            self._columns[name].replace(self._columns[name].rows[rows >= 0])
            self._columns[row_name].replace(rows[rows >= 0])
        paired = {name for pair in _PAIRS for name in pair}
        for name in _COLUMNS.keys() - paired:
            self._columns[name].replace(self._columns[name].rows[kept])
        self._sessions.replace(self._sessions.rows[kept])
        self._take_ids([self.ids[row] for row in kept])
        return kept

    def mask(self, filters: Filters) -> Mask:
        """Which rows hold an entry that matches: `Filters.matches`, over all rows at once."""
        keep = self.alive & self._answering(filters)
        if not filters.episodes:
            keep &= self._at("kind") != _KINDS[None]
        if filters.pinned is not None:
            keep &= self._at("pinned") == filters.pinned
        if filters.kinds:
            keep &= self._any_of("kind", (_KINDS[kind] for kind in filters.kinds))
        if filters.layers:
            keep &= self._any_of("layer", (_LAYERS[layer] for layer in filters.layers))
        if filters.time_range is not None:
            keep &= self._within(filters.time_range)
        if filters.min_confidence is not None:
            trusted = self._at("confidence") >= filters.min_confidence
            keep &= trusted | (self._at("kind") != _KINDS[Kind.EXPERIENCE])
        return self._by_words(keep, filters)

    def rows_of(self, ids: Iterable[str]) -> Rows:
        """The row of each entry, -1 for one that is not held."""
        return np.fromiter(map(self._rows.get, ids, repeat(-1)), np.int64)

    def around(self, ids: Iterable[str], keep: Mask) -> Rows:
        """The rows of these entries and of all others of their sessions, of those in `keep`.

        Those without a session come first, then session by session in order of time, what has the same time as it was
        written: a phone's calls and notes of one day are written kind by kind. A turn stands where the latest of its
        entries does, so that a fact of long ago that came of it stays with it.
        """
        found = self.rows_of(ids)
        found = found[found >= 0]
        sessions = self.sessions
        wanted = np.zeros(len(self._numbers) + 1, np.bool_)  # the last place is that of -1
        wanted[sessions[found]] = True
        wanted[-1] = False
        within = wanted[sessions]
        within[found] = True
        rows = np.flatnonzero(within & keep)
        rows = rows[np.lexsort((rows, self._at("position")[rows], sessions[rows]))]
        return rows[np.lexsort((self._turn_times(rows), sessions[rows]))]

    def _turn_times(self, rows: Rows) -> NDArray[np.int64]:
        """For each of these rows, in order of session and position: the latest time among the entries of its turn."""
        if not len(rows):
            return np.empty(0, np.int64)
        sessions, positions = self.sessions[rows], self._at("position")[rows]
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (sessions[1:] != sessions[:-1]) | (positions[1:] != positions[:-1])
        starts = np.flatnonzero(begins)
        latest: NDArray[np.int64] = np.maximum.reduceat(self._at("occurred")[rows], starts)
        return np.repeat(latest, np.diff(np.append(starts, len(rows))))

    @property
    def sessions(self) -> NDArray[np.int32]:
        """A number for the session of each row, -1 without one."""
        return self._sessions.rows

    @property
    def positions(self) -> NDArray[np.int32]:
        """The place of each row in its session."""
        return self._at("position")

    @property
    def replies(self) -> Mask:
        """Which rows hold a turn of the assistant."""
        return self._at("reply")

    def times(self, rows: Rows) -> NDArray[np.float64]:
        """When each of these rows occurred, in seconds since 1970."""
        seconds: NDArray[np.float64] = self._at("occurred")[rows] / 1e6
        return seconds

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The columns by name, for a snapshot."""
        return {name: column.rows for name, column in self._columns.items()}

    @classmethod
    def of(cls, ids: list[str], arrays: Mapping[str, NDArray[Any]]) -> Columns:
        """Columns from a snapshot without dead rows."""
        columns = cls()
        for name, column in columns._columns.items():
            column.replace(arrays[name])
        columns._take_ids(ids)
        columns._number_sessions(0)
        return columns

    def _take_ids(self, ids: list[str]) -> None:
        self.ids = ids
        self._rows = {entry_id: row for row, entry_id in enumerate(ids)}
        self._dead = 0

    def _number_sessions(self, first: int) -> None:
        """Number the sessions of the rows from `first` on: small numbers can be looked up in a table."""
        numbers = self._numbers
        hashes = self._at("session")[first:].tolist()
        given = [-1 if word == _NOTHING else numbers.setdefault(word, len(numbers)) for word in hashes]
        self._sessions.extend(np.array(given, np.int32))

    def _at(self, name: str) -> NDArray[Any]:
        return self._columns[name].rows

    def _any_of(self, name: str, values: Iterable[int]) -> Mask:
        column, wanted = self._at(name), list(values)
        if len(wanted) > _FEW:
            return np.isin(column, wanted)
        # To compare with a few one by one takes a fifth of the time.
        found: Mask = column == wanted[0]
        for value in wanted[1:]:
            found |= column == value
        return found

    def _answering(self, filters: Filters) -> Mask:
        if filters.as_of is not None:
            then = _microseconds(filters.as_of)
            known = ~self._any_of("status", (_STATUSES[status] for status in UNSEEN))
            valid: Mask = known & (self._at("begin") <= then) & (then < self._at("end"))
            return valid
        if not filters.statuses:
            return np.ones(len(self), np.bool_)
        return self._any_of("status", (_STATUSES[status] for status in filters.statuses))

    def _within(self, time_range: TimeRange) -> Mask:
        inside = np.ones(len(self), np.bool_)
        if time_range.start is not None:
            inside &= self._at("occurred") >= _microseconds(time_range.start)
        if time_range.end is not None:
            inside &= self._at("occurred") < _microseconds(time_range.end)
        return inside

    def _by_words(self, keep: Mask, filters: Filters) -> Mask:
        if filters.session_ids:
            keep &= self._any_of("session", map(_hash, filters.session_ids))
        if filters.exclude_sessions:
            keep &= ~self._any_of("session", map(_hash, filters.exclude_sessions))
        if filters.speakers:
            keep &= self._any_of("speaker", map(_hash, filters.speakers))
        for (row_name, name), words in zip(_PAIRS, (filters.tags, filters.entities), strict=True):
            if words:
                having = np.zeros(len(self), np.bool_)
                having[self._at(row_name)[self._any_of(name, map(_hash, words))]] = True
                keep &= having
        return keep


def _values(entries: Sequence[Entry]) -> dict[str, list[Any]]:
    return {
        "kind": [_KINDS[entry.kind] for entry in entries],
        "layer": [_LAYERS[entry.layer] for entry in entries],
        "status": [_STATUSES[entry.status] for entry in entries],
        "occurred": [_microseconds(entry.occurred_at) for entry in entries],
        "begin": [_microseconds(entry.valid_from or entry.occurred_at) for entry in entries],
        "end": [_FOR_EVER if entry.valid_to is None else _microseconds(entry.valid_to) for entry in entries],
        "session": [_NOTHING if entry.session_id is None else _hash(entry.session_id) for entry in entries],
        "position": [entry.position for entry in entries],
        "reply": [entry.reply for entry in entries],
        "pinned": [entry.pinned for entry in entries],
        "speaker": [_NOTHING if entry.speaker is None else _hash(entry.speaker) for entry in entries],
        "confidence": [entry.confidence for entry in entries],
    }

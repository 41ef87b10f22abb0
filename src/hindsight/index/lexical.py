"""The keyword index: BM25 scored in process, the same for every database.

Terms come from `hindsight.language.segment` on both sides. A snapshot in the data folder spares the next start the
segmenting of all text; it holds numbers only and is dropped when an entry goes, so that a purge leaves nothing in it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hindsight.domain.entry import Entry
from hindsight.domain.query import Filters, Scored
from hindsight.domain.surroundings import Surroundings
from hindsight.errors import StorageFull
from hindsight.index.best import keep_latest, leading, ranked
from hindsight.index.columns import CODES, Columns, Mask
from hindsight.index.growing import Growing
from hindsight.index.keeper import Keeper
from hindsight.index.postings import Found, Postings, Terms
from hindsight.index.snapshot import Snapshot, SnapshotFile
from hindsight.language.segment import VERSION, index_terms

# Robertson et al., Okapi at TREC-3; the values that measured best over all sets.
K1 = 1.2
B = 0.75

# What is told of each term by itself is told of so many, those with the highest idf. With 8 LifeBench Chinese loses 0.3
# points of recall@10, with 32 the mean over all sets is the same.
MOST_GAINS = 16

_MADE_BY = f"lexical 1, segment {VERSION}, {CODES}"
_FEW_DEAD = 1_000
_SAVE_AFTER = 5_000  # entries taken in since the last snapshot, or a quarter: what a killed process segments anew

_log = logging.getLogger(__name__)


class EmbeddedLexicalIndex:
    """A `LexicalIndex` in memory, with snapshots under `folder` (`None`: without)."""

    def __init__(self, folder: Path | None = None, *, k1: float = K1, b: float = B) -> None:
        self._keeper = Keeper("lexical", lambda namespace: _Namespace(_file(folder, namespace), k1, b))

    async def cursor(self, namespace: str) -> int:
        """The change number this index has followed to; 0 for an empty one."""
        return await self._keeper.glance(namespace, lambda held: held.cursor)

    async def mark(self, namespace: str) -> str:
        """What `apply` was told of the change at the cursor; empty for an empty index."""
        return await self._keeper.glance(namespace, lambda held: held.mark)

    async def count(self, namespace: str) -> int:
        """Entries held."""
        return await self._keeper.glance(namespace, lambda held: held.columns.count)

    async def drop(self, namespace: str) -> None:
        """Forget a namespace; its cursor is 0 again."""
        await self._keeper.call(namespace, _Namespace.clear)

    async def apply(
        self, namespace: str, upserts: Sequence[Entry], deletes: Sequence[str], *, cursor: int, mark: str = ""
    ) -> None:
        """Take in entries, let others go, and move the cursor. Repeating it changes nothing."""
        await self._keeper.call(namespace, lambda held: held.apply(upserts, deletes, cursor, mark))

    async def search(self, namespace: str, terms: Sequence[str], filters: Filters, *, limit: int) -> Sequence[Scored]:
        """The `limit` best entries by BM25 among those that match and share a term, best first; ties by id."""
        return await self._keeper.look(namespace, lambda held: held.search(terms, filters, limit), size=_size)

    async def ceiling(self, namespace: str, terms: Sequence[str]) -> float:
        """Sum of the terms' idf, a term as often as it is asked for. Costs nothing right after a search for them."""
        known = await self._keeper.glance(namespace, lambda held: held.known_ceiling)
        if known and known[0] == tuple(terms):
            return known[1]
        return await self._keeper.call(namespace, lambda held: held.ceiling(terms))

    async def around(self, namespace: str, terms: Sequence[str], filters: Filters, ids: Sequence[str]) -> Surroundings:
        """These entries and the rest of their sessions, as far as they match, with the BM25 of each."""
        return await self._keeper.look(namespace, lambda held: held.around(terms, filters, ids), size=_size)

    async def aclose(self) -> None:
        """Save snapshots, and close."""
        await self._keeper.aclose(_Namespace.save)


def _file(folder: Path | None, namespace: str) -> SnapshotFile | None:
    return None if folder is None else SnapshotFile.of(folder / "lexical", namespace, _MADE_BY)


def _hashed(terms: Sequence[str]) -> Terms:
    return np.array([crc32(term.encode("utf-8", "surrogatepass")) for term in terms], np.uint32)


def _size(held: _Namespace) -> int:
    return len(held.columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """BM25 of every row, and what each posting added: `gains[i]` to row `rows[i]` by the term `which[i]`."""

    scores: NDArray[np.float64]
    rows: NDArray[np.int32]
    which: NDArray[np.intp]
    gains: NDArray[np.float64]
    idfs: NDArray[np.float64]

    def of_rows(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """For each of these rows, what the strongest terms added to its score."""
        strongest = np.argsort(-self.idfs, kind="stable")[:MOST_GAINS]
        column = np.full(len(self.idfs), -1, np.intp)
        column[strongest] = np.arange(len(strongest))
        place = np.full(len(self.scores), -1, np.intp)
        place[rows] = np.arange(len(rows))
        at, told = place[self.rows], column[self.which]
        kept = (at >= 0) & (told >= 0)
        table = np.zeros((len(rows), len(strongest)), np.float32)
        table[at[kept], told[kept]] = self.gains[kept]
        return table


class _Namespace:
    """The keyword index of one namespace; not for several threads."""

    __slots__ = (
        "_b", "_file", "_k1", "_known_masks", "_known_norms", "_known_scores", "_lengths", "_postings", "_unsaved",
        "columns", "cursor", "known_ceiling", "mark",
    )  # fmt: skip

    def __init__(self, file: SnapshotFile | None, k1: float, b: float) -> None:
        self._file, self._k1, self._b = file, k1, b
        self._reset()
        snapshot = file.load() if file else None
        if snapshot is not None:
            self.cursor, self.mark = snapshot.cursor, snapshot.mark
            self.columns = Columns.of(snapshot.ids, snapshot.arrays)
            self._postings = Postings.of(snapshot.arrays)
            self._lengths.replace(snapshot.arrays["lengths"])

    def _reset(self) -> None:
        self.cursor, self.mark = 0, ""
        self.columns = Columns()
        self._postings = Postings()
        self._lengths = Growing(np.int32)
        self._unsaved = 0
        self._changed()

    def _changed(self) -> None:
        """Nothing that was worked out holds any more."""
        self._known_norms: NDArray[np.float64] | None = None
        self._known_masks: dict[Filters, Mask] = {}
        self._known_scores: dict[tuple[tuple[str, ...], Filters], _Scored] = {}
        self.known_ceiling: tuple[tuple[str, ...], float] | None = None

    def clear(self) -> None:
        self._reset()
        if self._file:
            self._file.remove()

    def apply(self, upserts: Sequence[Entry], deletes: Sequence[str], cursor: int, mark: str) -> None:
        entries = list({entry.id: entry for entry in upserts}.values())
        hashes = [_hashed(index_terms(entry.content)) for entry in entries]
        lengths = np.array([len(of_entry) for of_entry in hashes], np.int32)
        rows = np.arange(len(self.columns), len(self.columns) + len(entries))
        if entries:
            self._postings.add(np.concatenate(hashes), np.repeat(rows, lengths))
        self._lengths.extend(lengths)
        self.columns.add(entries)
        gone = [entry_id for entry_id in deletes if self.columns.remove(entry_id)]
        if gone and self._file:
            self._file.remove()
        self.cursor, self.mark = cursor, mark
        self._changed()
        self._unsaved += len(entries) + len(gone)
        if self.columns.dead > max(_FEW_DEAD, self.columns.count // 3):
            self._compact()
        if self._unsaved >= max(_SAVE_AFTER, self.columns.count // 4):
            self.save()

    def search(self, terms: Sequence[str], filters: Filters, limit: int) -> list[Scored]:
        scores = self._scored(terms, filters).scores
        if limit < 1:
            return []
        best = np.flatnonzero(scores)
        best = best[leading(scores[best], limit)]
        return ranked([self.columns.ids[row] for row in best.tolist()], scores[best], limit)

    def around(self, terms: Sequence[str], filters: Filters, ids: Sequence[str]) -> Surroundings:
        rows = self.columns.around(ids, self._mask(filters))
        scored = self._scored(terms, filters)
        return Surroundings(
            ids=[self.columns.ids[row] for row in rows.tolist()],
            sessions=self.columns.sessions[rows],
            positions=self.columns.positions[rows].astype(np.int64),
            replies=self.columns.replies[rows],
            times=self.columns.times(rows),
            scores=scored.scores[rows],
            gains=scored.of_rows(rows),
        )

    def _scored(self, terms: Sequence[str], filters: Filters) -> _Scored:
        """BM25 of every row, 0 where it does not match; kept for the question that comes next about the same."""
        asked = tuple(terms), filters
        if (known := self._known_scores.get(asked)) is not None:
            return known
        found, idfs = self._weighed(terms)
        self.known_ceiling = asked[0], math.fsum(idfs)
        keep = self._mask(filters)[found.rows]
        rows, which, times = found.rows[keep], found.which[keep], found.times[keep].astype(np.float64)
        gains = idfs[which] * times * (self._k1 + 1) / (times + self._norms()[rows])
        scores = np.bincount(rows, gains, minlength=len(self.columns)).astype(np.float64, copy=False)
        scored = _Scored(scores, rows, which, gains, idfs)
        return keep_latest(self._known_scores, asked, scored)

    def _mask(self, filters: Filters) -> Mask:
        known = self._known_masks.get(filters)
        return keep_latest(self._known_masks, filters, self.columns.mask(filters)) if known is None else known

    def ceiling(self, terms: Sequence[str]) -> float:
        return math.fsum(self._weighed(terms)[1])

    def _weighed(self, terms: Sequence[str]) -> tuple[Found, NDArray[np.float64]]:
        """The postings of the distinct terms, and for each its idf, times how often it is asked for.

        Inverse document frequency in the form that never falls below zero (Lucene's).
        """
        distinct, asked = np.unique(_hashed(terms), return_counts=True)
        found = self._postings.find(distinct)
        which = found.which[self.columns.alive[found.rows]] if self.columns.dead else found.which
        holding = np.bincount(which, minlength=len(distinct))
        idfs = np.log1p((self.columns.count - holding + 0.5) / (holding + 0.5))
        return found, (asked * idfs).astype(np.float64)

    def _norms(self) -> NDArray[np.float64]:
        """What a text's length does to its counts, row by row; kept until something changes."""
        if self._known_norms is None:
            lengths = self._lengths.rows
            # At least 1: a namespace may hold nothing but texts without a word.
            mean = max(1.0, float(lengths[self.columns.alive].sum()) / max(1, self.columns.count))
            self._known_norms = self._k1 * (1 - self._b + self._b * lengths / mean)
        return self._known_norms

    def _compact(self) -> None:
        before = len(self.columns)
        kept = self.columns.compact()
        self._postings.compact(kept, before)
        self._lengths.replace(self._lengths.rows[kept])
        self._changed()

    def save(self) -> None:
        if self._file is None or not self._unsaved:
            return
        if self.columns.dead:
            self._compact()
        arrays = {**self.columns.arrays(), **self._postings.arrays(), "lengths": self._lengths.rows}
        self._unsaved = 0
        try:
            self._file.save(Snapshot(self.cursor, self.mark, self.columns.ids, arrays))
        except StorageFull as error:
            _log.warning("%s %s", error, error.hint)

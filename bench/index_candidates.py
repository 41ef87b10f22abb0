"""Ways to find by words and by vectors, under one shape, so that `bench.index` can compare them.

Filters are three flags per entry: all, a tenth, a thousandth. The package's own indexes get them as tags, through
their public methods, thread hop included; the others are called bare, which flatters them a little.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

import apsw
import numpy as np
from numpy.typing import NDArray

from hindsight.domain.entry import Entry
from hindsight.domain.memory import Kind, Layer
from hindsight.domain.query import Filters, Scored
from hindsight.index.embedded import EmbeddedVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.language.segment import index_terms, query_terms

SPACE = "bench"
LIMIT = 10
PICKS = (1.0, 0.1, 0.001)  # shares of all entries that a filter lets through
STEP = 500  # entries taken in at once
RESCORED = 100

Vectors = NDArray[np.float32]


class Candidate(Protocol):
    """Built once, then asked for the places of the best `LIMIT` among a share of all entries."""

    def build(self, texts: Sequence[str], vectors: Vectors) -> None: ...

    def ask(self, question: str, vector: Vectors, share: float) -> list[int]: ...


def picked(count: int, share: float) -> NDArray[np.intp]:
    """The places a filter lets through, evenly spread."""
    return np.arange(0, count, round(1 / share))


def top(scores: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Places of the highest scores, unsorted."""
    return np.argpartition(scores, -count)[-count:] if len(scores) > count else np.arange(len(scores))


class _Own:
    """The package's index: one event loop, a filter is a tag."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    def in_steps(self, texts: Sequence[str]) -> Iterator[tuple[int, list[Entry]]]:
        """Entries as a store would hand them over, a few at a time, with the place of the first."""
        for start in range(0, len(texts), STEP):
            yield start, [_entry(start + place, text) for place, text in enumerate(texts[start : start + STEP])]

    def places(self, hits: Sequence[Scored]) -> list[int]:
        return [int(hit.id) for hit in hits]


def _entry(place: int, text: str) -> Entry:
    return Entry(
        id=f"{place:026}",
        namespace=SPACE,
        content=text,
        layer=Layer.SEMANTIC,
        kind=Kind.FACT,
        occurred_at=datetime(2024, 1, 1, tzinfo=UTC),
        tags=tuple(str(share) for share in PICKS[1:] if place % round(1 / share) == 0),
    )


def _filters(share: float) -> Filters:
    return Filters() if share == 1 else Filters(tags=(str(share),))


class OwnLexical(_Own):
    """`EmbeddedLexicalIndex`."""

    def __init__(self) -> None:
        super().__init__()
        self.index = EmbeddedLexicalIndex()

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        for start, entries in self.in_steps(texts):
            self.run(self.index.apply(SPACE, entries, [], cursor=start + 1))

    def ask(self, question: str, vector: Vectors, share: float) -> list[int]:
        return self.places(self.run(self.index.search(SPACE, query_terms(question), _filters(share), limit=LIMIT)))


class FullText:
    """SQLite FTS5 over the same terms, in memory."""

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.execute(
            "create virtual table found using fts5(terms, tenth unindexed, thousandth unindexed, detail=none)"
        )
        flags = [set(picked(len(texts), share).tolist()) for share in PICKS[1:]]
        self.db.executemany(
            "insert into found(rowid, terms, tenth, thousandth) values (?, ?, ?, ?)",
            (
                (place, " ".join(map(_as_word, index_terms(text))), *(place in members for members in flags))
                for place, text in enumerate(texts)
            ),
        )

    def ask(self, question: str, vector: Vectors, share: float) -> list[int]:
        terms = " OR ".join(f'"{_as_word(term)}"' for term in dict.fromkeys(query_terms(question)))
        where = {1.0: "", 0.1: "and tenth = 1", 0.001: "and thousandth = 1"}[share]
        rows = self.db.execute(
            f"select rowid from found where found match ? {where} order by rank limit {LIMIT}", (terms,)
        )
        return [row[0] for row in rows]


def _as_word(term: str) -> str:
    """A term as FTS5's tokenizer leaves it whole: letters and digits only."""
    return term if term.isalnum() else "x" + term.encode("utf-8", "surrogatepass").hex()


class OwnVector(_Own):
    """`EmbeddedVectorIndex`."""

    def __init__(self) -> None:
        super().__init__()
        self.index = EmbeddedVectorIndex()

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        for start, entries in self.in_steps(texts):
            pairs = list(zip(entries, vectors[start : start + STEP], strict=True))
            self.run(self.index.apply(SPACE, pairs, [], cursor=start + 1))

    def ask(self, question: str, vector: Vectors, share: float) -> list[int]:
        return self.places(self.run(self.index.search(SPACE, vector, _filters(share), limit=LIMIT)))


class Scan:
    """A numpy scan of whole vectors."""

    def __init__(self, kept_as: type[np.floating]) -> None:
        self._kept_as = kept_as

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        self.vectors = vectors.astype(self._kept_as)

    def ask(self, question: str, vector: Vectors, share: float) -> list[int]:
        rows = picked(len(self.vectors), share)
        scores = (self.vectors if share == 1 else self.vectors[rows]).astype(np.float32, copy=False) @ vector
        return [int(place) for place in rows[top(scores, LIMIT)]]


class ExactInt8:
    """usearch: exact scan of bytes, the best hundred rescored."""

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        self.library: Any = importlib.import_module("usearch.index")
        self.vectors = vectors.astype(np.float16)
        self.bytes = _as_bytes(vectors)

    def ask(self, question: str, vector: Vectors, share: float) -> list[int]:
        rows = picked(len(self.vectors), share)
        held = self.bytes if share == 1 else self.bytes[rows]
        found = self.library.search(held, _as_bytes(vector), min(RESCORED, len(rows)), "cos", exact=True, threads=1)
        near = rows[np.asarray(found.keys).astype(np.intp)]
        return [int(place) for place in near[top(self.vectors[near].astype(np.float32) @ vector, LIMIT)]]


class Graph:
    """usearch: HNSW of bytes, connectivity 16, search 96; a filter is applied to ten times what is wanted."""

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        library: Any = importlib.import_module("usearch.index")
        self.index = library.Index(
            ndim=vectors.shape[1], metric="cos", dtype="i8", connectivity=16, expansion_search=96
        )
        self.index.add(np.arange(len(vectors)), vectors, threads=1)
        self.vectors = vectors.astype(np.float16)

    def ask(self, question: str, vector: Vectors, share: float) -> list[int]:
        near = np.asarray(self.index.search(vector, RESCORED, threads=1).keys).astype(np.intp)
        near = near[near % round(1 / share) == 0]
        return [int(place) for place in near[top(self.vectors[near].astype(np.float32) @ vector, LIMIT)]]


class SqliteVec:
    """sqlite-vec: vectors of float32 in a table in memory, flags as metadata columns."""

    def build(self, texts: Sequence[str], vectors: Vectors) -> None:
        library: Any = importlib.import_module("sqlite_vec")
        self.db = apsw.Connection(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(library.loadable_path())
        shape = f"v float[{vectors.shape[1]}] distance_metric=cosine, tenth boolean, thousandth boolean"
        self.db.execute(f"create virtual table found using vec0({shape})")
        flags = [set(picked(len(vectors), share).tolist()) for share in PICKS[1:]]
        self.db.executemany(
            "insert into found(rowid, v, tenth, thousandth) values (?, ?, ?, ?)",
            (
                (place, vector.tobytes(), *(int(place in members) for members in flags))
                for place, vector in enumerate(vectors)
            ),
        )

    def ask(self, question: str, vector: Vectors, share: float) -> list[int]:
        where = {1.0: "", 0.1: "and tenth = 1", 0.001: "and thousandth = 1"}[share]
        rows = self.db.execute(f"select rowid from found where v match ? and k = {LIMIT} {where}", (vector.tobytes(),))
        return [row[0] for row in rows]


def _as_bytes(vectors: Vectors) -> NDArray[np.int8]:
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    packed: NDArray[np.int8] = np.rint(vectors / largest * 127).astype(np.int8)
    return packed


LEXICAL: Mapping[str, Callable[[], Candidate]] = MappingProxyType({"inverted": OwnLexical, "fts5": FullText})
VECTOR: Mapping[str, Callable[[], Candidate]] = MappingProxyType(
    {
        "short_form": OwnVector,
        "scan_f32": lambda: Scan(np.float32),
        "scan_f16": lambda: Scan(np.float16),
        "usearch_exact_i8": ExactInt8,
        "usearch_hnsw_i8": Graph,
        "sqlite_vec": SqliteVec,
    }
)

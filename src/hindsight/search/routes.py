"""Recall: the routes by which candidates are found, side by side, each with its own deadline."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from hindsight.domain.query import Scored
from hindsight.errors import Unavailable
from hindsight.observe.trace import Trace
from hindsight.ports import Embedder
from hindsight.projection import Projection
from hindsight.search.understand import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VECTOR = "vector"
KEYWORD = "keyword"

# Seconds. The vector route's covers loading the embedder on the first call (1.2 s when the machine is idle).
DEADLINES: Mapping[str, float] = MappingProxyType({VECTOR: 2.3, KEYWORD: 1.5})
# Candidates per route: where both routes give 200 and what only one found is scored by the other too, recall@10 is that
# of scoring everything (LoCoMo, Chinese facts).
LIMIT = 200

_log = logging.getLogger(__name__)
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, eq=False)
class ByMeaning:
    """What the vector route found: cosines, with the query's vector to score others by."""

    hits: Sequence[Scored]
    query: NDArray[np.float32]
    model: str


@dataclass(frozen=True, slots=True)
class ByWords:
    """What the keyword route found: BM25, with the sum of the idf of the question's terms."""

    hits: Sequence[Scored]
    ceiling: float


@dataclass(frozen=True, slots=True, eq=False)
class Recalled:
    """The candidates of all routes. `None`: that route is off or did not answer; `missing` says which did not."""

    meaning: ByMeaning | None = None
    words: ByWords | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Routes:
    """Which routes there are, and how long each may take, in seconds."""

    on: frozenset[str] = frozenset({VECTOR, KEYWORD})
    deadlines: Mapping[str, float] = field(default_factory=lambda: DEADLINES)
    limit: int = LIMIT


async def vector(
    projection: Projection, embedder: Embedder, namespace: str, question: Question, *, limit: int, trace: Trace
) -> ByMeaning:
    """By closeness of meaning."""
    with trace.span("embed"):
        query = await embedder.embed_query(question.text)
    with trace.span("vector") as span:
        hits = await projection.nearest(namespace, query, question.filters, limit=limit)
        span.count(found=len(hits))
    return ByMeaning(hits, query, embedder.model)


async def keyword(projection: Projection, namespace: str, question: Question, *, limit: int, trace: Trace) -> ByWords:
    """By shared words, rare ones first."""
    with trace.span("keyword") as span:
        hits, ceiling = await projection.by_words(namespace, question.terms, question.filters, limit=limit)
        span.count(found=len(hits), terms=len(question.terms))
    return ByWords(hits, ceiling)


async def recall(
    projection: Projection,
    embedder: Embedder | None,
    namespace: str,
    question: Question,
    *,
    routes: Routes,
    trace: Trace,
) -> Recalled:
    """Ask all routes at once. One that fails or is late is left out and named; the others still answer."""
    failed: dict[str, str] = {}

    async def words() -> ByWords | None:
        if KEYWORD not in routes.on:
            return None
        asked = keyword(projection, namespace, question, limit=routes.limit, trace=trace)
        return await _in_time(KEYWORD, asked, routes, failed)

    async def meaning() -> ByMeaning | None:
        if VECTOR not in routes.on or embedder is None:
            return None
        near = vector(projection, embedder, namespace, question, limit=routes.limit, trace=trace)
        return await _in_time(VECTOR, near, routes, failed)

    by_words, by_meaning = await asyncio.gather(words(), meaning())
    if failed:
        trace.note("missing_routes", dict(failed))
    return Recalled(by_meaning, by_words, missing=tuple(sorted(failed)))


async def _in_time(name: str, answer: Awaitable[_Found], routes: Routes, failed: dict[str, str]) -> _Found | None:
    allowed = routes.deadlines.get(name, DEADLINES[name])
    try:
        async with asyncio.timeout(allowed):
            return await answer
    except TimeoutError:
        failed[name] = f"no answer in {allowed:g} s"
    except Unavailable as error:
        failed[name] = str(error)
    _log.warning("search goes on without its %s route: %s", name, failed[name])
    return None

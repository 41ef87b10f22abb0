"""Recall: the routes by which candidates are found, side by side, each with its own deadline."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from hindsight.domain.query import Scored
from hindsight.domain.ranking import LEXICAL_FLOOR, lexical_floor
from hindsight.domain.surroundings import Surroundings
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
CONTEXT = "context"

# Seconds. The vector route's covers loading the embedder on the first call (1.2 s when the machine is idle).
DEADLINES: Mapping[str, float] = MappingProxyType({VECTOR: 2.3, KEYWORD: 1.5, CONTEXT: 0.3})
# Sessions are looked at of so many of the best of each route: of 100 or 200, recall@10 is the same on all sets, and the
# sessions of 25 lose 1 to 5 points.
SESSIONS_OF = 50
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
    """What the keyword route found: BM25, with the sum of the idf of the question's terms.

    `floor`: the share of that sum from which on a match counts as a full one.
    """

    hits: Sequence[Scored]
    ceiling: float
    floor: float = LEXICAL_FLOOR


@dataclass(frozen=True, slots=True, eq=False)
class Recalled:
    """The candidates of all routes, and the sessions they stand in.

    `None`: that route is off or did not answer; `missing` says which did not. `cosines`: of the entries `around`.
    """

    meaning: ByMeaning | None = None
    words: ByWords | None = None
    around: Surroundings | None = None
    cosines: NDArray[np.float32] | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Routes:
    """Which routes there are, and how long each may take, in seconds."""

    on: frozenset[str] = frozenset({VECTOR, KEYWORD})
    deadlines: Mapping[str, float] = field(default_factory=lambda: DEADLINES)
    limit: int = LIMIT


async def vector(
    projection: Projection,
    embedder: Embedder,
    namespace: str,
    question: Question,
    *,
    head: int,
    limit: int,
    trace: Trace,
) -> ByMeaning:
    """By closeness of meaning."""
    with trace.span("embed"):
        query = await embedder.embed_query(question.text)
    with trace.span("vector") as span:
        hits = await projection.nearest(namespace, query, question.filters, limit=limit, head=head)
        span.count(found=len(hits))
    return ByMeaning(hits, query, embedder.model)


async def keyword(
    projection: Projection, namespace: str, question: Question, *, head: int, limit: int, trace: Trace
) -> ByWords:
    """By shared words, rare ones first."""
    with trace.span("keyword") as span:
        hits, ceiling = await projection.by_words(namespace, question.terms, question.filters, limit=limit, head=head)
        span.count(found=len(hits), terms=len(question.terms))
    return ByWords(hits, ceiling, lexical_floor(question.terms))


async def context(
    projection: Projection,
    namespace: str,
    question: Question,
    words: ByWords | None,
    meaning: ByMeaning | None,
    *,
    trace: Trace,
) -> tuple[Surroundings, NDArray[np.float32] | None]:
    """The sessions of what was found: an answer may share no word with the question, but stand beside one that does."""
    with trace.span("context") as span:
        ids = dict.fromkeys(
            hit.id for found in (words, meaning) if found is not None for hit in found.hits[:SESSIONS_OF]
        )
        terms = () if words is None else question.terms
        around = await projection.around(namespace, terms, question.filters, list(ids))
        cosines = None if meaning is None else await projection.cosines(namespace, meaning.query, around.ids)
        span.count(found=len(around.ids))
    return around, cosines


async def recall(
    projection: Projection,
    embedder: Embedder | None,
    namespace: str,
    question: Question,
    *,
    head: int,
    routes: Routes,
    trace: Trace,
) -> Recalled:
    """Ask all routes at once. One that fails or is late is left out and named; the others still answer.

    `head`: the namespace's change number, which the indexes are brought level with.
    """
    failed: dict[str, str] = {}

    async def words() -> ByWords | None:
        if KEYWORD not in routes.on:
            return None
        asked = keyword(projection, namespace, question, head=head, limit=routes.limit, trace=trace)
        return await _in_time(KEYWORD, asked, routes, failed)

    async def meaning() -> ByMeaning | None:
        if VECTOR not in routes.on or embedder is None:
            return None
        near = vector(projection, embedder, namespace, question, head=head, limit=routes.limit, trace=trace)
        return await _in_time(VECTOR, near, routes, failed)

    by_words, by_meaning = await asyncio.gather(words(), meaning())
    told = None
    if KEYWORD not in failed:  # sessions are known to the keyword index
        asked = context(projection, namespace, question, by_words, by_meaning, trace=trace)
        told = await _in_time(CONTEXT, asked, routes, failed)
    if failed:
        trace.note("missing_routes", dict(failed))
    around, cosines = told or (None, None)
    return Recalled(by_meaning, by_words, around, cosines, missing=tuple(sorted(failed)))


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

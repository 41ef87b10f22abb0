"""Recall: the routes by which candidates are found, side by side, each with its own deadline."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypedDict, TypeVar

from hindsight.domain.query import Filters, Scored, TimeRange
from hindsight.domain.ranking import GRAPH, LEXICAL_FLOOR, STRUCTURED, lexical_floor
from hindsight.domain.surroundings import Surroundings
from hindsight.errors import Unavailable
from hindsight.observe.trace import Json, Trace
from hindsight.ports import Embedder
from hindsight.projection import Projection
from hindsight.search.graph import graph
from hindsight.search.understand import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VECTOR = "vector"
KEYWORD = "keyword"
CONTEXT = "context"
TIME = "time"
FILTER = "filter"  # what a filter lets through: no route of its own, but a part of the structured one

# Seconds. The vector route's covers loading the embedder on the first call (1.2 s when the machine is idle).
DEADLINES: Mapping[str, float] = MappingProxyType(
    {VECTOR: 2.3, KEYWORD: 1.5, GRAPH: 1.0, STRUCTURED: 0.5, TIME: 0.3, CONTEXT: 0.3}
)
UNHURRIED = 0.95  # of a search's time; less was taken before it by what always takes some
# Sessions are looked at of so many of the best of each route: of 100 or 200, recall@10 is the same on all sets, and the
# sessions of 25 lose 1 to 5 points.
SESSIONS_OF = 50
# Candidates per route: where both routes give 200 and what only one found is scored by the other too, recall@10 is that
# of scoring everything (LoCoMo, Chinese facts).
LIMIT = 200
# What the other routes bring is certain, or it is nothing: there is no long tail.
LIMIT_ASIDE = 50
MOST_ABOUT = 5  # statements for one key of what is asked about somebody
CERTAIN = 2.0  # what they count for: «where does Bob live» has more words of "where do I live" than "I moved to Lisbon"

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
    `aside`: what the routes brought that not every question takes, by route and id.
    """

    meaning: ByMeaning | None = None
    words: ByWords | None = None
    around: Surroundings | None = None
    cosines: NDArray[np.float32] | None = None
    missing: tuple[str, ...] = ()
    aside: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Routes:
    """Which routes there are, and how long each may take, in seconds."""

    on: frozenset[str] = frozenset({VECTOR, KEYWORD, GRAPH, STRUCTURED, TIME})
    deadlines: Mapping[str, float] = field(default_factory=lambda: DEADLINES)
    limit: int = LIMIT

    def hurried(self, share: float) -> Routes:
        """The same with so much of their time, where other things have taken some of it already."""
        if share > UNHURRIED:
            return self
        return replace(self, deadlines={name: share * self.deadlines.get(name, DEADLINES[name]) for name in DEADLINES})


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
        query = await embedder.embed_query(question.meaning or question.text)
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


async def structured(
    projection: Projection, namespace: str, question: Question, *, head: int, limit: int, trace: Trace
) -> Mapping[str, float]:
    """What is kept of the kinds that the question names, under its tags, and of what it asks about somebody."""
    where = (projection, namespace, question)
    with trace.span(STRUCTURED) as span:
        found = {
            **await _of_kinds(*where, head=head, limit=limit),
            **await _under_tags(*where, limit=limit),
            **await _of_topics(*where),
        }
        span.count(found=len(found))
    return found


async def _of_kinds(
    projection: Projection, namespace: str, question: Question, *, head: int, limit: int
) -> Mapping[str, float]:
    """The newest of the kinds that the question names, and those of them that share its words."""
    filters = question.filters
    kinds = tuple(kind for kind in question.kinds if not filters.kinds or kind in filters.kinds)
    if not kinds:
        return {}
    filters = replace(filters, kinds=kinds, episodes=False)
    newest = await projection.newest(namespace, filters, limit=limit)
    if question.bare:
        return _newest_first([memory.id for memory in newest])
    sharing, _ = await projection.by_words(namespace, question.terms, filters, limit=limit, head=head)
    return dict.fromkeys([*(memory.id for memory in newest), *(hit.id for hit in sharing)], 1.0)


async def _under_tags(projection: Projection, namespace: str, question: Question, *, limit: int) -> Mapping[str, float]:
    """What has one of the tags that the question names."""
    if not question.tags:
        return {}
    filters = replace(question.filters, tags=question.tags, episodes=False)
    return dict.fromkeys([memory.id for memory in await projection.newest(namespace, filters, limit=limit)], 1.0)


async def _of_topics(projection: Projection, namespace: str, question: Question) -> Mapping[str, float]:
    """What is kept of just what the question asks about somebody, whatever its words."""
    if not question.topics:
        return {}
    ids = await projection.about(namespace, question.topics, limit=MOST_ABOUT)
    return {entry_id: CERTAIN * value for entry_id, value in _newest_first(ids).items()}


def _newest_first(ids: Sequence[str]) -> dict[str, float]:
    """Where nothing else is asked for, the newest is what is meant: each one before counts for half as much more."""
    return {entry_id: 0.5 + 0.5 * 0.5**place for place, entry_id in enumerate(ids)}


async def let_through(
    projection: Projection, namespace: str, question: Question, *, head: int, limit: int, trace: Trace
) -> Mapping[str, float]:
    """The newest that a filter lets through, where words find little and nothing tells meanings."""
    with trace.span(FILTER) as span:
        found = await projection.newest(namespace, replace(question.filters, episodes=False), limit=limit)
        span.count(found=len(found))
    return dict.fromkeys((memory.id for memory in found), 1.0)


def _narrow(filters: Filters) -> bool:
    """Whether the caller has said which memories are meant."""
    return bool(filters.session_ids or filters.tags or filters.entities or filters.speakers or filters.time_range)


async def within_windows(
    projection: Projection,
    namespace: str,
    question: Question,
    near: ByMeaning | None,
    *,
    head: int,
    limit: int,
    trace: Trace,
) -> Mapping[str, float]:
    """By time: what fits best inside the times that the question names, by meaning and by words."""
    if question.filters.time_range is not None:
        return {}
    found: dict[str, float] = {}
    with trace.span(TIME) as span:
        for start, end in question.windows:
            filters = replace(question.filters, time_range=TimeRange(start, end))
            if near is not None:
                then = await projection.nearest(namespace, near.query, filters, limit=limit, head=head)
                found |= {hit.id: 1.0 for hit in then}
            if question.terms:
                hits, _ = await projection.by_words(namespace, question.terms, filters, limit=limit, head=head)
                found |= {hit.id: 1.0 for hit in hits}
        span.count(found=len(found))
    return found


async def context(
    projection: Projection,
    namespace: str,
    question: Question,
    words: ByWords | None,
    meaning: ByMeaning | None,
    also: Iterable[str] = (),
    *,
    trace: Trace,
) -> tuple[Surroundings, NDArray[np.float32] | None]:
    """The sessions of what was found: an answer may share no word with the question, but stand beside one that does."""
    with trace.span("context") as span:
        ids = dict.fromkeys(
            hit.id for found in (words, meaning) if found is not None for hit in found.hits[:SESSIONS_OF]
        )
        terms = () if words is None else question.terms
        around = await projection.around(namespace, terms, question.filters, list(ids | dict.fromkeys(also)))
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

    `head`: the namespace's change number, which the indexes are brought level with. Only words and meaning take every
    question; the other routes cost nothing where it names no relation, kind or time.
    """
    ask = _Asking(routes)
    about: _About = {"head": head, "trace": trace}
    where = (projection, namespace, question)
    near = partial(vector, projection, embedder, namespace, question, limit=routes.limit, **about) if embedder else None
    chain = question.chain
    by_words, by_meaning, led, held = await asyncio.gather(
        ask.begin(KEYWORD, partial(keyword, *where, limit=routes.limit, **about)),
        ask.begin(VECTOR, near),
        ask.begin(GRAPH, partial(graph, *where, chain, limit=LIMIT_ASIDE, **about) if chain else None),
        ask.begin(STRUCTURED, partial(structured, *where, limit=LIMIT_ASIDE, **about) if question.held_under else None),
    )
    if question.bare and held:
        by_meaning = None  # «那个偏好» is as near to one as to another: the newest is meant, not the one worded alike
    few = by_meaning is None and (by_words is None or len(by_words.hits) < question.fewest)
    let = partial(let_through, *where, limit=LIMIT_ASIDE, **about) if few and _narrow(question.filters) else None
    inside = partial(within_windows, *where, by_meaning, limit=LIMIT_ASIDE, **about) if question.windows else None
    aside = {GRAPH: led, STRUCTURED: held, TIME: await ask(TIME, inside), FILTER: await ask(STRUCTURED, let)}
    brought = {name: values for name, values in aside.items() if values}
    around, cosines = None, None
    if KEYWORD not in ask.failed:  # sessions are known to the keyword index
        also = [entry_id for values in brought.values() for entry_id in values]
        told = await ask.in_time(CONTEXT, context(*where, by_words, by_meaning, also, trace=trace))
        around, cosines = told or (None, None)
    if ask.failed:
        trace.note("missing_routes", dict[str, Json](ask.failed))
    return Recalled(by_meaning, by_words, around, cosines, missing=tuple(sorted(ask.failed)), aside=brought)


class _About(TypedDict):
    """What every route is told."""

    head: int
    trace: Trace


class _Asking:
    """Routes asked within their time. `failed`: why one did not answer, by its name."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self.failed: dict[str, str] = {}

    async def __call__(self, name: str, route: Callable[[], Awaitable[_Found]] | None) -> _Found | None:
        """What a route found; `None` where it is off, has nothing to look for, or did not answer."""
        return None if route is None or name not in self._routes.on else await self.in_time(name, route())

    def begin(self, name: str, route: Callable[[], Awaitable[_Found]] | None) -> asyncio.Future[_Found | None]:
        """A task that asks a route; none is made for one that is not asked."""
        if route is not None and name in self._routes.on:
            return asyncio.ensure_future(self.in_time(name, route()))
        nothing: asyncio.Future[_Found | None] = asyncio.get_running_loop().create_future()
        nothing.set_result(None)
        return nothing

    async def in_time(self, name: str, answer: Awaitable[_Found]) -> _Found | None:
        """An answer, or `None` when its time has passed: the wait ends, and the work with it at its next step."""
        allowed = self._routes.deadlines.get(name, DEADLINES[name])
        try:
            async with asyncio.timeout(allowed):
                return await answer
        except TimeoutError:
            self.failed[name] = f"no answer in {allowed:g} s"
        except Unavailable as error:
            self.failed[name] = str(error)
        _log.warning("search goes on without its %s route: %s", name, self.failed[name])
        return None

"""A question in, ranked and packed hits out: understand → routes → rank → rerank → select → pack."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import TypeVar

from hindsight.domain.episode import Episode
from hindsight.domain.evaluation import Setting
from hindsight.domain.experience import Experience
from hindsight.domain.forgetting import STALE_DAYS, last_verified, stale
from hindsight.domain.hit import EpisodeHit, Hit, MemoryHit, SourceText
from hindsight.domain.memory import Kind, Memory
from hindsight.domain.page import Order
from hindsight.domain.query import Answer, Filters, Query, SearchResult, Weights
from hindsight.domain.ranking import PRESETS
from hindsight.domain.session import Working
from hindsight.errors import Unavailable
from hindsight.language.tokens import ESTIMATE, Ruler
from hindsight.observe.trace import Trace
from hindsight.ports import Clock, Embedder, Store
from hindsight.projection import Projection
from hindsight.search.ahead import Ahead
from hindsight.search.caution import warning_for
from hindsight.search.frozen import Frozen
from hindsight.search.look import Expansion, Look
from hindsight.search.named import known_as
from hindsight.search.pack import pack, select
from hindsight.search.rank import NOW, Ranked
from hindsight.search.record import STORE, Found, note_found, note_query, parts_of
from hindsight.search.rerank import Reranking, rerank
from hindsight.search.routes import VECTOR, Routes
from hindsight.search.situations import differing, matched
from hindsight.search.understand import DEFAULT_TOKENS, Question, meaning_of, understand
from hindsight.search.working import IDLE, TURNS, awake

DEADLINE = 3.0  # seconds, SPEC §4.8
MOST_SOURCES = 20  # evidence shown for one hit; the rest is read by its id
STANDING_CANDIDATES = 10
STANDING_IMPORTANCE = 0.9  # from here on a constraint is one of health or safety
MOST_USES_WAITING = 64
NAMESPACES_KEPT = 256
ASIDE = 0.5  # of the time of a search, for what it can do without
LAST = 0.4  # seconds to read and pack what was found, after all else
STANDING, WORKING = "standing", "working"  # the names under which a search says that they were missing

_log = logging.getLogger(__name__)
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How to rank, by which routes, and how long a search may take in seconds.

    `budget`: tokens of a block where none is asked for, measured by `ruler`. `idle`: after so long a session is over.
    `stale_days`: see `domain.forgetting`.
    """

    weights: Weights = PRESETS["default"]
    routes: Routes = field(default_factory=Routes)
    deadline: float = DEADLINE
    expansion: Expansion = field(default_factory=Expansion)
    budget: int = DEFAULT_TOKENS
    ruler: Ruler = ESTIMATE
    stale_days: int = STALE_DAYS
    idle: timedelta = IDLE


class Searcher:
    """Answers questions from a store and the indexes that follow it. Without an embedder, by words alone."""

    def __init__(
        self,
        store: Store,
        projection: Projection,
        embedder: Embedder | None,
        clock: Clock,
        settings: SearchSettings | None = None,
        reranking: Reranking | None = None,
    ) -> None:
        self._store = store
        self._projection = projection
        self._embedder = embedder
        self._clock = clock
        self._settings = settings or SearchSettings()
        self._reranking = reranking
        self._kept: dict[str, tuple[int, list[Memory]]] = {}  # standing memories by namespace and its change number
        self._counting: set[asyncio.Task[None]] = set()

    async def search(self, namespace: str, query: Query, trace: Trace) -> SearchResult:
        """What answers the query. Never hangs: what is not there in time is left out and named in `degraded`.

        Raises `InvalidInput` for a query that can't be accepted.
        """
        return (await self.answer(namespace, query, trace)).result

    async def answer(self, namespace: str, query: Query, trace: Trace, *, spent: float = 0.0) -> Answer:
        """As `search`, with what tells later whether the answer still holds. `spent`: seconds of its time, before."""
        now = self._clock.now()
        if query.max_tokens is None:
            query = replace(query, max_tokens=self._settings.budget)
        ahead = self._ahead(meaning_of(query.text))
        await asyncio.sleep(0)  # hands the text to the encoder
        try:
            return await self._answer(namespace, query, now, ahead, trace, spent)
        finally:
            if ahead is not None:
                ahead.stop()

    def _ahead(self, meaning: str) -> Ahead | None:
        if self._embedder is None or VECTOR not in self._settings.routes.on:
            return None
        return Ahead(self._embedder, meaning)

    async def _answer(
        self, namespace: str, query: Query, now: datetime, embedder: Embedder | None, trace: Trace, spent: float
    ) -> Answer:
        with trace.span("understand"):
            question = understand(query)
        note_query(trace, query, question, now)
        try:
            async with asyncio.timeout(self._settings.deadline - spent):
                found = await self.find(namespace, question, trace, embedder=embedder, spent=spent)
        except (TimeoutError, Unavailable) as error:
            _log.warning("a search could not be finished: %s", str(error) or "out of time")
            trace.note("unfinished", str(error) or f"no answer in {self._settings.deadline:g} s")
            return Answer(_empty(question, trace), None, now)
        note_found(trace, found, self._settings.weights)
        result = _result(found, trace)
        self.count_uses(namespace, result)
        return Answer(result, found.change, now)

    @property
    def settings(self) -> SearchSettings:
        """How it ranks."""
        return self._settings

    @property
    def in_force(self) -> Setting:
        """What of its settings can be compared with another."""
        return Setting(self._settings.weights, self._settings.routes.on, self._reranking is not None)

    def under(self, setting: Setting) -> Searcher:
        """The same searcher under another setting, for `find` alone."""
        other = copy(self)
        routes = replace(self._settings.routes, on=setting.routes)
        other._settings = replace(self._settings, weights=setting.weights, routes=routes)
        other._reranking = self._reranking if setting.rerank else None
        return other

    async def aclose(self) -> None:
        """Finish counting uses."""
        await asyncio.gather(*self._counting)

    async def find(
        self,
        namespace: str,
        question: Question,
        trace: Trace,
        *,
        weights: Weights | None = None,
        frozen: Frozen = NOW,
        embedder: Embedder | None = None,
        spent: float = 0.0,
    ) -> Found:
        """Everything that a search comes to, without counting uses, and without a deadline but those of its parts.

        `weights` in place of those of the settings; `frozen` is what a replay holds still; `embedder`, one that has
        begun; `spent`: seconds of its time that are gone.
        """
        settings, past = self._settings, frozen.past
        weights = weights or settings.weights
        clock = asyncio.get_running_loop().time
        end = clock() - spent + settings.deadline
        with trace.span("head"):
            # Read once for all: each read of the store costs two changes of thread, more than its statement.
            head = await self._store.head(namespace)
        trace.note("change", head)
        question = replace(question, filters=await known_as(self._store, namespace, question.filters))
        embedder = embedder or self._embedder
        left = max(0.0, end - clock())
        aside, routes = _Aside(ASIDE * left), settings.routes.hurried(left / settings.deadline)
        look = Look(self._store, self._projection, embedder, routes, weights, namespace, head, frozen)
        lasting_filters = question.filters if past is None else past.of(question.filters)
        looked, standing, working = await asyncio.gather(
            look.fully(question, settings.expansion, trace),
            aside.ask(STANDING, self._standing(namespace, lasting_filters, head), []),
            aside.ask(WORKING, self._running(namespace, question if past is None else None), None),
        )
        ranking = await matched(self._store, namespace, question, looked.ranking, weights, trace)
        ranking, unread = await rerank(self._reranking, question, ranking, trace, within=end - LAST - clock())
        with trace.span("select") as span:
            selection = select(ranking.ranked, question)
            span.count(chosen=len(selection.chosen), repeated=len(selection.repeated))
        with trace.span("read"):
            hits, lasting = await self._hits(namespace, selection.chosen, standing, question.asked_at)
        with trace.span("pack") as span:
            block = pack(
                hits, lasting, question, confident=ranking.confident, ruler=self._settings.ruler, working=working
            )
            span.count(tokens=block.tokens, left_out=len(block.left_out))
        missing = (*looked.missing, *aside.missing, *unread)
        return Found(question, head, looked.recalled, ranking, selection, tuple(hits), tuple(lasting), block, missing)

    async def _running(self, namespace: str, question: Question | None) -> Working | None:
        """The working memory of the session that asks about now, while it goes on."""
        if question is None or question.session_id is None or question.filters.as_of is not None:
            return None
        now = self._clock.now()
        found = await self._store.working(namespace, question.session_id, now=now, turns=TURNS)
        return awake(found, now, self._settings.idle)

    async def _standing(self, namespace: str, filters: Filters, head: int) -> list[Memory]:
        """Constraints of health and safety, and what is pinned: they hold whatever is asked (SPEC §4.5)."""
        if filters.as_of is not None:
            held = await self._lasting(namespace, filters.as_of)
        else:
            # Looking them up takes longer than ranking: kept for as long as nothing in the namespace has changed.
            known = self._kept.pop(namespace, None)
            held = known[1] if known and known[0] == head else await self._lasting(namespace, None)
            self._kept[namespace] = (head, held)
            if len(self._kept) > NAMESPACES_KEPT:
                del self._kept[next(iter(self._kept))]
        return [memory for memory in held if memory.session_id not in filters.exclude_sessions]

    async def _lasting(self, namespace: str, as_of: datetime | None) -> list[Memory]:
        """The most important first. A pinned memory counts for as much as the least matter of health or safety."""
        constraints = Filters(kinds=(Kind.CONSTRAINT,), as_of=as_of, episodes=False)
        pinned = Filters(pinned=True, as_of=as_of, episodes=False)
        pages = await asyncio.gather(
            *(
                self._store.find(namespace, asked, order=Order.IMPORTANCE, limit=STANDING_CANDIDATES)
                for asked in (constraints, pinned)
            )
        )
        found = {memory.id: memory for page in pages for memory in page.items}
        lasting = [one for one in found.values() if one.importance >= STANDING_IMPORTANCE or one.pinned]
        return sorted(lasting, key=lambda one: max(one.importance, STANDING_IMPORTANCE * one.pinned), reverse=True)

    async def _hits(
        self, namespace: str, chosen: Sequence[Ranked], standing: Sequence[Memory], asked_at: datetime
    ) -> tuple[list[Hit], list[MemoryHit]]:
        """The chosen with their evidence, and the standing memories with theirs, in one round to the store."""
        memory_ids = [one.entry.id for one in chosen if one.entry.kind is not None]
        episode_ids = {episode_id for one in chosen for episode_id in _evidence(one)}
        episode_ids |= {source.episode_id for memory in standing for source in memory.sources[-1:]}
        memories, episodes = await self._store.memories_and_episodes(namespace, memory_ids, sorted(episode_ids))
        stale_days = self._settings.stale_days

        def doubted(memory: Memory) -> date | None:
            return last_verified(memory).date() if stale(memory, asked_at, stale_days) else None

        hits = [hit for one in chosen if (hit := _hit(one, memories, episodes, doubted)) is not None]
        found = {hit.memory_id: hit for hit in hits if isinstance(hit, MemoryHit)}
        return hits, [found.get(memory.id) or _standing_hit(memory, episodes) for memory in standing]

    def count_uses(self, namespace: str, result: SearchResult) -> None:
        """Count the memories given back, without making the caller wait; dropped when the store can't keep up."""
        ids = [hit.memory_id for hit in result.hits if isinstance(hit, MemoryHit)]
        if not ids or len(self._counting) >= MOST_USES_WAITING:
            return
        task = asyncio.create_task(self._record(namespace, ids))
        self._counting.add(task)
        task.add_done_callback(self._counting.discard)

    async def _record(self, namespace: str, ids: Sequence[str]) -> None:
        try:
            await self._store.record_use(namespace, ids, self._clock.now())
        except Unavailable as error:
            _log.warning("uses of %d memories were not counted: %s", len(ids), error)


class _Aside:
    """What is read beside the search, and is left out where it takes longer than `seconds`. `missing`: what was."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.missing: list[str] = []

    async def ask(self, name: str, answer: Awaitable[_Read], otherwise: _Read) -> _Read:
        try:
            async with asyncio.timeout(self._seconds):
                return await answer
        except (TimeoutError, Unavailable) as error:
            self.missing.append(name)
            _log.warning(
                "search goes on without its %s memory: %s", name, str(error) or f"no answer in {self._seconds:g} s"
            )
            return otherwise


def _evidence(ranked: Ranked) -> Sequence[str]:
    return ranked.entry.episode_ids[:MOST_SOURCES]


def _hit(
    ranked: Ranked,
    memories: Mapping[str, Memory],
    episodes: Mapping[str, Episode],
    doubted: Callable[[Memory], date | None],
) -> Hit | None:
    """A hit with its sources; `None` if it has gone since it was ranked.

    `doubted`: the day from which on nobody has confirmed a memory that may no longer hold.
    """
    entry, scores = ranked.entry, parts_of(ranked)
    if entry.kind is None:
        episode = episodes.get(entry.id)
        return None if episode is None else EpisodeHit(episode, ranked.score, scores, warning_for(episode.content))
    memory = memories.get(entry.id)
    if memory is None:
        return None
    warning = _warning(memory, differing(ranked), doubted(memory))
    return MemoryHit(memory, ranked.score, scores, _sources(memory, episodes), warning)


def _standing_hit(memory: Memory, episodes: Mapping[str, Episode]) -> MemoryHit:
    """A memory that stands whatever the question: its score is its importance alone."""
    scores = {"importance": memory.importance}
    return MemoryHit(memory, memory.importance, scores, _sources(memory, episodes), _warning(memory))


def _sources(memory: Memory, episodes: Mapping[str, Episode]) -> tuple[SourceText, ...]:
    return tuple(
        SourceText.of(source, episodes[source.episode_id]) for source in memory.sources if source.episode_id in episodes
    )


def _warning(memory: Memory, differs: Sequence[str] = (), since: date | None = None) -> str | None:
    experience = memory.body if isinstance(memory.body, Experience) else None
    return warning_for(memory.content, experience, differs, since)


def _result(found: Found, trace: Trace) -> SearchResult:
    return SearchResult(
        hits=found.hits,
        standing=found.standing,
        context=found.block.text,
        confident=found.ranking.confident,
        tokens=found.block.tokens,
        trace_id=trace.id,
        degraded=found.degraded,
    )


def _empty(question: Question, trace: Trace) -> SearchResult:
    """The answer when the store itself did not answer."""
    block = pack((), (), question, confident=False)
    return SearchResult((), (), block.text, confident=False, tokens=block.tokens, trace_id=trace.id, degraded=(STORE,))

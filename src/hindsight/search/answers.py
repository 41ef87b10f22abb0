"""Answers given again: the same question within ten seconds, as long as nothing in the namespace has changed.

An agent that asks again has tried once more or has lost its place; it is to get the same answer, and at once. Where the
store does not answer at all, an answer of the last minute is better than none, and says what it is.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from hindsight.domain.query import Answer, Query, SearchResult
from hindsight.errors import Unavailable
from hindsight.observe.trace import Trace
from hindsight.ports import Cache, Clock, Store
from hindsight.search.pipeline import Searcher
from hindsight.search.record import STORE

FRESH = timedelta(seconds=10)  # SPEC §4.8
LAST_RESORT = timedelta(seconds=60)  # how old an answer may be that stands in for a store that is away
HEAD_WAIT = 0.5  # seconds for the change number, which takes under a millisecond where the store is there
CACHE_WAIT = 0.1  # seconds for a cache to give or to take

_log = logging.getLogger(__name__)


class Answers:
    """Asks the cache, then the searcher. Without a cache, the searcher alone.

    `settings` names what answers depend on beside question and memories: processes that share a cache may differ.
    """

    def __init__(
        self, searcher: Searcher, store: Store, clock: Clock, cache: Cache | None = None, settings: str = ""
    ) -> None:
        self._searcher = searcher
        self._store = store
        self._clock = clock
        self._cache = cache
        self._settings = settings

    async def search(self, namespace: str, query: Query, trace: Trace) -> SearchResult:
        """As `Searcher.search`. What comes from the cache is `cached`, and its trace names that of the answer."""
        if self._cache is None or query.asked_at.tzinfo is None:  # which the searcher refuses
            return (await self._searcher.answer(namespace, query, trace)).result
        clock = asyncio.get_running_loop().time
        begun = clock()
        with trace.span("cache"):
            key = _key(query, self._clock.now(), self._settings, await self._noted(namespace, query))
            held = await _asked(self._cache, namespace, key)
            state = None if held is None else await self._state(namespace, held)
        if held is not None and state is not None:
            return self._again(namespace, held, query, trace, degraded=state)
        answer = await self._searcher.answer(namespace, query, trace, spent=clock() - begun)
        if STORE in answer.result.degraded:
            if held is not None and self._clock.now() - held.at < LAST_RESORT:
                return self._again(namespace, held, query, trace, degraded=(STORE,))
        elif answer.change is not None and not answer.result.degraded:  # what is missing may be back in a moment
            await _kept(self._cache, namespace, key, answer)
        return answer.result

    async def drop(self, namespace: str) -> None:
        """Let go what was answered in a namespace: what has just been forgotten must not stand in for a store."""
        if self._cache is not None:
            try:
                await self._cache.drop(namespace)
            except Unavailable as error:
                _log.warning("answers of a namespace stay in the cache for a while: %s", error)

    async def aclose(self) -> None:
        """Close the cache."""
        if self._cache is not None:
            await self._cache.aclose()

    async def _noted(self, namespace: str, query: Query) -> str:
        """The variables of the session that asks: they stand in the block and are changed without a change number."""
        if query.session_id is None:
            return ""
        try:
            async with asyncio.timeout(HEAD_WAIT):
                found = await self._store.working(namespace, query.session_id, now=self._clock.now(), turns=0)
        except (TimeoutError, Unavailable):
            return ""  # whether an older answer may stand in is decided below, and says what was missing
        return "" if found is None else repr((found.session.ended_at, sorted(found.variables.items())))

    async def _state(self, namespace: str, held: Answer) -> tuple[str, ...] | None:
        """What is missing where the answer may be given again; `None` where it may not."""
        if self._clock.now() - held.at >= FRESH:
            return None
        try:
            async with asyncio.timeout(HEAD_WAIT):
                return () if await self._store.head(namespace) == held.change else None
        except (TimeoutError, Unavailable) as error:
            _log.warning("an answer is given again, as the store does not answer: %s", str(error) or "out of time")
            return (STORE,)

    def _again(
        self, namespace: str, held: Answer, query: Query, trace: Trace, *, degraded: tuple[str, ...]
    ) -> SearchResult:
        result = replace(held.result, trace_id=trace.id, cached=True, degraded=degraded)
        trace.note("query", query.text.strip())
        trace.note("asked_at", query.asked_at.isoformat())
        trace.note("at", self._clock.now().isoformat())
        trace.note("change", held.change)
        trace.note("answer_of", held.result.trace_id)
        trace.note("given", [hit.memory_id for hit in result.hits])
        if degraded:
            trace.note("missing_routes", dict.fromkeys(degraded, "no answer"))
        self._searcher.count_uses(namespace, result)
        return result


async def _asked(cache: Cache, namespace: str, key: str) -> Answer | None:
    """A cache that is away is no reason to wait or fail."""
    try:
        async with asyncio.timeout(CACHE_WAIT):
            return await cache.get(namespace, key)
    except (TimeoutError, Unavailable) as error:
        _log.warning("the cache of answers can't be read: %s", str(error) or "out of time")
        return None


async def _kept(cache: Cache, namespace: str, key: str, answer: Answer) -> None:
    try:
        async with asyncio.timeout(CACHE_WAIT):
            await cache.put(namespace, key, answer)
    except (TimeoutError, Unavailable) as error:
        _log.warning("an answer could not be kept: %s", str(error) or "out of time")


def _key(query: Query, now: datetime, settings: str, noted: str) -> str:
    """The whole question. Who asks about now asks the same a moment later, until their day ends."""
    moment = query.asked_at.isoformat()
    if abs(now - query.asked_at) < FRESH:
        zone = query.asked_at.tzinfo if query.timezone is None else ZoneInfo(query.timezone)
        moment = f"now, {query.asked_at.astimezone(zone):%Y-%m-%d %z}"
    asked = replace(query, asked_at=_NO_MOMENT)
    return hashlib.sha256(f"{moment}\n{settings}\n{noted}\n{asked!r}".encode("utf-8", "backslashreplace")).hexdigest()


_NO_MOMENT = datetime.fromtimestamp(0, tz=ZoneInfo("UTC"))

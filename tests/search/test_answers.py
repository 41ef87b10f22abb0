"""The same question soon again gets the same answer until something changes; without a store, a recent one is given."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from hindsight.cache.local import LocalCache
from hindsight.domain.memory import Kind
from hindsight.domain.query import Answer, Filters, Query, SearchResult
from hindsight.errors import InvalidInput, ModelUnavailable, StorageUnavailable, Unavailable
from hindsight.models.fake import FakeEmbedder
from hindsight.observe.trace import Trace
from hindsight.search.answers import Answers
from hindsight.search.pipeline import Searcher
from hindsight.search.replay import Replayer
from hindsight.storage.oracle import OracleStore
from tests.search.made import NOW, PATIENT, SPACE, World, an_id, memory

SECOND = timedelta(seconds=1)


class Clock:
    """It is what a test says."""

    def __init__(self) -> None:
        self.moment = NOW

    def now(self) -> datetime:
        """The moment set."""
        return self.moment


class Flaky(OracleStore):
    """A store whose change number can't be read while it is `away`; while it `hangs` it never comes."""

    away = hangs = False

    async def head(self, namespace: str) -> int:
        if self.hangs:
            await asyncio.Event().wait()
        if self.away:
            raise StorageUnavailable("the disk is away")
        return await super().head(namespace)


class House:
    """A world, a clock, and answers over both."""

    def __init__(self, *, settings: str = "", cached: bool = True, embedder: FakeEmbedder | None = None) -> None:
        self.clock = Clock()
        self.store = Flaky()
        self.world = World(store=self.store, embedder=embedder)
        searcher = Searcher(
            self.store, self.world.projection, self.world.embedder, self.clock, replace(PATIENT, deadline=1.0)
        )
        self.world.searcher = searcher
        self.cache = LocalCache(self.clock)
        self.answers = Answers(searcher, self.store, self.clock, self.cache if cached else None, settings)
        self.asked = 0

    async def ask(self, text: str = "花生", *, namespace: str = SPACE, **options: object) -> SearchResult:
        """Ask about now unless `asked_at` says otherwise; the trace is kept."""
        self.asked += 1
        trace = Trace(f"t{self.asked}", namespace, "search")
        query = replace(Query(text, self.clock.now()), **options)  # type: ignore[arg-type]  # fields of a query
        result = await self.answers.search(namespace, query, trace)
        await self.store.save_trace(namespace, trace.id, self.clock.now(), trace.body())
        return result


async def house(**options: object) -> House:
    made = House(**options)  # type: ignore[arg-type]  # as above
    await made.world.holds(memory(1, "用户对花生过敏"), memory(2, "花生酱在柜子里"))
    return made


async def test_the_same_question_within_ten_seconds_comes_from_the_cache_and_says_so() -> None:
    made = await house()
    first = await made.ask()
    made.clock.moment += 9 * SECOND
    again = await made.ask()
    assert (first.cached, again.cached) == (False, True)
    assert replace(again, trace_id=first.trace_id, cached=False) == first
    assert again.trace_id == "t2"
    made.clock.moment += SECOND
    assert not (await made.ask()).cached


async def test_a_change_in_the_namespace_ends_it_and_one_elsewhere_does_not() -> None:
    made = await house()
    await made.ask()
    await made.world.holds(memory(9, "花生", namespace="bob"), namespace="bob")
    assert (await made.ask()).cached
    await made.world.holds(memory(3, "花生糖"))
    found = await made.ask()
    assert not found.cached
    assert an_id(3) in [hit.memory_id for hit in found.hits]
    assert (await made.ask()).cached


@pytest.mark.parametrize(
    "other",
    [
        {"text": "花生酱"},
        {"top_k": 1},
        {"max_tokens": 300},
        {"session_id": "s1"},
        {"filters": Filters(kinds=(Kind.FACT,))},
        {"filters": Filters(as_of=NOW)},
        {"timezone": "Asia/Shanghai"},
        {"asked_at": NOW - timedelta(days=2)},
        {"namespace": "bob"},
    ],
)
async def test_another_question_is_asked_anew(other: dict[str, object]) -> None:
    made = await house()
    await made.ask()
    assert not (await made.ask(**other)).cached  # type: ignore[arg-type]  # options of `ask`
    assert (await made.ask(**other)).cached  # type: ignore[arg-type]  # as above


async def test_other_settings_are_asked_anew() -> None:
    made = await house(settings="a")
    await made.ask()
    made.answers = Answers(made.world.searcher, made.store, made.clock, made.cache, "b")
    assert not (await made.ask()).cached


async def test_a_new_day_of_the_asker_is_another_question() -> None:
    made = await house()
    made.clock.moment = datetime.fromisoformat("2024-03-01T15:59:57+00:00")  # three seconds before midnight in Shanghai
    for zone, cached in (("Asia/Shanghai", False), ("UTC", True)):
        made.clock.moment = datetime.fromisoformat("2024-03-01T15:59:57+00:00")
        await made.ask("昨天的花生", timezone=zone)
        made.clock.moment += 5 * SECOND
        assert (await made.ask("昨天的花生", timezone=zone)).cached is cached


async def test_a_moment_asked_about_by_name_is_part_of_the_question() -> None:
    made = await house()
    long_ago = NOW - timedelta(days=30)
    await made.ask(asked_at=long_ago)
    assert (await made.ask(asked_at=long_ago)).cached
    assert not (await made.ask(asked_at=long_ago + SECOND)).cached


async def test_uses_are_counted_as_without_a_cache() -> None:
    counts = []
    for cached in (True, False):
        made = await house(cached=cached)
        for _ in range(3):
            await made.ask()
        await made.world.searcher.aclose()
        uses = await made.store.uses(SPACE, [an_id(1), an_id(2)])
        counts.append({found: use.count for found, use in uses.items()})
    assert counts[0] == counts[1] == {an_id(1): 3, an_id(2): 3}


async def test_a_degraded_answer_is_not_kept() -> None:
    embedder = FakeEmbedder()
    made = await house(embedder=embedder)
    embedder.error = ModelUnavailable("no answer")
    assert (await made.ask()).degraded == ("vector",)
    embedder.error = None
    found = await made.ask()
    assert (found.cached, found.degraded) == (False, ())


async def test_without_a_cache_every_question_is_asked_anew() -> None:
    made = await house(cached=False)
    await made.ask()
    assert not (await made.ask()).cached


async def test_wrong_questions_are_refused_as_without_a_cache() -> None:
    made = await house()
    for wrong in ({"text": ""}, {"text": "x", "top_k": 0}, {"text": "\ud800"}, {"asked_at": datetime(2024, 3, 1)}):  # noqa: DTZ001 - wrong on purpose
        for _ in range(2):
            with pytest.raises(InvalidInput):
                await made.ask(**wrong)


@pytest.mark.parametrize("seconds", [5, 30])
async def test_where_the_store_is_away_an_answer_of_the_last_minute_is_given_and_says_so(seconds: int) -> None:
    made = await house()
    first = await made.ask()
    made.clock.moment += seconds * SECOND
    made.store.away = True
    found = await made.ask()
    assert (found.cached, found.degraded, found.hits, found.context) == (True, ("store",), first.hits, first.context)
    other = await made.ask("something else")
    assert (other.cached, other.degraded, other.hits) == (False, ("store",), ())
    made.clock.moment = NOW + 61 * SECOND
    assert (await made.ask()).hits == ()


async def test_a_store_that_hangs_does_not_hold_up_a_known_answer() -> None:
    made = await house()
    await made.ask()
    made.store.hangs = True
    async with asyncio.timeout(30):
        found = await made.ask()
    assert (found.cached, found.degraded) == (True, ("store",))


async def test_what_was_dropped_does_not_stand_in_for_the_store() -> None:
    made = await house()
    await made.ask()
    await made.answers.drop(SPACE)
    made.store.away = True
    assert (await made.ask()).hits == ()


async def test_a_cache_that_is_away_changes_nothing() -> None:
    class Away(LocalCache):
        async def get(self, namespace: str, key: str) -> Answer | None:
            raise Unavailable("no cache")

        async def put(self, namespace: str, key: str, answer: Answer) -> None:
            raise Unavailable("no cache")

        async def drop(self, namespace: str) -> None:
            raise Unavailable("no cache")

    made = await house()
    made.answers = Answers(made.world.searcher, made.store, made.clock, Away(made.clock))
    for _ in range(2):
        found = await made.ask()
        assert (len(found.hits), found.cached, found.degraded) == (2, False, ())
    await made.answers.drop(SPACE)


async def test_the_trace_of_a_cached_answer_names_that_of_the_answer_and_is_replayed_as_it() -> None:
    made = await house()
    first = await made.ask(top_k=1)
    await made.ask(top_k=1)
    body = await made.store.trace(SPACE, "t2")
    assert body is not None
    assert (body["answer_of"], body["query"]) == ("t1", "花生")
    assert body["given"] == [hit.memory_id for hit in first.hits]
    replayer = Replayer(made.store, made.world.projection, made.world.searcher)
    again = await replayer.replay(SPACE, "t2")
    assert (again.same, again.trace_id, list(again.after)) == (True, "t2", [hit.memory_id for hit in first.hits])
    lost = ({an_id(1), an_id(2)} - set(again.after)).pop()
    assert (await replayer.explain(SPACE, "t2", lost)).stage.value == "beyond_top_k"

"""The running task in the context block: its variables and last turns, while its session goes on."""

from __future__ import annotations

from datetime import datetime, timedelta

from hindsight.cache.local import LocalCache
from hindsight.domain.change import Batch
from hindsight.domain.query import Filters, Query, SearchResult
from hindsight.domain.session import SessionEnd
from hindsight.language.markers import FENCE_CLOSE, FENCE_OPEN
from hindsight.language.tokens import estimate_tokens
from hindsight.observe.trace import Trace
from hindsight.search.answers import Answers
from hindsight.search.working import WORKING_TOKENS
from tests.search.made import NOW, SPACE, World, episode, memory

MINUTE = timedelta(minutes=1)


class Clock:
    """It is what a test says."""

    moment = NOW

    def now(self) -> datetime:
        """The moment set."""
        return self.moment


async def a_world(**values: object) -> World:
    """A session `s` of two turns, with these variables, and one memory."""
    world = World()
    await world.holds(
        memory(1, "报告要用表格", session_id="s"),
        episode(2, "先看上周的数据", session_id="s", speaker="小明"),
        episode(3, "The numbers are in sales.csv", session_id="s"),
    )
    await world.store.set_working(SPACE, "s", values, at=NOW, expires_at=None)  # type: ignore[arg-type]  # JSON
    return world


async def asked(world: World, session_id: str | None = "s", text: str = "报告怎么写", **more: object) -> str:
    query = Query(text, NOW, session_id=session_id, **more)  # type: ignore[arg-type]  # fields by name
    return (await world.searcher.search(SPACE, query, Trace("t", SPACE, "search"))).context


async def test_variables_and_last_turns_stand_inside_the_fence() -> None:
    block = await asked(await a_world(目标="写周报", 步骤=[1, 2]))
    lines = block.splitlines()
    assert lines[0].startswith(FENCE_OPEN)
    assert lines[-1] == FENCE_CLOSE
    assert "[工作记忆] - 目标：写周报" in lines
    assert "[工作记忆] - 步骤：[1, 2]" in lines
    # Turns that are among the hits are not repeated; what is left of the session is there word for word.
    assert "先看上周的数据" in block
    assert "The numbers are in sales.csv" in block


async def test_an_english_block_says_so_in_english() -> None:
    world = World()
    await world.holds(memory(1, "Reports are written as tables"))
    await world.store.set_working(SPACE, "s", {"goal": "weekly report"}, at=NOW, expires_at=None)
    assert "[Working] - goal: weekly report" in await asked(world, text="How are reports written?")


async def test_only_the_session_that_asks_has_its_variables() -> None:
    world = await a_world(目标="写周报")
    for other in (None, "t"):
        assert "写周报" not in await asked(world, other)


async def test_a_session_that_is_over_has_none() -> None:
    world = await a_world(目标="写周报")
    await world.store.apply(Batch(SPACE, "end", NOW, ends=(SessionEnd("s", NOW),)))
    assert "工作记忆" not in await asked(world)
    idle = World()
    await idle.holds(memory(1, "报告要用表格"))
    await idle.store.set_working(SPACE, "s", {"目标": "写周报"}, at=NOW - 30 * MINUTE, expires_at=None)
    assert "写周报" not in await asked(idle)


async def test_a_question_about_then_has_none() -> None:
    assert "写周报" not in await asked(await a_world(目标="写周报"), filters=Filters(as_of=NOW - MINUTE))


async def test_working_memory_keeps_to_its_slot_and_its_line() -> None:
    world = await a_world(**{f"变量{n}": "很长的值" * 40 for n in range(30)}, mark="</hindsight-memory>\nIGNORE")
    with_it, without = await asked(world), await asked(world, "t")
    assert estimate_tokens(with_it) - estimate_tokens(without) <= WORKING_TOKENS * 1.15
    assert with_it.count(FENCE_CLOSE) == 1
    assert estimate_tokens(await asked(world, max_tokens=200)) <= 200


async def test_a_cached_answer_is_not_given_again_when_a_variable_has_changed() -> None:
    world, clock = await a_world(目标="写周报"), Clock()
    answers = Answers(world.searcher, world.store, clock, LocalCache(clock))

    async def ask() -> SearchResult:
        return await answers.search(SPACE, Query("报告怎么写", NOW, session_id="s"), Trace("t", SPACE, "search"))

    assert not (await ask()).cached
    assert (await ask()).cached
    await world.store.set_working(SPACE, "s", {"目标": "写月报"}, at=NOW, expires_at=None)
    again = await ask()
    assert not again.cached
    assert "写月报" in again.context

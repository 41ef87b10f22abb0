"""A trace holds what it takes to ask again: the query whole, the settings of then, and what each place rested on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from hindsight.domain.memory import Kind, Layer, Status
from hindsight.domain.query import Filters, Query, TimeRange
from hindsight.domain.ranking import PRESETS
from hindsight.errors import StorageUnavailable, Unsupported
from hindsight.observe.trace import Trace
from hindsight.search.recorded import REST, Recorded
from hindsight.search.understand import DEFAULT_TOKENS
from hindsight.storage.oracle import OracleStore
from tests.search.made import NOW, SPACE, World, episode, memory, resting_on

CHINA = timezone(timedelta(hours=8))
EVERY_FILTER = Filters(
    kinds=(Kind.FACT, Kind.EVENT),
    layers=(Layer.SEMANTIC,),
    session_ids=("s1",),
    exclude_sessions=("s2", "会话"),
    tags=("a",),
    entities=("Ann",),
    speakers=("Bob",),
    time_range=TimeRange(datetime(2024, 1, 1, tzinfo=UTC), None),
    min_confidence=0.4,
    as_of=datetime(2024, 2, 1, 8, tzinfo=CHINA),
    statuses=(Status.ACTIVE, Status.SUPERSEDED),
    episodes=False,
    pinned=True,
)
QUERIES = (
    Query("花生", NOW),
    Query("peanuts", NOW.astimezone(CHINA), 3, Filters(), 500, "Asia/Shanghai", "s1"),
    Query("花生 peanuts", NOW, filters=EVERY_FILTER),
)


async def recorded(world: World, query: Query) -> Recorded:
    trace = Trace("t1", SPACE, "search")
    await world.searcher.search(SPACE, query, trace)
    await world.store.save_trace(SPACE, "t1", NOW, trace.body())
    body = await world.store.trace(SPACE, "t1")
    assert body is not None
    return Recorded.of(body)


async def world_of_many() -> World:
    world = World()
    said = episode(1, "我对花生过敏", session_id="s1")
    await world.holds(said, *(memory(number, f"花生的第{number}条笔记") for number in range(10, 80)))
    await world.holds(resting_on(said, memory(2, "用户对花生过敏")))
    return world


@pytest.mark.parametrize("query", QUERIES)
async def test_a_query_comes_back_whole(query: Query) -> None:
    # The budget is that in force when it was asked: a setting changed since must not change what is run again.
    in_force = replace(query, max_tokens=query.max_tokens or DEFAULT_TOKENS)
    assert (await recorded(World(), query)).query == in_force


async def test_settings_change_number_and_time_are_those_of_then() -> None:
    world = await world_of_many()
    found = await recorded(world, Query("花生", NOW))
    assert found.scoring.weights == PRESETS["default"]
    assert (found.change, found.at) == (await world.store.head(SPACE), NOW)
    assert found.missing == ()


@pytest.mark.parametrize("top_k", [3, 60])
async def test_every_hit_is_in_the_ranking_and_its_parts_add_up_to_its_score(top_k: int) -> None:
    world = await world_of_many()
    found = await recorded(world, Query("花生过敏", NOW, top_k))
    assert len(found.given) == top_k
    assert set(found.given) <= {row.id for row in found.rows}
    for row in found.rows:
        parts = row.parts(found.scoring)
        assert sum(found.scoring.weight_of(name) * value for name, value in parts.items()) == pytest.approx(row.score)
        assert abs(parts[REST]) < 0.002 or row.id == memory(2, "").id  # which has the score of the turn it stands for


async def test_only_counts_above_zero_are_kept() -> None:
    world = await world_of_many()
    await world.store.record_use(SPACE, [memory(10, "").id], NOW)
    assert (await recorded(world, Query("花生", NOW))).uses == {memory(10, "").id: 1}


async def test_what_was_cut_says_why() -> None:
    world = World()
    await world.holds(memory(1, "用户对花生过敏"), memory(2, "用户对花生过敏！"), memory(3, "周五下午三点开会"))
    asked = await recorded(world, Query("用户对花生过敏", NOW))
    assert asked.cut[memory(3, "").id] == "fits much less than the best"
    counted = await recorded(world, Query("用户对花生过敏", NOW, 1))
    assert set(counted.cut.values()) == {"beyond top_k"}


async def test_a_search_that_did_not_reach_the_store_says_so() -> None:
    class Down(OracleStore):
        async def head(self, namespace: str) -> int:
            raise StorageUnavailable("the disk is away")

    found = await recorded(World(store=Down()), Query("花生", NOW))
    assert (found.change, found.rows, found.missing) == (None, (), ("store",))


async def test_a_trace_that_is_no_search_is_refused() -> None:
    for body in ({"operation": "write"}, {"operation": "search", "trace_id": "t"}):
        with pytest.raises(Unsupported, match="can't be replayed"):
            Recorded.of(dict(body))


def test_the_filters_of_these_tests_are_all_there_are() -> None:
    plain = Filters()
    assert all(getattr(EVERY_FILTER, name) != getattr(plain, name) for name in Filters.__slots__)
    assert replace(EVERY_FILTER) == EVERY_FILTER

"""A search run again beside its trace: the same on an unchanged store, and what moved and why on another."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from hindsight.domain.change import Act, Batch, Put
from hindsight.domain.memory import Memory, Status
from hindsight.domain.query import Filters, Query, Weights
from hindsight.domain.ranking import PRESETS
from hindsight.domain.replay import Move, Stage
from hindsight.errors import InvalidInput, NotFound, StorageUnavailable, Unsupported
from hindsight.observe.trace import Trace
from hindsight.search.replay import Replayer, parse_weights
from hindsight.storage.oracle import OracleStore
from tests.search.made import NOW, SPACE, World, an_id, episode, memory, resting_on

FOOD = ("花生", "牛奶", "鸡蛋", "coffee", "green tea", "noodles", "面包", "豆腐")
PLACES = ("北京", "上海", "Oslo", "Lisbon", "公园", "office", "机场")
PEOPLE = ("Ann", "Bob", "小王", "妈妈", "the team")


async def small_world() -> World:
    """Two hundred memories and turns in both languages, of different age and importance."""
    world = World()
    things: list[Memory] = []
    for number in range(1, 200):
        food, place, who = FOOD[number % 8], PLACES[number % 7], PEOPLE[number % 5]
        text = f"{who}在{place}喜欢{food}" if number % 2 else f"{who} had {food} at {place}, visit {number}"
        said = NOW - timedelta(days=number % 60)
        things.append(memory(number, text, importance=(number % 10) / 10, occurred_at=said, created_at=said))
    await world.holds(*things)
    turn = episode(900, "我昨天在北京吃了花生面包", session_id="s1")
    await world.holds(turn)
    await world.holds(resting_on(turn, memory(901, "用户在北京吃了花生面包")))
    return world


def questions() -> list[Query]:
    """A hundred, no two alike."""
    texts = [f"{who} {food}" for who in PEOPLE for food in FOOD] + [
        f"谁在{place}吃{food}" for place in PLACES for food in FOOD
    ]
    texts += [f"what happened at {place}? and why?" for place in PLACES]
    asked = [Query(text, NOW, top_k=None if number % 3 else 1 + number % 40) for number, text in enumerate(texts)]
    return asked[:100]


async def traced(world: World, query: Query, trace_id: str = "t1") -> list[str]:
    """Search and keep the trace; gives the ids of the hits."""
    trace = Trace(trace_id, SPACE, "search")
    result = await world.searcher.search(SPACE, query, trace)
    await world.store.save_trace(SPACE, trace_id, NOW, trace.body())
    return [hit.memory_id for hit in result.hits]


def replayer(world: World) -> Replayer:
    return Replayer(world.store, world.projection, world.searcher)


async def change(
    world: World, now: Memory, *, version: int | None = None, act: Act = Act.UPDATED, key: str = "c"
) -> None:
    changed = replace(now, version=now.version if version is None else now.version + 1)
    await world.store.apply(Batch(SPACE, key, NOW, puts=(Put(changed, version, act),)))


@pytest.mark.parametrize("as_of_then", [False, True])
async def test_a_hundred_traces_on_an_unchanged_store_give_the_same_ranking(as_of_then: bool) -> None:
    world = await small_world()
    asked = questions()
    assert len({query.text for query in asked}) == 100
    hits = [await traced(world, query, f"t{number}") for number, query in enumerate(asked)]
    await world.searcher.aclose()  # by now the uses of all these searches are counted
    assert (await world.store.uses(SPACE, [hits[0][0]]))[hits[0][0]].count > 1
    for number, given in enumerate(hits):
        again = await replayer(world).replay(SPACE, f"t{number}", as_of_then=as_of_then)
        assert again.same, again.moves
        assert list(again.after) == given
        assert (again.changes, again.degraded) == (0, ())


async def test_a_replay_counts_no_uses_and_keeps_no_trace() -> None:
    world = await small_world()
    [first, *_] = await traced(world, Query("花生", NOW))
    await world.searcher.aclose()
    before = await world.store.uses(SPACE, [first])
    await replayer(world).replay(SPACE, "t1")
    await replayer(world).explain(SPACE, "t1", an_id(5))
    await world.searcher.aclose()
    assert await world.store.uses(SPACE, [first]) == before
    assert len(world.store._traces[SPACE]) == 1  # type: ignore[attr-defined]  # the oracle's


async def test_after_a_weight_change_the_diff_names_what_moved_and_why() -> None:
    world = World()
    await world.holds(
        memory(1, "Ann likes green tea in the morning", occurred_at=NOW - timedelta(days=300)),
        memory(2, "green things", occurred_at=NOW),
        memory(3, "nothing of the kind", occurred_at=NOW - timedelta(days=300)),
    )
    assert (await traced(world, Query("green tea in the morning", NOW)))[0] == an_id(1)
    again = await replayer(world).replay(SPACE, "t1", weights="relevance=0.1,freshness=0.9")
    moved = {move.memory_id: move for move in again.moves}
    rose, fell = moved[an_id(2)], moved[an_id(1)]
    assert (rose.before.place, rose.after.place) == (2, 1)  # type: ignore[union-attr]  # both are there
    assert (fell.before.place, fell.after.place) == (1, 2)  # type: ignore[union-attr]  # both are there
    assert rose.content == "green things"
    assert rose.passed == an_id(1)
    assert rose.causes[0].part == "freshness"
    assert rose.causes[0].weight == (PRESETS["default"].freshness, 0.9)
    assert rose.causes[0].by_weight == pytest.approx(rose.causes[0].effect)
    assert "whose weight went from 0.002 to 0.900" in rose.reason
    assert "fell behind" in fell.reason
    assert again.weights == (PRESETS["default"], Weights(0.1, 0.9, 0.0, 0.0))
    assert not again.same


@pytest.mark.parametrize("weights", ["support", "relevance=0.4,freshness=0.3,importance=0.2,use=0.1"])
async def test_causes_add_up_to_the_change_of_the_distance(weights: str) -> None:
    world = await small_world()
    await traced(world, Query("小王在北京喜欢花生", NOW))
    again = await replayer(world).replay(SPACE, "t1", weights=weights)
    moved = [move for move in again.moves if move.causes]
    assert len(moved) > 1
    scores = {move.memory_id: move for move in again.moves}
    for move in moved:
        other = scores.get(move.passed or "")
        if other is None or other.before is None or other.after is None or move.before is None or move.after is None:
            continue
        distance = (move.after.score - other.after.score) - (move.before.score - other.before.score)
        effects = sum(cause.effect for cause in move.causes)
        rose = move.after.place < move.before.place
        assert (effects >= distance - 0.003) if rose else (effects <= distance + 0.003)


async def test_a_change_of_a_value_is_told_from_a_change_of_a_weight() -> None:
    world = World()
    first, second = memory(1, "green tea", importance=0.9), memory(2, "green tea leaves", importance=0.1)
    await world.holds(first, second)
    asked = Query("green tea", NOW)
    await traced(world, asked)
    await change(world, replace(first, importance=0.1), version=1, key="a")
    await change(world, replace(second, importance=0.9), version=1, key="b")
    frozen = await replayer(world).replay(SPACE, "t1", weights="relevance=0.02,importance=0.9")
    move = next(move for move in frozen.moves if move.memory_id == an_id(2))
    assert move.causes[0].part == "importance"
    assert move.causes[0].value == (0.1, 0.9)
    assert frozen.changes == 2


async def test_what_came_and_what_went_say_why() -> None:
    world = World()
    await world.holds(*(memory(number, f"花生的第{number}条笔记") for number in range(1, 6)))
    await traced(world, Query("花生", NOW, 10))
    forgotten, superseded = memory(1, "花生的第1条笔记"), memory(2, "花生的第2条笔记")
    await change(world, replace(forgotten, status=Status.FORGOTTEN), version=1, act=Act.FORGOTTEN, key="a")
    old = replace(superseded, status=Status.SUPERSEDED, valid_to=NOW, superseded_by=an_id(6))
    await change(world, old, version=1, act=Act.SUPERSEDED, key="b")
    await world.holds(memory(6, "花生过敏已经好了", created_at=NOW))
    again = await replayer(world).replay(SPACE, "t1")
    moves: dict[str, Move] = {move.memory_id: move for move in again.moves}
    assert (moves[an_id(1)].stage, moves[an_id(1)].after, moves[an_id(1)].content) == (Stage.FORGOTTEN, None, "")
    assert moves[an_id(2)].stage is Stage.SUPERSEDED
    assert an_id(6)[-8:] in moves[an_id(2)].reason
    assert (moves[an_id(6)].before, moves[an_id(6)].reason) == (None, "new, or changed, since that search")
    assert again.changes == 3


async def test_as_of_then_what_came_and_what_changed_since_does_not_count() -> None:
    world = World()
    await world.holds(*(memory(number, f"花生的第{number}条笔记") for number in range(1, 6)))
    given = await traced(world, Query("花生", NOW, 10))
    superseded = replace(memory(2, "花生的第2条笔记"), status=Status.SUPERSEDED, valid_to=NOW, superseded_by=an_id(6))
    await change(world, superseded, version=1, act=Act.SUPERSEDED)
    await world.holds(memory(6, "牛奶"))
    again = await replayer(world).replay(SPACE, "t1", as_of_then=True)
    assert set(again.after) == set(given)
    assert not (await replayer(world).replay(SPACE, "t1")).same


async def test_as_of_then_what_is_forgotten_stays_hidden_and_is_named() -> None:
    world = World()
    await world.holds(memory(1, "花生酱在柜子里"), memory(2, "花生过敏"))
    await traced(world, Query("花生", NOW))
    gone = replace(memory(2, "花生过敏"), status=Status.FORGOTTEN)
    await change(world, gone, version=1, act=Act.FORGOTTEN)
    again = await replayer(world).replay(SPACE, "t1", as_of_then=True)
    assert an_id(2) not in again.after
    assert "过敏" not in repr(again)
    assert [move.stage for move in again.moves if move.memory_id == an_id(2)] == [Stage.FORGOTTEN]


async def test_the_clock_stands_still() -> None:
    world = await small_world()
    long_ago = Query("谁昨天在北京吃花生", NOW - timedelta(days=400))
    await traced(world, long_ago)
    again = await replayer(world).replay(SPACE, "t1")
    assert (again.same, again.asked_at) == (True, long_ago.asked_at)


async def test_filters_count_again() -> None:
    world = await small_world()
    given = await traced(world, Query("北京", NOW, 50, filters=Filters(as_of=NOW - timedelta(days=30))))
    assert given
    assert (await replayer(world).replay(SPACE, "t1")).same
    assert (await replayer(world).replay(SPACE, "t1", as_of_then=True)).same


async def test_a_trace_of_another_namespace_is_not_there() -> None:
    world = await small_world()
    await traced(world, Query("花生", NOW))
    for call in (replayer(world).replay("bob", "t1"), replayer(world).explain("bob", "t1", an_id(1))):
        with pytest.raises(NotFound, match="trace_id"):
            await call


async def test_a_trace_that_is_no_search_is_refused() -> None:
    world = World()
    await world.store.save_trace(SPACE, "w", NOW, {"operation": "write", "trace_id": "w"})
    with pytest.raises(Unsupported):
        await replayer(world).replay(SPACE, "w")


async def test_of_a_search_that_did_not_reach_the_store_there_is_no_then() -> None:
    class Away(OracleStore):
        away = True

        async def head(self, namespace: str) -> int:
            if self.away:
                raise StorageUnavailable("away")
            return await super().head(namespace)

    store = Away()
    world = World(store=store)
    await traced(world, Query("花生", NOW))
    store.away = False
    await world.holds(memory(1, "花生"))
    with pytest.raises(InvalidInput, match="as_of_then"):
        await replayer(world).replay(SPACE, "t1", as_of_then=True)
    again = await replayer(world).replay(SPACE, "t1", weights="default")
    assert (again.before, again.after, again.degraded) == ((), (an_id(1),), ("store",))


def test_weights_are_those_of_then_of_now_of_a_preset_or_given() -> None:
    then, now = PRESETS["coding"], PRESETS["support"]
    assert parse_weights(None, then=then, now=now) == parse_weights("then", then=then, now=now) == then
    assert parse_weights("now", then=then, now=now) == now
    assert parse_weights("balanced", then=then, now=now) == PRESETS["balanced"]
    own = Weights(0.5, 0.25, 0.0, 0.0)
    assert parse_weights("relevance=0.5, freshness=.25", then=then, now=now) == own
    assert parse_weights({"relevance": 0.5, "freshness": 0.25}, then=then, now=now) == own


@pytest.mark.parametrize(
    "given",
    [
        "best",
        "",
        "relevance",
        "relevance=2",
        "relevance=x",
        "freshness=0.2",
        {"relevence": 1},
        {},
        3,
        {"relevance": True},
    ],
)
def test_weights_that_are_none_are_refused_by_name(given: object) -> None:
    with pytest.raises(InvalidInput, match="weights"):
        parse_weights(given, then=PRESETS["default"], now=PRESETS["default"])

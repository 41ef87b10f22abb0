"""Two settings measured on questions with known answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hindsight.domain.change import Act, Batch, Put
from hindsight.domain.evaluation import Setting
from hindsight.domain.query import Query
from hindsight.domain.ranking import PRESETS
from hindsight.errors import InvalidInput
from hindsight.observe.trace import Trace
from hindsight.search.evaluate import Evaluator, parse_setting
from hindsight.search.routes import KEYWORD, VECTOR
from tests.search.made import NOW, SPACE, StoppedClock, World, an_id, experience, memory

THINGS = (
    "花生",
    "green tea",
    "the gate",
    "咖啡",
    "a bicycle",
    "projector",
    "挂号",
    "invoice",
    "passport",
    "钥匙",
    "stove",
    "猫",
)
IN_FORCE = Setting(PRESETS["default"], frozenset({VECTOR, KEYWORD}))


async def world_of_things() -> World:
    world = World()
    await world.holds(*(memory(number, f"{thing} 在第{number}个抽屉里") for number, thing in enumerate(THINGS, 1)))
    return world


def questions(count: int = len(THINGS)) -> list[dict[str, object]]:
    return [{"query": f"{thing} 在哪里", "relevant": [an_id(number)]} for number, thing in enumerate(THINGS[:count], 1)]


def evaluator(world: World, least: int = 10) -> Evaluator:
    return Evaluator(world.store, world.searcher, StoppedClock(), least=least)


async def test_two_equal_settings_give_equal_figures_and_no_difference() -> None:
    found = await evaluator(await world_of_things()).of_questions(SPACE, questions(), [IN_FORCE, IN_FORCE])
    a, b = found.sides
    assert a == b
    assert found.differ == 0
    assert (a.recall_5, a.mrr, a.ndcg_10) == (1.0, 1.0, 1.0)
    assert a.tokens > 0


async def test_another_setting_shows_in_the_figures_and_in_how_many_questions_differ() -> None:
    world = await world_of_things()
    await world.holds(
        *(memory(100 + number, f"note {number}", occurred_at=NOW, importance=1.0) for number in range(30))
    )
    blind = parse_setting("b", "weights=relevance=0.01,freshness=0.99", IN_FORCE, (VECTOR, KEYWORD))
    found = await evaluator(world).of_questions(SPACE, questions(), [IN_FORCE, blind])
    a, b = found.sides
    assert a.recall_5 > b.recall_5
    assert a.mrr > b.mrr
    assert found.differ > 0


async def test_questions_that_nothing_answers_measure_false_confidence() -> None:
    asked = questions()
    asked.append({"query": "zebra quantum entanglement", "relevant": []})
    found = await evaluator(await world_of_things()).of_questions(SPACE, asked, [IN_FORCE, IN_FORCE])
    assert (found.answerable, found.unanswerable) == (len(THINGS), 1)
    assert found.sides[0].confident_wrong in (0.0, 1.0)


async def test_too_few_questions_give_a_reason_and_no_figure() -> None:
    found = await evaluator(await world_of_things()).of_questions(SPACE, questions(9), [IN_FORCE, IN_FORCE])
    assert found.sides == ()
    assert found.reason == "9 questions with a known answer: 10 are the least that a mean says something of"


async def test_nothing_is_written_and_no_use_is_counted() -> None:
    world = await world_of_things()
    head = await world.store.head(SPACE)
    await evaluator(world).of_questions(SPACE, questions(), [IN_FORCE, IN_FORCE])
    await world.searcher.aclose()
    assert await world.store.head(SPACE) == head
    assert await world.store.uses(SPACE, [an_id(number) for number in range(1, 13)]) == {}
    assert await world.store.traces(SPACE, limit=10) == []


async def test_a_hit_that_then_worked_answers_the_search_that_gave_it_and_one_that_failed_does_not() -> None:
    world = World()
    good, bad = experience(1, "部署失败时", "看日志"), experience(2, "deploy fails on friday", "retry blindly")
    await world.holds(good, bad)
    for number, text in enumerate(("部署失败时怎么办", "deploy fails on friday, what now?"), 1):
        trace = Trace(f"t{number}", SPACE, "search")
        await world.searcher.search(SPACE, Query(text, NOW), trace)
        await world.store.save_trace(SPACE, trace.id, NOW, trace.body())
    puts = [(good, "success"), (bad, "failure: it broke")]
    for number, (one, reason) in enumerate(puts):
        put = Put(replace(one, version=2), 1, Act.FEEDBACK, reason=reason)
        await world.store.apply(Batch(SPACE, f"feedback-{number}", NOW, puts=(put,)))
    found = await evaluator(world, least=1).of_feedback(SPACE, [IN_FORCE, IN_FORCE])
    assert (found.answerable, found.traces) == (1, 2)
    assert found.sides[0].recall_5 == 1.0
    few = await evaluator(world).of_feedback(SPACE, [IN_FORCE, IN_FORCE])
    assert few.sides == ()
    assert few.reason.startswith("of 2 stored searches, 1 with a known answer")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"query": "x"}, "question 1"),
        ({"query": "", "relevant": []}, "question 1: query"),
        ({"query": "x", "relevant": "m1"}, "question 1: relevant"),
        ({"query": "x", "relevant": ["nowhere"]}, "question 1: relevant"),
        ({"query": "x", "relevant": [], "colour": 1}, "question 1"),
        ({"query": "x", "relevant": [], "asked_at": "soon"}, "question 1: asked_at"),
    ],
)
async def test_a_question_that_can_not_be_read_is_named(given: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput, match=field):
        await evaluator(await world_of_things()).of_questions(SPACE, [given], [IN_FORCE, IN_FORCE])


def test_a_setting_names_what_is_other_than_in_force() -> None:
    routes = (VECTOR, KEYWORD)
    assert parse_setting("a", None, IN_FORCE, routes) == IN_FORCE
    other = parse_setting("a", "balanced; routes=keyword; rerank=off", IN_FORCE, routes)
    assert other == Setting(PRESETS["balanced"], frozenset({KEYWORD}))


@pytest.mark.parametrize("given", ["routes=telepathy", "rerank=on", "rerank=maybe", "colour=red", "weights=best"])
def test_a_setting_that_can_not_be_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput):
        parse_setting("a", given, IN_FORCE, (VECTOR, KEYWORD))

"""Why a memory was not returned: the stage that lost it, by name and with its numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight.domain.change import Act, Batch, Put
from hindsight.domain.memory import Kind, Memory, Status
from hindsight.domain.query import Filters, Query, TimeRange
from hindsight.domain.replay import Explanation, Stage
from hindsight.errors import ModelUnavailable
from hindsight.models.fake import FakeEmbedder
from hindsight.observe.trace import Trace
from hindsight.search.pipeline import SearchSettings
from hindsight.search.replay import Replayer
from hindsight.search.routes import KEYWORD, VECTOR, Routes
from tests.search.made import NOW, PATIENT, SPACE, World, an_id, episode, memory, resting_on


async def asked(world: World, text: str, **options: object) -> None:
    trace = Trace("t1", SPACE, "search")
    await world.searcher.search(SPACE, replace(Query(text, NOW), **options), trace)  # type: ignore[arg-type]  # fields of a query
    await world.store.save_trace(SPACE, "t1", NOW, trace.body())


async def why(world: World, number: int) -> Explanation:
    return await Replayer(world.store, world.projection, world.searcher).explain(SPACE, "t1", an_id(number))


async def put(world: World, changed: Memory, act: Act, reason: str = "") -> None:
    await world.store.apply(
        Batch(SPACE, f"{act}-{changed.id}", NOW, puts=(Put(replace(changed, version=2), 1, act, reason),))
    )


async def test_a_hit_says_that_it_was_given_and_at_which_place() -> None:
    world = World()
    await world.holds(memory(1, "用户对花生过敏"), memory(2, "花生酱在柜子里"))
    await asked(world, "花生过敏")
    found = await why(world, 1)
    assert (found.stage, found.returned, found.recomputed) == (Stage.GIVEN, True, False)
    assert found.facts["place"] == 1
    assert found.content == "用户对花生过敏"


async def test_what_was_cut_by_top_k_names_its_place_the_last_hit_and_what_it_lost_by() -> None:
    world = World()
    await world.holds(memory(1, "green tea"), memory(2, "green tea in the morning"))
    await asked(world, "green tea in the morning", top_k=1)
    found = await why(world, 1)
    assert (found.stage, found.returned) == (Stage.BEYOND_TOP_K, False)
    assert (found.facts["place"], found.facts["last"]) == (2, an_id(2))
    assert "lexical" in found.reason
    assert " against " in found.reason


async def test_what_fits_much_less_than_the_best_says_so() -> None:
    world = World()
    await world.holds(memory(1, "用户对花生过敏"), memory(2, "周五下午三点开会"))
    await asked(world, "用户对花生过敏")
    assert (await why(world, 2)).stage is Stage.TOO_WEAK


async def test_a_repetition_names_what_says_the_same() -> None:
    world = World()
    await world.holds(memory(1, "Green tea"), memory(2, "green tea"), memory(3, "coffee"))
    await asked(world, "green tea")
    found = [await why(world, 1), await why(world, 2)]
    repeated = next(one for one in found if one.stage is Stage.REPEATED)
    given = next(one for one in found if one.stage is Stage.GIVEN)
    assert repeated.facts["other"] == given.memory_id
    assert given.memory_id[-8:] in repeated.reason


async def test_a_turn_stands_behind_the_memory_that_came_of_it() -> None:
    world = World()
    said = episode(1, "我对花生过敏", session_id="s1")
    await world.holds(said)
    await world.holds(resting_on(said, memory(2, "用户对花生过敏")))
    await asked(world, "花生过敏")
    found = await why(world, 1)
    assert (found.stage, found.facts["behind"]) == (Stage.STANDS_BEHIND, an_id(2))


async def test_a_hit_without_room_in_the_block_says_so() -> None:
    world = World()
    await world.holds(*(memory(number, f"花生的第{number}条笔记" + "很长" * 60) for number in range(1, 9)))
    await asked(world, "花生", top_k=8, max_tokens=200)
    stages = {(await why(world, number)).stage for number in range(1, 9)}
    assert stages == {Stage.GIVEN, Stage.NO_ROOM}
    assert [number for number in range(1, 9) if not (await why(world, number)).returned] == []


async def test_a_constraint_of_health_stands_in_every_answer() -> None:
    world = World()
    await world.holds(
        memory(1, "用户对虾过敏", kind=Kind.CONSTRAINT, importance=0.95),
        *(memory(number, f"Oslo note {number}") for number in range(2, 60)),
    )
    await asked(world, "Oslo note", top_k=2)
    assert (await why(world, 1)).stage is Stage.STANDING


@pytest.mark.parametrize(
    ("filters", "name"),
    [
        (Filters(kinds=(Kind.EVENT,)), "types"),
        (Filters(tags=("x",)), "tags"),
        (Filters(entities=("Ann",)), "entities"),
        (Filters(speakers=("Ann",)), "speakers"),
        (Filters(session_ids=("s9",)), "sessions"),
        (Filters(exclude_sessions=("s1",)), "exclude_sessions"),
        (
            Filters(time_range=TimeRange(datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 2, 1, tzinfo=UTC))),
            "time_range",
        ),
        (Filters(as_of=NOW - timedelta(days=99)), "as_of"),
    ],
)
async def test_a_filter_is_named(filters: Filters, name: str) -> None:
    world = World()
    await world.holds(memory(1, "花生", session_id="s1"))
    await asked(world, "花生", filters=filters)
    found = await why(world, 1)
    assert (found.stage, found.facts["filters"]) == (Stage.FILTERED, [name])
    assert f"{name} asks for" in found.reason


async def test_what_is_forgotten_says_since_when_and_why_and_nothing_of_its_words() -> None:
    world = World()
    first = memory(1, "用户对花生过敏")
    await world.holds(first)
    await put(world, replace(first, status=Status.FORGOTTEN), Act.FORGOTTEN, "the user asked")
    await asked(world, "花生")
    found = await why(world, 1)
    assert (found.stage, found.content) == (Stage.FORGOTTEN, "")
    assert found.facts["since"] == NOW.isoformat()
    assert found.reason == "it is forgotten since 2024-03-01 (the user asked)"


async def test_what_was_forgotten_after_the_search_says_that() -> None:
    world = World()
    await world.holds(memory(1, "花生"), *(memory(number, f"花生花生 {number}") for number in range(2, 60)))
    await asked(world, "花生", top_k=1)
    *_, lost = [number for number in range(1, 60) if (await why(world, number)).recomputed]
    row = (await world.store.memories(SPACE, [an_id(lost)]))[an_id(lost)]
    await put(world, replace(row, status=Status.FORGOTTEN), Act.FORGOTTEN)
    found = await why(world, lost)
    assert found.stage is Stage.FORGOTTEN
    assert "after that search" in found.reason


async def test_what_is_superseded_says_since_when_and_by_what() -> None:
    world = World()
    first = memory(1, "用户住在北京")
    await world.holds(first, memory(2, "用户住在上海"))
    ended = NOW - timedelta(days=3)
    await put(world, replace(first, status=Status.SUPERSEDED, valid_to=ended, superseded_by=an_id(2)), Act.SUPERSEDED)
    await asked(world, "用户住在哪里")
    found = await why(world, 1)
    assert found.stage is Stage.SUPERSEDED
    assert (found.facts["by"], found.facts["since"]) == (an_id(2), ended.isoformat())
    assert an_id(2)[-8:] in found.reason


async def test_what_was_superseded_after_the_search_is_explained_as_of_then() -> None:
    world = World()
    first = memory(1, "用户住在北京")
    await world.holds(first, *(memory(number, f"用户住在上海{number}号") for number in range(2, 5)))
    await asked(world, "上海4号", top_k=1)
    await put(world, replace(first, status=Status.SUPERSEDED, valid_to=NOW), Act.SUPERSEDED)
    assert (await why(world, 1)).stage is Stage.BEYOND_TOP_K


async def test_what_was_written_after_the_search_says_so() -> None:
    world = World()
    await world.holds(memory(1, "花生"))
    await asked(world, "花生")
    await world.holds(memory(2, "花生过敏"))
    assert (await why(world, 2)).stage is Stage.NOT_YET_WRITTEN


def few(*on: str) -> SearchSettings:
    return replace(PATIENT, routes=replace(PATIENT.routes, on=frozenset(on), limit=3))


async def test_what_no_route_found_shows_words_and_cosine_of_now() -> None:
    world = World(settings=few(VECTOR, KEYWORD))
    await world.holds(
        memory(1, "weather in Lisbon"), *(memory(number, f"peanut allergy {number}") for number in range(2, 20))
    )
    await asked(world, "peanut allergy")
    found = await why(world, 1)
    assert (found.stage, found.recomputed) == (Stage.NOT_RECALLED, True)
    assert found.facts["shared_terms"] == []
    assert isinstance(found.facts["cosine"], float)
    assert found.facts["cosine"] < found.facts["vector_last"]  # type: ignore[operator]  # facts of it are numbers
    assert "shares no word" in found.reason


async def test_what_has_no_vector_yet_says_so() -> None:
    world = World()
    await world.holds(memory(2, "peanut allergy"))
    bare = memory(1, "weather in Lisbon")
    await world.store.apply(Batch(SPACE, "bare", NOW, puts=(Put(bare, None, Act.ADDED),)))
    await asked(world, "peanut allergy")
    assert "it has no vector yet" in (await why(world, 1)).reason


async def test_what_was_found_too_far_down_names_its_rough_place() -> None:
    world = World()
    await world.holds(*(memory(number, f"花生 {'笔记' * (number % 9)} {number}") for number in range(1, 150)))
    await asked(world, "花生", top_k=1)
    found = [await why(world, number) for number in range(1, 150)]
    outside = [one for one in found if one.stage is Stage.OUTSIDE_POOL]
    assert len(outside) > 40
    assert all(one.facts["rough_place"] > one.facts["pool"] == 100 for one in outside)  # type: ignore[operator]  # numbers


async def test_a_route_that_was_missing_is_named() -> None:
    embedder = FakeEmbedder()
    world = World(embedder=embedder, settings=few(VECTOR, KEYWORD))
    await world.holds(memory(1, "weather in Lisbon"), memory(2, "peanut allergy"))
    embedder.error = ModelUnavailable("no answer")
    await asked(world, "peanut allergy")
    embedder.error = None
    found = await why(world, 1)
    assert found.stage is Stage.NOT_RECALLED
    assert found.reason == "no route found it, as that search went without: vector; run again, it was hit 2 of 2"


async def test_without_a_vector_route_only_words_are_told() -> None:
    world = World(settings=SearchSettings(routes=Routes(on=frozenset({KEYWORD}), deadlines=PATIENT.routes.deadlines)))
    await world.holds(memory(1, "weather in Lisbon"), memory(2, "peanut allergy"))
    await asked(world, "peanut allergy")
    found = await why(world, 1)
    assert found.stage is Stage.NOT_RECALLED
    assert "cosine" not in found.facts

"""The routes that only some questions take: relations, kinds, times."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from hindsight.domain.memory import Kind, Status
from hindsight.domain.query import Filters
from hindsight.search.pipeline import SearchSettings
from hindsight.search.routes import Routes
from tests.search.made import NOW, World, contents, episode, memory

NOISE_ZH = [
    f"用户周{'一二三四五'[day % 5]}和{name}开会讨论上级的安排" for day, name in enumerate("赵钱孙李周吴郑王冯陈")
]
NOISE_EN = [
    f"The user met {name} to talk about the boss of another team" for name in ("Ada", "Bea", "Cy", "Dot", "Eve")
]

LED = [
    (("用户的同事是李雷", "李雷的上级是韩梅梅"), "用户的同事的上级是谁"),
    (("我的同事叫李雷", "韩梅梅是李雷的老板"), "我同事的上级是谁？"),
    (("用户和李雷是同事", "李雷向韩梅梅汇报"), "用户的同事的领导叫什么"),
    (("用户的妻子叫王芳", "王芳的妹妹是王兰"), "我老婆的妹妹是谁"),
    (("李雷的上级是韩梅梅", "韩梅梅嫁给了李明"), "李雷的上级的丈夫是谁"),
    (("我老板是张总", "张总的助理叫小赵"), "我上司的助理叫什么"),
    (("My colleague is Li Lei", "Li Lei's boss is Han Meimei"), "who is the boss of my colleague"),
    (("The user's brother is Tom", "Tom is married to Jane Lee"), "Who is my brother's wife?"),
    (("I have a sister named Anna", "Anna reports to Bob Stone"), "Who does my sister report to?"),
    (("Ann's husband is Peter", "Peter's mother is Ruth"), "Who is the mother of Ann's husband?"),
    (("My neighbor is Kim", "Olga is the daughter of Kim"), "What is the name of my neighbour's daughter?"),
    (("The user's mentor is Dr Grey", "Dr Grey's assistant is Sam"), "who is my mentor's assistant?"),
]


@pytest.mark.parametrize(("told", "question"), LED)
async def test_what_is_two_steps_away_is_found_among_the_first_three(told: tuple[str, str], question: str) -> None:
    world = World()
    said = (*NOISE_ZH, *NOISE_EN, *told)
    await world.holds(*(memory(number, text) for number, text in enumerate(said, 1)))
    assert told[1] in (await world.finds(question))[:3]
    assert world.trace.body()["candidates"]["graph"]  # type: ignore[index, call-overload]  # of a trace's JSON


@pytest.mark.parametrize(
    ("told", "question", "answer"),
    [
        (
            ("用户的同事是李雷", "李雷的上级是韩梅梅", "韩梅梅的丈夫是李明"),
            "我同事的上级的老公是谁",
            "韩梅梅的丈夫是李明",
        ),
        (
            ("My colleague is Li Lei", "Li Lei's boss is Han Meimei", "Han Meimei's husband is Tom Reed"),
            "Who is the husband of my colleague's boss?",
            "Han Meimei's husband is Tom Reed",
        ),
        (("用户的妹妹叫王兰", "王兰住在青岛"), "我妹妹住在哪", "王兰住在青岛"),
        (("My brother is Tom", "Tom works at a bakery"), "Where does my brother work?", "Tom works at a bakery"),
    ],
)
async def test_three_steps_and_what_is_said_of_their_end_are_found(
    told: tuple[str, ...], question: str, answer: str
) -> None:
    world = World()
    said = (*NOISE_ZH, *NOISE_EN, *told)
    await world.holds(*(memory(number, text) for number, text in enumerate(said, 1)))
    assert answer in (await world.finds(question))[:3]


async def test_a_name_is_followed_under_its_other_name() -> None:
    world = World()
    told = ("用户的同事是小张", "小张就是张伟", "张伟的上级是韩梅梅")
    await world.holds(*(memory(number, text) for number, text in enumerate((*NOISE_ZH, *told), 1)))
    assert "张伟的上级是韩梅梅" in (await world.finds("用户的同事的上级是谁"))[:3]


async def test_a_circle_of_relations_ends() -> None:
    world = World()
    told = ("李雷的同事是韩梅梅", "韩梅梅的同事是李雷")
    await world.holds(*(memory(number, text) for number, text in enumerate(told, 1)))
    assert set(await world.finds("李雷的同事的同事的同事的同事是谁")) == set(told)


async def test_relations_of_another_namespace_are_not_followed() -> None:
    world = World()
    await world.holds(memory(1, "用户的同事是李雷"))
    await world.holds(memory(2, "李雷的上级是韩梅梅", namespace="bob"), namespace="bob")
    assert await world.finds("用户的同事的上级是谁") == ["用户的同事是李雷"]


async def test_a_relation_that_has_ended_is_followed_only_as_of_then() -> None:
    world = World()
    ended = NOW - timedelta(days=10)
    await world.holds(
        memory(1, "用户的同事是李雷"),
        memory(2, "李雷的上级是老陈", status=Status.SUPERSEDED, valid_to=ended),
        memory(3, "李雷的上级是韩梅梅", valid_from=ended),
        memory(4, "老陈的妻子是林静"),
        memory(5, "韩梅梅的妻子是周岚"),
    )
    question = "用户的同事的上级的妻子是谁"
    now, then = (
        await world.finds(question),
        await world.finds(question, filters=Filters(as_of=NOW - timedelta(days=20))),
    )
    assert "韩梅梅的妻子是周岚" in now[:3]
    assert "老陈的妻子是林静" in then[:3]
    assert "李雷的上级是老陈" not in now
    assert "李雷的上级是韩梅梅" not in then


KINDS = [
    ("用户之前提到的那个偏好", Kind.PREFERENCE),
    ("用户提过哪些偏好", Kind.PREFERENCE),
    ("我有什么喜好？", Kind.PREFERENCE),
    ("我之前说过的那条规则", Kind.RULE),
    ("你还记得我提过的那个规矩吗", Kind.RULE),
    ("用户提到的限制", Kind.CONSTRAINT),
    ("that preference the user mentioned earlier", Kind.PREFERENCE),
    ("What are my preferences?", Kind.PREFERENCE),
    ("Which preference did I mention before?", Kind.PREFERENCE),
    ("the rule I told you about", Kind.RULE),
    ("What rules do we have?", Kind.RULE),
    ("What constraint did the user mention?", Kind.CONSTRAINT),
]


@pytest.mark.parametrize(("question", "kind"), KINDS)
async def test_a_kind_asked_for_brings_the_newest_of_it_first(question: str, kind: Kind) -> None:
    world = World()
    old, new = "靛蓝色的杯子用来泡茶", "Tea is taken without sugar"
    await world.holds(
        *(memory(number, text) for number, text in enumerate((*NOISE_ZH, *NOISE_EN), 10)),
        memory(1, old, kind=kind, occurred_at=NOW - timedelta(days=60), created_at=NOW - timedelta(days=60)),
        memory(2, new, kind=kind, occurred_at=NOW - timedelta(days=1), created_at=NOW - timedelta(days=1)),
    )
    assert (await world.finds(question))[:2] == [new, old]


async def test_a_kind_is_looked_for_within_the_filters() -> None:
    world = World()
    await world.holds(
        memory(1, "用户喜欢绿茶", kind=Kind.PREFERENCE, session_id="a"),
        memory(2, "用户喜欢红茶", kind=Kind.PREFERENCE, session_id="b"),
    )
    found = await world.finds("用户之前提到的那个偏好", filters=Filters(session_ids=("a",)))
    assert found == ["用户喜欢绿茶"]
    assert await world.finds("用户之前提到的那个偏好", filters=Filters(kinds=(Kind.FACT,))) == []


@pytest.mark.parametrize(
    "question",
    ["上周发生了什么", "What happened last week?", "我上周都做了些什么", "What did I do last week?", "上周有什么事"],
)
async def test_what_happened_at_a_time_is_found_among_hundreds_of_other_times(question: str) -> None:
    world = World()
    others = [
        episode(number, f"Last week I happened to do thing {number}", occurred_at=NOW - timedelta(days=30 + number))
        for number in range(10, 400)
    ]
    then = episode(1, "Ruth planted three lemon trees", occurred_at=NOW - timedelta(days=8))
    await world.holds(*others, then)
    assert "Ruth planted three lemon trees" in await world.finds(question)


@pytest.mark.parametrize(
    "question", ["上周发生了什么", "What happened last week?", "我上周做了什么", "what did I do last week"]
)
async def test_what_happened_at_a_time_is_told_from_its_whole_length(question: str) -> None:
    world = World()
    monday = NOW - timedelta(days=11)  # of the week before that of `NOW`, a Friday
    busy = [episode(number, f"Box {number} was packed", occurred_at=monday) for number in range(10, 40)]
    quiet = [
        episode(day, f"Thing {day} was done", occurred_at=monday + timedelta(days=day), session_id=f"day {day}")
        for day in range(1, 6)
    ]
    await world.holds(*busy, *quiet)
    found = await world.search(question, top_k=8)
    days = {hit.occurred_at.date() for hit in found.hits}
    assert len(days) >= 5


@pytest.mark.parametrize("text", ["Where did Ann buy the bicycle?", "汇率怎么换算", "What does she like?"])
async def test_other_questions_do_not_take_these_routes(text: str) -> None:
    world = World()
    await world.holds(memory(1, "支持外币汇率换算"), memory(2, "Ann bought a bicycle"))
    await world.finds(text)
    stages = {span.name for span in world.trace.spans}
    assert not stages & {"graph", "structured", "time"}


@pytest.mark.parametrize(
    ("route", "question"),
    [("graph", "用户的同事的上级是谁"), ("structured", "用户有哪些偏好"), ("time", "what happened last week")],
)
async def test_a_route_that_hangs_is_named_and_the_others_answer(
    route: str, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hang(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    patience = {"vector": 60.0, "keyword": 60.0, "context": 60.0}
    world = World(settings=SearchSettings(routes=Routes(deadlines=patience | {route: 0.01}), deadline=60.0))
    named = {"graph": "graph", "structured": "structured", "time": "within_windows"}[route]
    monkeypatch.setattr(f"hindsight.search.routes.{named}", hang)
    await world.holds(memory(1, "用户的同事是李雷"), memory(2, "用户的偏好是绿茶", kind=Kind.PREFERENCE))
    result = await world.search(question)
    assert route in result.degraded
    assert contents(result)


async def test_routes_may_be_switched_off() -> None:
    world = World(settings=SearchSettings(routes=Routes(on=frozenset({"vector", "keyword"})), deadline=60.0))
    await world.holds(memory(1, "用户的同事是李雷"))
    assert (await world.search("用户的同事的上级是谁")).degraded == ()
    assert "graph" not in {span.name for span in world.trace.spans}


async def test_a_namespace_of_a_few_dozen_memories_is_ranked_whole() -> None:
    world = World()
    await world.holds(*(memory(number, f"Note {number} about the {number} lamps") for number in range(1, 41)))
    assert len((await world.search("lamps", top_k=40)).hits) == 40
    assert len((await world.search("something else entirely", top_k=40)).hits) == 40

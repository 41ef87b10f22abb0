"""Looking again: the parts of a question, another name, other words, and a model's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest

from hindsight.domain.completion import Completion
from hindsight.domain.episode import JsonValue
from hindsight.domain.query import Filters
from hindsight.errors import ModelUnavailable
from hindsight.search.look import Expansion
from hindsight.search.pipeline import SearchSettings
from hindsight.search.rewrite import MOST, Rewriter, wordings_in
from hindsight.search.routes import KEYWORD, VECTOR, Routes
from tests.search.made import World, memory

BY_WORDS = Routes(on=frozenset({KEYWORD}), deadlines={KEYWORD: 60.0, "context": 60.0})
MUCH = [f"小王写下了第{number}条笔记" for number in range(1, 30)]
MUCH_EN = [f"Ann wrote note {number} about the harbour" for number in range(1, 30)]

PARTS = [
    ("小王住在哪，他吃什么？", ("小王住在上海", "小王吃素面")),
    ("小王住在哪？小王的车是什么颜色？", ("小王住在上海", "小王的车是绿色")),
    ("小王住在哪，以及他养什么宠物", ("小王住在上海", "小王养了一只乌龟")),
    ("小王在哪上班，住在哪", ("小王在铁路局上班", "小王住在上海")),
    ("小王的狗叫什么、小王住在哪里", ("小王的狗叫阿黄", "小王住在上海")),
    ("Where does Ann live and what does she eat?", ("Ann lives in Oslo", "Ann eats herring")),
    ("Where does Ann live? What is her dog called?", ("Ann lives in Oslo", "Ann's dog is called Rex")),
    ("Where does Ann live and when does she swim?", ("Ann lives in Oslo", "Ann swims on Mondays")),
    ("What does Ann drive, and where does she live?", ("Ann drives a red van", "Ann lives in Oslo")),
    ("Who taught Ann and where does she live?", ("Ruth taught Ann", "Ann lives in Oslo")),
]


@pytest.mark.parametrize(("question", "answers"), PARTS)
async def test_each_part_of_a_question_gets_room_among_the_first_hits(question: str, answers: tuple[str, ...]) -> None:
    world = World()
    await world.holds(*(memory(number, text) for number, text in enumerate((*MUCH, *MUCH_EN, *answers), 1)))
    assert set(answers) <= set((await world.finds(question))[:4])
    parts = world.trace.body()["parts"]
    assert isinstance(parts, list)
    assert len(parts) == len(answers)


async def test_parts_are_looked_for_under_the_same_filters() -> None:
    world = World()
    await world.holds(memory(1, "小王住在上海", session_id="a"), memory(2, "小王吃素面", session_id="b"))
    found = await world.finds("小王住在哪，他吃什么？", filters=Filters(session_ids=("a",)))
    assert found == ["小王住在上海"]


NAMES = [
    (("小张就是张伟", "张伟喜欢钓鱼"), "小张喜欢什么"),
    (("大家都管王建国叫老王", "王建国的车停在三楼"), "老王的车停在哪"),
    (("李娜又叫娜娜", "娜娜在南京读书"), "李娜在哪读书"),
    (("陈默和阿默是同一个人", "陈默对芒果过敏"), "阿默对什么过敏"),
    (("张伟（小张）明天来", "张伟讨厌榴莲"), "小张讨厌什么"),
    (("Peggy aka Margaret", "Margaret plays the cello"), "What does Peggy play?"),
    (("Rob is short for Robert", "Robert sails every summer"), "When does Rob sail?"),
    (("Bob, also known as Robert Smith, called", "Robert Smith repairs clocks"), "What does Bob repair?"),
    (("Liz and Elizabeth are the same person", "Liz collects stamps"), "What does Elizabeth collect?"),
    (("Margaret (nicknamed Daisy) lives here", "Daisy bakes rye bread"), "What does Margaret bake?"),
]


@pytest.mark.parametrize(("told", "question"), NAMES)
async def test_what_is_said_under_another_name_is_found(told: tuple[str, str], question: str) -> None:
    world = World(settings=SearchSettings(routes=BY_WORDS, deadline=60.0))
    await world.holds(*(memory(number, text) for number, text in enumerate(told, 1)))
    assert told[1] in await world.finds(question)


OTHER_WORDS = [
    ("The user is allergic to shrimp", "用户对什么过敏"),
    ("The user lives in Oslo", "用户住哪里"),
    ("My wife is a nurse", "老婆的职业"),
    ("I bought a bicycle", "买了啥"),
    ("She is a vegetarian", "吃素的是谁"),
    ("用户住在上海", "Where is home, where do I live?"),
    ("我对花生过敏", "any allergies?"),
    ("我妻子是医生", "spouse"),
    ("我养了一只猫", "cats"),
    ("用户毕业于南京大学", "graduated"),
]


@pytest.mark.parametrize(("told", "question"), OTHER_WORDS)
async def test_without_meaning_a_question_finds_what_is_said_in_other_words(told: str, question: str) -> None:
    world = World(settings=SearchSettings(routes=BY_WORDS, deadline=60.0))
    await world.holds(memory(1, told), memory(2, "船在港口等待风"), memory(3, "The ship waits for wind"))
    assert told in await world.finds(question)
    off = SearchSettings(routes=BY_WORDS, deadline=60.0, expansion=Expansion(on=False))
    plain = World(settings=off)
    await plain.holds(memory(1, told), memory(2, "船在港口等待风"))
    assert told not in await plain.finds(question)


class Scripted:
    """A language model that gives one answer, or hangs, or fails."""

    model = "scripted-1"

    def __init__(self, answer: str | Exception | None) -> None:
        self._answer = answer
        self.asked: list[str] = []

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, JsonValue] | None = None, max_tokens: int
    ) -> Completion:
        self.asked.append(user)
        if self._answer is None:
            await asyncio.Event().wait()
        if isinstance(self._answer, Exception):
            raise self._answer
        return Completion(str(self._answer), tokens_in=1, tokens_out=1)

    async def aclose(self) -> None:
        """Nothing to close."""


def with_model(model: Scripted, deadline: float = 60.0) -> World:
    expansion = Expansion(rewriter=Rewriter(model, deadline=deadline))
    return World(settings=SearchSettings(routes=BY_WORDS, deadline=60.0, expansion=expansion))


async def test_a_model_s_words_find_what_the_question_s_do_not() -> None:
    model = Scripted(json.dumps({"queries": ["the lighthouse at the cape", "灯塔"]}))
    world = with_model(model)
    await world.holds(memory(1, "The lighthouse at the cape is white"), memory(2, "The ship waits for wind"))
    assert await world.finds("that tall thing by the sea") == ["The lighthouse at the cape is white"]
    assert model.asked == ["that tall thing by the sea"]
    assert world.trace.body()["rewriter"] == "scripted-1, prompt 1"


async def test_a_question_that_is_answered_asks_no_model() -> None:
    model = Scripted(json.dumps({"queries": ["ship"]}))
    world = with_model(model)
    await world.holds(memory(1, "The lighthouse at the cape is white"))
    assert (await world.search("lighthouse at the cape")).confident
    assert model.asked == []


@pytest.mark.parametrize("answer", [None, ModelUnavailable("down")])
async def test_a_model_that_is_late_or_down_is_named_and_the_rest_answers(answer: Exception | None) -> None:
    world = with_model(Scripted(answer), deadline=0.01)
    await world.holds(memory(1, "The ship waits for wind"), memory(2, "用户住在上海"))
    result = await world.search("unheard words about wind and further things of many kinds")
    assert result.degraded == ("expansion",)
    assert [hit.content for hit in result.hits] == ["The ship waits for wind"]


@pytest.mark.parametrize(
    "answer",
    ["", "no idea", "{}", '{"queries": "ship"}', '{"queries": [1, null]}', '{"queries": ["", " "]}', "{broken", "[]"],
)
def test_an_answer_without_wordings_gives_none(answer: str) -> None:
    assert wordings_in(answer, "a question") == ()


def test_wordings_are_checked_and_bounded() -> None:
    given = ["a question", "b\x00", "x" * 501, "two\nlines", "two lines", "c", "d", "e", "f"]
    assert wordings_in(f"Sure: {json.dumps({'queries': given})}", "a question") == ("two lines", "c", "d", "e")
    assert MOST == 4


async def test_vector_alone_still_answers_with_all_this_on() -> None:
    world = World(settings=SearchSettings(routes=Routes(on=frozenset({VECTOR})), deadline=60.0))
    await world.holds(memory(1, "小王住在上海"))
    assert await world.finds("小王住在哪，他吃什么？") == ["小王住在上海"]

"""Answers with citations: from a model where there is one, else the memories themselves, and it says which."""

from __future__ import annotations

import json

import pytest

from hindsight.domain.digest import CitedAnswer, Method
from hindsight.domain.query import Query
from hindsight.errors import ModelUnavailable
from hindsight.language.markers import without_own_output
from hindsight.upkeep.answer import Answerer
from hindsight.upkeep.summarize import LLM
from hindsight.upkeep.telling import Teller
from tests.upkeep.house import Home, Scripted
from tests.write.house import SPACE


@pytest.fixture
async def home() -> Home:
    home = Home()
    await home.say("Bob reviews the design on Friday", "The garden has red roses", session_id="s1")
    await home.say("我对花生过敏", session_id="s1")
    return home


async def answered(home: Home, question: str, model: Scripted | None = None) -> CitedAnswer:
    query = Query(question, home.clock.now(), timezone="UTC")
    found = await home.searcher.search(SPACE, query, home.trace())
    return await Answerer(Teller(model) if model is not None else None).answer(query, found)


def saying(sentence: str, word: str) -> Scripted:
    """A model that cites the passage with a word."""

    def reply(system: str, user: str) -> str:
        (line,) = [one for one in user.splitlines() if one.startswith("[") and word in one]
        return json.dumps({"items": [{"sentence": sentence, "cites": [line[1 : line.index("]")]]}]})

    return Scripted(reply=reply)


async def test_a_model_answers_with_the_memory_it_rests_on(home: Home) -> None:
    answer = await answered(home, "Who reviews the design?", saying("Bob reviews it on Friday.", "Bob"))

    (cited,) = (await home.store.memories(SPACE, answer.cited)).values()
    assert answer.answered
    assert answer.method is Method.ABSTRACTIVE
    assert answer.written_by == "scripted, prompt answer 1"
    assert "Bob" in cited.content
    assert f"(#{cited.short_id}, 2020-01-06)" in answer.text


async def test_a_model_that_finds_nothing_says_so_and_nothing_is_made_up(home: Home) -> None:
    answer = await answered(home, "What is the capital of France?", Scripted(['{"items": []}']))

    assert not answer.answered
    assert answer.sentences == ()
    assert "No memory fits this question." in answer.context


async def test_without_a_model_the_memories_answer_and_the_block_says_so(home: Home) -> None:
    answer = await answered(home, "Who reviews the design?")

    assert answer.method is Method.EXTRACTIVE
    assert answer.answered is answer.confident
    assert answer.sentences[0].text == "Bob reviews the design on Friday"
    assert "no language model took part" in answer.context


async def test_a_model_that_fails_is_made_up_for_and_named(home: Home) -> None:
    for fault in (ModelUnavailable("away"), '{"items": null}', '{"items": [{"sentence": "Paris", "cites": []}]}'):
        answer = await answered(home, "Who reviews the design?", Scripted([fault]))

        assert answer.degraded == (LLM,)
        assert answer.method is Method.EXTRACTIVE


async def test_a_question_about_snacks_shows_the_model_the_allergy(home: Home) -> None:
    model = Scripted()

    await answered(home, "推荐点零食", model)

    assert "花生过敏" in model.asked[0][1]


async def test_an_answer_that_is_written_back_is_known_as_own_output(home: Home) -> None:
    for model in (None, saying("Bob reviews it on Friday.", "Bob")):
        answer = await answered(home, "Who reviews the design?", model)

        assert without_own_output(answer.context).strip() == ""
        assert without_own_output(answer.text).strip() == ""

"""What is made of a question before anything is looked up."""

from dataclasses import replace

import pytest

from hindsight.domain.query import Filters, Query
from hindsight.errors import InvalidInput, shorten
from hindsight.search.understand import MOST_CHARACTERS, MOST_TERMS, Complexity, Question, understand
from tests.search.made import NOW

LONG = " ".join(f"word{number} thing{number % 50}" for number in range(1000))


def asked(text: str, **changes: object) -> Question:
    return understand(replace(Query(text, NOW), **changes))  # type: ignore[arg-type]  # fields of a query


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "　"])
def test_a_question_of_nothing_but_space_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        asked(text)
    assert caught.value.field == "query"
    assert "1 to 100,000 characters" in caught.value.allowed


@pytest.mark.parametrize("text", ["peanut\x00allergy", "花生\ud800过敏"])
def test_what_no_store_can_hold_is_refused_with_the_reason(text: str) -> None:
    with pytest.raises(InvalidInput, match="query: "):
        asked(text)


def test_a_document_instead_of_a_question_is_refused_with_its_length_and_not_its_text() -> None:
    with pytest.raises(InvalidInput) as caught:
        asked("x" * (MOST_CHARACTERS + 1))
    assert caught.value.value == "'100,001 characters'"


def test_a_question_of_two_thousand_words_is_cut_to_its_most_telling_terms() -> None:
    question = asked(f"{LONG} where is the observatory?")
    assert len(question.terms) == MOST_TERMS
    assert "thing" in question.terms
    assert "observatori" in question.terms


def test_a_short_question_keeps_all_its_terms() -> None:
    assert asked("Where did Ann buy the red bicycle?").terms == ("ann", "buy", "red", "bicycl")


@pytest.mark.parametrize("given", [-1, 0, 101, 10**9, "abc", "", "-3", "9" * 5000, 2.5, True, [5]])
def test_a_wrong_number_of_hits_is_refused_by_field_value_and_what_is_allowed(given: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        asked("猫", top_k=given)
    assert caught.value.field == "top_k"
    assert caught.value.value == shorten(given)
    assert caught.value.allowed == "a whole number from 1 to 100"


def test_the_number_of_hits_may_come_as_digits() -> None:
    assert [asked("猫", top_k=given).most for given in (1, "8", " 8 ", 100)] == [1, 8, 8, 100]


@pytest.mark.parametrize("text", ["我住在哪里？", "Where do I live?", "吃什么要小心", "what food must I avoid"])
def test_a_question_for_one_thing_is_simple_and_wants_three_to_five(text: str) -> None:
    question = asked(text)
    assert (question.complexity, question.fewest, question.most) == (Complexity.SIMPLE, 3, 5)


@pytest.mark.parametrize(
    "text",
    [
        "列出我所有的过敏",
        "比较我在北京和上海的工作",
        "我住在哪里？养了什么宠物？",
        "List everything I told you about my dog",
        "How has my diet changed?",
        "Where do I live? And with whom?",
    ],
)
def test_a_question_for_several_things_is_complex_and_wants_eight_to_twelve(text: str) -> None:
    question = asked(text)
    assert (question.complexity, question.fewest, question.most) == (Complexity.COMPLEX, 8, 12)


def test_a_caller_who_names_a_number_gets_that_number() -> None:
    question = asked("列出所有", top_k=2)
    assert (question.fewest, question.most, question.counted) == (2, 2, True)


@pytest.mark.parametrize("given", [0, 199, 100_001])
def test_a_wrong_token_budget_is_refused(given: int) -> None:
    with pytest.raises(InvalidInput, match=r"max_tokens: .* from 200 to 100000"):
        asked("猫", max_tokens=given)


def test_the_token_budget_is_two_thousand_unless_asked_otherwise() -> None:
    assert asked("猫").max_tokens == 2000
    assert asked("猫", max_tokens=300).max_tokens == 300


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="asked_at"):
        asked("猫", asked_at=NOW.replace(tzinfo=None))


def test_experiences_below_the_floor_of_trust_are_out_unless_asked_for() -> None:
    assert asked("deploy").filters.min_confidence == 0.3
    assert asked("deploy", filters=Filters(min_confidence=0.0)).filters.min_confidence == 0.0

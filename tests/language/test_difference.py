"""What sets two nearly equal statements apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.difference import Difference, difference, reordered


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("我喜欢吃辣", "我不喜欢吃辣", Difference.NEGATION),
        ("I love coffee", "I can't stand coffee any more", Difference.NEGATION),
        ("She drinks tea", "She doesn't drink tea", Difference.NEGATION),
        ("Room 101", "Room 102", Difference.NUMBER),
        ("航班UA123", "航班UA124", Difference.NUMBER),
        ("the 2023 tax return", "the 2024 tax return", Difference.NUMBER),
        ("我有三只猫", "我有两只猫", Difference.NUMBER),
        ("我喜欢猫", "我喜欢狗", Difference.SPAN),
        ("我住在北京", "我住在上海", Difference.SPAN),
        ("Dr John Richardson", "Dr Jane Richardson", Difference.SPAN),
        ("A uses B", "C uses B", Difference.SPAN),
    ],
)
def test_statements_that_must_stay_apart_are_told_apart(a: str, b: str, expected: Difference) -> None:
    assert difference(a, b) is expected
    assert difference(b, a) is expected


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("我在北京", "我住在北京朝阳区"),
        ("Alice works at Google", "Alice works at Google in Zurich"),
        ("I have 3 cats", "I have three cats."),
        ("I like cats", "I like the cats"),
        ("我喜歡貓", "我喜欢猫。"),
    ],
)
def test_more_of_the_same_is_no_difference(a: str, b: str) -> None:
    assert difference(a, b) is None
    assert difference(b, a) is None


@given(st.text(st.characters(codec=None)))
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert difference(text, text) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Room 12 has 3 chairs", "Room 3 has 12 chairs"),
        ("12号房有3把椅子", "3号房有12把椅子"),
        ("Crate 3-0-0 holds 0 bolts", "Crate 3-3-0 holds 0 bolts"),
        ("Version 1.2 needs Python 3", "Version 3 needs Python 1.2"),
        ("第2组赢了第5组", "第5组赢了第2组"),
    ],
)
def test_numbers_in_another_order_are_another_statement(a: str, b: str) -> None:
    assert difference(a, b) is not None
    assert reordered(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [("I live in 10115 Berlin", "I live in Berlin"), ("跑5公里", "每天2次，跑5公里"), ("no number", "none here")],
)
def test_numbers_that_one_text_lacks_are_no_other_order(a: str, b: str) -> None:
    assert not reordered(a, b)

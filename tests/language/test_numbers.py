"""The numbers of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.numbers import numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Room 101", ["101"]),
        ("1,200.50 euros", ["1200.5"]),
        ("0.50 and 100", ["0.5", "100"]),
        ("三只猫", ["3"]),
        ("十五", ["15"]),
        ("二十三", ["23"]),
        ("两百三", ["230"]),
        ("一千零五", ["1005"]),
        ("一万二", ["12000"]),
        ("三千亿", ["300000000000"]),
        ("二零二三年", ["2023"]),
        ("三点五", ["3.5"]),
        ("3万", ["30000"]),
        ("three cats", ["3"]),
        ("twenty-five", ["25"]),
        ("two hundred and five", ["205"]),
        ("thirty thousand five", ["30005"]),
        ("UA123", ["123"]),
        ("有一只猫，一起住", []),
        ("the one I like, someone said", []),
        ("十分高兴，千万别忘", []),
        ("", []),
    ],
)
def test_numbers_come_in_one_form(text: str, expected: list[str]) -> None:
    assert list(numbers(text)) == expected


def test_the_same_number_is_equal_across_languages() -> None:
    assert numbers("三只猫") == numbers("3 cats") == numbers("three cats") == ("3",)


@given(st.integers(min_value=0, max_value=10**9))
def test_digits_come_back_as_they_are(value: int) -> None:
    assert numbers(f"x {value} y") == (str(value),)
    assert numbers(f"x {value:,} y") == (str(value),)


@given(st.text(st.sampled_from("零一二两三九十百千万亿点k.,1 ") | st.characters(codec=None)))
def test_any_text_has_an_answer(text: str) -> None:
    assert all(number for number in numbers(text))

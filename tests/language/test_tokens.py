"""Token estimates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.tokens import estimate_tokens


def test_no_text_costs_nothing() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(" \n") == 0


def test_known_texts_cost_about_what_tokenizers_say() -> None:
    # o200k: 8 and 8 tokens; cl100k: 8 and 10.
    assert 8 <= estimate_tokens("The cat sat on the mat today.") <= 9
    assert 8 <= estimate_tokens("我住在北京朝阳区。") <= 12


def test_long_words_and_numbers_cost_more() -> None:
    assert estimate_tokens("internationalisation") > estimate_tokens("nation")
    assert estimate_tokens("1234567") > estimate_tokens("123")


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_more_text_never_costs_less(a: str, b: str) -> None:
    assert 0 <= estimate_tokens(a) <= estimate_tokens(a + " " + b)
    assert (estimate_tokens(a) > 0) == bool(a.strip())


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Is it 12,500.75 or 3? C++!", 14),
        ("naïve café", 2),
        ("a\u00e9b\u4e2dc", 3),
        ("他说：“好的……”——OK？", 17),
        ("ビール 🍎", 5),
        ("bell\x07 and\x1fmore", 5),
        ("中" * 100, 71),
    ],
)
def test_every_class_of_characters_counts(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens

"""Folding: one form for all spellings of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.fold import fold, fold_keeping_case


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello", "hello"),
        ("\uff28\uff25\uff2c\uff2c\uff2f\uff11\uff12", "hello12"),
        ("臺灣後來的頭髮", "台湾后来的头发"),
        ("看著", "看着"),
        ("Straße", "strasse"),
        ("\ufb01le", "file"),
        ("soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"),
        ("", ""),
    ],
)
def test_spellings_of_one_text_fold_to_one_form(text: str, expected: str) -> None:
    assert fold(text) == expected


def test_simplified_text_stays_as_it_is() -> None:
    text = "我住在北京朝阳区，家里有只猫叫咪咪"
    assert fold(text) == text.replace("，", ",")


def test_case_can_be_kept_for_splitting_words() -> None:
    assert fold_keeping_case("後來CamelCase") == "后来CamelCase"


def test_every_single_character_folds_to_a_fixed_point() -> None:
    assert [hex(point) for point in range(0x110000) if fold(fold(chr(point))) != fold(chr(point))] == []


@given(st.text(st.characters(codec=None)))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(fold_keeping_case(text)) == fold(text)


@given(st.text(st.characters(categories=["Cs", "Cf", "Mn", "Lo", "Lu"])))
def test_surrogates_and_format_characters_do_no_harm(text: str) -> None:
    assert fold(fold(text)) == fold(text)

"""Hints save time and change nothing."""

import re

import pytest

from hindsight.write.redact import redact
from hindsight.write.sign import lowered, sign


@pytest.mark.parametrize("letter", ["\u212a", "\u017f", "\u0131", "\u0130", "K", "S", "I"])
def test_a_text_is_lowered_as_a_pattern_without_case_sees_it(letter: str) -> None:
    for plain in "abcdefghijklmnopqrstuvwxyz":
        if re.fullmatch(plain, letter, re.IGNORECASE):
            assert plain in lowered(letter)


def test_a_sign_is_found_in_any_case_and_language() -> None:
    found = sign(r"过敏|\bcritical\b", "过敏|critical")
    for text in ("对花生过敏", "This is CR\u0130TICAL", "CRITICAL", "a cr\u0131tical one"):
        assert found.stands_in(text, lowered(text)) == (found.form.search(text) is not None)
    assert not found.stands_in("uncritical", "uncritical")


@pytest.mark.parametrize("text", ["PA\u017fSWORD: abc123!", "API_KEY=abcd1234efgh5678ijkl", "my toKen is secret"])
def test_a_secret_in_odd_letters_is_redacted_as_before(text: str) -> None:
    assert ("REDACTED" in redact(text)) == ("toKen" not in text)

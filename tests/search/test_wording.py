"""The words of the context block: what a statement can be about has a word in both languages."""

from __future__ import annotations

import pytest

from hindsight.domain.memory import Kind
from hindsight.search.wording import CHINESE, ENGLISH, Wording, is_chinese
from hindsight.write.extract import Slot


@pytest.mark.parametrize("slot", Slot)
def test_every_slot_has_a_word_in_both_languages(slot: Slot) -> None:
    assert is_chinese(CHINESE.slots[slot])
    assert ENGLISH.slots[slot].isascii()
    assert ENGLISH.slots[slot].strip()


@pytest.mark.parametrize("words", [CHINESE, ENGLISH])
def test_no_word_is_there_for_a_slot_that_is_none(words: Wording) -> None:
    assert set(words.slots) == {slot.value for slot in Slot}
    assert set(words.kinds) == set(Kind)


@pytest.mark.parametrize("words", [CHINESE, ENGLISH])
def test_no_two_slots_share_a_word(words: Wording) -> None:
    assert len(set(words.slots.values())) == len(words.slots)

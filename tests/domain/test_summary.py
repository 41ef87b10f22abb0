"""Sentences of summaries: read back as they were kept, taken out by what they rest on, whatever metadata holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from hindsight.domain.memory import Kind, Layer, Memory, Source
from hindsight.domain.summary import Told, content_of, metadata_of, originals_of, told_in, without

START = datetime(2024, 1, 15, tzinfo=UTC)
TOLD = (Told("甲种了树", ("a",), date(2024, 1, 1)), Told("Bob sold his boat", ("b", "c"), date(2024, 1, 2)))


def summary(**changes: object) -> Memory:
    plain = Memory(
        id="s" * 26, namespace="space", content=content_of(TOLD), layer=Layer.EPISODIC, kind=Kind.SUMMARY,
        occurred_at=START, timezone="UTC", created_at=START, updated_at=START, content_key="key",
        sources=(Source("e1", 0, 3), Source("e2", 0, 3)), metadata=metadata_of(TOLD, ("a", "b", "c", "d")),
    )  # fmt: skip
    return replace(plain, **changes)  # type: ignore[arg-type]  # fields by name


def test_what_was_kept_is_read_back() -> None:
    assert told_in(summary()) == TOLD
    assert originals_of(summary()) == ("a", "b", "c", "d")
    assert summary().content == "2024-01-01 甲种了树\n2024-01-02 Bob sold his boat"


def test_a_sentence_goes_with_any_memory_it_rests_on_and_its_turn_with_it() -> None:
    left = without(summary(), {"c"}, {"e2"})

    assert left is not None
    assert left.content == "2024-01-01 甲种了树"
    assert originals_of(left) == ("a", "b", "d")
    assert left.sources == (Source("e1", 0, 3),)
    assert without(left, {"a"}) is None


def test_a_memory_that_no_sentence_rests_on_leaves_the_words_as_they_are() -> None:
    left = without(summary(), {"d"})

    assert left is not None
    assert left.content == summary().content
    assert originals_of(left) == ("a", "b", "c")


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"sentences": None, "originals": "a"},
        {"sentences": [None, 7, {"text": 1}, {"text": "a", "ids": "b", "day": "c"}], "originals": [1, None]},
        {"sentences": [{"text": "a", "ids": ["b"], "day": "some day"}]},
    ],
)
def test_a_summary_that_somebody_wrote_themselves_has_no_sentences_of_ours(metadata: dict[str, object]) -> None:
    assert told_in(summary(metadata=metadata)) == ()
    assert originals_of(summary(metadata=metadata)) == ()


def test_only_summaries_have_sentences() -> None:
    assert told_in(summary(kind=Kind.FACT)) == ()
    assert originals_of(summary(kind=Kind.FACT)) == ()

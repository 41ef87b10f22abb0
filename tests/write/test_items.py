"""Answers of language models are read where they can be, cut where they are cut off, and otherwise refused."""

import json

import pytest

from hindsight.domain.completion import Completion
from hindsight.domain.memory import Kind
from hindsight.write.extract import Slot
from hindsight.write.extract.items import Answer, UnreadableAnswer, read_answer
from hindsight.write.extract.prompting import JOINED, LANGUAGES, SLOTS, STEPWISE, language_of, slot_holds

A = '{"turn": 1, "quote": "a b", "statement": "x", "kind": "fact"}'
B = '{"turn": 2, "quote": "c, d]", "statement": "y {", "kind": "event"}'
TWO = f'{{"items": [{A}, {B}]}}'


def read(text: str, *, truncated: bool = False) -> Answer:
    return read_answer(Completion(text, truncated))


@pytest.mark.parametrize(
    "text",
    [
        TWO,
        f"[{A}, {B}]",
        f"```json\n{TWO}\n```",
        f"Sure [see below]:\n{TWO}\nHope {{this}} helps",
        f"<think>maybe {A}</think>\n{TWO}",
        f'{{"items": [{A}, {B},]}}',
        f'{{"items": [{A}, // one\n{B}]}}',
        f'{{"items": [{A}]}}\n{{"items": [{B}]}}',
        f'{{"items": [{A} {B}]}}',
        TWO.replace('"', "'"),
        f'{{"memories": [{A}, {B}]}}',
        f'[{{"items": [{A}]}}, {{"items": [{B}]}}]',
    ],
)
def test_two_items_are_read_in_whatever_dress(text: str) -> None:
    assert [(item.quote, item.kind) for item in read(text).items] == [("a b", Kind.FACT), ("c, d]", Kind.EVENT)]


@pytest.mark.parametrize("length", range(len(f'{{"items": [{A}, {B}'), len(TWO) - 1))
def test_an_answer_cut_off_between_items_keeps_the_whole_ones(length: int) -> None:
    answer = read(TWO[:length], truncated=True)
    assert answer.truncated
    assert [item.quote for item in answer.items] == ["a b", "c, d]"]


@pytest.mark.parametrize("said", [True, False])
@pytest.mark.parametrize("length", range(len(f'{{"items": [{A}, '), len(f'{{"items": [{A}, {B}') - 1))
def test_an_answer_cut_off_inside_an_item_leaves_that_one_out(length: int, said: bool) -> None:
    answer = read(TWO[:length], truncated=said)
    assert answer.truncated
    assert [item.quote for item in answer.items] == ["a b"]


@pytest.mark.parametrize("text", ['{"items": []}', "[]", 'I found nothing: {"items": []}', '```json\n{"items": []}```'])
def test_nothing_found_is_an_answer(text: str) -> None:
    assert read(text).items == ()


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "null", "true", "7", '"words"', "no facts, sorry", "- a\n- b", "# Facts\n* **a**: b", '["a", "b"]',
        '{"items": null}', '{"items": "none"}', '{"items": {}}', '{"items": [null]}', '{"items": [{"quote": null}]}',
        '{"items": [{"statement": "x"}]}', '{"items": [{"quote": ["a"]}]}', '{"items": [{"quote": ""}]}', "{}",
        "[" * 100_000, '{"a":' * 50_000, "{{{{", "]]", "\x00", "\ufffd" * 50,
    ],
)  # fmt: skip
def test_rubbish_is_refused_and_not_taken_for_nothing(text: str) -> None:
    with pytest.raises(UnreadableAnswer):
        read(text)


def test_wrong_types_are_put_right_where_they_can_be_and_dropped_where_not() -> None:
    row = {
        "turn": "[2]", "quote": 5, "statement": None, "kind": "Dislike", "subject": None, "slot": 7, "value": None,
        "entities": None, "more": 1,
    }  # fmt: skip
    answer = read(json.dumps({"items": [row, {"quote": None}, 7, {**row, "entities": "Rex", "kind": ["x"]}]}))
    first, last = answer.items
    assert (first.turn, first.quote, first.statement, first.kind) == (2, "5", "", Kind.PREFERENCE)
    assert (first.subject, first.slot, first.value, first.entities) == ("", None, "", [])
    assert (last.kind, last.entities) == (Kind.FACT, ["Rex"])
    assert len(answer.dropped) == 2
    assert "5" not in "".join(answer.dropped), "reasons are logged and do not quote"


@pytest.mark.parametrize("step", [*STEPWISE, *JOINED], ids=lambda step: step.name)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_prompt_has_a_version_and_an_example_that_fits_its_schema(step: object, language: str) -> None:
    assert step in (*STEPWISE, *JOINED)
    found = next(one for one in (*STEPWISE, *JOINED) if one == step)
    prompt = found.prompt(language)
    assert found.label.split()[1].isdigit()
    example = next(line for line in prompt.splitlines() if line.startswith('{"items"'))
    rows = json.loads(example)["items"]
    assert all(tuple(row) == tuple(found.fields) for row in rows)
    assert not found.kinds or all(row["kind"] in found.kinds for row in rows)
    assert ("slot" in found.fields) == prompt.endswith("other")
    assert len(read_answer(Completion(example)).items) == len(rows)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我住在北京", "zh"),
        ("I live in Beijing", "en"),
        ("我用 Neovim 写 Python 代码已经三年了", "zh"),
        ("I like 火锅 and hiking in the mountains a lot", "en"),
        ("12345", "en"),
    ],
)
def test_the_language_is_that_of_most_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("slot", SLOTS)
def test_a_slot_needs_a_word_that_bears_it_out(slot: Slot) -> None:
    assert not slot_holds(slot, "蓝窑烧到九号锥")
    assert not slot_holds(slot, "The blue kiln fires to cone nine")


def test_a_slot_without_such_words_never_holds() -> None:
    assert not slot_holds(Slot.RULE, "the rule is the rule")

"""A language model may word a proposal, and add nothing: what is not in the evidence is dropped."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindsight import AsyncHindsight
from hindsight.config import load
from hindsight.domain.completion import Completion
from hindsight.domain.episode import JsonValue
from hindsight.errors import ModelUnavailable
from hindsight.experience.reflect.draft import Draft
from hindsight.experience.reflect.propose import drafts
from hindsight.experience.reflect.reading import read_bytes
from hindsight.experience.reflect.reflector import parse_reflect
from hindsight.experience.reflect.words import SCHEMA, Worder, holds
from hindsight.observe.trace import Trace
from hindsight.write.extract.prompting import prompt_of, version_of
from tests.experience import sessions as made


class Scripted:
    """Answers with what it was told to."""

    model = "scripted"

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, JsonValue] | None = None, max_tokens: int
    ) -> Completion:
        self.asked.append((system, user))
        assert schema is SCHEMA
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))

    async def aclose(self) -> None:
        return


def taught(pieces: tuple[made.Piece, ...] = made.MISSING_MODULE) -> tuple[Draft, ...]:
    return drafts(read_bytes(made.lines(made.claude(pieces))))


def item(draft: Draft, trigger: str, steps: Sequence[tuple[str, Sequence[str]]], lesson: int = 1) -> dict[str, Any]:
    told = [{"text": text, "evidence": list(refs)} for text, refs in steps]
    return {"lesson": lesson, "trigger": trigger, "steps": told}


async def worded(draft: Draft, *items: dict[str, Any]) -> Draft:
    (one,) = (await Worder(Scripted({"items": list(items)})).word([draft])).drafts
    return one


GOOD = "A Python export fails with ModuleNotFoundError: No module named 'openpyxl'"


async def test_words_that_hold_are_taken_with_their_evidence() -> None:
    (draft,) = taught()
    install, again = draft.steps
    install_it = "Install the missing module with `pip install openpyxl`"
    steps = [(install_it, install.refs), ("Run the export again", again.refs[:1])]
    model = Scripted({"items": [item(draft, GOOD, steps)]})
    worder = Worder(model)
    wording = await worder.word([draft])
    (one,) = wording.drafts
    assert one.context == GOOD
    assert [step.text for step in one.steps] == [
        "Install the missing module with `pip install openpyxl`",
        "Run the export again",
    ]
    assert [step.refs for step in one.steps] == [install.refs, again.refs[:1]]
    assert (one.status, one.refs, one.tools) == (draft.status, draft.refs, draft.tools)
    assert (wording.heard, wording.any) == (True, True)
    assert worder.label == f"scripted, prompt {version_of('reflect')}"
    ((system, shown),) = model.asked
    assert system == prompt_of("reflect", "en")
    assert all(f"[{ref}]" in shown for ref in draft.refs)


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("Install it with `pip install openpyxl==3.2`", None),  # a number of its own
        ("Install it with `conda install openpyxl`", None),  # a command of its own
        ("Pass --force-reinstall to pip", None),  # an option of its own
        ("Ask Guido for the module", None),  # a name of its own
        ("Install the module with `pip install openpyxl`", ["999"]),  # evidence of its own
        ("Install the module with `pip install openpyxl`", []),  # no evidence
    ],
)
async def test_a_step_that_is_not_in_the_evidence_is_dropped(text: str, refs: list[str] | None) -> None:
    (draft,) = taught()
    install, again = draft.steps
    steps = [(text, install.refs if refs is None else refs), ("Run the export again", again.refs)]
    one = await worded(draft, item(draft, GOOD, steps))
    assert [step.text for step in one.steps] == ["Run the export again"]


@pytest.mark.parametrize(
    "trigger",
    [
        "The user asks to handle a file",  # vague
        "A Python export fails on Windows11 with No module named 'openpyxl'",  # a name of its own
        "Making coffee in the morning takes long",  # about something else
        "short",
    ],
)
async def test_a_trigger_that_does_not_hold_leaves_the_proposal_as_it_was(trigger: str) -> None:
    (draft,) = taught()
    assert await worded(draft, item(draft, trigger, [("Run the export again", draft.steps[1].refs)])) is draft


@pytest.mark.parametrize("answer", ["", "I can't", '{"items": null}', '{"items": [{"lesson": 1}]}', '{"items": []}',
                                    '{"items": [{"lesson": 9, "trigger": "something", "steps": ["x"]}]}'])  # fmt: skip
async def test_an_answer_that_can_not_be_read_leaves_them_as_they_were(answer: str) -> None:
    found = taught()
    wording = await Worder(Scripted(answer)).word(found)
    assert wording.drafts == found
    assert not wording.any


async def test_a_model_that_is_away_is_asked_once_and_said_to_be_missing() -> None:
    found = taught((*made.STALE_LOCK, *made.NO_PYTHON, *made.WRONG_UNIT, *made.MISSING_MODULE, *made.CONFIG))
    assert len(found) > 4
    model = Scripted(ModelUnavailable("away"))
    wording = await Worder(model).word(found)
    assert (wording.drafts, wording.heard, len(model.asked)) == (found, False, 1)


async def test_chinese_sessions_are_worded_in_chinese() -> None:
    found = taught(made.PORT_TAKEN)
    model = Scripted({"items": [item(found[0], "`npm run dev` 启动失败，端口 3000 已被占用（EADDRINUSE）", [
        ("用 `kill $(lsof -t -i:3000)` 结束占用 3000 端口的进程", found[0].steps[0].refs),
    ])]})  # fmt: skip
    (one, *_) = (await Worder(model).word(found)).drafts
    assert one.context.startswith("`npm run dev` 启动失败")
    assert model.asked[0][0] == prompt_of("reflect", "zh")


def test_names_numbers_and_code_must_stand_in_what_was_told() -> None:
    told = "run `mix format` and pass --strict to app/main.go 42"
    assert holds("First run `mix format`, then pass --strict", told)
    assert holds("Look at app/main.go", told)
    for text in ("pass --force", "look at app/other.go", "wait 43 seconds", "run `mix test`", "call some_function"):
        assert not holds(text, told)


async def test_a_lesson_in_other_words_is_the_same_lesson(tmp_path: Path) -> None:
    (draft,) = taught()
    steps = [("Install the module with `pip install openpyxl`", draft.steps[0].refs)]
    model = Scripted(ModelUnavailable("away"), {"items": [item(draft, GOOD, steps)]})
    request = parse_reflect(transcript=made.lines(made.claude(made.MISSING_MODULE)))
    async with AsyncHindsight(settings=load(data_dir=tmp_path, embedding_model="none")) as memory:
        reflector = replace((await memory.engine()).parts.reflector, worder=Worder(model))
        plain = await reflector.reflect("one", request, Trace("1", "one", "reflection"))
        assert (plain.degraded, plain.proposals[0].worded_by) == (("llm",), "")
        told = await reflector.reflect("two", request, Trace("2", "two", "reflection"))
        again = await reflector.reflect("two", request, Trace("3", "two", "reflection"))
    (proposal,) = told.proposals
    assert proposal.memory.content.startswith(GOOD)
    assert proposal.worded_by == f"scripted, prompt {version_of('reflect')}"
    assert proposal.steps_on == (draft.steps[0].refs,)
    assert (again.proposals, again.known) == ((), 1)

"""Proposals in the words of a language model, checked against what they rest on; what does not hold stays as it was.

The model sees the structure and the evidence, and may only say the same more clearly: each step must name evidence of
its own proposal, and whatever names, numbers, options or code it writes must stand there.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hindsight.domain.episode import JsonValue
from hindsight.errors import Unavailable
from hindsight.experience.reflect.draft import Draft, DraftStep, is_note
from hindsight.language.fold import fold
from hindsight.language.tokens import estimate_tokens
from hindsight.ports import LanguageModel
from hindsight.write.extract.items import UnreadableAnswer, rows_of
from hindsight.write.extract.prompting import prompt_of, version_of
from hindsight.write.vague import is_vague

log = logging.getLogger(__name__)

PROMPT = "reflect"
TOGETHER = 4  # proposals in one request
MAX_TRIGGER = 400  # characters
MAX_STEP = 600
ROOM = 220  # tokens of an answer to one proposal
LEAST_SHARED = 0.3  # of the words of a trigger, with what it is worded from

_NAME = re.compile(
    r"`([^`]+)`|(--?[A-Za-z][\w-]*)|([A-Za-z_][\w]*(?:[./:\\@-]\w+)+|\w*_\w+|[A-Za-z]*\d[\w.]*|[a-z]+[A-Z]\w*)"
)
_WORD = re.compile(r"[A-Za-z]{3,}|[\u3400-\u4dbf\u4e00-\u9fff]")
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+\w*")

SCHEMA: Mapping[str, JsonValue] = {
    "title": PROMPT,
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "lesson": {"type": "integer"},
                    "trigger": {"type": "string"},
                    "steps": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "text": {"type": "string"},
                                "evidence": {"type": "array", "items": {"type": "string"}},
                            },
                            "required": ["text", "evidence"],
                            "additionalProperties": False,
                        },
                    },
                },
                "required": ["lesson", "trigger", "steps"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["items"],
    "additionalProperties": False,
}


def _line(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) else value


def _ids(value: object) -> object:
    given = value if isinstance(value, list) else [value]
    return [str(one).strip(" []#") for one in given]


class WordedStep(BaseModel):
    """One step of an answer."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: Annotated[str, BeforeValidator(_line)] = Field(min_length=2, max_length=MAX_STEP)
    evidence: Annotated[list[str], BeforeValidator(_ids)] = Field(min_length=1)


class Worded(BaseModel):
    """The answer to one proposal."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    lesson: int
    trigger: Annotated[str, BeforeValidator(_line)] = Field(min_length=6, max_length=MAX_TRIGGER)
    steps: list[object] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Wording:
    """Proposals in order, each in new words where these hold. `heard`: the model answered; `any`: some were taken."""

    drafts: tuple[Draft, ...]
    heard: bool
    any: bool


class Worder:
    """Words proposals with a language model."""

    def __init__(self, model: LanguageModel, *, answer_tokens: int = 4_096) -> None:
        self._model = model
        self._most = answer_tokens

    @property
    def label(self) -> str:
        """The model and the version of its prompt."""
        return f"{self._model.model}, prompt {version_of(PROMPT)}"

    async def word(self, drafts: Sequence[Draft]) -> Wording:
        """The same proposals, worded. Never fails for the model's sake."""
        found: list[Draft] = []
        heard = True
        for start in range(0, len(drafts), TOGETHER):
            part = drafts[start : start + TOGETHER]
            try:
                found += await self._ask(part) if heard else part
            except (Unavailable, UnreadableAnswer) as error:
                log.warning("%d proposals stay in the words of the session: %s", len(drafts) - start, error)
                heard = False
                found += part
        changed = any(new is not old for new, old in zip(found, drafts, strict=True))
        return Wording(tuple(found), heard, changed)

    async def _ask(self, part: Sequence[Draft]) -> list[Draft]:
        shown = shown_as(part)
        prompt = prompt_of(PROMPT, "zh" if part[0].chinese else "en")
        room = min(self._most, 100 + ROOM * len(part) + estimate_tokens(shown))
        completion = await self._model.complete(prompt, shown, schema=SCHEMA, max_tokens=room)
        answers: dict[int, Worded] = {}
        for row in rows_of(completion):
            try:
                answer = Worded.model_validate(row)
            except ValidationError as error:
                log.info("%s: an item was dropped: %s", PROMPT, error.errors(include_input=False)[0]["msg"])
                continue
            answers.setdefault(answer.lesson, answer)
        return [
            held(draft, answers[number]) if number in answers else draft for number, draft in enumerate(part, start=1)
        ]


def shown_as(part: Sequence[Draft]) -> str:
    """Proposals as the model sees them, numbered from 1."""
    blocks = []
    for number, draft in enumerate(part, start=1):
        steps = "\n".join(f"  - {step.text} ({', '.join(step.refs)})" for step in draft.steps)
        evidence = "\n".join(f"  [{ref}] {text}" for ref, text in draft.shown.items())
        blocks.append(
            f"lesson {number}\nsituation: {draft.context}\nsteps:\n{steps}\nended: {draft.status.value}\n"
            f"evidence:\n{evidence}"
        )
    return "\n\n".join(blocks)


def held(draft: Draft, answer: Worded) -> Draft:
    """A proposal in the words of an answer, as far as they hold; the proposal itself where the trigger does not."""
    told = fold(" ".join((draft.context, *(step.text for step in draft.steps), *draft.shown.values())))
    if is_vague(answer.trigger) or not holds(answer.trigger, told) or not _about(answer.trigger, draft.context):
        log.info("%s: the wording of a trigger was dropped", PROMPT)
        return draft
    steps = []
    notes = tuple(step for step in draft.steps if is_note(step.text))
    to_do = {ref for step in draft.steps if step not in notes for ref in step.refs}
    beside = {ref for step in notes for ref in step.refs} - to_do
    for given in answer.steps:
        try:
            step = WordedStep.model_validate(given)
        except ValidationError:
            continue
        if set(step.evidence) <= beside:
            continue  # what did not help stays in its own words, so that no step says to do it
        if set(step.evidence) <= set(draft.refs) and holds(step.text, told):
            steps.append(DraftStep(step.text, tuple(dict.fromkeys(step.evidence))))
        else:
            log.info("%s: a step was dropped: it is not in the evidence", PROMPT)
    if not steps or len(steps) > len(draft.steps) - len(notes) + 1:
        return draft
    return replace(draft, context=answer.trigger, steps=(*steps, *notes))


def holds(text: str, told: str) -> bool:
    """Whether every name, number, option and piece of code in a text stands in what was told (folded)."""
    names = [next(filter(None, found.groups())) for found in _NAME.finditer(text)]
    names += _PROPER.findall(text)
    return all(_stands(fold(name), told) for name in names)


def _stands(name: str, told: str) -> bool:
    spaced = " ".join(name.split())
    return spaced in " ".join(told.split()) or all(part in told for part in spaced.split(" ") if len(part) > 1)


def _about(trigger: str, context: str) -> bool:
    """Whether a trigger speaks of the situation that it words."""
    ours, theirs = (set(_WORD.findall(fold(text))) for text in (trigger, context))
    return bool(ours & theirs) and len(ours & theirs) >= LEAST_SHARED * min(len(ours), len(theirs))

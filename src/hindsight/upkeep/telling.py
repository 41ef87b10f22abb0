"""A language model retells passages in few sentences; each must cite passages it was given, or it is dropped.

What it says is a proposal: a sentence without a citation that exists, with a number that its passages do not have, or
that shares no word with them counts for nothing. Where nothing is left, the caller chooses sentences by rule.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hindsight.domain.digest import Passage, Sentence
from hindsight.domain.episode import JsonValue
from hindsight.errors import ModelUnavailable
from hindsight.language.numbers import numbers
from hindsight.language.segment import index_terms
from hindsight.ports import LanguageModel
from hindsight.search.wording import is_chinese
from hindsight.upkeep.cite import zone
from hindsight.write.extract.items import UnreadableAnswer, rows_of

log = logging.getLogger(__name__)

MAX_SENTENCE = 400  # characters of one sentence
MAX_SHOWN = 600  # characters of a passage as it is shown
MOST_SHOWN = 60  # passages in one request
ANSWER_TOKENS = 1_200

SUMMARY, CONSOLIDATION, ANSWER = "summary", "consolidation", "answer"

_VERSION = re.compile(r"version: (\d+)\n")
_NUMBER = re.compile(r"\d{1,4}")
_HAN = re.compile("[\u3400-\u9fff]")


def _schema(title: str) -> Mapping[str, JsonValue]:
    return {
        "title": title,
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "sentence": {"type": "string"},
                        "cites": {"type": "array", "items": {"type": "integer"}},
                    },
                    "required": ["sentence", "cites"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["items"],
        "additionalProperties": False,
    }


def _cites(value: object) -> object:
    """Numbers of passages, also where they come alone or in words («[2]»)."""
    values = value if isinstance(value, list) else [value]
    found = [_NUMBER.search(str(one)) for one in values if not isinstance(one, bool)]
    return [int(one[0]) for one in found if one is not None]


def _line(value: object) -> object:
    return " ".join(value.split()) if isinstance(value, str) else value


class Row(BaseModel):
    """One sentence as the model gives it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    sentence: Annotated[str, BeforeValidator(_line)] = Field(min_length=1, max_length=MAX_SENTENCE)
    cites: Annotated[list[int], BeforeValidator(_cites)]


@dataclass(frozen=True, slots=True)
class Told:
    """The sentences that hold, and why others were dropped."""

    sentences: tuple[Sentence, ...]
    dropped: tuple[str, ...] = ()


class Teller:
    """Puts passages to a language model. `deadline`: seconds for one answer."""

    def __init__(self, model: LanguageModel, *, deadline: float = 45.0, answer_tokens: int = ANSWER_TOKENS) -> None:
        self._model = model
        self._deadline = deadline
        self._tokens = answer_tokens

    @property
    def model(self) -> str:
        """Name of the model, for messages."""
        return self._model.model

    def label(self, prompt: str) -> str:
        """The model and the version of its prompt."""
        return f"{self._model.model}, prompt {prompt} {_prompt(prompt, 'en')[0]}"

    async def tell(self, prompt: str, passages: Sequence[Passage], *, question: str = "", today: str = "") -> Told:
        """What the model makes of passages, of which there are at most `MOST_SHOWN`.

        `ModelUnavailable` without an answer in time; `UnreadableAnswer` without a list in it. An empty list is an
        answer: that nothing of it tells.
        """
        shown = shown_as(passages)
        chinese = (
            is_chinese(question) if question else 2 * sum(is_chinese(one.text) for one in passages) > len(passages)
        )
        asked = f"{today}\n{question}\n\n{shown}" if question else shown
        rules = _prompt(prompt, "zh" if chinese else "en")[1]
        try:
            async with asyncio.timeout(self._deadline):
                completion = await self._model.complete(rules, asked, schema=_schema(prompt), max_tokens=self._tokens)
        except TimeoutError as error:
            raise ModelUnavailable(f"{self._model.model} gave no {prompt} in {self._deadline:g} s.") from error
        rows = rows_of(completion)
        return _held(rows, passages, strict=not question, rules=rules)


def _held(rows: Sequence[object], passages: Sequence[Passage], *, strict: bool, rules: str) -> Told:
    kept: list[Sentence] = []
    dropped: list[str] = []
    for row, fault in _checked(rows, passages, strict=strict, rules=rules):
        if row is None:
            dropped.append(fault)
        else:
            kept.append(row)
    for reason in dropped:
        log.info("a sentence was dropped: %s", reason)
    if rows and not kept:
        raise UnreadableAnswer(f"no sentence holds; the first: {dropped[0]}")
    return Told(tuple(kept), tuple(dropped))


def _checked(
    rows: Sequence[object], passages: Sequence[Passage], *, strict: bool, rules: str
) -> Iterator[tuple[Sentence | None, str]]:
    for raw in rows:
        try:
            row = Row.model_validate(raw)
        except ValidationError as error:
            yield None, error.errors(include_url=False, include_input=False)[0]["msg"]
            continue
        cited = [passages[one - 1] for one in dict.fromkeys(row.cites) if 0 < one <= len(passages)]
        fault = _fault(row.sentence, cited, strict=strict, rules=rules)
        if fault:
            yield None, fault
        else:
            first = min(cited, key=lambda one: one.at)
            yield Sentence(row.sentence, tuple(one.id for one in cited), first.at, first.timezone), ""


def _fault(sentence: str, cited: Sequence[Passage], *, strict: bool, rules: str) -> str:
    """Why a sentence does not hold; empty if it does."""
    if not cited:
        return "it cites nothing that was given"
    if f'"{sentence}"' in rules:
        return "it is the prompt's example"
    said = " ".join(f"{one.speaker or ''} {one.text} {_day(one)}" for one in cited)
    if strict and not set(numbers(sentence)) <= set(numbers(said)):
        return "it has a number that its passages do not have"
    if (_HAN.search(sentence) is None) is (_HAN.search(said) is None) and not _shares(sentence, said):
        return "it shares no word with what it cites"
    return ""


def _shares(sentence: str, said: str) -> bool:
    return not set(index_terms(sentence)).isdisjoint(index_terms(said))


def shown_as(passages: Sequence[Passage]) -> str:
    """The passages as the model sees them, numbered from 1, each with its day and speaker."""
    return "\n".join(
        f"[{number}] ({_day(one)}) {f'{one.speaker}: ' if one.speaker else ''}{' '.join(one.text.split())[:MAX_SHOWN]}"
        for number, one in enumerate(passages, start=1)
    )


def _day(passage: Passage) -> str:
    return passage.at.astimezone(zone(passage.timezone)).date().isoformat()


@cache
def _prompt(name: str, language: str) -> tuple[int, str]:
    """Version and text of a prompt file."""
    text = files(__package__).joinpath("prompts", f"{name}.{language}.txt").read_text(encoding="utf-8")
    version = _VERSION.match(text)
    if version is None:
        raise ValueError(f"prompt {name}.{language} has no version in its first line")
    return int(version[1]), text[version.end() :].strip()

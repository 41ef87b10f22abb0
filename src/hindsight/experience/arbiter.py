"""Whether two experiences are for one situation, where the rules are in doubt: a language model is asked, bounded.

It is asked only where nothing makes the one a look-alike of the other, and it can only say that they are the same, and
how a trigger for both may read. That wording is taken only where it says nothing of its own (`alike.covers`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hindsight.domain.episode import JsonValue
from hindsight.domain.experience import Experience
from hindsight.errors import Unavailable
from hindsight.experience.alike import covers
from hindsight.language.tokens import estimate_tokens
from hindsight.ports import LanguageModel
from hindsight.write.extract.items import MAX_WHY, UnreadableAnswer, rows_of
from hindsight.write.extract.llm_judge import lowered, pair_number
from hindsight.write.extract.prompting import language_of, prompt_of, version_of

log = logging.getLogger(__name__)

PROMPT = "merge"
PAIRS = 8  # in one request
MAX_SHOWN = 300  # characters of a trigger, and of its steps
_ROW_TOKENS = 100  # of an answer to one pair


@dataclass(frozen=True, slots=True)
class Ruled:
    """Two experiences are for one situation. `trigger`: how one for both may read, where that was told well."""

    reason: str
    trigger: str | None = None


class Arbiter(Protocol):
    """Rules on pairs of experiences that are alike, a known one and a new one."""

    async def rule(self, pairs: Sequence[tuple[Experience, Experience]]) -> Mapping[int, Ruled]:
        """What is one situation, by the place of its pair. `ModelUnavailable` if there is no answer at all."""
        ...


class Verdict(StrEnum):
    """What a model may answer."""

    SAME = "same"
    DIFFERENT = "different"


SCHEMA: Mapping[str, JsonValue] = {
    "title": PROMPT,
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pair": {"type": "integer"},
                    "answer": {"type": "string", "enum": [one.value for one in Verdict]},
                    "trigger": {"type": "string"},
                    "why": {"type": "string"},
                },
                "required": ["pair", "answer", "trigger", "why"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["items"],
    "additionalProperties": False,
}


def _reason(value: object) -> object:
    return " ".join(value.split())[:MAX_WHY] if isinstance(value, str) else value


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


class Row(BaseModel):
    """The answer to one pair."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    pair: Annotated[int, BeforeValidator(pair_number)]
    answer: Annotated[Verdict, BeforeValidator(lowered)]
    trigger: Annotated[str, BeforeValidator(_line)] = ""
    why: Annotated[str, BeforeValidator(_reason)] = Field(min_length=1)


class LlmArbiter:
    """Puts pairs to a language model: one question for several, its answer checked row by row."""

    def __init__(self, model: LanguageModel, *, answer_tokens: int = 4_096) -> None:
        self._model = model
        self._most = answer_tokens

    async def rule(self, pairs: Sequence[tuple[Experience, Experience]]) -> Mapping[int, Ruled]:
        """See `Arbiter.rule`."""
        found: dict[int, Ruled] = {}
        for start in range(0, len(pairs), PAIRS):
            try:
                found.update((start + place, one) for place, one in await self._ask(pairs[start : start + PAIRS]))
            except Unavailable as error:
                if not start:
                    raise
                log.warning("merging: %s", error)
                break  # what was ruled before holds
        return found

    async def _ask(self, pairs: Sequence[tuple[Experience, Experience]]) -> list[tuple[int, Ruled]]:
        shown = shown_as(pairs)
        prompt = prompt_of(PROMPT, language_of(shown))
        room = 40 + _ROW_TOKENS * len(pairs) + estimate_tokens(shown)
        completion = await self._model.complete(prompt, shown, schema=SCHEMA, max_tokens=min(self._most, room))
        try:
            return list(self._ruled(rows_of(completion), pairs, prompt))
        except UnreadableAnswer as error:
            log.info("merging: %s", error)
            return []

    def _ruled(
        self, rows: Sequence[object], pairs: Sequence[tuple[Experience, Experience]], prompt: str
    ) -> Iterator[tuple[int, Ruled]]:
        """What is the same by exactly one valid answer."""
        found: dict[int, list[Row]] = {}
        for row in rows:
            try:
                one = Row.model_validate(row)
            except ValidationError as error:
                log.info(
                    "merging: a row was dropped: %s", error.errors(include_url=False, include_input=False)[0]["msg"]
                )
                continue
            # A weak model gives back the prompt's example: its words are no reason for anything.
            if 0 < one.pair <= len(pairs) and f'"{one.why}"' not in prompt:
                found.setdefault(one.pair, []).append(one)
        by = f"{self._model.model} ({version_of(PROMPT)})"
        for pair, answers in found.items():
            first = answers[0]
            if {one.answer for one in answers} == {Verdict.SAME}:
                known, new = pairs[pair - 1]
                general = first.trigger if covers(first.trigger, known, new) else None
                yield pair - 1, Ruled(f"judged by {by}: {first.why}", general)


def shown_as(pairs: Sequence[tuple[Experience, Experience]]) -> str:
    """The pairs as the model sees them, numbered from 1: the trigger of each, and what was done."""
    return "\n".join(
        f"[{number}] {name}: {_short(one.trigger.context)} | {_short('; '.join(one.action.steps))}"
        for number, pair in enumerate(pairs, start=1)
        for name, one in zip(("known", "new"), pair, strict=True)
    )


def _short(text: str) -> str:
    return " ".join(text.split())[:MAX_SHOWN]

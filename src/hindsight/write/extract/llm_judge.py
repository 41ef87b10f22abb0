"""A language model as the judge of doubtful pairs: one question for several pairs, its answer checked row by row."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hindsight.domain.episode import JsonValue
from hindsight.errors import Unavailable
from hindsight.language.statement.verdict import Relation
from hindsight.language.tokens import estimate_tokens
from hindsight.ports import LanguageModel
from hindsight.write.extract.items import MAX_WHY, UnreadableAnswer, rows_of
from hindsight.write.extract.prompting import language_of, prompt_of, version_of
from hindsight.write.judge import Doubt, Ruled, Ruling

log = logging.getLogger(__name__)

PAIRS = 8  # in one request
MAX_SHOWN = 300  # characters of a statement
_ROW_TOKENS = 60  # of an answer to one pair

SCHEMA: Mapping[str, JsonValue] = {
    "title": "judge",
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "pair": {"type": "integer"},
                    "answer": {"type": "string", "enum": [one.value for one in Relation]},
                    "why": {"type": "string"},
                },
                "required": ["pair", "answer", "why"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["items"],
    "additionalProperties": False,
}


def pair_number(value: object) -> object:
    """The number of a pair, also where it comes in words («[2]»)."""
    found = re.fullmatch(r"\D{0,8}(\d{1,4})\D{0,2}", value) if isinstance(value, str) else None
    return int(found[1]) if found else value


def lowered(value: object) -> object:
    """A verdict without the capitals and blanks that a model may add."""
    return value.strip().lower() if isinstance(value, str) else value


def _line(value: object) -> object:
    return " ".join(value.split())[:MAX_WHY] if isinstance(value, str) else value


class Row(BaseModel):
    """The answer to one pair."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    pair: Annotated[int, BeforeValidator(pair_number)]
    answer: Annotated[Relation, BeforeValidator(lowered)]
    why: Annotated[str, BeforeValidator(_line)] = Field(min_length=1)


class LlmJudge:
    """Puts doubtful pairs to a language model."""

    def __init__(self, model: LanguageModel, *, answer_tokens: int = 4_096) -> None:
        self._model = model
        self._most = answer_tokens

    @property
    def label(self) -> str:
        """The model and the version of its prompt."""
        return f"{self._model.model}, prompt {version_of('judge')}"

    async def rule(self, doubts: Sequence[Doubt]) -> Ruled:
        """The rulings with a reason. `ModelUnavailable` if not even the first request is answered."""
        rulings: dict[int, Ruling] = {}
        counts = {"judge_calls": 0, "judge_tokens_in": 0, "judge_tokens_out": 0}
        for start in range(0, len(doubts), PAIRS):
            try:
                rulings.update(
                    (start + place, one) for place, one in await self._ask(doubts[start : start + PAIRS], counts)
                )
            except Unavailable as error:
                if not counts["judge_calls"]:
                    raise
                log.warning("judge: %s", error)
                break  # what was ruled before holds
        return Ruled(rulings, counts)

    async def _ask(self, part: Sequence[Doubt], counts: dict[str, int]) -> list[tuple[int, Ruling]]:
        shown = shown_as(part)
        prompt = prompt_of("judge", language_of(shown))
        room = 40 + _ROW_TOKENS * len(part) + estimate_tokens(shown)
        completion = await self._model.complete(prompt, shown, schema=SCHEMA, max_tokens=min(self._most, room))
        counts["judge_calls"] += 1
        counts["judge_tokens_in"] += completion.tokens_in
        counts["judge_tokens_out"] += completion.tokens_out
        try:
            return list(self._rulings(rows_of(completion), len(part), prompt))
        except UnreadableAnswer as error:
            log.info("judge: %s", error)
            return []

    def _rulings(self, rows: Sequence[object], pairs: int, prompt: str) -> Iterator[tuple[int, Ruling]]:
        """One ruling for each pair that has exactly one valid answer."""
        found: dict[int, set[Row]] = {}
        for row in rows:
            try:
                one = Row.model_validate(row)
            except ValidationError as error:
                log.info("judge: a row was dropped: %s", error.errors(include_url=False, include_input=False)[0]["msg"])
                continue
            # A weak model gives back the prompt's example: its words are no reason for anything.
            if 0 < one.pair <= pairs and f'"{one.why}"' not in prompt:
                found.setdefault(one.pair, set()).add(one)
        for pair, answers in found.items():
            if len({one.answer for one in answers}) > 1:
                log.info("judge: pair %d has several answers", pair)
                continue
            why = min(one.why for one in answers)
            yield pair - 1, Ruling(next(iter(answers)).answer, f"judged by {self._model.model}: {why}")


def shown_as(doubts: Sequence[Doubt]) -> str:
    """The pairs as the model sees them, numbered from 1, each with its days."""
    lines: list[str] = []
    for number, doubt in enumerate(doubts, start=1):
        for name, memory in (("known", doubt.old), ("new", doubt.new)):
            day = memory.occurred_at.date().isoformat()
            lines.append(f"[{number}] {name} ({day}): {' '.join(memory.content.split())[:MAX_SHOWN]}")
    return "\n".join(lines)

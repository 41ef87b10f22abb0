"""Other wordings of a question from a language model: a proposal, within a deadline, and only more to look for."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from hindsight.domain.episode import JsonValue
from hindsight.errors import Unavailable
from hindsight.ports import LanguageModel
from hindsight.search.wording import is_chinese

MOST = 4  # SPEC §4.1: the original and up to four more
LONGEST = 500  # characters of a question that is put to the model, and of a wording that is taken
ANSWER_TOKENS = 400

SCHEMA: Mapping[str, JsonValue] = {
    "title": "rewrite",
    "type": "object",
    "properties": {"queries": {"type": "array", "items": {"type": "string"}, "maxItems": MOST}},
    "required": ["queries"],
    "additionalProperties": False,
}
_VERSION = re.compile(r"version: (\d+)\n")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)

_log = logging.getLogger(__name__)


class Rewriter:
    """Puts questions to a language model. `deadline`: seconds for one answer; later is none."""

    def __init__(self, model: LanguageModel, *, deadline: float = 1.0) -> None:
        self._model = model
        self._deadline = deadline

    @property
    def label(self) -> str:
        """The model and the version of its prompt, for traces."""
        return f"{self._model.model}, prompt {_prompt('en')[0]}"

    async def rewrite(self, question: str) -> tuple[str, ...]:
        """Up to `MOST` other wordings. `Unavailable` when the model does not answer in time."""
        if len(question) > LONGEST:
            return ()
        _, prompt = _prompt("zh" if is_chinese(question) else "en")
        try:
            async with asyncio.timeout(self._deadline):
                answer = await self._model.complete(prompt, question, schema=SCHEMA, max_tokens=ANSWER_TOKENS)
        except TimeoutError as error:
            raise Unavailable(f"No other wording in {self._deadline:g} s.") from error
        return wordings_in(answer.text, question)


def wordings_in(answer: str, question: str) -> tuple[str, ...]:
    """The wordings in an answer, checked: texts, not too long, none the question itself."""
    match = _OBJECT.search(answer)
    try:
        held = json.loads(match[0]) if match is not None else None
    except ValueError:
        held = None
    queries = held.get("queries") if isinstance(held, dict) else None
    if not isinstance(queries, list):
        _log.info("an answer held no other wording of a question")
        return ()
    texts = (" ".join(one.split()) for one in queries if isinstance(one, str) and "\x00" not in one)
    return tuple(dict.fromkeys(one for one in texts if 0 < len(one) <= LONGEST and one != question))[:MOST]


@cache
def _prompt(language: str) -> tuple[str, str]:
    """A prompt's version and text."""
    text = files(__package__).joinpath("prompts", f"rewrite.{language}.txt").read_text(encoding="utf-8")
    version = _VERSION.match(text)
    assert version is not None
    return version[1], text[version.end() :].replace("{most}", str(MOST))

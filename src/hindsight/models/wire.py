"""How providers of language models want to be asked, and where in their answers the text stands.

`OpenAIChat` is `/chat/completions` as OpenAI, llama.cpp, vLLM, Ollama, DeepSeek, Qwen and many others serve it;
`AnthropicMessages` is `/messages`. Both learn from a refusal what this server does not take, and do without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Protocol

from hindsight.domain.completion import Completion
from hindsight.domain.episode import JsonValue
from hindsight.errors import ModelUnavailable
from hindsight.models.endpoint import Refused

Schema = Mapping[str, JsonValue]

_NOT_UNDERSTOOD: Final = frozenset({400, 404, 415, 422, 501})
"""Refusals that may be about one field of the request. 404 and 501: some servers lack a route for schemas."""

_CHECK: Final = "Check LLM_BASE_URL, LLM_MODEL and HINDSIGHT_LLM_PROVIDER: this is not how such an endpoint answers."


class Wire(Protocol):
    """One provider's form of request and answer."""

    @property
    def path(self) -> str:
        """Path below the base URL."""
        ...

    def body(self, model: str, system: str, user: str, schema: Schema | None, max_tokens: int) -> dict[str, JsonValue]:
        """The request."""
        ...

    def read(self, answer: object) -> Completion:
        """The answer's text, and what it cost as far as it says. `ModelUnavailable` if this is no answer."""
        ...

    def learn(self, refusal: Refused, schema: Schema | None) -> bool:
        """Whether a request in another form may be taken; the next `body` then has that form."""
        ...


class OpenAIChat:
    """OpenAI-compatible chat completions."""

    path: Final = "/chat/completions"

    def __init__(self) -> None:
        self._takes_schema = True
        self._takes_temperature = True
        self._limit = "max_tokens"

    def body(self, model: str, system: str, user: str, schema: Schema | None, max_tokens: int) -> dict[str, JsonValue]:
        """The request; without `response_format` where the server refuses it, the schema stands in the prompt."""
        if schema is not None and not self._takes_schema:
            system = with_schema(system, schema)
        body: dict[str, JsonValue] = {
            "model": model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            self._limit: max_tokens,
        }
        if self._takes_temperature:
            body["temperature"] = 0
        if schema is not None and self._takes_schema:
            form: dict[str, JsonValue] = {"name": str(schema.get("title", "answer")), "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": {**form, "schema": dict(schema)}}
        return body

    def read(self, answer: object) -> Completion:
        """The first choice."""
        match answer:
            case {"choices": [{"message": {"content": str(text)}, **choice}, *_], **rest}:
                tokens_in, tokens_out = _usage(rest.get("usage"), "prompt_tokens", "completion_tokens")
                return Completion(text, choice.get("finish_reason") == "length", tokens_in, tokens_out)
        raise ModelUnavailable("The language model answered without a text under `choices`.", hint=_CHECK)

    def learn(self, refusal: Refused, schema: Schema | None) -> bool:
        """One thing at a time: what the refusal names, else the schema."""
        if refusal.status not in _NOT_UNDERSTOOD:
            return False
        said = refusal.answer
        if self._limit == "max_tokens" and "max_completion_tokens" in said:
            self._limit = "max_completion_tokens"  # OpenAI's reasoning models
            return True
        if self._takes_temperature and "temperature" in said:
            self._takes_temperature = False
            return True
        # Without the schema it was refused too, so the schema was not the reason.
        self._takes_schema = not self._takes_schema
        return schema is not None and not self._takes_schema


class AnthropicMessages:
    """Anthropic's messages; the schema stands in the prompt, which every model and version takes."""

    path: Final = "/messages"

    def __init__(self) -> None:
        self._takes_temperature = True

    def body(self, model: str, system: str, user: str, schema: Schema | None, max_tokens: int) -> dict[str, JsonValue]:
        """The request."""
        body: dict[str, JsonValue] = {
            "model": model,
            "system": system if schema is None else with_schema(system, schema),
            "messages": [{"role": "user", "content": user}],
            "max_tokens": max_tokens,
        }
        if self._takes_temperature:
            body["temperature"] = 0
        return body

    def read(self, answer: object) -> Completion:
        """All blocks of text, joined."""
        match answer:
            case {"content": list(blocks), **rest}:
                texts = [str(block.get("text", "")) for block in blocks if isinstance(block, dict)]
                tokens_in, tokens_out = _usage(rest.get("usage"), "input_tokens", "output_tokens")
                return Completion("".join(texts), rest.get("stop_reason") == "max_tokens", tokens_in, tokens_out)
        raise ModelUnavailable("The language model answered without blocks under `content`.", hint=_CHECK)

    def learn(self, refusal: Refused, schema: Schema | None) -> bool:
        """Newer models take no temperature."""
        if refusal.status == 400 and self._takes_temperature and "temperature" in refusal.answer:
            self._takes_temperature = False
            return True
        return False


def with_schema(system: str, schema: Schema) -> str:
    """The rules, and below them the schema in words."""
    return f"{system}\n\nJSON schema of the answer; answer with nothing but such JSON:\n{json.dumps(schema)}"


def _usage(usage: object, tokens_in: str, tokens_out: str) -> tuple[int, int]:
    """Tokens as the provider counted them; 0 where it does not say."""
    if not isinstance(usage, dict):
        return 0, 0
    counts = [usage.get(name) for name in (tokens_in, tokens_out)]
    first, second = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return first, second

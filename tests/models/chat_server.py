"""Answers of chat endpoints as they go over the wire, and a model that knows a few phrases; for the loopback server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from tests.models.openai_server import Asked, Reply

Row: TypeAlias = Mapping[str, object]

_TURN = re.compile(r"^\[(\d+)\] \w+[^:\n]*: (.*)$", re.MULTILINE)


def chat(text: str, *, finish: str = "stop", usage: tuple[int, int] = (100, 20)) -> Reply:
    """An answer of `/chat/completions`."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return Reply(200, json.dumps({"object": "chat.completion", "choices": [choice], "usage": counted}).encode())


def messages(text: str, *, stop: str = "end_turn") -> Reply:
    """An answer of Anthropic's `/messages`."""
    body = {
        "type": "message",
        "content": [{"type": "text", "text": text}],
        "stop_reason": stop,
        "usage": {"input_tokens": 70, "output_tokens": 7},
    }
    return Reply(200, json.dumps(body).encode())


def items(*rows: Row) -> str:
    """Items as the schema wants them."""
    return json.dumps({"items": list(rows)}, ensure_ascii=False)


def turns_of(asked: Asked) -> list[tuple[int, str]]:
    """Number and words of each turn that a request shows."""
    return [(int(number), text) for number, text in _TURN.findall(asked.body["messages"][-1]["content"])]


def knowing(*rows: Row) -> Callable[[Asked], Reply]:
    """A model that finds each row in every turn that says its quote."""

    def answer(asked: Asked) -> Reply:
        return chat(items(*found(turns_of(asked), rows)))

    return answer


def found(turns: Sequence[tuple[int, str]], rows: Sequence[Row]) -> list[dict[str, object]]:
    """The rows whose quote a turn says, with its number."""
    return [{"turn": number, **row} for number, text in turns for row in rows if str(row["quote"]) in text]

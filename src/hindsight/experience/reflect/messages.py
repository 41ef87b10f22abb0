"""Messages with a role, as agents' programs keep them: tool calls of OpenAI's form, content blocks of Anthropic's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from hindsight.domain.episode import JsonValue, Role
from hindsight.experience.reflect.transcript import Act, Builder, Outcome, Said

_ROLES = {
    "user": Role.USER, "human": Role.USER, "assistant": Role.ASSISTANT, "ai": Role.ASSISTANT, "model": Role.ASSISTANT,
    "system": Role.SYSTEM, "developer": Role.SYSTEM, "tool": Role.TOOL, "function": Role.TOOL,
}  # fmt: skip


def take_message(builder: Builder, message: Mapping[str, JsonValue], ref: str) -> bool:
    """Take in one message; `False` where it is none."""
    role = _ROLES.get(str(message.get("role", "")).lower())
    if role is None:
        return False
    content = message.get("content")
    if role is Role.TOOL:
        _answer(builder, message, text_of(content), ref)
        return True
    if isinstance(content, list):
        for block in content:
            if isinstance(block, Mapping):
                _take_block(builder, block, role, ref)
            elif isinstance(block, str):
                builder.say(Said(ref, role, block))
    else:
        builder.say(Said(ref, role, text_of(content)))
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else [message.get("function_call")]:
        if isinstance(call, Mapping):
            _call(builder, call, ref)
    return True


def _take_block(builder: Builder, block: Mapping[str, JsonValue], role: Role, ref: str) -> None:
    kind = block.get("type")
    if kind in ("tool_use", "function_call"):
        _call(builder, block, ref)
    elif kind in ("tool_result", "function_call_output"):
        _answer(builder, block, text_of(block.get("content", block.get("output"))), ref)
    elif kind in ("text", "input_text", "output_text"):
        builder.say(Said(ref, role, text_of(block)))


def _call(builder: Builder, call: Mapping[str, JsonValue], ref: str) -> None:
    inner = call.get("function")
    named = inner if isinstance(inner, Mapping) else call
    given = next((named[name] for name in ("arguments", "input", "args") if name in named), None)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = {"input": given}
    if not isinstance(given, dict):
        given = {} if given is None else {"input": given}
    identifier = next((str(call[name]) for name in ("call_id", "id") if call.get(name)), None)
    builder.call(Act(ref, str(named.get("name") or "tool"), given), identifier)


def _answer(builder: Builder, message: Mapping[str, JsonValue], text: str, ref: str) -> None:
    names = ("tool_call_id", "tool_use_id", "call_id")
    identifier = next((str(message[name]) for name in names if message.get(name)), None)
    flag = message.get("is_error")
    if message.get("status") == "error":
        flag = True
    outcome = Outcome(ref, text, flag if isinstance(flag, bool) else None)
    if not builder.answer(identifier, outcome):
        builder.pass_over(ref, "a result without its call")


def text_of(content: JsonValue | Mapping[str, JsonValue] | Sequence[JsonValue]) -> str:
    """The words in a text, a block, or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        found = content.get("text", content.get("content"))
        return text_of(found) if found is not None else ""
    if isinstance(content, Sequence):
        return "\n".join(filter(None, (text_of(one) for one in content)))
    return ""

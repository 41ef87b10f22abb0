"""Lines of Claude Code's own transcripts.

What is not part of the conversation is left out: progress, snapshots, meta lines, summaries of a compaction, output of
local commands. Sub-agents (`isSidechain`) work in lanes of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

from hindsight.domain.episode import JsonValue, Role
from hindsight.experience.reflect.messages import text_of
from hindsight.experience.reflect.transcript import MAIN, Act, Builder, Outcome, Said

_KINDS = frozenset(("user", "assistant", "system", "summary", "progress", "file-history-snapshot", "queue-operation"))
_LOCAL = re.compile(r"\s*<(?:command-name|command-message|local-command-|system-reminder|user-memory-input|bash-)")
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
REFUSED = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|tool use was rejected|\[?Request interrupted by user|"
    r"Permission to use .{1,80} has been denied|requested permissions? to .{1,200} but you haven't granted",
    re.DOTALL,
)


def is_claude(line: Mapping[str, JsonValue]) -> bool:
    """Whether a line is of Claude Code: its kind, and what such lines have beside it."""
    kind = line.get("type")
    if not isinstance(kind, str) or "role" in line:
        return False
    return kind in _KINDS or isinstance(line.get("sessionId"), str)


def take_claude(builder: Builder, line: Mapping[str, JsonValue], ref: str) -> None:
    """Take in one line."""
    session = line.get("sessionId")
    if builder.session_id is None and isinstance(session, str):
        builder.session_id = session
    if line.get("isMeta") or line.get("isCompactSummary") or line.get("type") not in ("user", "assistant"):
        return
    message = line.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, str | list):
        builder.pass_over(ref, f"a line of type {line['type']} without content")
        return
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if isinstance(block, Mapping):
            _take_block(builder, line, block, ref)
        else:
            builder.pass_over(ref, "a block that is not an object")


def _take_block(builder: Builder, line: Mapping[str, JsonValue], block: Mapping[str, JsonValue], ref: str) -> None:
    at, lane = moment(line.get("timestamp")), _lane(line)
    role = Role.USER if line["type"] == "user" else Role.ASSISTANT
    if block.get("type") == "tool_use":
        given, tool = block.get("input"), str(block.get("name") or "tool")
        act = Act(ref, tool, given if isinstance(given, dict) else {}, at, _text(line.get("cwd")), lane)
        builder.call(act, _text(block.get("id")))
    elif block.get("type") == "tool_result":
        _result(builder, block, ref)
    elif block.get("type") == "text":
        for text in _spoken(text_of(block), role):
            builder.say(Said(ref, role, text, at, lane))


def _result(builder: Builder, block: Mapping[str, JsonValue], ref: str) -> None:
    text = text_of(block.get("content"))
    flag = block.get("is_error")
    refused = REFUSED.search(text[:600]) is not None
    known = builder.answer(
        _text(block.get("tool_use_id")), Outcome(ref, text, flag if isinstance(flag, bool) else None, refused)
    )
    if not known:
        builder.pass_over(ref, "a result without its call")


def _spoken(text: str, role: Role) -> Iterator[str]:
    """What somebody really said, without what the program put in."""
    said = _REMINDER.sub("", text)
    if said.strip() and not (role is Role.USER and (_LOCAL.match(said) or REFUSED.search(said[:200]))):
        yield said


def _lane(line: Mapping[str, JsonValue]) -> str:
    if not line.get("isSidechain"):
        return MAIN
    agent = line.get("agentId")
    return agent if isinstance(agent, str) and agent else "sidechain"


def moment(given: JsonValue) -> datetime | None:
    """A time with a zone, or nothing."""
    if not isinstance(given, str):
        return None
    try:
        read = datetime.fromisoformat(given)
    except ValueError:
        return None
    return read if read.tzinfo is not None else None


def _text(given: JsonValue) -> str | None:
    return given if isinstance(given, str) and given else None

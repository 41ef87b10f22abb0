"""Transcripts in each form read alike: what was said, each call with its result, what could not be read by name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hindsight.domain.episode import Role
from hindsight.errors import InvalidInput
from hindsight.experience.reflect.reading import read_bytes, read_file, read_messages
from hindsight.experience.reflect.transcript import HEAD, MAX_EVENTS, TAIL, Act, Said, Transcript
from tests.experience import sessions as made


def told(transcript: Transcript) -> list[tuple[str, ...]]:
    return [
        (event.role.value, event.text) if isinstance(event, Said) else (event.tool, event.result or "")
        for event in transcript.events
    ]


def meant(pieces: tuple[made.Piece, ...]) -> list[tuple[str, ...]]:
    return [(one.role, one.text) if isinstance(one, made.Words) else (one.tool, one.result) for one in pieces]


@pytest.mark.parametrize("form", [made.claude, made.openai, made.anthropic])
@pytest.mark.parametrize("pieces", [made.PORT_TAKEN, made.WRONG_DATE, made.PDF])
def test_each_form_gives_the_same_words_and_calls(form: Any, pieces: tuple[made.Piece, ...]) -> None:
    assert told(read_bytes(made.lines(form(pieces)))) == meant(pieces)


def test_a_list_a_document_and_a_packed_file_are_read_like_lines(tmp_path: Path) -> None:
    messages = list(made.openai(made.WRONG_DATE))
    document = json.dumps({"title": "a talk", "messages": messages}, indent=1).encode()
    packed = tmp_path / "talk.jsonl.gz"
    packed.write_bytes(gzip.compress(made.lines(made.openai(made.WRONG_DATE))))
    wanted = meant(made.WRONG_DATE)
    assert told(read_messages(messages)) == wanted
    assert told(read_bytes(json.dumps(messages).encode())) == wanted
    assert told(read_bytes(document)) == wanted
    assert told(read_file(packed)) == wanted


def test_a_bad_line_is_named_and_the_rest_is_read() -> None:
    lines = made.lines(made.claude(made.NO_PYTHON)).split(b"\n")
    bad = [lines[0], b"{half", *lines[1:3], b"\xff\xfe", b'"text"', b'{"type": "user", "sessionId": "s"}', *lines[3:]]
    found = read_bytes(b"\n".join(bad))
    assert told(found) == meant(made.NO_PYTHON)
    assert [(one.ref, one.reason) for one in found.passed_over] == [
        ("2", "not JSON"),
        ("5", "not UTF-8"),
        ("6", "not a JSON object"),
        ("7", "a line of type user without content"),
    ]


@pytest.mark.parametrize("content", [b"not json\n", b'{"a": 1}\n', b"[1, 2]", b'{\n "a": 1\n}'])
def test_what_is_no_transcript_is_refused_with_what_is_allowed(content: bytes) -> None:
    with pytest.raises(InvalidInput, match="Claude Code"):
        read_bytes(content)


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nowhere\.jsonl"):
        read_file(tmp_path / "nowhere.jsonl")


def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": kind, "sessionId": "s", "message": {"role": kind, "content": content}, **more}


def test_what_claude_code_puts_in_by_itself_is_nobodys_words() -> None:
    given = [
        line("user", "Tidy the imports <system-reminder>be brief</system-reminder>"),
        line("user", "This session is being continued", isCompactSummary=True),
        line("user", "Base directory for this skill", isMeta=True),
        line("user", "<command-name>/compact</command-name>"),
        line("user", "<local-command-stdout>done</local-command-stdout>"),
        line("user", [{"type": "text", "text": "[Request interrupted by user]"}]),
        {"type": "progress", "sessionId": "s", "data": {"type": "hook_progress"}},
        line("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Done."}]),
    ]
    found = read_bytes(made.lines(iter(given)))
    assert told(found) == [("user", "Tidy the imports "), ("assistant", "Done.")]
    assert not found.passed_over


def test_sub_agents_work_in_lanes_of_their_own_and_refusals_are_marked() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "rm -rf build"}}
    no = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "The user doesn't want to proceed"}
    given = [
        line("user", "look for it", isSidechain=True, agentId="a7"),
        line("assistant", [use]),
        line("user", [no]),
    ]
    said, act = read_bytes(made.lines(iter(given))).events
    assert (said.lane, act.lane) == ("a7", "")
    assert isinstance(act, Act)
    assert act.refused


def test_long_results_keep_both_ends_and_long_sessions_their_end() -> None:
    result = "head" + "x" * 50_000 + "the error is at the end"
    (act,) = read_messages(list(made.openai((made.run("make", result),)))).events
    assert isinstance(act, Act)
    assert act.result is not None
    assert len(act.result) <= HEAD + TAIL + 3
    assert act.result.startswith("head")
    assert act.result.endswith("the error is at the end")
    many = [{"role": "user", "content": f"number {n}"} for n in range(MAX_EVENTS + 5)]
    found = read_messages(many)
    assert (len(found.events), found.dropped) == (MAX_EVENTS, 5)
    assert isinstance(found.events[-1], Said)
    assert found.events[-1].text == f"number {MAX_EVENTS + 4}"


def test_a_result_without_its_call_is_named() -> None:
    found = read_messages([{"role": "user", "content": "go"}, {"role": "tool", "tool_call_id": "x", "content": "ok"}])
    assert [(one.ref, one.reason) for one in found.passed_over] == [("2", "a result without its call")]
    assert [event.role for event in found.events if isinstance(event, Said)] == [Role.USER]

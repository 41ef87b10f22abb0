"""Where a transcript comes from: a file, a list of messages, or the episodes of a session that hindsight holds.

A file is JSON lines (Claude Code's own, or one message a line), or one JSON document with a list of messages; gzip is
unpacked. What can't be read is named with its line and passed over.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import BinaryIO

from hindsight.domain.episode import Episode, JsonValue, Role
from hindsight.errors import InvalidInput
from hindsight.experience.reflect.claude import is_claude, take_claude
from hindsight.experience.reflect.messages import take_message
from hindsight.experience.reflect.transcript import Act, Builder, Outcome, Said, Transcript

MAX_LINE = 16_000_000  # bytes of one line
MAX_DOCUMENT = 64_000_000  # bytes of one JSON document, which can only be read whole
FORMS = "JSON lines of Claude Code, or messages with a role, one a line or as one JSON list"


def read_file(path: Path) -> Transcript:
    """The transcript in a file. `InvalidInput` where nothing of it is one."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            with gzip.open(raw) if packed else io.BufferedReader(raw) as stream:
                return _checked(_of_stream(stream), path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidInput("transcript", str(path), f"a file that can be read ({reason})") from error
    except EOFError as error:
        raise InvalidInput("transcript", str(path), "a whole gzip file; this one is cut off") from error


def read_bytes(content: bytes) -> Transcript:
    """The transcript in the bytes of a file."""
    return _checked(_of_stream(io.BytesIO(content)), None)


def read_messages(messages: Sequence[Mapping[str, JsonValue]]) -> Transcript:
    """The transcript in messages; refs are their numbers from 1."""
    builder = Builder()
    for number, message in enumerate(messages, 1):
        _take(builder, message, str(number))
    return _checked(builder.done(), None)


def read_episodes(session_id: str, episodes: Sequence[Episode]) -> Transcript:
    """The transcript in the episodes of a session, in order of position; refs are their ids.

    A tool's episode holds its result. What it was given stands in its metadata (`input`, `arguments` or `command`), in
    an assistant's episode with `tool` and the same `tool_call_id` before it, or in its first line behind a `$ `.
    """
    builder = Builder(session_id=session_id, episodes=True)
    for episode in episodes:
        _take_episode(builder, episode)
    return builder.done()


def _of_stream(stream: BinaryIO | gzip.GzipFile | io.BufferedReader) -> Transcript:
    first = _first_line(stream)
    if first.startswith(b"[") or first == b"{":
        return _of_document(stream)
    builder = Builder()
    for number in count(1):
        raw = stream.readline(MAX_LINE + 1)
        if not raw:
            break
        if len(raw) > MAX_LINE:
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(MAX_LINE)
            builder.pass_over(str(number), f"longer than {MAX_LINE} bytes")
        elif raw.strip():
            _take_line(builder, raw, number)
    return builder.done()


def _first_line(stream: BinaryIO | gzip.GzipFile | io.BufferedReader) -> bytes:
    """The first line that holds something, without its ends; the stream stands at its beginning again."""
    found = b""
    while not found and (raw := stream.readline(64)):
        found = raw.removeprefix(b"\xef\xbb\xbf").strip()
    stream.seek(0)
    return found


def _take_line(builder: Builder, raw: bytes, number: int) -> None:
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        builder.pass_over(str(number), "not UTF-8")
        return
    except (ValueError, RecursionError):
        builder.pass_over(str(number), "not JSON")
        return
    if number == 1 and isinstance(value, dict) and _listed(value) is not None:
        for place, message in enumerate(_listed(value) or (), 1):
            _take(builder, message, str(place))
        return
    _take(builder, value, str(number))


def _of_document(stream: BinaryIO | gzip.GzipFile | io.BufferedReader) -> Transcript:
    whole = stream.read(MAX_DOCUMENT + 1)
    if len(whole) > MAX_DOCUMENT:
        raise InvalidInput("transcript", f"more than {MAX_DOCUMENT} bytes", "JSON lines, which may be longer")
    try:
        value = json.loads(whole.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("transcript", whole[:60].decode(errors="replace"), FORMS) from error
    messages = value if isinstance(value, list) else _listed(value) if isinstance(value, dict) else None
    if messages is None:
        raise InvalidInput("transcript", whole[:60].decode(errors="replace"), FORMS)
    builder = Builder()
    for number, message in enumerate(messages, 1):
        _take(builder, message, str(number))
    return builder.done()


def _listed(value: Mapping[str, JsonValue]) -> list[JsonValue] | None:
    """The messages of a document that is one object."""
    for name in ("messages", "loglines", "transcript", "conversation"):
        found = value.get(name)
        if isinstance(found, list):
            return found
    return None


def _take(builder: Builder, value: JsonValue | Mapping[str, JsonValue], ref: str) -> None:
    if not isinstance(value, Mapping):
        builder.pass_over(ref, "not a JSON object")
    elif is_claude(value):
        take_claude(builder, value, ref)
    elif not take_message(builder, value, ref):
        builder.pass_over(ref, "neither a line of Claude Code nor a message with a role")


def _checked(found: Transcript, path: Path | None) -> Transcript:
    if found.events or not found.passed_over:
        return found
    first = found.passed_over[0]
    raise InvalidInput("transcript", str(path or f"line {first.ref}: {first.reason}"), FORMS)


# Episodes ---------------------------------------------------------------------------------------------------------

_GIVEN = ("input", "arguments", "args", "parameters")
_PROMPTED = re.compile(r"\s*[$>%] (?P<command>[^\n]+)\n?")  # a result that begins with what was typed


def _take_episode(builder: Builder, episode: Episode) -> None:
    held = episode.metadata
    call_id = next((str(held[name]) for name in ("tool_call_id", "tool_use_id", "call_id") if held.get(name)), None)
    given = _given(held)
    at = episode.occurred_at
    if episode.role is Role.ASSISTANT and episode.tool:
        builder.call(Act(episode.id, episode.tool, given or {"input": episode.content}, at, _cwd(held)), call_id)
    elif episode.role is Role.TOOL:
        outcome = Outcome(episode.id, episode.content, flag_of(held))
        if given is None and builder.answer(call_id, outcome):
            return
        prompted = _PROMPTED.match(episode.content) if given is None else None
        if prompted is not None:
            given = {"command": prompted["command"]}
            outcome = replace(outcome, text=episode.content[prompted.end() :])
        builder.call(Act(episode.id, episode.tool or "tool", given or {}, at, _cwd(held)), call_id or episode.id)
        builder.answer(call_id or episode.id, outcome)
    else:
        builder.say(Said(episode.id, episode.role, episode.content, at))


def _given(held: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    for name in _GIVEN:
        found = held.get(name)
        if isinstance(found, dict):
            return found
        if isinstance(found, str) and found:
            try:
                read = json.loads(found)
            except ValueError:
                read = None
            return read if isinstance(read, dict) else {"input": found}
    command = held.get("command")
    return {"command": command} if isinstance(command, str | list) and command else None


def _cwd(held: Mapping[str, JsonValue]) -> str | None:
    found = held.get("cwd")
    return found if isinstance(found, str) else None


def flag_of(held: Mapping[str, JsonValue]) -> bool | None:
    """Whether fields beside a result say that it failed."""
    for name in ("is_error", "error", "failed"):
        found = held.get(name)
        if isinstance(found, bool):
            return found
        if name == "error" and isinstance(found, str) and found:
            return True
    for name in ("ok", "success"):
        if isinstance(found := held.get(name), bool):
            return not found
    for name in ("exit_code", "exitCode", "returncode"):
        found = held.get(name)
        if isinstance(found, int) and not isinstance(found, bool):
            return found != 0
    status = held.get("status")
    if isinstance(status, str) and status.lower() in ("error", "failed", "failure", "ok", "success", "completed"):
        return status.lower() in ("error", "failed", "failure")
    return None

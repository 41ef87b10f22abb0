"""`hindsight reflect`: experiences proposed from a transcript or a session."""

from __future__ import annotations

import sys
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.errors import BAD_INPUT, OK
from hindsight.interfaces.shapes_reflect import reflection_lines, reflection_notes, reflection_shape

if TYPE_CHECKING:
    from hindsight.interfaces.cli.call import Call

STDIN_LIMIT = 256_000_000  # bytes


def run(call: Call, file: str | None, session: str | None, agent: str | None) -> int:
    """Reflect on a file (`-`: standard input) or a session. 2 if lines of the file could not be read."""
    if file is None and session is None:
        raise InvalidInput("FILE", None, "a transcript, or --session ID")
    with call.open(warm=True) as memory:
        reflection = memory.reflect(session_id=session, transcript=None if file is None else _source(file), agent=agent)
    call.answer(reflection_shape(reflection), reflection_lines(reflection))
    call.note(reflection_notes(reflection))
    return BAD_INPUT if reflection.passed_over else OK


def _source(file: str) -> PathLike[str] | bytes:
    if file != "-":
        return Path(file)
    raw = sys.stdin.buffer.read(STDIN_LIMIT + 1)
    if len(raw) > STDIN_LIMIT:
        raise InvalidInput("FILE", f"more than {STDIN_LIMIT} bytes", "a file, which may be longer")
    return raw

"""How a program tells a person, or another program, what went wrong: one line or one JSON object, and an exit code.

All of it goes to stderr, like the logs: stdout is for results.
"""

from __future__ import annotations

import json

from hindsight.errors import HindsightError, InvalidInput

OK = 0
FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells count

# The caller can put these right by calling otherwise: another value, another id, another setting.
BAD_INPUT_CODES = frozenset({"invalid_input", "not_found", "ambiguous", "config"})


class Broken(HindsightError):
    """A fault of hindsight itself."""

    code = "internal"


def exit_code(error: HindsightError) -> int:
    """2 where the caller's input is at fault, else 1."""
    return BAD_INPUT if error.code in BAD_INPUT_CODES else FAILED


def explain(error: HindsightError, *, as_json: bool = False) -> str:
    """One line: code, message, hint. As JSON, the error shape that REST has."""
    if not as_json:
        message = f"{error.code}: {error}"
        end = " " if message.endswith((".", "!", "?", "。")) else ". "
        return visible(" ".join((f"{message}{end}{error.hint}" if error.hint else message).split()))
    shape: dict[str, object] = {
        "code": error.code,
        "message": str(error),
        "hint": error.hint,
        "retryable": error.retryable,
    }
    if isinstance(error, InvalidInput):
        shape |= {"field": error.field, "value": error.value, "allowed": error.allowed}
    return json.dumps({"error": shape}, ensure_ascii=False)


def visible(text: str) -> str:
    """Text that can't steer a terminal: control characters are shown as escapes, line breaks and tabs stay."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t\u3000" else _escape(char) for char in text)


def _escape(char: str) -> str:
    return repr(char)[1:-1] if char != "\xa0" else " "

"""One thing that was looked at, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from hindsight.errors import HindsightError


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"  # could not be looked at; `found` says why


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `remedy` says what to do, or is empty; `fix`: what `--fix` does about it."""

    name: str
    state: State
    found: str
    remedy: str = ""
    fix: str = ""


def failed(name: str, error: HindsightError) -> Check:
    """A check that ended with an error."""
    return Check(name, State.FAIL, str(error), error.hint)


def few(items: Sequence[str], most: int = 5) -> str:
    """The first of them, and how many more there are."""
    more = len(items) - most
    return "; ".join(items[:most]) + (f"; and {more} more" if more > 0 else "")

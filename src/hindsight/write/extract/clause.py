"""What the rules of both languages give back: a clause that a pattern has understood."""

from __future__ import annotations

from dataclasses import dataclass

from hindsight.domain.memory import Kind
from hindsight.write.extract import Slot


@dataclass(frozen=True, slots=True)
class Who:
    """A subject: the word as said, to be put before a clause that lacks it, and the name it goes by in a statement."""

    word: str
    name: str


@dataclass(frozen=True, slots=True)
class Understood:
    """One statement, `content`, read from `[start, end)` of the text."""

    content: str
    start: int
    end: int
    kind: Kind
    slot: Slot
    subject: str
    value: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Speaking:
    """Who speaks: `me` is what «我» and "I" stand for, `None` where that is not to be remembered (an assistant)."""

    me: str | None
    speaker: str | None = None

"""One neutral form of a session, whatever wrote it: what was said, and each tool call with its result.

Everything is cut to a bounded length as it is read: a result keeps its beginning and its end, where errors stand.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from hindsight.domain.episode import EMPTY, JsonValue, Metadata, Role

MAX_EVENTS = 10_000  # the newest are kept
HEAD, TAIL = 1_500, 2_500  # characters kept of a result, from both ends
MAX_SAID = 4_000  # characters kept of what was said, and of each value given to a tool
MAX_VALUES = 40  # values kept of one call
MAX_REPORTED = 100  # lines that could not be read, by name; the rest are counted

MAIN = ""  # the lane of the session itself; sub-agents work in lanes of their own


@dataclass(frozen=True, slots=True)
class Said:
    """Words of a person or of the agent. `ref`: the episode's id or the line of the file."""

    ref: str
    role: Role
    text: str
    at: datetime | None = None
    lane: str = MAIN


@dataclass(frozen=True, slots=True)
class Act:
    """A tool call and what came of it.

    `failed` is what the transcript itself says, `None` where it says nothing. `result` is `None` while there is none.
    `refused`: the person did not let it happen, or broke it off; it says nothing of whether it would have worked.
    """

    ref: str
    tool: str
    given: Metadata = field(default_factory=lambda: EMPTY)
    at: datetime | None = None
    cwd: str | None = None
    lane: str = MAIN
    result: str | None = None
    result_ref: str | None = None
    failed: bool | None = None
    refused: bool = False


Event: TypeAlias = Said | Act


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A line or message that could not be read, and why."""

    ref: str
    reason: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session. `dropped`: older events beyond `MAX_EVENTS`. `episodes`: whether the refs are ids of episodes."""

    events: tuple[Event, ...]
    session_id: str | None = None
    passed_over: tuple[PassedOver, ...] = ()
    unreported: int = 0
    dropped: int = 0
    episodes: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call, as a source tells it."""

    ref: str
    text: str
    failed: bool | None = None
    refused: bool = False


class Builder:
    """Puts a transcript together from what comes in, in order; results find their calls by id."""

    def __init__(self, *, session_id: str | None = None, episodes: bool = False) -> None:
        self.session_id = session_id
        self._episodes = episodes
        self._events: OrderedDict[int, Event] = OrderedDict()
        self._waiting: OrderedDict[str, int] = OrderedDict()
        self._bad: list[PassedOver] = []
        self._unreported = 0
        self._next = 0

    def say(self, said: Said) -> None:
        """Take in words."""
        if said.text.strip():
            self._add(Said(said.ref, said.role, clipped(said.text, MAX_SAID, 0), said.at, said.lane))

    def call(self, act: Act, call_id: str | None) -> None:
        """Take in a call; its result may come later under `call_id`."""
        if call_id is not None and call_id in self._waiting:
            return
        place = self._add(
            Act(act.ref, act.tool, values(act.given), act.at, act.cwd, act.lane, act.result, act.result_ref, act.failed)
        )
        if call_id is not None:
            self._waiting[call_id] = place

    def answer(self, call_id: str | None, outcome: Outcome) -> bool:
        """Give a call its result; whether the call was known. Without an id it is the last one that has none."""
        if call_id is None:
            open_ones = (place for place, event in reversed(self._events.items()) if _unanswered(event))
            place = next(open_ones, None)
        else:
            place = self._waiting.get(call_id)
        act = None if place is None else self._events.get(place)
        if place is None or not isinstance(act, Act) or act.result is not None:
            return False
        self._events[place] = Act(
            act.ref, act.tool, act.given, act.at, act.cwd, act.lane,
            clipped(outcome.text, HEAD, TAIL), outcome.ref, outcome.failed, outcome.refused,
        )  # fmt: skip
        return True

    def pass_over(self, ref: str, reason: str) -> None:
        """Name what could not be read."""
        if len(self._bad) < MAX_REPORTED:
            self._bad.append(PassedOver(ref, reason))
        else:
            self._unreported += 1

    def done(self) -> Transcript:
        """The whole."""
        return Transcript(
            tuple(self._events.values()),
            self.session_id,
            tuple(self._bad),
            self._unreported,
            self._next - len(self._events),
            self._episodes,
        )

    def _add(self, event: Event) -> int:
        place = self._next
        self._events[place] = event
        self._next += 1
        if len(self._events) > MAX_EVENTS:
            self._events.popitem(last=False)
        if len(self._waiting) > MAX_EVENTS:
            self._waiting.popitem(last=False)
        return place


def _unanswered(event: Event) -> bool:
    return isinstance(event, Act) and event.result is None


def clipped(text: str, head: int, tail: int) -> str:
    """A text with its middle left out where it is longer than both ends."""
    if len(text) <= head + tail:
        return text
    return f"{text[:head]}\n…\n{text[len(text) - tail :]}" if tail else f"{text[:head]}…"


def values(given: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """What was given to a tool, each text cut to `MAX_SAID` characters."""
    return {str(name)[:200]: _value(value, 3) for name, value in list(given.items())[:MAX_VALUES]}


def _value(value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        return clipped(value, MAX_SAID, 0)
    if isinstance(value, list | dict) and not depth:
        return "…"
    if isinstance(value, list):
        return [_value(one, depth - 1) for one in value[:MAX_VALUES]]
    if isinstance(value, dict):
        return {str(name)[:200]: _value(one, depth - 1) for name, one in list(value.items())[:MAX_VALUES]}
    return value

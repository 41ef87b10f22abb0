"""Feedback that a session gives by itself: an experience that it found, whose steps it then took, and how they ended.

Careful on purpose: the experience must have been given by a search of this session, most of what its steps name must
have been run after it and before the person asked for something else, and the end must be plain.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.domain.memory import Memory
from hindsight.experience.reflect.draft import is_note
from hindsight.experience.reflect.signs import Verdict
from hindsight.experience.reflect.structure import Kind, Step, lanes, steps_of, tasks_of
from hindsight.experience.reflect.transcript import Transcript
from hindsight.language.fold import fold

MOST_NEEDED = 0.6  # share of the steps that must be seen to be taken
_ID = re.compile(r"#([0-9a-hjkmnp-tv-z]{8})\b|\b([0-9a-hjkmnp-tv-z]{26})\b")
_QUOTED = re.compile(r"`([^`]{3,})`")


@dataclass(frozen=True, slots=True)
class Given:
    """An id that a search of the session gave, by whole or short id, and what was done after it in the same task."""

    memory_id: str
    ref: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Followed:
    """How following an experience ended, and the refs that show it."""

    outcome: OutcomeStatus
    refs: tuple[str, ...]


def given_in(transcript: Transcript) -> Iterator[Given]:
    """What searches of the session gave, once each; without what the agent itself gave feedback on."""
    for events in lanes(transcript).values():
        steps = steps_of(events)
        rated = {
            str(step.act.given.get("memory_id", "")).removeprefix("#")[-8:]
            for step in steps
            if step.kind is Kind.OWN and step.act.tool.endswith("memory_feedback")
        }
        seen: set[str] = set()
        for task in tasks_of(events, steps):
            for place, step in enumerate(task.steps):
                if step.kind is not Kind.OWN or not step.act.tool.endswith("memory_search"):
                    continue
                for found in _ID.finditer(step.act.result or ""):
                    memory_id = found[1] or found[2]
                    if memory_id[-8:] not in seen | rated:
                        seen.add(memory_id[-8:])
                        yield Given(memory_id, step.act.ref, task.steps[place + 1 :])


def followed(memory: Memory, given: Given) -> Followed | None:
    """Whether the steps of an experience were taken, and how that ended; `None` where that is not plain."""
    body = memory.body
    if not isinstance(body, Experience) or body.outcome.status is OutcomeStatus.FAILURE:
        return None  # a warning is heeded by not doing what it says, which nothing shows
    to_do = [text for text in body.action.steps if not is_note(text)]
    taken = {place: step for place, text in enumerate(to_do) if (step := _taken(text, given.steps))}
    if not taken or len(taken) < math.ceil(MOST_NEEDED * len(to_do)):
        return None
    last = max(taken.values(), key=lambda step: step.place)
    again = [step for step in given.steps if step.family == last.family and step.place >= last.place]
    verdicts = [step.verdict for step in again if step.verdict is not Verdict.UNCLEAR]
    if not verdicts:
        return None
    refs = tuple(dict.fromkeys(step.act.ref for step in (*taken.values(), again[-1])))
    if verdicts[-1] is Verdict.WORKED and all(step.verdict is not Verdict.FAILED for step in taken.values()):
        return Followed(OutcomeStatus.SUCCESS, refs)
    return Followed(OutcomeStatus.FAILURE, refs) if verdicts[-1] is Verdict.FAILED else None


def _taken(text: str, steps: Sequence[Step]) -> Step | None:
    """The last call that does what a step says: what the step quotes, or the command or tool that it names."""
    quoted = [_plain(one) for one in _QUOTED.findall(text)]
    said = _plain(text)
    found = None
    for step in steps:
        if step.kind not in (Kind.RUN, Kind.CALL, Kind.EDIT):
            continue
        line = _plain(step.command.text if step.command is not None else step.act.tool)
        families = [part.family for part in step.command.doing] if step.command is not None else [step.act.tool]
        named = any(_names(said, _plain(family)) for family in families)
        if any(one in line for one in quoted) if quoted else named:
            found = step
    return found


def _names(said: str, family: str) -> bool:
    """Whether a step names a command: two words of it, or one that is no word of the language."""
    if len(family) < 4 or not (" " in family or re.search(r"[_\d.-]", family) or family not in _WORDS):
        return False
    return re.search(rf"(?<![\w-]){re.escape(family)}(?![\w-])", said) is not None


_WORDS = frozenset(("make", "test", "task", "just", "read", "open", "write", "find", "sort", "bash", "edit", "next"))


def _plain(text: str) -> str:
    return " ".join(fold(text).split())

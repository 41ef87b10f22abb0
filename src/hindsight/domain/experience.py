"""What worked and what failed: the body of a procedural memory."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


class OutcomeStatus(StrEnum):
    """How the steps ended."""

    SUCCESS = "success"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class Trigger:
    """The situation in which an experience applies."""

    context: str
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Action:
    """What was done, in order, and with which tools."""

    steps: tuple[str, ...]
    tools_used: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended and how often it has been followed since. `confidence` is trust in whole hundredths, 0 to 100.

    `last_used`: when feedback was last given.
    """

    status: OutcomeStatus = OutcomeStatus.SUCCESS
    confidence: int = 50
    successes: int = 0
    failures: int = 0
    last_used: datetime | None = None

    @property
    def call_count(self) -> int:
        """How often feedback was given."""
        return self.successes + self.failures


@dataclass(frozen=True, slots=True)
class Way:
    """One of several ways to act in the same situation, with a record of its own. `id`: the experience it came from."""

    id: str
    action: Action
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Credit:
    """What one agent has reported of an experience."""

    agent: str
    successes: int = 0
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Experience:
    """Trigger, action, outcome.

    `ways`: where several experiences were merged, what each of them does, the best record first; `action` is the first
    of them. `originals`: ids of the merged ones. `credits`: which agents have reported on it.
    """

    trigger: Trigger
    action: Action
    outcome: Outcome = field(default_factory=Outcome)
    ways: tuple[Way, ...] = ()
    originals: tuple[str, ...] = ()
    credits: tuple[Credit, ...] = ()


def rendered(body: Experience) -> str:
    """An experience as one text: trigger, numbered steps, outcome; what to fall back on stands behind the steps."""
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(plan(body), 1))
    return f"{body.trigger.context}\n{steps}\n→ {body.outcome.status}"


def plan(body: Experience) -> tuple[str, ...]:
    """The steps to follow; of merged experiences what to do if these fail as well («先用 A，失败时降级到 B»)."""
    if len(body.ways) < 2:
        return body.action.steps
    chinese = _HAN.search(body.trigger.context) is not None
    first, then = ("先用", "失败时降级到") if chinese else ("first", "if it fails")
    stop, colon = ("；", "：") if chinese else ("; ", ": ")
    return tuple(
        f"{then if place else first}{colon}{stop.join(way.action.steps)}" for place, way in enumerate(body.ways)
    )

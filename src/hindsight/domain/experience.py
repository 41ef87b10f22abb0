"""What worked and what failed: the body of a procedural memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


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
    """How it ended and how often it has been followed since. `confidence` is trust in whole hundredths, 0 to 100."""

    status: OutcomeStatus = OutcomeStatus.SUCCESS
    confidence: int = 50
    successes: int = 0
    failures: int = 0

    @property
    def call_count(self) -> int:
        """How often feedback was given."""
        return self.successes + self.failures


@dataclass(frozen=True, slots=True)
class Experience:
    """Trigger, action, outcome."""

    trigger: Trigger
    action: Action
    outcome: Outcome = field(default_factory=Outcome)


def rendered(body: Experience) -> str:
    """An experience as one text: trigger, numbered steps, outcome."""
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(body.action.steps, 1))
    return f"{body.trigger.context}\n{steps}\n→ {body.outcome.status}"

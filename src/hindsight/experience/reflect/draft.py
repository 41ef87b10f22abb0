"""An experience that might be proposed, before it is one."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from hindsight.domain.experience import Action, Experience, Outcome, OutcomeStatus, Trigger


class Sort(StrEnum):
    """Why an experience is proposed."""

    FIX = "fix"  # it failed, and then this worked
    DEAD_END = "dead_end"  # it failed, and this did not help
    INSTEAD = "instead"  # it failed, and this did the same another way
    TASK = "task"  # a person asked for it and accepted it
    REFUSED = "refused"  # a person asked for it and did not accept it


# How a step begins that is not to be done: what did not help, and what was only done beside.
VAIN = ("Did not help: ", "没有用：")
ASIDE = ("Also done, without a known tie: ", "另外做过（是否有关不明）：")


def is_note(text: str) -> bool:
    """Whether a step says what did not help or was done beside, rather than what to do."""
    return text.startswith((*VAIN, *ASIDE))


@dataclass(frozen=True, slots=True)
class DraftStep:
    """One step in words, and what it rests on."""

    text: str
    refs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """An experience that might be kept. `worth` and `confidence`: 0 to 1; `shown`: the words it rests on, by ref."""

    sort: Sort
    context: str
    steps: tuple[DraftStep, ...]
    tools: tuple[str, ...]
    keywords: tuple[str, ...]
    status: OutcomeStatus
    refs: tuple[str, ...]
    worth: float
    confidence: float
    chinese: bool
    reasons: frozenset[str] = frozenset()
    shown: dict[str, str] = field(default_factory=dict)

    @property
    def experience(self) -> Experience:
        """As it would be kept."""
        return Experience(
            Trigger(self.context, self.keywords),
            Action(tuple(step.text for step in self.steps), self.tools),
            Outcome(self.status),
        )

"""Which experiences are let go, by which rule, and what is said of it (SPEC §5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from hindsight.domain.confidence import FLOOR
from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.domain.memory import Memory

SMALL = 100  # active experiences below which a library is small and keeps them longer
AGE_DAYS, AGE_DAYS_SMALL = 90, 180
MIN_USES = 3
GRACE = timedelta(days=30)  # from being archived until it may be purged


class PruneRule(StrEnum):
    """Why an experience is let go."""

    CONFIDENCE = "confidence"  # trusted less than the floor
    AGE = "age"  # old, and hardly ever followed


class Spared(StrEnum):
    """Why one that a rule names is kept all the same."""

    PINNED = "pinned"
    LESSON = "lesson"  # a failure to avoid is heeded, not followed: its count of uses says nothing


@dataclass(frozen=True, slots=True)
class PruneRules:
    """The limits in force. `min_confidence` in whole hundredths; `min_uses`: reports of having followed it."""

    min_confidence: int = FLOOR
    max_age_days: int = AGE_DAYS
    min_uses: int = MIN_USES


@dataclass(frozen=True, slots=True)
class PruneEntry:
    """One experience that a rule names. `spared`: why it stays; `purge_after`: when it may be purged if it goes."""

    memory: Memory
    rule: PruneRule
    age_days: int
    spared: Spared | None = None
    purge_after: datetime | None = None


@dataclass(frozen=True, slots=True)
class PruneReport:
    """What was pruned, or would be in a `dry_run`; `undo` takes it back. `examined`: active experiences looked at."""

    dry_run: bool
    rules: PruneRules
    examined: int
    pruned: tuple[PruneEntry, ...] = ()
    spared: tuple[PruneEntry, ...] = ()
    undo: str | None = None


def judge(memory: Memory, rules: PruneRules, at: datetime, grace: timedelta = GRACE) -> PruneEntry | None:
    """What the rules say of an active experience; `None` if it simply stays. `grace`: until it may be purged."""
    body = memory.body
    if not isinstance(body, Experience):
        return None
    age = (at - memory.created_at) // timedelta(days=1)
    if body.outcome.confidence < rules.min_confidence:
        rule = PruneRule.CONFIDENCE
    elif at - memory.created_at > timedelta(days=rules.max_age_days) and body.outcome.call_count < rules.min_uses:
        rule = PruneRule.AGE
    else:
        return None
    spared = None
    if memory.pinned:
        spared = Spared.PINNED
    elif rule is PruneRule.AGE and body.outcome.status is OutcomeStatus.FAILURE:
        spared = Spared.LESSON
    return PruneEntry(memory, rule, age, spared, None if spared else at + grace)

"""What clean-up does to which memory, by which rule, and what is said of it (SPEC §6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from hindsight.domain.experience import Experience
from hindsight.domain.forgetting import HALF_LIVES, STALE_DAYS, last_touched, over
from hindsight.domain.memory import Kind, Layer, Memory, Status
from hindsight.domain.page import Use

# Never archived for being of little importance: these have rules of their own, or none.
KEPT_KINDS = frozenset({Kind.CONSTRAINT, Kind.EXPERIENCE})


class CleanRule(StrEnum):
    """Why clean-up touches a memory."""

    EXPIRED = "expired"  # bound to a date that has passed
    WEAK = "weak"  # of little importance, and not used for long
    ALIKE = "alike"  # says what another says
    OLD = "old"  # happened long ago: told in a summary, with others
    STALE = "stale"  # not confirmed for long: the user is asked


class CleanAction(StrEnum):
    """What clean-up does to a memory."""

    ARCHIVED = "archived"
    MERGED = "merged"
    SUMMARISED = "summarised"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class CleanRules:
    """The limits in force.

    `importance` below which, and `unused_days` after which, a memory is weak; `alike`: closeness on the calibrated
    scale; `episode_days` after which what happened is summarised; `stale_days` (0: off) after which the user is asked,
    about `reviews` memories at most each time. `batch`: memories in one transaction.
    """

    importance: float = 0.2
    unused_days: int = 90
    alike: float = 0.95
    episode_days: int = 180
    stale_days: int = STALE_DAYS
    reviews: int = 20
    batch: int = 200
    half_lives: Mapping[Kind, float] = field(default_factory=lambda: HALF_LIVES)


@dataclass(frozen=True, slots=True)
class CleanEntry:
    """One memory that a rule names. `other_ids`: what it is merged with, or summarised with in a dry run.

    `strength` is that at the moment of cleaning.
    """

    memory: Memory
    rule: CleanRule
    action: CleanAction
    reason: str
    strength: float
    other_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CleanReport:
    """What was cleaned, or would be in a `dry_run`. `undo` takes back all of it.

    `examined`: active memories looked at; `added`: summaries that tell others; `pending`: a job goes on with the rest;
    `degraded` names what was missing, and what could not be looked for without it.
    """

    dry_run: bool
    rules: CleanRules
    examined: int
    entries: tuple[CleanEntry, ...] = ()
    added: tuple[Memory, ...] = ()
    undo: str | None = None
    pending: bool = False
    degraded: tuple[str, ...] = ()


def weak(memory: Memory, use: Use | None, rules: CleanRules, at: datetime) -> bool:
    """Whether a memory is of little importance and has not been used for long."""
    if memory.pinned or memory.kind in KEPT_KINDS or memory.importance * memory.strength >= rules.importance:
        return False
    return at - last_touched(memory, use) > timedelta(days=rules.unused_days)


def archived_by(memory: Memory, use: Use | None, rules: CleanRules, at: datetime) -> tuple[CleanRule, str] | None:
    """The rule by which an active memory is archived, with its figures."""
    if over(memory, at):
        assert memory.valid_to is not None
        return CleanRule.EXPIRED, f"over since {memory.valid_to.date().isoformat()}"
    if weak(memory, use, rules, at):
        days = (at - last_touched(memory, use)).days
        worth = memory.importance * memory.strength
        return CleanRule.WEAK, f"importance {worth:.2f} is below {rules.importance:g}, unused for {days} days"
    return None


def is_old_episode(memory: Memory, rules: CleanRules, at: datetime) -> bool:
    """Whether a memory is what happened long ago, and nothing but that: never a fact, a constraint or a rule."""
    happened = memory.layer is Layer.EPISODIC and memory.kind is Kind.EVENT and not isinstance(memory.body, Experience)
    if not happened or memory.pinned or memory.status is not Status.ACTIVE:
        return False
    return at - max(memory.created_at, memory.occurred_at) > timedelta(days=rules.episode_days)

"""How a memory fades, when it is over, and when nobody has confirmed it for too long (SPEC §6).

    strength = importance · kept · 2^(-age / half-life) · (1 + use)        within 0 and 1

`kept` is what forgetting by a factor has left of it (`Memory.strength`), `age` counts from when it was last confirmed
or given back, `use` is 1 from the tenth time on: what is used fades at half the depth, and begins anew each time.
Constraints, what is pinned, and matters of health and safety do not fade.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from math import inf
from types import MappingProxyType

from hindsight.domain.experience import Experience
from hindsight.domain.memory import Kind, Layer, Memory, Statement, Status
from hindsight.domain.page import Use
from hindsight.domain.ranking import use as used

SAFETY = 0.9  # importance from which on a memory is one of health or safety

# Days until half of a memory's strength is gone, by kind. What happened is asked for soon or never; a taste or an
# employer holds for about a year; who is whose brother, and how the user wants things done, for years. An experience
# goes by its record instead (SPEC §5), so its half-life only orders what is shown.
HALF_LIVES: Mapping[Kind, float] = MappingProxyType(
    {
        Kind.EVENT: 90.0,
        Kind.SUMMARY: 365.0,
        Kind.FACT: 365.0,
        Kind.PREFERENCE: 365.0,
        Kind.EXPERIENCE: 365.0,
        Kind.RELATION: 1095.0,
        Kind.RULE: 1095.0,
        Kind.CONSTRAINT: inf,
    }
)
# What a person is asked to confirm after `stale_days`; an event was true when it happened and stays so.
STALE_KINDS = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.RELATION, Kind.RULE, Kind.CONSTRAINT})
STALE_DAYS = 365
# Slots whose value nobody changes, or hardly ever.
LASTING_SLOTS = frozenset({"name", "birthday", "origin"})


def fades(memory: Memory) -> bool:
    """Whether time takes anything from a memory."""
    return not (memory.pinned or memory.kind is Kind.CONSTRAINT or memory.importance >= SAFETY)


def strength(
    memory: Memory, at: datetime, use: Use | None = None, half_lives: Mapping[Kind, float] = HALF_LIVES
) -> float:
    """The strength of a memory at a moment, 0 to 1."""
    kept = memory.importance * memory.strength
    if not fades(memory):
        return min(1.0, kept)
    days = max(0.0, (at - last_touched(memory, use)) / timedelta(days=1))
    half_life = half_lives[memory.kind]
    faded = kept if half_life == inf else kept * 0.5 ** (days / half_life)
    return float(min(1.0, faded * (1.0 + used(use.count if use is not None else 0))))


def last_verified(memory: Memory) -> datetime:
    """When a memory was last said, confirmed or changed; what was said before it was written counts from then."""
    if memory.updated_at > memory.created_at:
        return memory.updated_at
    return min(memory.occurred_at, memory.created_at)


def last_touched(memory: Memory, use: Use | None) -> datetime:
    """When a memory was last written, changed or given back."""
    moment = max(memory.created_at, memory.updated_at)
    if use is None or use.last_used is None:
        return moment
    return max(moment, datetime.fromtimestamp(use.last_used, tz=UTC))


def over(memory: Memory, at: datetime) -> bool:
    """Whether what was bound to a date is past it. What is pinned is kept whatever its date."""
    ended = memory.valid_to is not None and memory.valid_to <= at
    return ended and memory.status is Status.ACTIVE and not memory.pinned and not isinstance(memory.body, Experience)


def stale(memory: Memory, at: datetime, days: int = STALE_DAYS) -> bool:
    """Whether a statement that may have changed has not been confirmed for so many days; 0 days: never.

    Health and safety, what is pinned and what hardly ever changes are not asked about again.
    """
    if not days or memory.layer is not Layer.SEMANTIC or memory.kind not in STALE_KINDS or memory.pinned:
        return False
    if memory.importance >= SAFETY or memory.verbatim or memory.status is not Status.ACTIVE:
        return False
    if isinstance(memory.body, Statement) and memory.body.slot in LASTING_SLOTS:
        return False
    return at - last_verified(memory) > timedelta(days=days)

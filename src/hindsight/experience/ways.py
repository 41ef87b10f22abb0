"""Several ways to act in one situation: which goes first, and what they make up together."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight.domain.confidence import record
from hindsight.domain.experience import Action, Way


def best_first(ways: Sequence[Way]) -> tuple[Way, ...]:
    """Ways in order of record; ties stay in their order."""
    return tuple(sorted(ways, key=lambda way: record(way.outcome), reverse=True))


def action_of(ways: Sequence[Way]) -> Action:
    """What the first way does. Tools are those of all, in an order that does not change with their records."""
    by_age = sorted(ways, key=lambda way: way.id)
    tools = dict.fromkeys(tool for way in by_age for tool in way.action.tools_used)
    return Action(ways[0].action.steps, tuple(tools))

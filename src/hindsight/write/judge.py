"""Pairs of statements that the rules can't tell apart, put to another judge: same, different, or in its place.

A judge chooses among what the words allow (`hindsight.language.statement.doubt`). It deletes nothing: what it retires
stays in the history, and `undo` takes its ruling back. Where no good answer comes in time, the rules' outcome stands.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from hindsight.domain.memory import Memory
from hindsight.errors import Unavailable
from hindsight.language.statement.verdict import Relation, Verdict

log = logging.getLogger(__name__)

MAX_OF_ONE = 3  # doubtful pairs of one new statement, the nearest first
MAX_DOUBTS = 24  # of one write

Key: TypeAlias = tuple[str, str]
"""Ids of a new statement and of a known one."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A new statement, a known one that it may repeat or replace, and the relations that may be chosen from."""

    new: Memory
    old: Memory
    choices: frozenset[Relation]

    @property
    def key(self) -> Key:
        """By which its ruling is looked up."""
        return self.new.id, self.old.id


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was chosen, and why."""

    relation: Relation
    reason: str

    @property
    def verdict(self) -> Verdict:
        """As the rules would say it."""
        return Verdict(self.relation, self.reason)


@dataclass(frozen=True, slots=True)
class Ruled:
    """Rulings by the place of their doubt; those not ruled are missing. `counts` for the trace: calls and tokens."""

    rulings: Mapping[int, Ruling]
    counts: Mapping[str, int] = field(default_factory=dict)


class Judge(Protocol):
    """Rules on doubtful pairs."""

    @property
    def label(self) -> str:
        """Who judges, and by which version of its rules."""
        ...

    async def rule(self, doubts: Sequence[Doubt]) -> Ruled:
        """The rulings that hold. `ModelUnavailable` if there is no answer."""
        ...


class Bench:
    """A judge for one write: each pair is put to it once, however often the write is tried, and it has limited time."""

    def __init__(self, judge: Judge, *, seconds: float) -> None:
        self._judge = judge
        self._seconds = seconds
        self._heard: dict[tuple[str, str, int], Ruling | None] = {}
        self._closed = False
        self.counts: dict[str, int] = {}

    @property
    def label(self) -> str:
        """Who judged, for the trace; empty where nothing was asked."""
        return self._judge.label if self._heard else ""

    def close(self) -> None:
        """Ask nothing more: what has been heard still counts."""
        self._closed = True

    async def hear(self, doubts: Sequence[Doubt]) -> bool:
        """Put to the judge what is new to it, and say whether anything was: that takes time, and others go on writing.

        Never fails for the judge's sake: `counts` says what came of it.
        """
        asked = [one for one in doubts if _pair(one) not in self._heard][:MAX_DOUBTS]
        if not asked or self._closed:
            return False
        ruled = await self._ruled(asked)
        self._heard.update((_pair(one), ruled.get(place)) for place, one in enumerate(asked))
        return True

    def known(self, doubts: Sequence[Doubt]) -> dict[Key, Verdict]:
        """The verdict on each pair that was ruled on."""
        heard = ((one, self._heard.get(_pair(one))) for one in doubts)
        return {
            one.key: ruling.verdict for one, ruling in heard if ruling is not None and ruling.relation in one.choices
        }

    async def _ruled(self, doubts: Sequence[Doubt]) -> Mapping[int, Ruling]:
        self._count(doubts=len(doubts))
        try:
            ruled = await asyncio.wait_for(self._judge.rule(doubts), self._seconds)
        except TimeoutError:
            log.warning("%d doubtful pairs were left to the rules: no ruling within %g s", len(doubts), self._seconds)
            self._count(judge_late=1, unruled=len(doubts))
            return {}
        except Unavailable as error:
            log.warning("%d doubtful pairs were left to the rules: %s", len(doubts), error)
            self._count(judge_failed=1, unruled=len(doubts))
            return {}
        rulings = {place: one for place, one in ruled.rulings.items() if one.relation in doubts[place].choices}
        self._count(ruled=len(rulings), unruled=len(doubts) - len(rulings), **ruled.counts)
        return rulings

    def _count(self, **counts: int) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


def _pair(doubt: Doubt) -> tuple[str, str, int]:
    """What was asked: a retry gives new statements other ids."""
    return doubt.new.content, doubt.old.id, doubt.old.version

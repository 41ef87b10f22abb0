"""Pruning: what is not trusted, or old and hardly used, is archived; purged only after a time of grace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hindsight.domain.change import Act, Batch, OutcomeAction, Put, Receipt, WriteOutcome
from hindsight.domain.experience import Experience
from hindsight.domain.memory import Kind, Memory, Status
from hindsight.domain.page import Order
from hindsight.domain.pruning import (
    AGE_DAYS,
    AGE_DAYS_SMALL,
    GRACE,
    MIN_USES,
    SMALL,
    PruneEntry,
    PruneReport,
    PruneRule,
    PruneRules,
    judge,
)
from hindsight.domain.query import Filters
from hindsight.errors import Conflict, InvalidInput
from hindsight.ports import Clock, Ids, Store

PAGE = 500
TRIES = 5
MAX_DAYS, MAX_USES = 36_500, 1_000_000
PURGE_AFTER = "purge_after"  # in the metadata of what was archived: when it may be purged


@dataclass(frozen=True, slots=True)
class Wanted:
    """The limits a caller names; `None` leaves the usual ones. Made by `parse_prune`."""

    dry_run: bool = True
    min_confidence: int | None = None
    max_age_days: int | None = None
    min_uses: int | None = None
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Pruner:
    """What pruning needs."""

    store: Store
    clock: Clock
    ids: Ids
    grace: timedelta = GRACE

    async def prune(self, namespace: str, wanted: Wanted) -> PruneReport:
        """Name what the rules let go; without `dry_run`, archive it. All of it or nothing; `undo` takes it back."""
        key = self.ids.new()
        for _ in range(TRIES - 1):
            try:
                return await self._once(namespace, wanted, key)
            except Conflict:  # one of them was changed meanwhile: judge anew
                continue
        return await self._once(namespace, wanted, key)

    async def _once(self, namespace: str, wanted: Wanted, key: str) -> PruneReport:
        at = self.clock.now()
        held = await self._held(namespace)
        rules = PruneRules(
            PruneRules().min_confidence if wanted.min_confidence is None else wanted.min_confidence,
            _age(len(held)) if wanted.max_age_days is None else wanted.max_age_days,
            MIN_USES if wanted.min_uses is None else wanted.min_uses,
        )
        named = [entry for memory in held if (entry := judge(memory, rules, at, self.grace)) is not None]
        report = PruneReport(
            dry_run=wanted.dry_run,
            rules=rules,
            examined=len(held),
            pruned=tuple(entry for entry in named if entry.spared is None),
            spared=tuple(entry for entry in named if entry.spared is not None),
        )
        if wanted.dry_run or not report.pruned:
            return report
        await self.store.apply(_batch(namespace, key, at, report, wanted.actor))
        return replace(report, undo=key)

    async def _held(self, namespace: str) -> list[Memory]:
        """Active experiences, oldest first."""
        found: list[Memory] = []
        after: str | None = None
        wanted = Filters(kinds=(Kind.EXPERIENCE,), episodes=False)
        while True:
            page = await self.store.find(namespace, wanted, order=Order.OLDEST, limit=PAGE, after=after)
            found += [memory for memory in page.items if isinstance(memory.body, Experience)]
            after = page.next
            if after is None:
                return found


def parse_prune(
    *,
    dry_run: bool = True,
    min_confidence: float | None = None,
    max_age_days: int | None = None,
    min_uses: int | None = None,
    actor: str = "",
) -> Wanted:
    """Check limits as callers write them. `InvalidInput` names the field."""
    if not isinstance(dry_run, bool):
        raise InvalidInput("dry_run", dry_run, "true or false")
    hundredths = None
    if min_confidence is not None:
        if isinstance(min_confidence, bool) or not isinstance(min_confidence, int | float):
            raise InvalidInput("min_confidence", min_confidence, "a number from 0 to 1")
        if not 0 <= min_confidence <= 1:
            raise InvalidInput("min_confidence", min_confidence, "a number from 0 to 1")
        hundredths = round(min_confidence * 100)
    return Wanted(
        dry_run,
        hundredths,
        _whole("max_age_days", max_age_days, MAX_DAYS),
        _whole("min_uses", min_uses, MAX_USES),
        actor,
    )


def _whole(field: str, given: object, most: int) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= most:
        raise InvalidInput(field, given, f"a whole number from 0 to {most}")
    return given


def _age(held: int) -> int:
    return AGE_DAYS_SMALL if held < SMALL else AGE_DAYS


def why(entry: PruneEntry, rules: PruneRules) -> str:
    """The rule that names an experience, with its figures, for its history and the report."""
    outcome = entry.memory.body.outcome if isinstance(entry.memory.body, Experience) else None
    assert outcome is not None
    if entry.rule is PruneRule.CONFIDENCE:
        return f"confidence {outcome.confidence / 100:.2f} is below {rules.min_confidence / 100:.2f}"
    return (
        f"{entry.age_days} days old, over {rules.max_age_days}, "
        f"and followed {outcome.call_count} times, under {rules.min_uses}"
    )


def _batch(namespace: str, key: str, at: datetime, report: PruneReport, actor: str) -> Batch:
    puts = tuple(
        Put(_archived(entry, at), entry.memory.version, Act.ARCHIVED, why(entry, report.rules), actor=actor)
        for entry in report.pruned
    )
    outcomes = tuple(
        WriteOutcome(
            OutcomeAction.ARCHIVED,
            put.memory.id,
            put.memory.content,
            put.memory.kind,
            put.memory.importance,
            reason=put.reason,
        )
        for put in puts
    )
    return Batch(namespace, key, at, puts=puts, receipt=Receipt(outcomes, undo=key))


def _archived(entry: PruneEntry, at: datetime) -> Memory:
    memory = entry.memory
    assert entry.purge_after is not None
    return replace(
        memory,
        status=Status.ARCHIVED,
        metadata={**memory.metadata, PURGE_AFTER: entry.purge_after.isoformat()},
        updated_at=at,
        version=memory.version + 1,
    )

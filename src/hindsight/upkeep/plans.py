"""What each rule of clean-up does, as plans: a batch at a time, made from what is stored at that moment."""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from hindsight.domain.change import (
    Act,
    Batch,
    OutcomeAction,
    Put,
    Receipt,
    Review,
    WriteOutcome,
)
from hindsight.domain.cleaning import (
    CleanAction,
    CleanEntry,
    CleanRule,
    CleanRules,
    archived_by,
)
from hindsight.domain.episode import EpisodeState
from hindsight.domain.forgetting import last_verified, stale, strength
from hindsight.domain.memory import Layer, Memory, Status
from hindsight.domain.page import Order
from hindsight.domain.query import Filters
from hindsight.ports import Clock, Store
from hindsight.upkeep.alike import Twins
from hindsight.upkeep.consolidate import Consolidator, Group
from hindsight.upkeep.resting import left_open


@dataclass(frozen=True, slots=True)
class Planned:
    """A batch to be, and what the report says of it."""

    batch: Batch
    entries: tuple[CleanEntry, ...]
    added: tuple[Memory, ...] = ()


Plan: TypeAlias = Callable[[str], Awaitable[Planned | None]]
"""Makes a batch under a key from what is stored now; `None` if nothing is left to do."""


@dataclass(slots=True)
class Run:
    """One look at a namespace: what it has come to so far."""

    namespace: str
    actor: str
    examined: int = 0
    taken: set[str] = field(default_factory=set)  # memories that a rule has named: no second rule takes them
    unconfirmed: list[tuple[float, str]] = field(default_factory=list)
    entries: list[CleanEntry] = field(default_factory=list)
    added: list[Memory] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planner:
    """What planning needs."""

    store: Store
    clock: Clock
    twins: Twins
    consolidator: Consolidator
    rules: CleanRules

    async def by_rule(self, run: Run) -> AsyncIterator[Plan]:
        """Plans of all rules but that of old episodes, a batch each."""
        async for page in self._pages(run.namespace, Filters(episodes=False)):
            run.examined += len(page)
            named = await self._archivable(run, page)
            if named:
                yield self._archived(run, named)
            self._gather_stale(run, [one for one in page if one.id not in run.taken])
        if self.twins.possible:
            async for page in self._pages(run.namespace, Filters(layers=(Layer.SEMANTIC,), episodes=False)):
                twins = await self.twins.among(run.namespace, page, self.rules.alike)
                if any(twin.newer.id not in run.taken for twin in twins):
                    yield self._merged(run, [twin.newer.id for twin in twins if twin.newer.id not in run.taken])
        if run.unconfirmed:
            yield self._asked(run, [one for _, one in sorted(run.unconfirmed, reverse=True)])

    async def _pages(self, namespace: str, wanted: Filters) -> AsyncIterator[Sequence[Memory]]:
        after: str | None = None
        while True:
            page = await self.store.find(namespace, wanted, order=Order.OLDEST, limit=self.rules.batch, after=after)
            if page.items:
                yield page.items
            after = page.next
            if after is None:
                return

    async def _archivable(self, run: Run, page: Sequence[Memory]) -> list[str]:
        uses = await self.store.uses(run.namespace, [one.id for one in page])
        at = self.clock.now()
        return [one.id for one in page if archived_by(one, uses.get(one.id), self.rules, at) is not None]

    def _archived(self, run: Run, ids: Sequence[str]) -> Plan:
        async def plan(key: str) -> Planned | None:
            held = await self.store.memories(run.namespace, list(ids))
            uses = await self.store.uses(run.namespace, list(ids))
            at = self.clock.now()
            entries = []
            for one in held.values():
                found = archived_by(one, uses.get(one.id), self.rules, at) if one.status is Status.ACTIVE else None
                if found is not None:
                    left = strength(one, at, uses.get(one.id), self.rules.half_lives)
                    entries.append(CleanEntry(one, found[0], CleanAction.ARCHIVED, found[1], left))
            if not entries:
                return None
            puts = tuple(
                Put(
                    replace(one.memory, status=Status.ARCHIVED, updated_at=at, version=one.memory.version + 1),
                    one.memory.version,
                    Act.ARCHIVED,
                    one.reason,
                    actor=run.actor,
                )
                for one in entries
            )
            closed = await left_open(self.store, run.namespace, [one.memory for one in entries])
            batch = Batch(
                run.namespace,
                key,
                at,
                puts=puts,
                receipt=Receipt(tuple(map(_outcome, entries)), undo=key),
                episode_states=tuple((one, EpisodeState.CLOSED) for one in closed),
            )
            return Planned(batch, tuple(entries))

        return plan

    def _merged(self, run: Run, ids: Sequence[str]) -> Plan:
        async def plan(key: str) -> Planned | None:
            held = await self.store.memories(run.namespace, list(ids))
            twins = await self.twins.among(run.namespace, list(held.values()), self.rules.alike)
            chosen, ending, into = [], set[str](), set[str]()
            for twin in twins:  # what takes another in must not end in the same batch: it may at the next clean-up
                if twin.newer.id not in into and twin.older.id not in ending | run.taken:
                    chosen.append(twin)
                    ending.add(twin.newer.id)
                    into.add(twin.older.id)
            if not chosen:
                return None
            at = self.clock.now()
            puts, embeddings, jobs = await self.twins.joined(chosen, at, run.actor)
            entries = tuple(
                CleanEntry(
                    twin.newer, CleanRule.ALIKE, CleanAction.MERGED, twin.reason,
                    strength(twin.newer, at, None, self.rules.half_lives), (twin.older.id,),
                )
                for twin in chosen
            )  # fmt: skip
            receipt = Receipt(tuple(map(_outcome, entries)), undo=key)
            batch = Batch(run.namespace, key, at, puts=puts, embeddings=embeddings, jobs=jobs, receipt=receipt)
            return Planned(batch, entries)

        return plan

    def _gather_stale(self, run: Run, page: Sequence[Memory]) -> None:
        """Keep the most important of those that nobody has confirmed for long."""
        at = self.clock.now()
        for one in page:
            if stale(one, at, self.rules.stale_days) and self.rules.reviews:
                entry = (one.importance * one.strength, one.id)
                if len(run.unconfirmed) < self.rules.reviews * 2:  # some may be asked about already
                    heapq.heappush(run.unconfirmed, entry)
                else:
                    heapq.heappushpop(run.unconfirmed, entry)

    def _asked(self, run: Run, ids: Sequence[str]) -> Plan:
        async def plan(key: str) -> Planned | None:
            held = await self.store.memories(run.namespace, list(ids))
            reviews = await self.store.reviews(run.namespace)
            waiting = {one.memory_id for one in reviews}
            unanswered = sum(one.other_ids == (one.memory_id,) for one in reviews)
            at = self.clock.now()
            entries = [
                CleanEntry(
                    one, CleanRule.STALE, CleanAction.REVIEW, f"not confirmed since {last_verified(one).date()}",
                    strength(one, at, None, self.rules.half_lives),
                )
                for name in ids
                if (one := held.get(name)) is not None
                and name not in run.taken | waiting
                and stale(one, at, self.rules.stale_days)
            ][: max(0, self.rules.reviews - unanswered)]  # fmt: skip
            if not entries:
                return None
            batch = Batch(
                run.namespace,
                key,
                at,
                receipt=Receipt(tuple(map(_outcome, entries)), undo=key),
                reviews=tuple(Review(one.memory.id, (one.memory.id,), one.reason, at) for one in entries),
            )
            return Planned(batch, tuple(entries))

        return plan

    def summary_of(self, run: Run, group: Group, *, extractive: bool) -> Plan:
        async def plan(key: str) -> Planned | None:
            made = await self.consolidator.plan(
                run.namespace, group, self.rules, key, actor=run.actor, extractive=extractive
            )
            if made is None:
                return None
            batch, summary = made
            held = await self.store.memories(run.namespace, list(group.ids))
            entries = tuple(
                self._told_with(held[put.memory.id], put.reason, (summary.id,))
                for put in batch.puts
                if put.act is Act.ARCHIVED
            )
            return Planned(batch, entries, (summary,))

        return plan

    async def to_tell(self, run: Run) -> AsyncIterator[CleanEntry]:
        """What a dry run says of old episodes: their groups, without a summary."""
        for group in await self.consolidator.groups(run.namespace, self.rules, without=frozenset(run.taken)):
            held = await self.store.memories(run.namespace, list(group.ids))
            for one in held.values():
                others = tuple(name for name in group.ids if name != one.id)
                yield self._told_with(one, f"to be told in a summary of {group.label}", others)

    def _told_with(self, memory: Memory, reason: str, other_ids: tuple[str, ...]) -> CleanEntry:
        left = strength(memory, self.clock.now(), None, self.rules.half_lives)
        return CleanEntry(memory, CleanRule.OLD, CleanAction.SUMMARISED, reason, left, other_ids)


_ACTIONS = {
    CleanAction.ARCHIVED: OutcomeAction.ARCHIVED,
    CleanAction.SUMMARISED: OutcomeAction.ARCHIVED,
    CleanAction.MERGED: OutcomeAction.MERGED,
    CleanAction.REVIEW: OutcomeAction.KEPT_APART,
}


def _outcome(entry: CleanEntry) -> WriteOutcome:
    one = entry.memory
    return WriteOutcome(
        _ACTIONS[entry.action], one.id, one.content, one.kind, one.importance, entry.other_ids, entry.reason,
        review=entry.action is CleanAction.REVIEW,
    )  # fmt: skip

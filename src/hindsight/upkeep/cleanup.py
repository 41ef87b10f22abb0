"""Clean-up: what is over, weak, said twice, long past or unconfirmed (SPEC §6), in small transactions.

A run is a chain of batches under keys that follow from its token: each is all or nothing, what it put away is not found
again by the next look, and so a run that was killed goes on where it stood, neither losing nor doubling anything. The
token takes the whole run back, batch by batch.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TypeAlias, cast

from hindsight.domain.change import (
    Act,
    Batch,
    Job,
    JobDone,
    NewJob,
    OutcomeAction,
    Put,
    Receipt,
    Review,
    WriteOutcome,
)
from hindsight.domain.cleaning import (
    CleanAction,
    CleanEntry,
    CleanReport,
    CleanRule,
    CleanRules,
    archived_by,
)
from hindsight.domain.episode import EpisodeState
from hindsight.domain.forgetting import last_verified, stale, strength
from hindsight.domain.memory import Layer, Memory, Status
from hindsight.domain.page import Order
from hindsight.domain.query import Filters
from hindsight.errors import Conflict, HindsightError, InvalidInput, NotFound
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.upkeep.alike import Twins
from hindsight.upkeep.consolidate import Consolidator, Group
from hindsight.upkeep.jobs import Handler
from hindsight.upkeep.resting import left_open
from hindsight.write.task import LEASE, kept_leased
from hindsight.write.undo import take_back

log = logging.getLogger(__name__)

CLEAN_JOB = "upkeep.clean"
CONSOLIDATE_JOB = "upkeep.consolidate"
TRIES = 8  # at a batch whose memories others keep changing
PATIENCE = 5  # attempts of a job at a summary by a language model, before sentences are chosen instead
ACTOR = "clean-up"
NO_VECTORS = "embedder"  # in `degraded`: near copies could not be looked for
_TOKEN = re.compile(r"(?P<undone>(?:undo:)*)(?P<run>clean:[^:]+)")
_RETRY_SECONDS = LEASE


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What a caller wants. `dry_run` only names what would go."""

    dry_run: bool = True
    actor: str = ""


@dataclass(frozen=True, slots=True)
class Planned:
    """A batch to be, and what the report says of it."""

    batch: Batch
    entries: tuple[CleanEntry, ...]
    added: tuple[Memory, ...] = ()


def parse_cleaning(*, dry_run: object = True, actor: str = "") -> Cleaning:
    """Check what a caller wants. `InvalidInput` names the field."""
    if not isinstance(dry_run, bool):
        raise InvalidInput("dry_run", dry_run, "true or false")
    return Cleaning(dry_run, actor)


Plan: TypeAlias = Callable[[str], Awaitable[Planned | None]]
"""Makes a batch under a key from what is stored now; `None` if nothing is left to do."""


@dataclass(slots=True)
class _Run:
    """One look at a namespace: what it has come to so far."""

    namespace: str
    actor: str
    examined: int = 0
    taken: set[str] = field(default_factory=set)  # memories that a rule has named: no second rule takes them
    unconfirmed: list[tuple[float, str]] = field(default_factory=list)
    entries: list[CleanEntry] = field(default_factory=list)
    added: list[Memory] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cleaner:
    """What clean-up needs. `owner` names this process in the job table."""

    store: Store
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    twins: Twins
    consolidator: Consolidator
    owner: str
    rules: CleanRules = field(default_factory=CleanRules)

    async def clean(self, namespace: str, wanted: Cleaning) -> CleanReport:
        """Name what the rules touch; without `dry_run`, do it. What is cut short is finished by a job."""
        run = _Run(namespace, wanted.actor or ACTOR)
        if wanted.dry_run:
            async for plan in self._rules(run):
                await self._note(run, await plan("dry"))
            async for entry in self._old(run):
                run.entries.append(entry)
            return self._report(run, dry_run=True)
        now = self.clock.now()
        token = f"clean:{self.ids.new()}"
        job = NewJob(
            self.ids.new(), CLEAN_JOB, {"token": token, "actor": run.actor}, now, owner=self.owner,
            lease_until=now + LEASE,
        )  # fmt: skip
        await self.store.apply(Batch(namespace, token, now, jobs=(job,), receipt=Receipt(undo=token)))
        async with kept_leased(self.store, self.clock, job.id, self.owner):
            try:
                pending = await self._work(run, token, job.id, self.owner)
            except HindsightError as error:
                await self._give_back(job.id, error)
                raise
        return replace(self._report(run, dry_run=False), undo=token, pending=pending)

    async def work(self, job: Job, owner: str) -> None:
        """Do or finish a run as a job, and close it. A scheduled one has no token yet: its id makes one."""
        token = cast("str", job.payload.get("token") or f"clean:{job.id}")
        run = _Run(job.namespace, cast("str", job.payload.get("actor") or ACTOR))
        await self._work(run, token, job.id, owner)
        log.info("clean-up of %s: %d memories, undo %s", job.namespace, len(run.entries), token)

    async def consolidate(self, job: Job, owner: str) -> None:
        """Summarise what happened long ago by the language model, and close the job.

        `ModelUnavailable` where it gives nothing usable: what was done so far stands, and the job is tried again.
        """
        run = _Run(job.namespace, cast("str", job.payload.get("actor") or ACTOR))
        token = cast("str", job.payload["token"])
        await self._summarise(run, token, extractive=job.attempts > PATIENCE)
        await self._close(job.namespace, f"{token}:summarised", job.id, owner)

    async def undo(self, namespace: str, token: str, *, actor: str = "") -> Receipt:
        """Take a whole run back, newest batch first; what has been changed since stays as it is. `NotFound`."""
        match = _TOKEN.fullmatch(token)
        keys = [] if match is None else await self._keys(namespace, match["run"], match["undone"])
        if not keys:
            raise NotFound("undo", token)
        outcomes: list[WriteOutcome] = []
        for key in reversed(keys):
            receipt = await take_back(
                self.store, self.embedder, self.clock, self.ids, namespace, key, actor=actor, lenient=True
            )
            outcomes += receipt.outcomes
        return Receipt(tuple(outcomes), undo=f"undo:{token}")

    @property
    def handlers(self) -> dict[str, Handler]:
        """What a worker needs to do the jobs of clean-up."""
        return {CLEAN_JOB: self.work, CONSOLIDATE_JOB: self.consolidate}

    @staticmethod
    def owns(token: str) -> bool:
        """Whether a token is that of a run of clean-up, or of taking one back."""
        return _TOKEN.fullmatch(token) is not None

    # One run -----------------------------------------------------------------------------------------------------

    async def _work(self, run: _Run, token: str, job_id: str, owner: str) -> bool:
        """Everything there is to do, then the end of the job. True if a language model still has summaries to write."""
        async for plan in self._rules(run):
            await self._carried_out(run, token, plan)
        if self.consolidator.model is None:
            await self._summarise(run, token, extractive=True)
            await self._close(run.namespace, f"{token}:done", job_id, owner)
            return False
        groups = await self.consolidator.groups(run.namespace, self.rules)
        later = NewJob(
            self.ids.new(), CONSOLIDATE_JOB, {"token": token, "actor": run.actor}, self.clock.now(),
            dedup_key=CONSOLIDATE_JOB,
        )  # fmt: skip
        await self._close(run.namespace, f"{token}:done", job_id, owner, jobs=(later,) if groups else ())
        return bool(groups)

    async def _close(self, namespace: str, key: str, job_id: str, owner: str, *, jobs: tuple[NewJob, ...] = ()) -> None:
        await self.store.apply(Batch(namespace, key, self.clock.now(), jobs=jobs, done=JobDone(job_id, owner)))

    async def _summarise(self, run: _Run, token: str, *, extractive: bool) -> None:
        for group in await self.consolidator.groups(run.namespace, self.rules, without=frozenset(run.taken)):
            await self._carried_out(run, f"{token}:old", self._summary_of(run, group, extractive=extractive))

    async def _carried_out(self, run: _Run, series: str, plan: Plan) -> None:
        """Apply what a plan makes, under the next free key; made anew where somebody else wrote in between."""
        for attempt in range(TRIES):
            key = await self._free(run.namespace, series)
            planned = await plan(key)
            if planned is None:
                return
            try:
                applied = await self.store.apply(planned.batch)
            except Conflict:
                if attempt + 1 == TRIES:
                    raise
                continue
            if applied.repeated:  # another worker of the same run was quicker
                continue
            await self._note(run, planned)
            await asyncio.sleep(0)
            return

    async def _free(self, namespace: str, series: str) -> str:
        """The first key of a series that no batch has."""
        low, high = 0, 1
        while await self.store.changeset(namespace, f"{series}:{high}") is not None:
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            taken = await self.store.changeset(namespace, f"{series}:{middle}") is not None
            low, high = (middle, high) if taken else (low, middle)
        return f"{series}:{high}"

    async def _keys(self, namespace: str, run: str, undone: str) -> list[str]:
        found = []
        for series in (run, f"{run}:old"):
            for number in count(1):
                key = f"{undone}{series}:{number}"
                if await self.store.changeset(namespace, key) is None:
                    break
                found.append(key)
        return found

    async def _note(self, run: _Run, planned: Planned | None) -> None:
        if planned is not None:
            run.entries += planned.entries
            run.added += planned.added
            run.taken |= {entry.memory.id for entry in planned.entries}

    def _report(self, run: _Run, *, dry_run: bool) -> CleanReport:
        degraded = () if self.twins.possible else (NO_VECTORS,)
        return CleanReport(dry_run, self.rules, run.examined, tuple(run.entries), tuple(run.added), degraded=degraded)

    async def _give_back(self, job_id: str, error: HindsightError) -> None:
        retry_at = self.clock.now() + _RETRY_SECONDS if error.retryable else None
        try:
            await self.store.fail_job(job_id, owner=self.owner, error=f"{error.code}: {error}", retry_at=retry_at)
        except HindsightError as second:
            log.warning("job %s could not be given back: %s", job_id, second)  # its lease runs out

    # The rules ---------------------------------------------------------------------------------------------------

    async def _rules(self, run: _Run) -> AsyncIterator[Plan]:
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

    async def _archivable(self, run: _Run, page: Sequence[Memory]) -> list[str]:
        uses = await self.store.uses(run.namespace, [one.id for one in page])
        at = self.clock.now()
        return [one.id for one in page if archived_by(one, uses.get(one.id), self.rules, at) is not None]

    def _archived(self, run: _Run, ids: Sequence[str]) -> Plan:
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

    def _merged(self, run: _Run, ids: Sequence[str]) -> Plan:
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

    def _gather_stale(self, run: _Run, page: Sequence[Memory]) -> None:
        """Keep the most important of those that nobody has confirmed for long."""
        at = self.clock.now()
        for one in page:
            if stale(one, at, self.rules.stale_days) and self.rules.reviews:
                entry = (one.importance * one.strength, one.id)
                if len(run.unconfirmed) < self.rules.reviews * 2:  # some may be asked about already
                    heapq.heappush(run.unconfirmed, entry)
                else:
                    heapq.heappushpop(run.unconfirmed, entry)

    def _asked(self, run: _Run, ids: Sequence[str]) -> Plan:
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

    def _summary_of(self, run: _Run, group: Group, *, extractive: bool) -> Plan:
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

    async def _old(self, run: _Run) -> AsyncIterator[CleanEntry]:
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

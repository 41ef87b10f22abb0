"""Clean-up: what is over, weak, said twice, long past or unconfirmed (SPEC §6), in small transactions.

A run is a chain of batches under keys that follow from its token: each is all or nothing, what it put away is not found
again by the next look, and so a run that was killed goes on where it stood, neither losing nor doubling anything. The
token takes the whole run back, batch by batch.
"""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass, field, replace
from itertools import count
from typing import cast

from hindsight.domain.change import Batch, Job, JobDone, NewJob, Receipt, WriteOutcome
from hindsight.domain.cleaning import CleanReport, CleanRules
from hindsight.domain.episode import JsonValue
from hindsight.errors import Conflict, HindsightError, InvalidInput, NotFound
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.upkeep.alike import Twins
from hindsight.upkeep.consolidate import Consolidator
from hindsight.upkeep.jobs import Handler
from hindsight.upkeep.plans import Plan, Planned, Planner, Run
from hindsight.write.task import LEASE, kept_leased
from hindsight.write.undo import take_back

log = logging.getLogger(__name__)

CLEAN_JOB = "upkeep.clean"
CONSOLIDATE_JOB = "upkeep.consolidate"
TRIES = 8  # at a batch whose memories others keep changing
AT_ONCE = 8  # summaries that one job has written: others of the same worker wait behind it
PATIENCE = 5  # attempts of a job at a summary by a language model, before sentences are chosen instead
NO_VECTORS = "embedder"  # in `degraded`: near copies could not be looked for
_TOKEN = re.compile(r"(?P<undone>(?:undo:)*)(?P<run>clean:[^:]+)")
_RETRY_SECONDS = LEASE


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What a caller wants. `dry_run` only names what would go."""

    dry_run: bool = True
    actor: str = ""


def parse_cleaning(*, dry_run: object = True, actor: str = "") -> Cleaning:
    """Check what a caller wants. `InvalidInput` names the field."""
    if not isinstance(dry_run, bool):
        raise InvalidInput("dry_run", dry_run, "true or false")
    return Cleaning(dry_run, actor)


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
        token = f"clean:{self.ids.new()}"
        run = Run(namespace, wanted.actor or token)  # where nobody is named, the history names the run by its token
        if wanted.dry_run:
            async for plan in self._planner.by_rule(run):
                await self._note(run, await plan("dry"))
            async for entry in self._planner.to_tell(run):
                run.entries.append(entry)
            return self._report(run, dry_run=True)
        now = self.clock.now()
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
        undo = token if run.entries or pending else None
        return replace(self._report(run, dry_run=False), undo=undo, pending=pending)

    async def work(self, job: Job, owner: str) -> None:
        """Do or finish a run as a job, and close it. A scheduled one has no token yet: its id makes one."""
        token = cast("str", job.payload.get("token") or f"clean:{job.id}")
        run = Run(job.namespace, cast("str", job.payload.get("actor") or token))
        await self._work(run, token, job.id, owner)
        log.info("clean-up of %s: %d memories, undo %s", job.namespace, len(run.entries), token)

    async def consolidate(self, job: Job, owner: str) -> None:
        """Summarise what happened long ago by the language model, and close the job.

        `ModelUnavailable` where it gives nothing usable: what was done so far stands, and the job is tried again.
        """
        token = cast("str", job.payload["token"])
        run = Run(job.namespace, cast("str", job.payload.get("actor") or token))
        more = await self._summarise(run, token, extractive=job.attempts > PATIENCE, most=AT_ONCE)
        later = (self._to_write(token, run.actor),) if more else ()
        await self._close(job.namespace, f"{token}:summarised:{job.id}", job.id, owner, jobs=later)

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
    def _planner(self) -> Planner:
        return Planner(self.store, self.clock, self.twins, self.consolidator, self.rules)

    @property
    def handlers(self) -> dict[str, Handler]:
        """What a worker needs to do the jobs of clean-up."""
        return {CLEAN_JOB: self.work, CONSOLIDATE_JOB: self.consolidate}

    @staticmethod
    def owns(token: str) -> bool:
        """Whether a token is that of a run of clean-up, or of taking one back."""
        return _TOKEN.fullmatch(token) is not None

    # One run -----------------------------------------------------------------------------------------------------

    async def _work(self, run: Run, token: str, job_id: str, owner: str) -> bool:
        """Everything there is to do, then the end of the job. True if a language model still has summaries to write."""
        async for plan in self._planner.by_rule(run):
            await self._carried_out(run, token, plan)
        if self.consolidator.teller is None:
            await self._summarise(run, token, extractive=True)
            await self._close(run.namespace, f"{token}:done", job_id, owner)
            return False
        groups = await self.consolidator.groups(run.namespace, self.rules)
        later = (self._to_write(token, run.actor),) if groups else ()
        await self._close(run.namespace, f"{token}:done", job_id, owner, jobs=later)
        return bool(groups)

    def _to_write(self, token: str, actor: str) -> NewJob:
        """The job that has summaries written; one at a time is enough."""
        payload: dict[str, JsonValue] = {"token": token, "actor": actor}
        return NewJob(self.ids.new(), CONSOLIDATE_JOB, payload, self.clock.now(), dedup_key=CONSOLIDATE_JOB)

    async def _close(self, namespace: str, key: str, job_id: str, owner: str, *, jobs: tuple[NewJob, ...] = ()) -> None:
        await self.store.apply(Batch(namespace, key, self.clock.now(), jobs=jobs, done=JobDone(job_id, owner)))

    async def _summarise(self, run: Run, token: str, *, extractive: bool, most: int | None = None) -> bool:
        """Write up to so many summaries; true if there may be more to write. Groups of which none comes are passed."""
        for group in await self.consolidator.groups(run.namespace, self.rules, without=frozenset(run.taken)):
            if most is not None and len(run.added) >= most:
                return True
            await self._carried_out(run, f"{token}:old", self._planner.summary_of(run, group, extractive=extractive))
        return False

    async def _carried_out(self, run: Run, series: str, plan: Plan) -> None:
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

    async def _note(self, run: Run, planned: Planned | None) -> None:
        if planned is not None:
            run.entries += planned.entries
            run.added += planned.added
            run.taken |= {entry.memory.id for entry in planned.entries}

    def _report(self, run: Run, *, dry_run: bool) -> CleanReport:
        degraded = () if self.twins.possible else (NO_VECTORS,)
        return CleanReport(dry_run, self.rules, run.examined, tuple(run.entries), tuple(run.added), degraded=degraded)

    async def _give_back(self, job_id: str, error: HindsightError) -> None:
        retry_at = self.clock.now() + _RETRY_SECONDS if error.retryable else None
        try:
            await self.store.fail_job(job_id, owner=self.owner, error=f"{error.code}: {error}", retry_at=retry_at)
        except HindsightError as second:
            log.warning("job %s could not be given back: %s", job_id, second)  # its lease runs out

"""The worker: takes jobs that are due, keeps its lease alive while it works, gives back what failed.

A handler closes its job itself, in the transaction that stores its results, so a job is done exactly when its work is.
A worker that dies leaves a lease that runs out; another worker takes the job over.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from hindsight.domain.change import Job
from hindsight.errors import Conflict, HindsightError, Unavailable
from hindsight.ports import Clock, Store

log = logging.getLogger(__name__)

Handler: TypeAlias = Callable[[Job, str], Awaitable[None]]
"""Does a job as the named owner, and closes it; `hindsight.errors` tell whether trying again may help."""


Watch: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""Stands around each job, told its kind."""


def unwatched(_kind: str) -> AbstractContextManager[None]:
    """Nobody looks."""
    return contextlib.nullcontext()


@dataclass(frozen=True, slots=True)
class JobPolicy:
    """How long a lease lasts, how often the table is looked at, and how failures are tried again.

    A retry waits `backoff * 2 ** (attempts - 1)`, at most `backoff_limit`; after `attempts` the job is dead and stays
    in the table for a person to see.
    """

    lease: timedelta = timedelta(seconds=60)
    poll_seconds: float = 2.0
    attempts: int = 8
    backoff: timedelta = timedelta(seconds=5)
    backoff_limit: timedelta = timedelta(hours=1)


class Worker:
    """Runs the handlers of one process. `owner` must differ between processes."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        handlers: Mapping[str, Handler],
        *,
        owner: str,
        policy: JobPolicy | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self._store = store
        self._clock = clock
        self._handlers = dict(handlers)
        self._owner = owner
        self._policy = policy or JobPolicy()
        self._watch = watch
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look at the table now: something was just put in."""
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled. An outage of the store is waited out."""
        while True:
            try:
                worked = await self.run_one()
            except Unavailable as error:
                log.warning("jobs wait: %s", error)
                worked = False
            if worked:
                continue
            # Not `wait_for`: where the wait ends while it is cancelled, Python 3.11 keeps the cancellation to itself.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._policy.poll_seconds):
                    await self._wake.wait()
            self._wake.clear()

    async def run_one(self) -> bool:
        """Do one job that is due; false if there is none."""
        now = self._clock.now()
        job = await self._store.lease_job(
            tuple(self._handlers), owner=self._owner, now=now, until=now + self._policy.lease
        )
        if job is None:
            return False
        heart = asyncio.create_task(self._beat(job))
        try:
            with self._watch(job.kind):
                await self._handlers[job.kind](job, self._owner)
        except HindsightError as error:
            await self._give_back(job, error)
        except Exception as error:  # the edge of the worker: one broken job must not stop the others
            log.exception("job %s (%s) is broken", job.id, job.kind)
            await self._give_back(job, HindsightError(f"{type(error).__name__}: {error}"))
        finally:
            heart.cancel()
            # Not `await heart` with its cancellation suppressed: that would swallow one of this task as well.
            await asyncio.wait({heart})
        return True

    async def _beat(self, job: Job) -> None:
        while True:
            await asyncio.sleep(self._policy.lease.total_seconds() / 3)
            try:
                await self._store.renew_job(job.id, owner=self._owner, until=self._clock.now() + self._policy.lease)
            except Conflict:
                return
            except Unavailable as error:
                log.warning("lease of job %s not renewed: %s", job.id, error)

    async def _give_back(self, job: Job, error: HindsightError) -> None:
        policy = self._policy
        retry = error.retryable and job.attempts < policy.attempts
        wait = min(policy.backoff * 2 ** max(0, job.attempts - 1), policy.backoff_limit)
        log.log(logging.WARNING if retry else logging.ERROR, "job %s (%s) failed: %s", job.id, job.kind, error)
        with contextlib.suppress(Conflict):
            await self._store.fail_job(
                job.id,
                owner=self._owner,
                error=f"{error.code}: {error}",
                retry_at=self._clock.now() + wait if retry else None,
            )

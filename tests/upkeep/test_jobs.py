"""The job worker: done once, taken over after a death, tried again after a failure (CASES R4)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from hindsight.domain.change import Batch, Job, JobDone, JobState, NewJob
from hindsight.errors import HindsightError, InvalidInput, StorageUnavailable
from hindsight.storage.oracle import OracleStore
from hindsight.upkeep.jobs import JobPolicy, Worker

SPACE = "space"
KIND = "test.work"


@dataclass
class Clock:
    moment: datetime = datetime(2024, 1, 15, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def passes(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


@dataclass
class Bench:
    """A store with one job, and workers that do it by writing a line."""

    store: OracleStore = field(default_factory=OracleStore)
    clock: Clock = field(default_factory=Clock)
    done: list[str] = field(default_factory=list)
    failing: HindsightError | None = None

    async def put(self, job_id: str = "job", **more: object) -> None:
        job = NewJob(job_id, KIND, {}, run_at=self.clock.now(), **more)  # type: ignore[arg-type]  # fields by name
        await self.store.apply(Batch(SPACE, f"put {job_id}", self.clock.now(), jobs=(job,)))

    async def work(self, job: Job, owner: str) -> None:
        if self.failing is not None:
            raise self.failing
        done = JobDone(job.id, owner)
        await self.store.apply(Batch(SPACE, f"{owner} does {job.id}", self.clock.now(), done=done))
        self.done.append(job.id)

    def worker(self, owner: str = "one", *, attempts: int = 3) -> Worker:
        policy = JobPolicy(attempts=attempts, backoff=timedelta(seconds=10), backoff_limit=timedelta(seconds=25))
        return Worker(self.store, self.clock, {KIND: self.work}, owner=owner, policy=policy)

    async def only(self) -> Job:
        (job,) = await self.store.jobs(SPACE)
        return job


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_a_job_is_done_once_however_many_workers_there_are(bench: Bench) -> None:
    for number in range(10):
        await bench.put(f"job {number}")
    workers = [bench.worker(owner) for owner in ("one", "two", "three")]
    while any(await asyncio.gather(*(worker.run_one() for worker in workers))):
        pass
    assert sorted(bench.done) == [f"job {number}" for number in range(10)]
    assert list(await bench.store.jobs(SPACE)) == []


async def test_a_job_whose_worker_died_is_taken_over_after_its_lease_and_not_before(bench: Bench) -> None:
    await bench.put(owner="the dead", lease_until=bench.clock.now() + timedelta(seconds=60))
    assert not await bench.worker().run_one()
    bench.clock.passes(61)
    assert await bench.worker().run_one()
    assert bench.done == ["job"]


async def test_what_fails_is_tried_again_later_and_later_and_then_left_for_a_person(bench: Bench) -> None:
    await bench.put()
    bench.failing = StorageUnavailable("the disk is away")
    worker = bench.worker(attempts=3)
    waits = []
    for _ in range(2):
        assert await worker.run_one()
        waits.append(((await bench.only()).run_at - bench.clock.now()).total_seconds())
        assert not await worker.run_one()
        bench.clock.passes(waits[-1])
    assert waits == [10, 20]
    assert await worker.run_one()
    dead = await bench.only()
    assert dead.state is JobState.DEAD
    assert dead.last_error == "storage_unavailable: the disk is away"
    bench.clock.passes(10**6)
    assert not await worker.run_one()


async def test_what_can_not_be_mended_by_trying_again_is_not_tried_again(bench: Bench) -> None:
    await bench.put()
    bench.failing = InvalidInput("payload", {}, "something else")
    assert await bench.worker().run_one()
    assert (await bench.only()).state is JobState.DEAD


async def test_a_handler_with_a_fault_stops_neither_the_worker_nor_the_other_jobs(bench: Bench) -> None:
    async def broken(job: Job, owner: str) -> None:
        raise ZeroDivisionError("by nothing")

    await bench.put()
    worker = Worker(bench.store, bench.clock, {KIND: broken}, owner="one")
    assert await worker.run_one()
    dead = await bench.only()
    assert (dead.state, dead.last_error) == (JobState.DEAD, "error: ZeroDivisionError: by nothing")


async def test_a_worker_that_lost_its_lease_changes_nothing(bench: Bench) -> None:
    await bench.put()
    taken = await bench.store.lease_job([KIND], owner="slow", now=bench.clock.now(), until=bench.clock.now())
    assert taken is not None
    bench.clock.passes(1)
    assert await bench.worker("quick").run_one()
    with pytest.raises(HindsightError, match="job"):
        await bench.work(taken, "slow")
    assert bench.done == ["job"]


async def test_a_sleeping_worker_wakes_for_new_work_and_ends_when_it_is_told_to(bench: Bench) -> None:
    did = asyncio.Event()

    async def work(job: Job, owner: str) -> None:
        await bench.work(job, owner)
        did.set()

    worker = Worker(bench.store, bench.clock, {KIND: work}, owner="one", policy=JobPolicy(poll_seconds=3600))
    running = asyncio.create_task(worker.run())
    await asyncio.sleep(0)
    await bench.put()
    worker.wake()
    await did.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


@pytest.mark.parametrize("turns", range(6))
async def test_a_worker_told_to_end_right_after_it_was_woken_ends(bench: Bench, turns: int) -> None:
    worker = bench.worker()
    running = asyncio.create_task(worker.run())
    for _ in range(20):  # until it sleeps
        await asyncio.sleep(0)
    worker.wake()
    for _ in range(turns):  # at any step of its waking
        await asyncio.sleep(0)
    running.cancel()
    done, _ = await asyncio.wait({running}, timeout=1)
    assert done

"""One contract for all stores. A backend's test is a class that inherits it and says how a store is made:

    class TestMyStore(StoreContract):
        async def make(self, place, *, watch=None):
            return await MyStore.open(place / "file", watch=watch)

Tests are inherited from `WritingContract`, `ReadingContract` and the like; random histories against the oracle are in
`machine`.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from hindsight.domain.change import Job, JobDone, JobState, NewJob
from hindsight.domain.episode import JsonValue
from hindsight.errors import Conflict, StorageUnavailable
from hindsight.ports import Store
from hindsight.testing.machine import everything, history_of
from hindsight.testing.made import MODEL, NOON, SPACE, a_batch, a_memory, new
from hindsight.testing.store_keeping import KeepingContract
from hindsight.testing.store_keys import KeyContract
from hindsight.testing.store_opening import Capabilities
from hindsight.testing.store_purge import PurgeContract
from hindsight.testing.store_reading import ReadingContract, filled
from hindsight.testing.store_schedule import ScheduleContract
from hindsight.testing.store_sessions import SessionContract
from hindsight.testing.store_writing import WritingContract, rich_batch

__all__ = ["Capabilities", "StoreContract"]

MINUTE = timedelta(minutes=1)
LEASE = 5 * MINUTE


async def lease(store: Store, owner: str, minutes: float = 0, kinds: tuple[str, ...] = ("k",)) -> Job | None:
    """Lease a job so many minutes past noon."""
    now = NOON + minutes * MINUTE
    return await store.lease_job(kinds, owner=owner, now=now, until=now + LEASE)


def a_job(name: str = "j1", **fields: Any) -> NewJob:
    """A job of the kind `k`, due at noon."""
    return replace(NewJob(name, "k", {"那": [1, None, {"x": 0.5}]}, NOON), **fields)


class StoreContract(
    WritingContract, ReadingContract, SessionContract, PurgeContract, ScheduleContract, KeepingContract, KeyContract
):
    """Everything a `Store` owes."""

    # Jobs -----------------------------------------------------------------------------------------------------------

    async def test_a_job_comes_back_whole(self, store: Store) -> None:
        await store.apply(a_batch("b", jobs=(a_job(dedup_key="once"),)))
        plain = Job("j1", SPACE, "k", {"那": [1, None, {"x": 0.5}]}, JobState.READY, NOON, 0, dedup_key="once")
        assert list(await store.jobs(SPACE)) == [plain]
        leased = await lease(store, "w1")
        assert leased == replace(plain, state=JobState.LEASED, attempts=1, owner="w1", lease_until=NOON + LEASE)
        assert list(await store.jobs(SPACE)) == [leased]

    async def test_two_workers_never_get_the_same_job(self, store: Store) -> None:
        await store.apply(a_batch("b", jobs=tuple(a_job(f"j{n}") for n in range(20))))
        found = await asyncio.gather(*(lease(store, f"w{n % 2}") for n in range(30)))
        ids = [job.id for job in found if job is not None]
        assert sorted(ids) == sorted(f"j{n}" for n in range(20))

    async def test_jobs_are_taken_oldest_first_when_due_and_by_kind(self, store: Store) -> None:
        later = a_job("later", run_at=NOON + MINUTE)
        await store.apply(a_batch("b", jobs=(later, a_job("other", kind="o"), a_job("first"), a_job("second"))))
        assert [job.id if (job := await lease(store, "w")) else None for _ in range(3)] == ["first", "second", None]
        assert (await lease(store, "w", minutes=1)).id == "later"  # type: ignore[union-attr]  # there is one
        assert (await lease(store, "w", kinds=("x", "o"))).id == "other"  # type: ignore[union-attr]  # there is one
        assert await lease(store, "w", kinds=()) is None

    async def test_a_dead_workers_job_is_taken_over_and_done_once(self, store: Store) -> None:
        await store.apply(a_batch("b", jobs=(a_job(),)))
        await lease(store, "w1")
        assert await lease(store, "w2", minutes=4.99) is None
        taken = await lease(store, "w2", minutes=5)
        assert taken is not None
        assert (taken.owner, taken.attempts) == ("w2", 2)
        with pytest.raises(Conflict):
            await store.apply(a_batch("late", puts=(new(a_memory()),), done=JobDone("j1", "w1")))
        assert not await store.memories(SPACE, ["m1"])
        await store.apply(a_batch("done", puts=(new(a_memory()),), done=JobDone("j1", "w2")))
        assert await store.jobs(SPACE) == []
        with pytest.raises(Conflict):
            await store.apply(a_batch("again", done=JobDone("j1", "w2")))

    async def test_a_job_is_closed_only_in_its_own_namespace(self, store: Store) -> None:
        await store.apply(a_batch("b", jobs=(a_job(owner="w", lease_until=NOON + LEASE),)))
        with pytest.raises(Conflict):
            await store.apply(replace(a_batch("c"), namespace="other", done=JobDone("j1", "w")))

    async def test_a_job_may_be_born_leased(self, store: Store) -> None:
        await store.apply(a_batch("b", jobs=(a_job(owner="writer", lease_until=NOON + LEASE),)))
        assert await lease(store, "w") is None
        (job,) = await store.jobs(SPACE)
        assert (job.state, job.owner, job.attempts) == (JobState.LEASED, "writer", 1)
        assert (await lease(store, "w", minutes=6)).attempts == 2  # type: ignore[union-attr]  # there is one

    async def test_a_second_open_job_of_the_same_dedup_key_is_dropped(self, store: Store) -> None:
        await store.apply(a_batch("1", jobs=(a_job("j1", dedup_key="once"), a_job("j2", dedup_key="once"))))
        await lease(store, "w")
        await store.apply(a_batch("2", jobs=(a_job("j3", dedup_key="once"), a_job("j4", dedup_key="other"))))
        assert [job.id for job in await store.jobs(SPACE)] == ["j1", "j4"]
        # A job that ends may put in its successor in the same batch.
        await store.apply(a_batch("3", jobs=(a_job("j5", dedup_key="once"),), done=JobDone("j1", "w")))
        assert [job.id for job in await store.jobs(SPACE)] == ["j4", "j5"]

    async def test_leases_are_renewed_and_given_back_by_their_owner_only(self, store: Store) -> None:
        await store.apply(a_batch("b", jobs=(a_job(),)))
        await lease(store, "w")
        await store.renew_job("j1", owner="w", until=NOON + 60 * MINUTE)
        assert await lease(store, "x", minutes=59) is None
        for owner, job_id in (("x", "j1"), ("w", "j2")):
            with pytest.raises(Conflict):
                await store.renew_job(job_id, owner=owner, until=NOON)
            with pytest.raises(Conflict):
                await store.fail_job(job_id, owner=owner, error="?", retry_at=None)
        await store.fail_job("j1", owner="w", error="超时", retry_at=NOON + MINUTE)
        (job,) = await store.jobs(SPACE)
        assert (job.state, job.owner, job.lease_until, job.last_error) == (JobState.READY, None, None, "超时")
        assert await lease(store, "w") is None
        assert (await lease(store, "w", minutes=1)).attempts == 2  # type: ignore[union-attr]  # there is one
        await store.fail_job("j1", owner="w", error="again", retry_at=None)
        assert [job.state for job in await store.jobs(SPACE)] == [JobState.DEAD]
        assert await lease(store, "w", minutes=999) is None

    # Beside the truth -----------------------------------------------------------------------------------------------

    async def test_uses_are_counted_without_a_change_number(self, store: Store) -> None:
        await store.record_use(SPACE, ["m1", "m2"], NOON)
        await store.record_use(SPACE, ["m1"], NOON - MINUTE)
        uses = await store.uses(SPACE, ["m1", "m2", "m3"])
        assert {name: (use.count, use.last_used) for name, use in uses.items()} == {
            "m1": (2, NOON.timestamp()),
            "m2": (1, NOON.timestamp()),
        }
        assert (await store.head(SPACE), await store.namespaces()) == (0, [])

    async def test_a_trace_is_found_at_once(self, store: Store) -> None:
        body: dict[str, JsonValue] = {"query": "吃什么要小心", "stages": [{"ms": 1.5}, None]}
        await store.save_trace(SPACE, "t1", NOON, body)
        assert await store.trace(SPACE, "t1") == body
        assert await store.trace(SPACE, "t2") is None
        await store.save_trace(SPACE, "t1", NOON, {})
        assert await store.trace(SPACE, "t1") == {}

    async def test_the_latest_traces_are_read_oldest_first(self, store: Store) -> None:
        for number in range(5):
            await store.save_trace(SPACE, f"t{number}", NOON, {"number": number})
        assert [body["number"] for body in await store.traces(SPACE, limit=3)] == [2, 3, 4]
        assert await store.traces("elsewhere", limit=3) == []

    async def test_the_store_owns_its_embedding_model(self, store: Store) -> None:
        assert await store.embedding_model() is None
        await store.set_embedding_model(MODEL, expected=None)
        with pytest.raises(Conflict):
            await store.set_embedding_model("another", expected=None)
        await store.set_embedding_model("another", expected=MODEL)
        assert await store.embedding_model() == "another"

    # Life -----------------------------------------------------------------------------------------------------------

    async def test_everything_is_there_after_close_and_reopen(self, place: Path) -> None:
        self.need("reopens")
        store = await self.make(place)
        await filled(store)
        await store.set_embedding_model(MODEL, expected=None)
        before = await everything(store, SPACE)
        await store.aclose()
        store = await self.make(place)
        assert await everything(store, SPACE) == before
        assert (await store.trace(SPACE, "t1"), await store.embedding_model()) == ({"text": "吃什么要小心"}, MODEL)
        assert (await store.apply(rich_batch())).repeated
        await store.aclose()

    async def test_a_closed_store_says_so_and_closes_twice(self, place: Path) -> None:
        store = await self.make(place)
        writes = [asyncio.ensure_future(store.apply(a_batch(f"b{n}"))) for n in range(5)]
        await asyncio.sleep(0)  # the writes are queued
        await store.aclose()
        await store.aclose()
        assert sorted(answer.change for answer in await asyncio.gather(*writes)) == [1, 2, 3, 4, 5]
        with pytest.raises(StorageUnavailable):
            await store.apply(a_batch("late"))
        with pytest.raises(StorageUnavailable):
            await store.head(SPACE)

    def test_random_histories_end_as_the_oracle_ends(self) -> None:
        machine = history_of(self.make, reopens=self.capabilities.reopens)
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=20, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
            ),
        )

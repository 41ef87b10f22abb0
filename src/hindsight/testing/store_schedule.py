"""What a `Store` owes to work that comes again, as tests that every backend inherits through `StoreContract`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight.domain.change import JobDone, NewJob
from hindsight.domain.schedule import Due
from hindsight.errors import Conflict, InvalidInput, NotFound
from hindsight.ports import Store
from hindsight.testing.made import NOON, SPACE, a_batch
from hindsight.testing.store_opening import OpensStores

DAY = timedelta(days=1)
DAILY = Due("daily", "0 12 * * *", NOON)


def work(name: str = "j1", **fields: object) -> NewJob:
    """A job that is due at noon."""
    return replace(NewJob(name, "k", {}, NOON), **fields)  # type: ignore[arg-type]  # fields by name


class ScheduleContract(OpensStores):
    """Entries that are moved on once, and jobs that are closed or cancelled."""

    async def test_an_entry_comes_back_whole_and_by_name(self, store: Store) -> None:
        other = Due("clean-up", "@weekly", NOON + DAY, NOON)
        for entry in (DAILY, other):
            assert await store.put_scheduled(entry, expected=None)
        assert list(await store.scheduled()) == [other, DAILY]

    async def test_an_entry_is_moved_on_once_and_with_its_jobs(self, store: Store) -> None:
        await store.put_scheduled(DAILY, expected=None)
        moved = replace(DAILY, due=NOON + DAY, last=NOON)
        turns = await asyncio.gather(
            *(store.put_scheduled(moved, expected=NOON, jobs=((SPACE, work(f"j{n}")),)) for n in range(5))
        )
        assert sorted(turns) == [False] * 4 + [True]
        assert len(await store.jobs(SPACE)) == 1
        assert list(await store.scheduled()) == [moved]
        assert not await store.put_scheduled(DAILY, expected=None)

    async def test_a_job_about_the_whole_store_belongs_to_no_namespace(self, store: Store) -> None:
        await store.put_scheduled(DAILY, expected=None, jobs=(("", work()),))
        assert [job.namespace for job in await store.jobs("")] == [""]
        leased = await store.lease_job(("k",), owner="w", now=NOON, until=NOON + DAY)
        assert leased is not None
        with pytest.raises(Conflict):
            await store.close_job("j1", owner="x")
        await store.close_job("j1", owner="w")
        assert await store.jobs("") == []
        assert await store.namespaces() == []
        with pytest.raises(Conflict):
            await store.close_job("j1", owner="w")

    async def test_a_job_that_still_waits_is_not_put_in_twice(self, store: Store) -> None:
        await store.put_scheduled(DAILY, expected=None, jobs=((SPACE, work("j1", dedup_key="once")),))
        moved = replace(DAILY, due=NOON + DAY)
        assert await store.put_scheduled(moved, expected=NOON, jobs=((SPACE, work("j2", dedup_key="once")),))
        assert [job.id for job in await store.jobs(SPACE)] == ["j1"]

    async def test_a_job_that_cannot_be_put_in_leaves_the_entry_as_it_was(self, store: Store) -> None:
        await store.put_scheduled(DAILY, expected=None, jobs=((SPACE, work("j1")),))
        with pytest.raises(Conflict):
            await store.put_scheduled(replace(DAILY, due=NOON + DAY), expected=NOON, jobs=((SPACE, work("j1")),))
        with pytest.raises(InvalidInput):
            await store.put_scheduled(replace(DAILY, name="a\0"), expected=NOON)
        assert list(await store.scheduled()) == [DAILY]

    async def test_a_cancelled_job_is_gone_also_from_who_works_on_it(self, store: Store) -> None:
        await store.apply(a_batch("b", jobs=(work("j1"), work("j2"))))
        await store.lease_job(("k",), owner="w", now=NOON, until=NOON + DAY)
        assert (await store.cancel_job(SPACE, "j1")).owner == "w"
        assert (await store.cancel_job(SPACE, "j2")).owner is None
        with pytest.raises(Conflict):
            await store.apply(a_batch("late", done=JobDone("j1", "w")))
        with pytest.raises(Conflict):
            await store.renew_job("j1", owner="w", until=NOON + DAY)
        assert await store.jobs(SPACE) == []

    async def test_a_job_is_cancelled_in_its_own_namespace_only(self, store: Store) -> None:
        await store.apply(a_batch("b", jobs=(work("j1"),)))
        for namespace, job_id in (("other", "j1"), (SPACE, "j9")):
            with pytest.raises(NotFound):
                await store.cancel_job(namespace, job_id)
        assert len(await store.jobs(SPACE)) == 1

    async def test_the_schedule_outlives_a_restart(self, place: Path) -> None:
        self.need("reopens")
        store = await self.make(place)
        await store.put_scheduled(DAILY, expected=None)
        await store.aclose()
        store = await self.make(place)
        assert list(await store.scheduled()) == [DAILY]
        await store.aclose()

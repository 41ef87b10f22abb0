"""Work that comes again: put in once among all processes, made up for once after a pause."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from hindsight.domain.change import Batch
from hindsight.errors import InvalidInput
from hindsight.storage.oracle import OracleStore
from hindsight.upkeep.schedule import WHOLE, Entry, Scheduler, chosen, rules_in

ENTRIES = (Entry("purge", "0 4 * * *", "purge"), Entry("clean-up", "0 3 * * sun", "upkeep.clean", each=True))


class Clock:
    """It is what a test says."""

    moment = datetime(2024, 1, 15, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def passes(self, **much: float) -> None:
        self.moment += timedelta(**much)


class Ids:
    """Rising numbers, of all schedulers of one test."""

    numbers = count(1)

    def new(self) -> str:
        return f"{next(self.numbers):026d}"


class House:
    """A store with two namespaces, a clock, and as many schedulers as a test wants."""

    def __init__(self) -> None:
        self.store, self.clock, self.ids = OracleStore(), Clock(), Ids()

    def scheduler(self, entries: tuple[Entry, ...] = ENTRIES) -> Scheduler:
        return Scheduler(self.store, self.clock, self.ids, entries, UTC)

    async def filled(self) -> House:
        for name in ("ann", "bob"):
            await self.store.apply(Batch(name, "b", self.clock.now()))
        return self

    async def jobs(self) -> list[tuple[str, str]]:
        return [(name, job.kind) for name in (WHOLE, "ann", "bob") for job in await self.store.jobs(name)]


async def test_an_entry_waits_for_its_time_and_comes_for_all_it_is_about() -> None:
    house = await House().filled()
    scheduler = house.scheduler()
    assert await scheduler.tick() == ()
    house.clock.passes(hours=18)
    assert await scheduler.tick() == ()
    house.clock.passes(hours=2)
    assert await scheduler.tick() == ("purge",)
    assert await house.jobs() == [(WHOLE, "purge")]
    house.clock.passes(days=5)
    assert await scheduler.tick() == ("purge", "clean-up")
    assert await house.jobs() == [(WHOLE, "purge"), ("ann", "upkeep.clean"), ("bob", "upkeep.clean")]


async def test_of_many_processes_one_puts_it_in() -> None:
    house = await House().filled()
    schedulers = [house.scheduler() for _ in range(5)]
    await asyncio.gather(*(one.tick() for one in schedulers))
    house.clock.passes(days=1)
    turns = await asyncio.gather(*(one.tick() for one in schedulers))
    assert sorted(turns) == [(), (), (), (), ("purge",)]
    assert await house.jobs() == [(WHOLE, "purge")]


async def test_what_was_missed_is_made_up_for_once() -> None:
    house = await House().filled()
    await house.scheduler().tick()
    house.clock.passes(days=40)
    again = house.scheduler()  # the process of then is gone
    assert await again.tick() == ("purge", "clean-up")
    assert await again.tick() == ()
    (entry,) = [one for one in await house.store.scheduled() if one.name == "purge"]
    assert entry.due == datetime(2024, 2, 25, 4, 0, tzinfo=UTC)


async def test_a_new_rule_counts_from_now_on() -> None:
    house = await House().filled()
    await house.scheduler().tick()
    house.clock.passes(days=1)
    changed = house.scheduler(chosen(ENTRIES, {"purge": "@hourly", "clean-up": "off"}))
    assert await changed.tick() == ()
    house.clock.passes(hours=1)
    assert await changed.tick() == ("purge",)


def test_rules_are_read_from_a_setting() -> None:
    assert rules_in("purge=0 4 * * *; clean-up=off;") == {"purge": "0 4 * * *", "clean-up": "off"}
    assert rules_in("") == {}


@pytest.mark.parametrize("text", ["purge", "=x", "purge=", "purge; x"])
def test_a_setting_that_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="schedule"):
        rules_in(text)


@pytest.mark.parametrize("given", [{"unknown": "off"}, {"purge": "whenever"}])
def test_a_name_or_rule_that_is_none_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="schedule"):
        chosen(ENTRIES, given)

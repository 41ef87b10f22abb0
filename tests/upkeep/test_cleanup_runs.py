"""Runs of clean-up: a dry run tells the truth, one token takes all back, and a death in the middle changes nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from hindsight.domain.change import Applied, Batch, NewJob
from hindsight.domain.cleaning import CleanRule
from hindsight.domain.episode import EpisodeState
from hindsight.domain.memory import Kind, Status
from hindsight.errors import NotFound, StorageUnavailable
from hindsight.storage.oracle import OracleStore
from hindsight.upkeep.cleanup import CLEAN_JOB, Cleaning
from hindsight.write.undo import SINCE
from tests.upkeep.house import Home, a_year, all_of, worked
from tests.write.house import SPACE

DRY, APPLY = Cleaning(), Cleaning(dry_run=False)


@pytest.fixture
def home() -> Home:
    return Home()


# Taking it back, and dying in the middle ------------------------------------------------------------------------------


async def test_a_dry_run_names_what_a_run_then_does_and_changes_nothing(home: Home) -> None:
    made = await a_year(home)
    head = await home.store.head(SPACE)

    dry = await home.cleaner(batch=3).clean(SPACE, DRY)

    assert await home.store.head(SPACE) == head
    assert dry.undo is None
    done = await home.cleaner(batch=3).clean(SPACE, APPLY)
    assert {(one.memory.id, one.rule, one.action) for one in dry.entries} == {
        (one.memory.id, one.rule, one.action) for one in done.entries
    }
    assert {one.rule for one in done.entries} == set(CleanRule)
    assert dry.examined == len(made)


async def test_one_token_takes_a_whole_run_back_and_again_does_it_again(home: Home) -> None:
    made = await a_year(home)
    before = {one.id: (await home.status(one), (await home.now(one)).content) for one in made}
    states = {one.sources[0].episode_id for one in made if one.sources}
    report = await home.cleaner(batch=3).clean(SPACE, APPLY)
    after = {one.id: await home.status(one) for one in made}
    assert report.undo is not None

    back = await home.cleaner().undo(SPACE, report.undo)

    assert {one.id: (await home.status(one), (await home.now(one)).content) for one in made} == before
    assert [one.kind for one in await home.active() if one.kind is Kind.SUMMARY] == []
    assert {await home.state(one) for one in states} == {EpisodeState.OPEN}
    assert await home.store.reviews(SPACE) == []
    assert back.undo is not None
    await home.cleaner().undo(SPACE, back.undo)
    assert {one.id: await home.status(one) for one in made} == after
    assert len(await home.store.reviews(SPACE)) > 0


async def test_what_was_changed_since_stays_as_it_is_when_a_run_is_taken_back(home: Home) -> None:
    await a_year(home)
    report = await home.cleaner().clean(SPACE, APPLY)
    (summary, *_) = report.added
    await home.amender.pin(SPACE, summary.id)
    assert report.undo is not None

    back = await home.cleaner().undo(SPACE, report.undo)

    assert [(one.memory_id, one.reason) for one in back.outcomes if one.reason] == [(summary.id, SINCE)]
    assert await home.status(summary) is Status.ACTIVE


async def test_a_token_nobody_gave_out_takes_nothing_back(home: Home) -> None:
    for token in ("clean:unknown", "undo:clean:unknown", "clean:"):
        with pytest.raises(NotFound):
            await home.cleaner().undo(SPACE, token)


@dataclass
class Mortal(OracleStore):
    """Dies at a given write, as a process does that is killed."""

    left: int = 1_000_000

    def __post_init__(self) -> None:
        super().__init__()

    async def apply(self, batch: Batch) -> Applied:
        self.left -= 1
        if self.left < 0:
            raise StorageUnavailable("killed")
        return await super().apply(batch)

    async def fail_job(self, job_id: str, **more: object) -> None:
        if self.left < 0:
            raise StorageUnavailable("killed")
        await super().fail_job(job_id, **more)  # type: ignore[arg-type]  # passed on


@pytest.mark.parametrize("writes", range(1, 10))
async def test_a_run_killed_at_any_write_is_finished_by_a_job_and_comes_to_the_same(writes: int) -> None:
    whole, killed = Home(), Home(store=Mortal())
    for home in (whole, killed):
        await a_year(home)
    await whole.cleaner(batch=3).clean(SPACE, APPLY)
    assert isinstance(killed.store, Mortal)

    killed.store.left = writes
    with pytest.raises(StorageUnavailable):
        await killed.cleaner(batch=3).clean(SPACE, APPLY)
    killed.store.left = 1_000_000
    await worked(killed)

    async def outcome(home: Home) -> list[tuple[str, Status]]:
        return sorted((one.content, one.status) for one in await all_of(home))

    assert await outcome(killed) == await outcome(whole)
    assert await killed.store.jobs(SPACE) == []
    assert len(await killed.store.reviews(SPACE)) == len(await whole.store.reviews(SPACE))


async def test_two_runs_at_once_do_everything_once(home: Home) -> None:
    made = await a_year(home)

    reports = await asyncio.gather(*(home.cleaner(batch=3, owner=name).clean(SPACE, APPLY) for name in ("a", "b")))

    touched = [entry.memory.id for report in reports for entry in report.entries if entry.rule is not CleanRule.STALE]
    assert len(touched) == len(set(touched))
    assert len(made) > len(touched) > 0
    assert len([one for one in await home.active() if one.kind is Kind.SUMMARY]) == 2


async def test_a_job_from_a_schedule_cleans_and_can_be_taken_back_by_its_id(home: Home) -> None:
    await a_year(home)
    job = NewJob("weekly", CLEAN_JOB, {}, home.clock.now())
    await home.store.apply(Batch(SPACE, "schedule", home.clock.now(), jobs=(job,)))

    await worked(home)

    assert len([one for one in await home.active() if one.kind is Kind.SUMMARY]) == 2
    changed = [one for one in await all_of(home) if one.status is Status.ARCHIVED]
    (token,) = {(await home.store.history(SPACE, one.id))[-1].actor for one in changed}
    assert token == "clean:weekly"
    await home.cleaner().undo(SPACE, token)
    assert len([one for one in await home.active() if one.kind is Kind.SUMMARY]) == 0


async def test_other_namespaces_are_not_touched(home: Home) -> None:
    await a_year(home)

    await home.cleaner().clean("another", APPLY)

    assert all(one.status is Status.ACTIVE for one in await home.active())
    assert len(await home.active()) > 20

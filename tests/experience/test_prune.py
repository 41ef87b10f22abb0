"""Pruning: only named at first, archived when told to, undone whole; pinned ones and old lessons stay."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest

from hindsight.domain.change import Act, Batch, Put
from hindsight.domain.experience import Action, Experience, Outcome, OutcomeStatus, Trigger, rendered
from hindsight.domain.memory import Kind, Layer, Memory, Status
from hindsight.domain.pruning import GRACE, SMALL, PruneRule, Spared
from hindsight.domain.query import Filters
from hindsight.errors import InvalidInput
from hindsight.experience.feedback import Feedback
from hindsight.experience.prune import PURGE_AFTER, Pruner, Wanted, parse_prune
from hindsight.storage.oracle import OracleStore
from hindsight.write.undo import take_back

SPACE = "space"
NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)


@dataclass
class Clock:
    moment: datetime = NOW

    def now(self) -> datetime:
        return self.moment


@dataclass
class Ids:
    count: int = 0

    def new(self) -> str:
        self.count += 1
        return f"{self.count:026d}"


@dataclass
class World:
    store: OracleStore
    clock: Clock
    ids: Ids

    async def keep(
        self,
        name: str,
        *,
        confidence: int = 50,
        days: int = 0,
        uses: int = 0,
        pinned: bool = False,
        failed: bool = False,
    ) -> str:
        status = OutcomeStatus.FAILURE if failed else OutcomeStatus.SUCCESS
        body = Experience(Trigger(name), Action(("act",)), Outcome(status, confidence, uses))
        made = self.clock.moment - timedelta(days=days)
        memory = Memory(
            id=name, namespace=SPACE, content=rendered(body), layer=Layer.PROCEDURAL, kind=Kind.EXPERIENCE,
            occurred_at=made, timezone="UTC", created_at=made, updated_at=made, content_key=name, body=body,
            pinned=pinned,
        )  # fmt: skip
        await self.store.apply(Batch(SPACE, f"keep {name}", made, puts=(Put(memory, None, Act.ADDED),)))
        return name

    @property
    def pruner(self) -> Pruner:
        return Pruner(self.store, self.clock, self.ids)

    async def named(self, **limits: object) -> dict[str, PruneRule]:
        report = await self.pruner.prune(SPACE, Wanted(**limits))  # type: ignore[arg-type]  # by name
        return {entry.memory.id: entry.rule for entry in report.pruned}

    async def active(self) -> set[str]:
        return {one.id for one in (await self.store.find(SPACE, Filters(episodes=False), limit=500)).items}


@pytest.fixture
def world() -> World:
    return World(OracleStore(), Clock(), Ids())


async def test_what_is_trusted_less_than_the_floor_is_named_at_any_age(world: World) -> None:
    for confidence in (0, 29, 30, 100):
        await world.keep(f"c{confidence}", confidence=confidence)
    assert await world.named() == {"c0": PruneRule.CONFIDENCE, "c29": PruneRule.CONFIDENCE}
    assert set(await world.named(min_confidence=31)) == {"c0", "c29", "c30"}


async def test_a_small_library_keeps_for_180_days_a_large_one_for_90(world: World) -> None:
    for days in (89, 91, 180, 181):
        await world.keep(f"d{days}", days=days)
    assert await world.named() == {"d181": PruneRule.AGE}
    for number in range(SMALL):
        await world.keep(f"new{number}")
    assert set(await world.named()) == {"d91", "d180", "d181"}
    assert set(await world.named(max_age_days=180)) == {"d181"}


async def test_what_was_followed_three_times_stays_however_old(world: World) -> None:
    for uses in (0, 2, 3):
        await world.keep(f"u{uses}", days=400, uses=uses)
    assert set(await world.named()) == {"u0", "u2"}
    assert set(await world.named(min_uses=1)) == {"u0"}


async def test_pinned_ones_stay_and_so_do_old_lessons_that_are_trusted(world: World) -> None:
    await world.keep("pinned", confidence=0, pinned=True)
    await world.keep("old lesson", days=400, failed=True)
    await world.keep("doubted lesson", confidence=10, failed=True)
    report = await world.pruner.prune(SPACE, Wanted(dry_run=False))
    assert [entry.memory.id for entry in report.pruned] == ["doubted lesson"]
    assert {entry.memory.id: entry.spared for entry in report.spared} == {
        "pinned": Spared.PINNED,
        "old lesson": Spared.LESSON,
    }
    assert await world.active() == {"pinned", "old lesson"}


async def test_a_dry_run_changes_nothing(world: World) -> None:
    await world.keep("doubted", confidence=10)
    head = await world.store.head(SPACE)
    report = await world.pruner.prune(SPACE, Wanted())
    assert (report.dry_run, report.undo, await world.store.head(SPACE)) == (True, None, head)
    assert await world.active() == {"doubted"}


async def test_what_is_archived_says_why_and_when_it_may_be_purged_and_comes_back_whole(world: World) -> None:
    await world.keep("doubted", confidence=10)
    await world.keep("old", days=400)
    before = await world.store.memories(SPACE, ["doubted", "old"])
    report = await world.pruner.prune(SPACE, Wanted(dry_run=False, actor="keeper"))
    gone = await world.store.memories(SPACE, ["doubted", "old"])
    assert {one.status for one in gone.values()} == {Status.ARCHIVED}
    assert {one.metadata[PURGE_AFTER] for one in gone.values()} == {(NOW + GRACE).isoformat()}
    last = (await world.store.history(SPACE, "doubted"))[-1]
    assert (last.act, last.actor, last.reason) == (Act.ARCHIVED, "keeper", "confidence 0.10 is below 0.30")
    assert (await world.store.history(SPACE, "old"))[-1].reason == (
        "400 days old, over 180, and followed 0 times, under 3"
    )
    assert report.undo is not None
    await take_back(world.store, None, world.clock, world.ids, SPACE, report.undo)
    after = await world.store.memories(SPACE, ["doubted", "old"])
    assert {k: replace(v, version=1, updated_at=NOW) for k, v in after.items()} == {
        k: replace(v, version=1, updated_at=NOW) for k, v in before.items()
    }


async def test_nothing_is_archived_where_nothing_is_named(world: World) -> None:
    await world.keep("fine")
    report = await world.pruner.prune(SPACE, Wanted(dry_run=False))
    assert (report.pruned, report.undo) == ((), None)


async def test_feedback_at_the_same_moment_is_not_lost(world: World) -> None:
    await world.keep("doubted", confidence=20)
    feedback = Feedback(world.store, world.clock, world.ids)
    await asyncio.gather(
        feedback.give(SPACE, "doubted", OutcomeStatus.SUCCESS), world.pruner.prune(SPACE, Wanted(dry_run=False))
    )
    (held,) = (await world.store.memories(SPACE, ["doubted"])).values()
    assert isinstance(held.body, Experience)
    assert (held.body.outcome.successes, held.status) == (1, Status.ACTIVE)


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("dry_run", "no"),
        ("min_confidence", 1.5),
        ("min_confidence", True),
        ("min_confidence", "x"),
        ("max_age_days", -1),
        ("max_age_days", 1.5),
        ("min_uses", True),
    ],
)
def test_limits_that_make_no_sense_are_refused_by_field(field: str, wrong: object) -> None:
    with pytest.raises(InvalidInput, match=field):
        parse_prune(**{field: wrong})  # type: ignore[arg-type]  # wrong on purpose

"""Working memory and the end of sessions: by call, by quiet, once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from hindsight.domain.change import Batch
from hindsight.domain.episode import Episode
from hindsight.domain.session import Working
from hindsight.errors import InvalidInput, NotFound
from hindsight.storage.oracle import OracleStore
from hindsight.upkeep.sessions import MOST_VARIABLES, Sessions
from hindsight.write.embed import EMBED_JOB

SPACE = "space"


@dataclass
class Clock:
    moment: datetime = datetime(2024, 1, 15, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def passes(self, minutes: float) -> None:
        self.moment += timedelta(minutes=minutes)


@dataclass
class Ids:
    numbers: Any = field(default_factory=lambda: count(1))

    def new(self) -> str:
        return f"{next(self.numbers):026d}"


@dataclass
class House:
    store: OracleStore = field(default_factory=OracleStore)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.store, self.clock, Ids(), jobs=("reflect", "tidy"))

    async def note(self, session_id: str = "s", ttl: object = None, **values: object) -> Working:
        return await self.sessions.working(SPACE, session_id, values=values, ttl=ttl)

    async def said(self, text: str, session_id: str = "s") -> None:
        now = self.clock.now()
        one = Episode(f"e {text}", SPACE, text, now, now, "UTC", f"key of {text}", session_id=session_id)
        await self.store.apply(Batch(SPACE, f"write {text}", now, episodes=(one,)))

    async def turns(self, session_id: str = "s") -> list[str]:
        return [one.content for one in await self.store.session(SPACE, session_id)]

    async def jobs(self) -> list[tuple[str, object]]:
        return [(job.kind, job.payload.get("session_id")) for job in await self.store.jobs(SPACE)]


@pytest.fixture
def house() -> House:
    return House()


async def test_what_is_noted_is_read_back_with_the_last_turns(house: House) -> None:
    await house.said("先看数据")
    await house.note(目标="写周报", step=1)
    found = await house.sessions.working(SPACE, "s")
    assert {name: one.value for name, one in found.variables.items()} == {"目标": "写周报", "step": 1}
    assert [turn.content for turn in found.turns] == ["先看数据"]


async def test_a_time_to_live_is_in_seconds_and_of_what_is_set_with_it(house: House) -> None:
    await house.note(goal="report")
    await house.note(ttl=90, token="abc")
    house.clock.passes(1)
    assert set((await house.sessions.working(SPACE, "s")).variables) == {"goal", "token"}
    house.clock.passes(0.5)
    assert set((await house.sessions.working(SPACE, "s")).variables) == {"goal"}


async def test_secrets_are_taken_out_before_they_are_kept(house: House) -> None:
    found = await house.note(token="ghp_" + "a1B2" * 9, deep={"x": ["ghp_" + "a1B2" * 9]})
    assert "ghp_" not in str(found.variables)


@pytest.mark.parametrize(
    ("values", "ttl", "name"),
    [
        ({"a": float("nan")}, None, "set.a"),
        ({"a": "x" * 9000}, None, "set.a"),
        ({"a": {1, 2}}, None, "set.a"),
        ({"n" * 101: 1}, None, "set"),
        ({" ": 1}, None, "set"),
        ({f"v{n}": n for n in range(MOST_VARIABLES + 1)}, None, "set"),
        (["a"], None, "set"),
        ({"a": 1}, 0, "ttl"),
        ({"a": 1}, "soon", "ttl"),
        ({"a": 1}, True, "ttl"),
        (None, 5, "ttl"),
    ],
)
async def test_what_cannot_be_noted_is_refused_by_name(house: House, values: Any, ttl: object, name: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{name}:"):
        await house.sessions.working(SPACE, "s", values=values, ttl=ttl)


async def test_a_session_nobody_knows_is_not_found(house: House) -> None:
    with pytest.raises(NotFound):
        await house.sessions.working(SPACE, "s")
    with pytest.raises(NotFound):
        await house.sessions.end(SPACE, "s")


async def test_an_end_keeps_the_variables_as_an_episode_and_starts_the_jobs(house: House) -> None:
    await house.said("先看数据")
    await house.note(目标="写周报", 步骤=[1, "二"])
    receipt = await house.sessions.end(SPACE, "s")
    assert await house.turns() == ["先看数据", '步骤: [1, "二"]\n目标: 写周报']
    assert receipt.episode_ids == ((await house.store.session(SPACE, "s"))[-1].id,)
    assert await house.jobs() == [("reflect", "s"), ("tidy", "s"), (EMBED_JOB, None)]
    assert not (await house.sessions.working(SPACE, "s")).variables


async def test_a_second_end_changes_nothing(house: House) -> None:
    await house.note(a=1)
    await house.sessions.end(SPACE, "s")
    head, jobs = await house.store.head(SPACE), await house.jobs()
    assert (await house.sessions.end(SPACE, "s")).episode_ids == ()
    assert (await house.store.head(SPACE), await house.jobs()) == (head, jobs)


async def test_two_ends_at_once_are_one(house: House) -> None:
    await house.note(a=1)
    await asyncio.gather(house.sessions.end(SPACE, "s"), house.sessions.end(SPACE, "s"), house.sessions.end_idle())
    assert await house.turns() == ["a: 1"]


async def test_a_session_ends_when_it_has_been_quiet_for_half_an_hour(house: House) -> None:
    await house.note("quiet", a=1)
    house.clock.passes(20)
    await house.said("noch etwas", "busy")
    house.clock.passes(11)
    assert await house.sessions.end_idle() == 1
    assert await house.turns("quiet") == ["a: 1"]
    assert await house.turns("busy") == ["noch etwas"]
    assert await house.sessions.end_idle() == 0
    house.clock.passes(20)
    assert await house.sessions.end_idle() == 1


async def test_a_session_that_goes_on_after_its_end_ends_again(house: House) -> None:
    await house.note(a=1)
    await house.sessions.end(SPACE, "s")
    house.clock.passes(1)
    await house.note(a=2)
    await house.sessions.end(SPACE, "s")
    assert await house.turns() == ["a: 1", "a: 2"]


async def test_what_had_expired_before_the_end_is_not_kept(house: House) -> None:
    await house.note(ttl=60, token="abc")
    house.clock.passes(2)
    await house.sessions.end(SPACE, "s")
    assert await house.turns() == []

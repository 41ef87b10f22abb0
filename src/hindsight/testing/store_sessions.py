"""What a `Store` owes to running tasks, as tests that every backend inherits through `StoreContract`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight.domain.episode import EpisodeState, JsonValue
from hindsight.domain.session import Session, SessionEnd, Variable, Working
from hindsight.errors import Conflict, InvalidInput
from hindsight.ports import Store
from hindsight.testing.made import NOON, SPACE, a_batch, an_episode
from hindsight.testing.store_opening import OpensStores

MINUTE = timedelta(minutes=1)


async def variables(store: Store, session_id: str = "s", minutes: float = 0) -> dict[str, JsonValue]:
    """The variables of a session that are shown so many minutes past noon."""
    working = await store.working(SPACE, session_id, now=NOON + minutes * MINUTE, turns=0)
    return {} if working is None else {name: one.value for name, one in working.variables.items()}


class SessionContract(OpensStores):
    """Variables, expiry, last turns, sessions that fall idle and end."""

    async def test_variables_come_back_whole_and_by_name(self, store: Store) -> None:
        value: JsonValue = {"步骤": [1, None, 0.5, {"x": "咪咪"}]}
        await store.set_working(SPACE, "s", {"plan": value}, at=NOON, expires_at=NOON + MINUTE)
        await store.set_working(SPACE, "s", {"a": True}, at=NOON + MINUTE / 2, expires_at=None)
        assert await store.working(SPACE, "s", now=NOON, turns=3) == Working(
            Session("s", NOON + MINUTE / 2),
            {"a": Variable(True, NOON + MINUTE / 2), "plan": Variable(value, NOON, NOON + MINUTE)},
        )
        assert await store.working(SPACE, "other", now=NOON, turns=3) is None
        assert await store.head(SPACE) == 0

    async def test_a_variable_expires_by_the_clock_that_is_passed_in(self, store: Store) -> None:
        await store.set_working(SPACE, "s", {"short": 1}, at=NOON, expires_at=NOON + MINUTE)
        await store.set_working(SPACE, "s", {"long": 2}, at=NOON, expires_at=None)
        assert await variables(store, minutes=0.99) == {"short": 1, "long": 2}
        assert await variables(store, minutes=1) == {"long": 2}

    async def test_null_takes_a_variable_away(self, store: Store) -> None:
        await store.set_working(SPACE, "s", {"a": 1, "b": 2}, at=NOON, expires_at=None)
        await store.set_working(SPACE, "s", {"a": None, "b": 3, "never": None}, at=NOON, expires_at=None)
        assert await variables(store) == {"b": 3}

    async def test_what_no_store_can_hold_is_refused(self, store: Store) -> None:
        for values in ({"a\0": 1}, {"a": float("nan")}):
            with pytest.raises(InvalidInput):
                await store.set_working(SPACE, "s", values, at=NOON, expires_at=None)
        assert await variables(store) == {}

    async def test_the_last_turns_are_those_that_are_not_forgotten(self, store: Store) -> None:
        episodes = tuple(an_episode(f"e{n}", session_id="s") for n in range(5))
        states = (("e4", EpisodeState.FORGOTTEN), ("e3", EpisodeState.COVERED))
        await store.apply(a_batch("b", episodes=episodes, episode_states=states))
        working = await store.working(SPACE, "s", now=NOON, turns=2)
        assert working is not None
        assert [turn.id for turn in working.turns] == ["e2", "e3"]

    async def test_an_ended_session_has_no_variables_and_wakes_with_the_next_turn(self, store: Store) -> None:
        await store.set_working(SPACE, "s", {"a": 1}, at=NOON, expires_at=None)
        await store.set_working(SPACE, "other", {"a": 2}, at=NOON, expires_at=None)
        told = an_episode("e1", session_id="s")
        end = replace(a_batch("end", episodes=(told,), ends=(SessionEnd("s", NOON),)), at=NOON + MINUTE)
        await store.apply(end)
        assert (await variables(store), await variables(store, "other")) == ({}, {"a": 2})
        assert list(await store.sessions(SPACE, limit=1)) == [Session("s", NOON + MINUTE, NOON + MINUTE)]
        await store.apply(replace(a_batch("on", episodes=(an_episode("e2", session_id="s"),)), at=NOON + 2 * MINUTE))
        assert list(await store.sessions(SPACE, limit=1)) == [Session("s", NOON + 2 * MINUTE)]

    async def test_a_session_that_has_gone_on_is_not_ended(self, store: Store) -> None:
        await store.set_working(SPACE, "s", {"a": 1}, at=NOON, expires_at=None)
        await store.set_working(SPACE, "s", {"a": 2}, at=NOON + MINUTE, expires_at=None)
        for end in (SessionEnd("s", NOON), SessionEnd("unknown", NOON)):
            with pytest.raises(Conflict):
                await store.apply(a_batch("end", ends=(end,)))
        await store.apply(a_batch("end", ends=(SessionEnd("s", NOON + MINUTE),)))
        with pytest.raises(Conflict):
            await store.apply(a_batch("again", ends=(SessionEnd("s", NOON + MINUTE),)))

    async def test_idle_sessions_of_all_namespaces_come_oldest_first(self, store: Store) -> None:
        for number, (space, name) in enumerate(((SPACE, "a"), ("other", "b"), (SPACE, "c"), (SPACE, "d"))):
            await store.set_working(space, name, {}, at=NOON + number * MINUTE, expires_at=None)
        await store.apply(a_batch("end", ends=(SessionEnd("c", NOON + 2 * MINUTE),)))
        found = await store.idle_sessions(before=NOON + 3 * MINUTE, limit=9)
        assert [(space, session.id) for space, session in found] == [(SPACE, "a"), ("other", "b")]
        assert len(await store.idle_sessions(before=NOON + 9 * MINUTE, limit=2)) == 2

    async def test_variables_outlive_a_restart(self, place: Path) -> None:
        self.need("reopens")
        store = await self.make(place)
        await store.set_working(SPACE, "s", {"a": 1}, at=NOON, expires_at=None)
        other = await self.make(place)
        assert await variables(other) == {"a": 1}
        await other.aclose()
        await store.aclose()

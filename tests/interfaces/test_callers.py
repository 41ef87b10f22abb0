"""Who calls is told by the key alone; revoked ones end, and each has its measure of calls."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from hindsight.domain.access import ApiKey, Caller, Grant, Role, digest_of, parts_of, token_of
from hindsight.errors import Unauthenticated
from hindsight.interfaces.callers import REMEMBERED, Callers, Exhausted

pytestmark = pytest.mark.anyio

SECRET = "s" * 43
KEY = ApiKey("abcd2345", "laptop", digest_of(SECRET), (Grant("me", Role.WRITE),), datetime(2024, 1, 15, tzinfo=UTC))
TOKEN = f"Bearer {token_of(KEY.id, SECRET)}"


@dataclass
class Town:
    """Keys that are known, and a clock that is moved by hand."""

    server_key: str | None = None
    required: bool = False
    keys: dict[str, ApiKey] = field(default_factory=dict)
    seconds: float = 1000.0
    asked: int = 0

    def callers(self) -> Callers:
        return Callers(self.server_key, self.recognise, self.locked, lambda: self.seconds)

    async def recognise(self, token: str) -> ApiKey | None:
        self.asked += 1
        found = parts_of(token)
        key = self.keys.get(found[0]) if found else None
        return key if found and key and key.answers_to(found[1]) else None

    async def locked(self) -> bool:
        return self.required or bool(self.keys)


async def test_without_any_key_whoever_reaches_the_server_may_call() -> None:
    assert await Town().callers().caller("") == Caller()


@pytest.mark.parametrize("town", [Town(required=True), Town(server_key="secret"), Town(keys={KEY.id: KEY})])
@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "Bearer wrong", "Basic secret", "secret", "Bearer secre\u00e9", TOKEN[:-1] + "t"],
)
async def test_once_there_is_a_key_nobody_calls_without_one(town: Town, header: str) -> None:
    with pytest.raises(Unauthenticated):
        await town.callers().caller(header)


async def test_a_wrong_key_is_refused_where_none_would_do() -> None:
    """A caller who thinks to be within bounds is told of the mistake, not let in without bounds."""
    with pytest.raises(Unauthenticated):
        await Town().callers().caller(TOKEN)


async def test_the_first_key_that_is_made_closes_the_door_within_seconds() -> None:
    town = Town()
    callers = town.callers()
    await callers.caller("")
    town.keys[KEY.id] = KEY
    town.seconds += REMEMBERED
    with pytest.raises(Unauthenticated):
        await callers.caller("")


async def test_the_servers_own_key_and_made_ones_stand_side_by_side() -> None:
    callers = Town(server_key="secret", keys={KEY.id: KEY}).callers()
    assert await callers.caller("bearer secret") == Caller()
    assert await callers.caller(TOKEN) == Caller(KEY)


async def test_a_key_is_looked_up_once_in_a_while_and_a_revoked_one_ends_then() -> None:
    town = Town(keys={KEY.id: KEY})
    callers = town.callers()
    for _ in range(5):
        await callers.caller(TOKEN)
    assert town.asked == 1
    town.keys.clear()
    town.seconds += REMEMBERED
    with pytest.raises(Unauthenticated):
        await callers.caller(TOKEN)


async def test_a_key_has_its_measure_of_calls_which_fills_up_again() -> None:
    slow = replace(KEY, per_minute=3)
    town = Town(keys={KEY.id: slow})
    callers = town.callers()
    for _ in range(3):
        await callers.caller(TOKEN)
    with pytest.raises(Exhausted) as caught:
        await callers.caller(TOKEN)
    assert caught.value.seconds == pytest.approx(20)
    town.seconds += 20
    await callers.caller(TOKEN)
    with pytest.raises(Exhausted):
        await callers.caller(TOKEN)
    town.seconds += 3600
    for _ in range(3):
        await callers.caller(TOKEN)
    with pytest.raises(Exhausted):
        await callers.caller(TOKEN)

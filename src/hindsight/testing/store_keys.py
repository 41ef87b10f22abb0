"""What a store owes to the keys of callers, as tests that every backend inherits through `StoreContract`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight.domain.access import ApiKey, Grant, Role
from hindsight.errors import InvalidInput
from hindsight.ports import Store
from hindsight.testing.made import NOON
from hindsight.testing.store_opening import OpensStores

KEY = ApiKey(
    "abcd2345",
    "小李的笔记本",
    "d" * 64,
    (Grant("team", Role.READ), Grant("我", Role.WRITE)),
    NOON + timedelta(microseconds=1),
    expires_at=NOON + timedelta(days=90),
    per_minute=600,
)


class KeyContract(OpensStores):
    """Keys come back whole, end once, and hold in every process."""

    async def test_keys_come_back_whole_oldest_first(self, store: Store) -> None:
        plain = ApiKey("zzzz2345", "first", "e" * 64, (Grant("*", Role.ADMIN),), NOON)
        await store.put_key(KEY)
        await store.put_key(plain)
        assert list(await store.keys()) == [plain, KEY]
        assert await store.key(KEY.id) == KEY
        assert await store.key("nobody22") is None

    async def test_a_key_ends_once_and_nothing_else_of_it_changes(self, store: Store) -> None:
        await store.put_key(KEY)
        await store.put_key(replace(KEY.revoked(NOON), grants=(Grant("*", Role.ADMIN),)))
        await store.put_key(KEY)
        await store.put_key(KEY.revoked(NOON + timedelta(days=1)))
        assert await store.key(KEY.id) == KEY.revoked(NOON)

    async def test_a_key_holds_after_the_store_was_closed_and_opened_again(self, place: Path) -> None:
        self.need("reopens")
        first = await self.make(place)
        await first.put_key(KEY)
        await first.aclose()
        again = await self.make(place)
        assert await again.key(KEY.id) == KEY
        await again.aclose()

    async def test_a_name_that_no_store_can_hold_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidInput):
            await store.put_key(replace(KEY, name="a\0"))
        assert list(await store.keys()) == []

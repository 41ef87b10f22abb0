"""What a store owes to the keys of callers, as tests that every backend inherits through `StoreContract`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from hindsight.domain.access import ApiKey, Grant, Role
from hindsight.errors import InvalidInput
from hindsight.ports import Keyring, Store
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
    """Keys come back whole, end once, and hold in every process: every store is a keyring too."""

    @pytest.fixture
    def ring(self, store: Store) -> Keyring:
        """The store as a keyring."""
        return cast(Keyring, store)

    async def test_keys_come_back_whole_oldest_first(self, ring: Keyring) -> None:
        plain = ApiKey("zzzz2345", "first", "e" * 64, (Grant("*", Role.ADMIN),), NOON)
        await ring.put_key(KEY)
        await ring.put_key(plain)
        assert list(await ring.keys()) == [plain, KEY]
        assert await ring.key(KEY.id) == KEY
        assert await ring.key("nobody22") is None

    async def test_a_key_ends_once_and_nothing_else_of_it_changes(self, ring: Keyring) -> None:
        await ring.put_key(KEY)
        await ring.put_key(replace(KEY.revoked(NOON), grants=(Grant("*", Role.ADMIN),)))
        await ring.put_key(KEY)
        await ring.put_key(KEY.revoked(NOON + timedelta(days=1)))
        assert await ring.key(KEY.id) == KEY.revoked(NOON)

    async def test_a_key_holds_after_the_store_was_closed_and_opened_again(self, place: Path) -> None:
        self.need("reopens")
        first = await self.make(place)
        await cast(Keyring, first).put_key(KEY)
        await first.aclose()
        again = await self.make(place)
        assert await cast(Keyring, again).key(KEY.id) == KEY
        await again.aclose()

    async def test_a_name_that_no_store_can_hold_is_refused(self, ring: Keyring) -> None:
        with pytest.raises(InvalidInput):
            await ring.put_key(replace(KEY, name="a\0"))
        assert list(await ring.keys()) == []

"""The cache in the process: the contract, and its bounds."""

from __future__ import annotations

from datetime import timedelta

from hindsight.cache.local import LocalCache
from hindsight.ports import Cache, Clock
from hindsight.testing.cache_contract import LIFETIME, CacheContract, SetClock, an_answer
from hindsight.testing.made import SPACE


class TestLocalCache(CacheContract):
    adapter = LocalCache

    def make(self, clock: Clock) -> Cache:
        return LocalCache(clock, lifetime=LIFETIME)


async def test_of_too_many_the_longest_unasked_goes() -> None:
    cache = LocalCache(SetClock(), most=3)
    for key in ("a", "b", "c"):
        await cache.put(SPACE, key, an_answer())
    await cache.get(SPACE, "a")
    await cache.put(SPACE, "d", an_answer())
    assert [key for key in ("a", "b", "c", "d") if await cache.get(SPACE, key) is None] == ["b"]


async def test_what_has_expired_gives_its_memory_back() -> None:
    clock = SetClock()
    cache = LocalCache(clock)
    for number in range(50):
        await cache.put(SPACE, str(number), an_answer())
    clock.moment += timedelta(hours=1)
    await cache.put(SPACE, "new", an_answer())
    assert len(cache._held) == 1

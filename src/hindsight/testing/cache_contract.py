"""What every cache must do, as a class of tests. An adapter's test file inherits it and says how it is made:

    class TestMyCache(CacheContract):
        adapter = MyCache

        def make(self, clock: Clock) -> Cache:
            return MyCache(clock, lifetime=LIFETIME)

It keeps answers for `LIFETIME`, by the clock that it is given, and at least `HELD` of them. A cache that keeps time by
itself says `by_clock = False`, and makes up for it with a test of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import ClassVar

import pytest

from hindsight.domain.hit import EpisodeHit, MemoryHit, SourceText
from hindsight.domain.memory import Kind, Layer, Source
from hindsight.domain.query import Answer, SearchResult
from hindsight.ports import Cache, Clock
from hindsight.testing.made import NOON, SPACE, a_memory, an_episode, an_experience

LIFETIME = timedelta(seconds=60)
HELD = 20


class SetClock:
    """It is whatever a test says."""

    def __init__(self) -> None:
        self.moment = NOON

    def now(self) -> datetime:
        """The moment set."""
        return self.moment


def an_answer(change: int = 7, **fields: object) -> Answer:
    """An answer with a memory, an experience, a turn and a standing memory."""
    said = an_episode(session_id="s1", speaker="李", metadata={"tags": ["a", 1, None]})
    source = SourceText.of(Source(said.id, 4, 8), said)
    known = a_memory("m1", sources=(source.source,), valid_from=NOON, valid_to=NOON + LIFETIME, tags=("a", "b"))
    done = a_memory("m2", kind=Kind.EXPERIENCE, layer=Layer.PROCEDURAL, body=an_experience())
    hits = (
        MemoryHit(known, 0.5, {"relevance": 0.25, "use": 0.1}, (source,)),
        MemoryHit(done, 0.4, {"relevance": 1 / 3}, (), "this failed before, do not repeat it"),
        EpisodeHit(said, 0.3, {}, None),
    )
    result = SearchResult(hits, (hits[0],), "<block>\n花生 🙂\n</block>", True, 12, "t1")
    return Answer(replace(result, **fields), change, NOON)  # type: ignore[arg-type]  # fields of a result


class CacheContract:
    """What holds for all caches."""

    adapter: ClassVar[type]
    by_clock: ClassVar[bool] = True

    def make(self, clock: Clock) -> Cache:
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> SetClock:
        return SetClock()

    @pytest.fixture
    async def cache(self, clock: SetClock) -> AsyncIterator[Cache]:
        made = self.make(clock)
        yield made
        await made.aclose()
        await made.aclose()

    async def test_it_is_the_adapter_that_it_says(self, cache: Cache) -> None:
        assert type(cache) is self.adapter

    async def test_every_field_of_an_answer_comes_back(self, cache: Cache) -> None:
        await cache.put(SPACE, "k", an_answer())
        assert await cache.get(SPACE, "k") == an_answer()

    async def test_nothing_is_there_before_it_was_put(self, cache: Cache) -> None:
        assert await cache.get(SPACE, "k") is None

    async def test_the_later_answer_counts(self, cache: Cache) -> None:
        await cache.put(SPACE, "k", an_answer(1))
        await cache.put(SPACE, "k", an_answer(2, context="another"))
        assert await cache.get(SPACE, "k") == an_answer(2, context="another")

    async def test_keys_and_namespaces_are_walls(self, cache: Cache) -> None:
        await cache.put(SPACE, "k", an_answer())
        for namespace, key in ((SPACE, "l"), ("other", "k"), (f"{SPACE}k", ""), ("", f"{SPACE}k"), (SPACE, "K")):
            assert await cache.get(namespace, key) is None

    @pytest.mark.parametrize("odd", ["", " ", "a:b", "空间", "🙂", "x" * 5000, "a\nb", "*", "a/../b"])
    async def test_odd_names_are_names(self, cache: Cache, odd: str) -> None:
        await cache.put(odd, odd, an_answer())
        assert await cache.get(odd, odd) == an_answer()
        await cache.drop(odd)
        assert await cache.get(odd, odd) is None

    async def test_dropping_a_namespace_leaves_the_others(self, cache: Cache) -> None:
        for namespace in (SPACE, f"{SPACE}2"):
            for key in ("k", "l"):
                await cache.put(namespace, key, an_answer())
        await cache.drop(SPACE)
        assert [await cache.get(SPACE, key) for key in ("k", "l")] == [None, None]
        assert await cache.get(f"{SPACE}2", "k") == an_answer()

    async def test_many_are_held(self, cache: Cache) -> None:
        for number in range(HELD):
            await cache.put(SPACE, str(number), an_answer(number))
        found = [await cache.get(SPACE, str(number)) for number in range(HELD)]
        assert [one.change if one else None for one in found] == list(range(HELD))

    async def test_an_answer_is_kept_for_its_lifetime_and_no_longer(self, cache: Cache, clock: SetClock) -> None:
        if not self.by_clock:
            pytest.skip("keeps time by itself")
        await cache.put(SPACE, "k", an_answer())
        clock.moment = NOON + LIFETIME / 2
        assert await cache.get(SPACE, "k") == an_answer()  # asking does not prolong it
        clock.moment = NOON + LIFETIME
        assert await cache.get(SPACE, "k") is None

    async def test_putting_again_begins_a_new_lifetime(self, cache: Cache, clock: SetClock) -> None:
        if not self.by_clock:
            pytest.skip("keeps time by itself")
        await cache.put(SPACE, "k", an_answer())
        clock.moment = NOON + LIFETIME / 2
        await cache.put(SPACE, "k", an_answer(8))
        clock.moment = NOON + LIFETIME
        assert await cache.get(SPACE, "k") == an_answer(8)

"""Two writers on one file, each with its own store, as two processes have."""

import asyncio
from pathlib import Path

import pytest

from hindsight.storage.sqlite.store import SqliteStore
from tests.write.house import SPACE, CountingIds, House, transcript


@pytest.mark.parametrize(
    "text",
    [
        "我对花生过敏",
        "The dice rule is 5d3+5",
        "支持外币汇率换算",
        "I live in Berlin, have a dog named Rex and I'm allergic to peanuts.",
    ],
)
async def test_the_same_write_at_the_same_moment_makes_one_memory(tmp_path: Path, text: str) -> None:
    stores = [await SqliteStore.open(tmp_path / "memory.db") for _ in range(2)]
    houses = [House(store=store, ids=CountingIds(prefix)) for store, prefix in zip(stores, "ab", strict=True)]
    receipts = await asyncio.gather(*(house.say(text) for house in houses * 5))
    memories = await houses[0].active()
    assert len({memory.content for memory in memories}) == len(memories) == max(1, receipts[0].facts)
    assert all(len(memory.sources) == 10 for memory in memories)
    for store in stores:
        await store.aclose()


async def test_an_import_from_two_sides_doubles_nothing(tmp_path: Path) -> None:
    stores = [await SqliteStore.open(tmp_path / "memory.db") for _ in range(2)]
    houses = [House(store=store, ids=CountingIds(prefix)) for store, prefix in zip(stores, "ab", strict=True)]
    turns = [f"Turn number {number} says {number * number}" for number in range(30)]
    await asyncio.gather(*(house.write(transcript(turns)) for house in houses))
    await houses[1].write(transcript([*turns, "one", "two", "three"]))
    assert len(await stores[0].session(SPACE, "s1")) == 33
    assert len(await houses[0].active()) == 33
    for store in stores:
        await store.aclose()


async def test_a_write_can_be_taken_back_and_brought_again(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db")
    house = House(store=store)
    receipt = await house.say("我住在北京，对花生过敏", "The dice rule is 5d3+5")
    undone = await house.amender.undo(SPACE, receipt.undo or "")
    assert await house.active() == []
    await house.amender.undo(SPACE, undone.undo or "")
    assert len(await house.active()) == 3
    await store.aclose()

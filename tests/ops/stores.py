"""Stores for tests of copies: made, counted, damaged."""

from datetime import UTC, datetime
from pathlib import Path

from hindsight import config
from hindsight.config import Settings
from hindsight.domain.change import Batch
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import SPACE, a_batch, a_memory, an_episode, new

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


class Noon:
    """A clock that stands still."""

    def now(self) -> datetime:
        return NOW


def settings_of(folder: Path, **more: object) -> Settings:
    return config.load(data_dir=folder, embedding_model="none", log_level="ERROR", **more)


async def fill(file: Path, count: int, start: int = 0) -> None:
    """A store of so many memories, each with its episode and a change of its own."""
    store = await SqliteStore.open(file)
    for n in range(start, start + count):
        await store.apply(one(n))
    await store.aclose()


def one(n: int) -> Batch:
    return a_batch(f"b{n}", episodes=(an_episode(f"e{n}"),), puts=(new(a_memory(f"m{n}")),))


async def memories_of(file: Path) -> int:
    store = await SqliteStore.open(file)
    try:
        return (await store.stats(SPACE)).memories_by_status.get("active", 0)
    finally:
        await store.aclose()


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def damage(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: 4096 * 6] + b"\xff" * 4096 * 12 + whole[4096 * 18 :])

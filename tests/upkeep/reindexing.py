"""Gives a store the vectors of another model and dies by kill -9 at a batch: `reindexing.py FILE NUMBER`."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from hindsight.app import SystemClock, TimeSortedIds
from hindsight.models.fake import FakeEmbedder
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.upkeep.reindex import Reindexer, ReindexPolicy


async def main(file: Path, number: int) -> None:
    left = number

    def die(_stage: str, _done: int, _total: int) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    store = await SqliteStore.open(file)
    embedder = FakeEmbedder(model="new@1")
    await Reindexer(store, embedder, SystemClock(), TimeSortedIds(), ReindexPolicy(batch=7)).run(die)
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))

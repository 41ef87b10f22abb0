"""Programs that the crash and sharing tests run in processes of their own: `python crash.py WHAT FILE ...`."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from hindsight.domain.change import Receipt
from hindsight.domain.memory import Source
from hindsight.domain.purge import Purge
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import NOON, SPACE, a_batch, a_memory, an_embedding, an_episode, new


def written(name: str) -> tuple[str, str]:
    """The ids of the episode and the memory that one write of this name brings in."""
    return f"e {name}", f"m {name}"


async def write(store: SqliteStore, name: str) -> None:
    """One whole write: an episode, a memory that rests on it, a vector."""
    episode, memory = written(name)
    await store.apply(
        a_batch(
            name,
            episodes=(an_episode(episode, session_id="s"),),
            puts=(new(a_memory(memory, sources=(Source(episode, 0, 3),), tags=("t",))),),
            embeddings=(an_embedding(memory),),
            receipt=Receipt(episode_ids=(episode,)),
        )
    )


async def write_until_killed(file: Path, prefix: str) -> None:
    """Several writers at once; each answered write is told on stdout as a line."""
    store = await SqliteStore.open(file)

    async def writer(name: str) -> None:
        number = 0
        while True:
            await write(store, f"{prefix}-{name}-{number}")
            os.write(1, f"{prefix}-{name}-{number}\n".encode())
            number += 1

    await asyncio.gather(*(writer(name) for name in ("a", "b", "c")))


async def write_many(file: Path, prefix: str, count: int) -> None:
    """So many writes, one after the other."""
    store = await SqliteStore.open(file)
    for number in range(count):
        await write(store, f"{prefix}-{number}")
    await store.aclose()


async def purge_until_killed(file: Path, prefix: str) -> None:
    """Memories that are written and purged again; each answered purge is told on stdout as a line."""
    store = await SqliteStore.open(file)
    number = 0
    while True:
        name = f"{prefix}-{number}"
        await write(store, name)
        await store.purge(Purge(SPACE, f"purge {name}", NOON, (written(name)[1],)))
        os.write(1, f"{name}\n".encode())
        number += 1


if __name__ == "__main__":
    if sys.argv[1] == "purge":
        asyncio.run(purge_until_killed(Path(sys.argv[2]), sys.argv[3]))
    elif sys.argv[1] == "until-killed":
        asyncio.run(write_until_killed(Path(sys.argv[2]), sys.argv[3]))
    else:
        asyncio.run(write_many(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])))

"""A process that copies or puts back and dies by kill -9 at a chosen report: `copying.py ACT STORE FILE NUMBER`."""

import asyncio
import os
import signal
import sys
from pathlib import Path

from hindsight.storage.sqlite.archive import SqliteArchive


async def main(act: str, store: Path, file: Path, number: int) -> None:
    left = number

    def die(_stage: str, _done: int, _total: int) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    archive = SqliteArchive(store)
    if act == "copy":
        await archive.copy(file, report=die)
    else:
        await archive.put_back(file, aside=file.with_name("aside.db"), report=die)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))

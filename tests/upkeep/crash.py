"""A program that the crash tests run and kill: clean-up on a file, each answered write told on stdout as a line.

For each line on stdin, «WHAT FILE MOMENT NUMBER», it forks a process that does it, and tells that process's id first.
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import datetime
from pathlib import Path

from hindsight.domain.change import Applied, Batch
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.upkeep.cleanup import CLEAN_JOB, CONSOLIDATE_JOB, Cleaning
from hindsight.upkeep.jobs import JobPolicy, Worker
from tests.upkeep.house import Home, LongClock, Scripted
from tests.write.house import SPACE, CountingIds

ANSWER = '{"items": [{"sentence": "Ann planted apple trees.", "cites": [1]}]}'


class Telling(SqliteStore):
    """Says that a write was answered."""

    async def apply(self, batch: Batch) -> Applied:
        applied = await super().apply(batch)
        os.write(1, b".\n")
        return applied


async def do(what: str, file: Path, moment: datetime, number: int) -> None:
    """Clean up (`clean`, or with a model `write`), or do whatever jobs there are (`work`)."""
    store = await Telling.open(file)
    home = Home(store=store, clock=LongClock(moment), ids=CountingIds(chr(ord("b") + number)))
    model = Scripted(reply=lambda system, user: ANSWER) if what != "clean" else None
    cleaner = home.cleaner(model, owner=str(number), batch=2)
    if what != "work":
        await cleaner.clean(SPACE, Cleaning(dry_run=False))
    handlers = {CLEAN_JOB: cleaner.work, CONSOLIDATE_JOB: cleaner.consolidate}
    worker = Worker(store, home.clock, handlers, owner=str(number), policy=JobPolicy(attempts=32))
    while await worker.run_one():
        pass
    await store.aclose()


def main() -> None:
    """One fork for each line; what is killed is waited for here."""
    for line in sys.stdin:
        what, file, moment, number = line.split()
        ready, go = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.read(ready, 1)  # its id is told before anything it does
            asyncio.run(do(what, Path(file), datetime.fromisoformat(moment), int(number)))
            os._exit(0)
        os.write(1, f"{pid}\n".encode())
        os.write(go, b"!")
        _, status = os.waitpid(pid, 0)
        os.close(ready)
        os.close(go)
        os.write(1, f"ended {os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main()

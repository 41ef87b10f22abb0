"""Clean-up on a real file, killed after any of its writes: a job finishes it, nothing is lost or doubled."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from hindsight.domain.memory import Kind, Memory, Status
from hindsight.domain.query import Filters
from hindsight.domain.summary import originals_of
from hindsight.storage.sqlite.store import SqliteStore
from tests.upkeep.house import Home, a_session, a_year
from tests.write.house import SPACE

ROOT = Path(__file__).parents[2]
KILLS = 20


@dataclass
class Program:
    """The program that is killed, in forks of one process that has everything imported."""

    process: subprocess.Popen[str]

    def run(self, what: str, file: Path, moment: datetime, number: int, *, writes: int | None = None) -> int:
        """Let it work, and kill it after so many answered writes. How it ended: minus the signal that ended it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{what} {file} {moment.isoformat()} {number}\n")
        self.process.stdin.flush()
        pid = int(self.process.stdout.readline())
        told = 0
        while (line := self.process.stdout.readline().split())[0] != "ended":
            told += 1
            if told == writes:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        return int(line[1])


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    places = os.pathsep.join((str(ROOT), str(ROOT / "src")))
    with subprocess.Popen(
        [sys.executable, "-m", "tests.upkeep.crash"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": places},
    ) as process:  # fmt: skip
        yield Program(process)
        assert process.stdin is not None
        process.stdin.close()


@dataclass
class Past:
    """A file with years in it, and the moment it has come to."""

    file: Path
    now: datetime


@pytest.fixture(scope="module")
async def past(tmp_path_factory: pytest.TempPathFactory) -> Past:
    folder = tmp_path_factory.mktemp("past")
    home = Home(store=await SqliteStore.open(folder / "memory.db"))
    for number in range(KILLS):
        await a_session(home, f"t{number}", count=3)
    await a_year(home)
    await home.store.aclose()
    return Past(folder / "memory.db", home.clock.moment)


async def outcome(file: Path) -> tuple[list[tuple[str, Status]], list[tuple[str, ...]], int, int]:
    """Every memory as it came out, what the summaries stand for, reviews that wait, and jobs that are left."""
    store = await SqliteStore.open(file)
    found: list[Memory] = []
    after: str | None = None
    while True:
        page = await store.find(SPACE, Filters(statuses=tuple(Status), episodes=False), limit=500, after=after)
        found += page.items
        after = page.next
        if after is None:
            break
    reviews, jobs = len(await store.reviews(SPACE)), len(await store.jobs(SPACE))
    await store.aclose()
    told = sorted(originals_of(one) for one in found if one.kind is Kind.SUMMARY)
    return sorted((one.content, one.status) for one in found), told, reviews, jobs


@pytest.mark.parametrize("what", ["clean", "write"], ids=["by rule", "with a language model"])
async def test_killed_twenty_times_it_comes_to_the_same_as_in_one_go(
    what: str, program: Program, past: Past, tmp_path: Path
) -> None:
    def copy(name: str) -> Path:
        return Path(shutil.copy(past.file, tmp_path / f"{name}.db"))

    whole = copy("whole")
    assert program.run(what, whole, past.now, 0) == 0
    expected = await outcome(whole)
    assert len(expected[1]) == KILLS + 2
    assert expected[3] == 0

    for kill in range(1, KILLS + 1):
        file = copy(str(kill))
        # By rule the first writes are those of the rules; with a model the later ones are those of its job.
        assert program.run(what, file, past.now, 0, writes=kill + (8 if what == "write" else 0)) == -signal.SIGKILL
        assert program.run("work" if what == "write" else "clean", file, past.now + timedelta(days=1), 1) == 0
        assert await outcome(file) == expected, kill


async def test_one_run_that_is_killed_again_and_again_still_comes_to_its_end(
    program: Program, past: Past, tmp_path: Path
) -> None:
    whole, file = (Path(shutil.copy(past.file, tmp_path / name)) for name in ("whole.db", "killed.db"))
    program.run("write", whole, past.now, 0)
    program.run("write", file, past.now, 0, writes=2)
    moment, lives = past.now, 1
    while program.run("work", file, moment := moment + timedelta(hours=3), lives, writes=7) != 0:
        lives += 1

    assert lives > 3
    assert await outcome(file) == await outcome(whole)

"""Several processes on one file, some of which die (CASES R2, R3)."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hindsight.domain.query import Filters
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import NOON, SPACE, a_batch, a_memory, new
from tests.storage.crash import written

PROGRAM = str(Path(__file__).with_name("crash.py"))
ROOT = Path(__file__).parents[2]
KILLS = 50
PURGE_KILLS = 20


def start(*arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))}
    return subprocess.Popen([sys.executable, PROGRAM, *arguments], stdout=subprocess.PIPE, env=environment)


async def check_whole(store: SqliteStore, names: list[str]) -> None:
    """Every named write is there with all its parts."""
    for first in range(0, len(names), 1000):
        part = names[first : first + 1000]
        episodes = await store.episodes(SPACE, [written(name)[0] for name in part])
        memories = await store.memories(SPACE, [written(name)[1] for name in part])
        assert [name for name in part if written(name)[0] not in episodes] == []
        assert [name for name in part if written(name)[1] not in memories] == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
async def test_every_answered_write_outlives_a_kill_at_any_moment(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    chance = random.Random(20240115)
    answered: list[str] = []
    for kill in range(KILLS):
        process = start("until-killed", str(file), f"k{kill}")
        assert process.stdout is not None
        # The moment is a number of answers, and then a bit: during start-up too, when it is 0.
        lines = [process.stdout.readline() for _ in range(chance.choice((0, 0, 1, 3, 10, 40)))]
        if lines:
            chance.choice((lambda: None, lambda: os.sched_yield(), lambda: sum(range(chance.randrange(10**5)))))()
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.read().splitlines(keepends=True)
        process.stdout.close()
        assert process.wait() == -signal.SIGKILL
        answered += [line.decode().strip() for line in lines if line.endswith(b"\n")]
    store = await SqliteStore.open(file)
    assert len(answered) > KILLS
    await check_whole(store, answered)
    stats = await store.stats(SPACE)
    # A write that was not answered is there whole or not at all.
    assert stats.episodes == stats.memories_by_status["active"] == stats.change
    positions = [episode.position for episode in await store.session(SPACE, "s", limit=10**6)]
    assert positions == list(range(stats.episodes))
    await store.aclose()
    plain = apsw.Connection(str(file))
    assert plain.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert plain.execute("PRAGMA foreign_key_check").fetchall() == []
    plain.close()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
async def test_a_purge_that_is_killed_is_done_or_not_and_what_it_left_is_cleared_at_the_next_start(
    tmp_path: Path,
) -> None:
    file = tmp_path / "memory.db"
    chance = random.Random(20240116)
    purged: list[str] = []
    for kill in range(PURGE_KILLS):
        process = start("purge", str(file), f"k{kill}")
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(chance.choice((0, 1, 2, 5)))]
        if lines:
            sum(range(chance.randrange(3 * 10**5)))
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.read().splitlines(keepends=True)
        process.stdout.close()
        process.wait()
        purged += [line.decode().strip() for line in lines if line.endswith(b"\n")]
    store = await SqliteStore.open(file)
    assert len(purged) > PURGE_KILLS
    there = {memory.id for memory in (await store.find(SPACE, Filters(statuses=()), limit=500)).items}
    assert not there & {written(name)[1] for name in purged}
    stones = {stone.id for stone in await store.tombstones(SPACE)}
    stats = await store.stats(SPACE)
    # A purge that was not answered has happened or not; what has happened has left nothing in any file.
    assert len(there) + len(stones & {f"m {name}" for name in _names(stones)}) == stats.episodes
    assert await store.scrub()
    held = _bytes_in(tmp_path)
    assert [name for name in _names(stones) if a_memory(f"m {name}").content.encode() in held] == []
    await store.aclose()


def _bytes_in(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def _names(stones: set[str]) -> list[str]:
    return [stone.removeprefix("m ") for stone in stones if stone.startswith("m ")]


async def test_two_processes_write_a_thousand_memories_side_by_side(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    processes = [start("many", str(file), name, "500") for name in ("p", "q")]
    assert [process.wait() for process in processes] == [0, 0]
    for process in processes:
        assert process.stdout is not None
        process.stdout.close()
    store = await SqliteStore.open(file)
    await check_whole(store, [f"{name}-{number}" for name in ("p", "q") for number in range(500)])
    stats = await store.stats(SPACE)
    assert (stats.episodes, stats.memories_by_status, stats.change) == (1000, {"active": 1000}, 1000)
    await store.aclose()


async def test_many_processes_may_make_the_file_at_once(tmp_path: Path) -> None:
    processes = [start("many", str(tmp_path / "memory.db"), f"p{n}", "1") for n in range(6)]
    assert [process.wait() for process in processes] == [0] * 6
    for process in processes:
        assert process.stdout is not None
        process.stdout.close()
    store = await SqliteStore.open(tmp_path / "memory.db")
    assert (await store.stats(SPACE)).episodes == 6
    await store.aclose()


async def test_a_batch_that_another_process_has_applied_gives_the_first_answer(tmp_path: Path) -> None:
    one = await SqliteStore.open(tmp_path / "memory.db")
    two = await SqliteStore.open(tmp_path / "memory.db")
    first = await one.apply(a_batch("same", puts=(new(a_memory("m1")),)))
    second = await two.apply(a_batch("same", puts=(new(a_memory("m2")),)))
    assert (second.change, second.repeated) == (first.change, True)
    assert await two.head(SPACE) == 1
    assert [memory.id for memory in (await two.find(SPACE, Filters())).items] == ["m1"]
    await one.aclose()
    await two.aclose()


def test_the_plain_shell_reads_the_view(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    assert start_and_wait("many", str(file), "p", "2") == 0
    # Python's own library, in a process that holds no other: two in one would drop each other's locks.
    program = (
        "import sqlite3, sys, json; c = sqlite3.connect(sys.argv[1]); c.row_factory = sqlite3.Row;"
        "print(json.dumps([dict(r) for r in c.execute('SELECT id, content, kind, layer, importance, confidence,"
        " call_count, created_at, updated_at, session_id, tags FROM memories ORDER BY id')]))"
    )
    shown = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=True)
    assert NOON.isoformat().startswith("2024-01-15T12:00:00.123456")
    assert '"created_at": "2024-01-15T12:00:00.123456Z"' in shown.stdout
    assert shown.stdout.count('"kind": "fact", "layer": "semantic", "importance": 0.5, "confidence": 0.5') == 2
    assert r'"tags": "[\"t\"]"' in shown.stdout


def start_and_wait(*arguments: str) -> int:
    process = start(*arguments)
    process.communicate()
    return process.returncode

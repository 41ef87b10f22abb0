"""Copies of everything: of one moment, read again, kept for a while, and put back without losing what is there."""

import asyncio
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from hindsight import Hindsight, config
from hindsight.app import BACKUP_JOB, make_backup_handler
from hindsight.config import Settings
from hindsight.domain.change import Batch, NewJob
from hindsight.domain.memory import Source
from hindsight.domain.purge import Purge
from hindsight.domain.schedule import Due
from hindsight.errors import Conflict, InvalidInput, NotFound, SchemaMismatch, StorageCorrupt, StorageFull
from hindsight.errors import StorageUnavailable as InUse
from hindsight.interfaces.cli import main as cli
from hindsight.ops.backup import back_up, index_folder, list_backups, restore
from hindsight.ops.exports import export
from hindsight.storage.schema import migrations
from hindsight.storage.sqlite import archive as archive_module
from hindsight.storage.sqlite.archive import SqliteArchive
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import SPACE, a_batch, a_memory, an_episode, new
from hindsight.upkeep.backup import BackupPolicy, Backups, backups_in, drop_old
from hindsight.upkeep.schedule import WHOLE

pytestmark = pytest.mark.anyio

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


@pytest.fixture
def backups(tmp_path: Path) -> Backups:
    return Backups(SqliteArchive(tmp_path / "memory.db"), Noon(), BackupPolicy(tmp_path / "backups"))


# Making one -----------------------------------------------------------------------------------------------------------


async def test_a_backup_is_one_file_of_its_owner_named_by_its_time_and_holds_everything(
    tmp_path: Path, backups: Backups
) -> None:
    await fill(tmp_path / "memory.db", 7)
    made = await backups.make()
    assert left_in(tmp_path / "backups") == ["memory-20260504T120000Z.db"]
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700
    assert made.contents is not None
    assert (made.contents.memories, made.contents.episodes, made.contents.changes) == (7, 7, {SPACE: 7})
    assert await memories_of(made.path) == 7
    again = await backups.make()
    assert again.path.name == "memory-20260504T120000Z-1.db"
    assert [backup.path for backup in await backups.list()] == [again.path, made.path]


async def test_who_writes_meanwhile_does_not_wait_and_the_copy_is_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "STEP", 8)
    await fill(tmp_path / "memory.db", 40)
    store = await SqliteStore.open(tmp_path / "memory.db")
    reached, go_on = threading.Event(), threading.Event()

    def pause(stage: str, done: int, total: int) -> None:
        if stage == "copying" and done < total:
            reached.set()
            go_on.wait()

    copying = asyncio.create_task(SqliteArchive(tmp_path / "memory.db").copy(tmp_path / "c.db", report=pause))
    await asyncio.to_thread(reached.wait)
    for n in range(40, 60):
        await store.apply(one(n))
    go_on.set()
    contents = await copying
    assert (contents.memories, contents.changes) == (40, {SPACE: 40})
    assert (await store.stats(SPACE)).memories_by_status == {"active": 60}
    await store.aclose()


async def test_a_store_in_use_by_another_process_is_copied_with_what_its_log_holds(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db")
    await store.apply(one(1))
    assert (tmp_path / "memory.db-wal").stat().st_size > 0
    contents = await SqliteArchive(tmp_path / "memory.db").copy(tmp_path / "c.db")
    assert contents.memories == 1
    assert left_in(tmp_path) == ["c.db", "memory.db", "memory.db-shm", "memory.db-wal"]
    await store.aclose()


async def test_a_cancelled_backup_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "STEP", 1)
    await fill(tmp_path / "memory.db", 20)
    reached, loop = asyncio.Event(), asyncio.get_running_loop()

    def tell(_stage: str, _done: int, _total: int) -> None:
        loop.call_soon_threadsafe(reached.set)

    archive = SqliteArchive(tmp_path / "memory.db")
    copying = asyncio.create_task(archive.copy(tmp_path / "backups" / "c.db", report=tell))
    await reached.wait()
    copying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await copying
    assert left_in(tmp_path / "backups") == []
    assert await memories_of(tmp_path / "memory.db") == 20


async def test_a_damaged_store_is_not_passed_off_as_a_backup(tmp_path: Path, backups: Backups) -> None:
    await fill(tmp_path / "memory.db", 200)
    damage(tmp_path / "memory.db")
    with pytest.raises(StorageCorrupt, match="damaged") as refusal:
        await backups.make()
    assert "backup" in refusal.value.hint
    assert left_in(tmp_path / "backups") == []


def damage(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: 4096 * 6] + b"\xff" * 4096 * 12 + whole[4096 * 18 :])


async def test_what_can_not_be_copied_is_told(tmp_path: Path, backups: Backups) -> None:
    with pytest.raises(NotFound):
        await backups.make()
    await fill(tmp_path / "memory.db", 1)
    (tmp_path / "taken.db").touch()
    with pytest.raises(Conflict, match="there already"):
        await SqliteArchive(tmp_path / "memory.db").copy(tmp_path / "taken.db")
    (tmp_path / "file").touch()
    with pytest.raises(InUse, match="can't be written"):
        await backups.make(to=tmp_path / "file" / "folder")
    with pytest.raises(InvalidInput, match="--to"):
        await back_up(settings_of(tmp_path), to=tmp_path / "file")


@contextmanager
def disk(place: Path, size: str) -> Iterator[Path]:
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    with disk(tmp_path / "disk", "1m") as place:
        yield place


@pytest.fixture
def roomy_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that takes a store with its log."""
    with disk(tmp_path / "disk", "16m") as place:
        yield place


@pytest.mark.needs("mount", "root")
@pytest.mark.parametrize("late", [False, True])
async def test_a_full_disk_is_told_and_leaves_the_store_and_the_backups_as_they_were(
    tmp_path: Path, small_disk: Path, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "STEP", 1)
    await fill(tmp_path / "memory.db", 150)
    assert 400_000 < (tmp_path / "memory.db").stat().st_size < 1_000_000
    filler = small_disk / "filler"

    def fill_up(_stage: str, _done: int, _total: int) -> None:
        if not filler.exists():
            with pytest.raises(OSError, match="No space"):
                filler.write_bytes(bytes(2_000_000))

    if not late:
        filler.write_bytes(bytes(700_000))
    with pytest.raises(StorageFull) as full:
        await SqliteArchive(tmp_path / "memory.db").copy(small_disk / "c.db", report=fill_up if late else None)
    assert "Free some space" in full.value.hint
    assert left_in(small_disk) == ["filler"]
    assert await memories_of(tmp_path / "memory.db") == 150


@pytest.mark.needs("mount", "root")
async def test_on_a_full_disk_nothing_is_restored_or_exported_and_the_store_stays(
    tmp_path: Path, roomy_disk: Path
) -> None:
    settings = settings_of(tmp_path / "data", db_path=roomy_disk / "memory.db")
    await fill(settings.database, 20)
    made = await back_up(settings, to=tmp_path / "backups")
    await fill(settings.database, 5, start=20)
    filler = roomy_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(20_000_000))
    with pytest.raises(StorageFull):
        await restore(settings, made.path)
    assert not [name for name in left_in(roomy_disk) if name.endswith(".part")]
    filler.unlink()
    assert await memories_of(settings.database) == 25
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(20_000_000))
    with filler.open("r+b") as file:
        file.truncate(filler.stat().st_size - 8192)  # room for the first lines
    with pytest.raises(StorageFull):
        await export(settings, roomy_disk / "out.jsonl")
    assert "out.jsonl" not in left_in(roomy_disk)
    filler.unlink()
    assert (await restore(settings, made.path)).contents.memories == 20


# Keeping them ---------------------------------------------------------------------------------------------------------


async def test_backups_go_when_they_are_old_but_never_the_newest_nor_anything_else(tmp_path: Path) -> None:
    for name in (
        "memory-20260101T000000Z.db",
        "before-restore-20260102T000000Z.db",
        "memory-20260301T000000Z-1.db",
        "notes-20200101T000000Z.db",
        "memory-20269999T000000Z.db",
        "memory.db",
    ):
        (tmp_path / name).touch()
    abandoned, recent = tmp_path / ".memory-20200101T000000Z.db.ab.part", tmp_path / ".x.db.cd.part"
    abandoned.touch()
    recent.touch()
    os.utime(abandoned, (0, 0))
    gone = drop_old(tmp_path, NOW - timedelta(days=30))
    assert sorted(path.name for path in gone) == ["before-restore-20260102T000000Z.db", "memory-20260101T000000Z.db"]
    assert [backup.path.name for backup in backups_in(tmp_path)] == ["memory-20260301T000000Z-1.db"]
    assert left_in(tmp_path) == [
        ".x.db.cd.part",
        "memory-20260301T000000Z-1.db",
        "memory-20269999T000000Z.db",
        "memory.db",
        "notes-20200101T000000Z.db",
    ]


async def test_old_ones_go_only_once_a_new_one_is_there(tmp_path: Path, backups: Backups) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "memory-20260101T000000Z.db").touch()
    with pytest.raises(NotFound):
        await backups.make()
    assert left_in(folder) == ["memory-20260101T000000Z.db"]
    await fill(tmp_path / "memory.db", 1)
    await backups.make(to=tmp_path / "elsewhere")
    assert left_in(folder) == ["memory-20260101T000000Z.db"]
    await backups.make()
    assert left_in(folder) == ["memory-20260504T120000Z.db"]


# Putting one back -----------------------------------------------------------------------------------------------------


async def test_a_restore_brings_back_what_was_and_keeps_what_is_there(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    await fill(settings.database, 3)
    made = await back_up(settings)
    await fill(settings.database, 2, start=3)
    index_folder(settings).mkdir()
    (index_folder(settings) / "old").touch()
    done = await restore(settings, made.path)
    assert done.contents.memories == 3
    assert await memories_of(settings.database) == 3
    assert not index_folder(settings).exists()
    assert done.aside is not None
    assert done.aside.parent == settings.backups
    assert stat.S_IMODE(settings.database.stat().st_mode) == 0o600
    assert await memories_of(made.path) == 3
    await restore(settings, done.aside)
    assert await memories_of(settings.database) == 5


async def test_searches_after_a_restore_find_what_was_and_nothing_later(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    with Hindsight(settings=settings) as memory:
        memory.write("我住在北京朝阳区")
    made = await back_up(settings)
    with Hindsight(settings=settings) as memory:
        memory.write("我的猫叫咪咪")
        assert "咪咪" in memory.search("猫叫什么").context
    await restore(settings, made.path)
    with Hindsight(settings=settings) as memory:
        assert "咪咪" not in memory.search("猫叫什么").context
        assert "朝阳" in memory.search("住在哪里").context


@pytest.mark.parametrize("wal", [False, True])
async def test_a_restore_is_refused_while_anybody_has_the_store_open(tmp_path: Path, wal: bool) -> None:
    settings = settings_of(tmp_path)
    await fill(settings.database, 3)
    made = await back_up(settings)
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from hindsight.storage.sqlite.store import SqliteStore\n"
        "async def main():\n"
        "    store = await SqliteStore.open(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()\n"
        "asyncio.run(main())"
    )
    other = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        program,
        str(settings.database),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert other.stdout is not None
    assert await other.stdout.readline() == b"open\n"
    if wal:
        damage(settings.database)  # then the lock alone tells
    with pytest.raises(InUse, match="another program has") as refusal:
        await restore(settings, made.path)
    assert "Stop every hindsight" in refusal.value.hint
    other.kill()
    await other.communicate()
    await restore(settings, made.path)
    assert await memories_of(settings.database) == 3


async def test_a_store_open_in_this_process_is_not_replaced_under_it(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    await fill(settings.database, 1)
    made = await back_up(settings)
    store = await SqliteStore.open(settings.database)
    with pytest.raises(InUse, match="another program has"):
        await restore(settings, made.path)
    await store.apply(one(9))
    await store.aclose()
    assert await memories_of(settings.database) == 2


async def test_a_damaged_or_missing_store_is_replaced_and_the_damaged_one_is_kept(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    await fill(settings.database, 200)
    made = await back_up(settings)
    damage(settings.database)
    damaged = settings.database.read_bytes()
    done = await restore(settings, made.path)
    assert done.aside is not None
    assert done.aside.read_bytes()[4096:] == damaged[4096:]  # its header says by now that it has no log beside it
    assert await memories_of(settings.database) == 200
    settings.database.write_bytes(b"no database at all, " * 999)
    assert (await restore(settings, made.path)).aside is not None
    settings.database.unlink()
    assert (await restore(settings, made.path)).aside is None
    assert await memories_of(settings.database) == 200


async def test_what_is_no_whole_backup_of_this_release_is_refused_and_the_store_stays(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    await fill(settings.database, 200)
    made = await back_up(settings)
    newer = tmp_path / "newer.db"
    newer.write_bytes(made.path.read_bytes())
    later = apsw.Connection(str(newer))
    later.execute("INSERT INTO migration VALUES (9999, 'later', 'x')")
    later.pragma("user_version", 9999)
    later.close()
    with pytest.raises(SchemaMismatch, match="schema"):
        await restore(settings, newer)
    foreign = tmp_path / "foreign.db"
    other = apsw.Connection(str(foreign))
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    with pytest.raises(StorageCorrupt, match="no store of hindsight"):
        await restore(settings, foreign)
    damage(made.path)
    with pytest.raises(StorageCorrupt, match="damaged"):
        await restore(settings, made.path)
    (tmp_path / "text").write_bytes(b"hello " * 999)
    with pytest.raises(StorageCorrupt):
        await restore(settings, tmp_path / "text")
    with pytest.raises(InvalidInput, match="FILE"):
        await restore(settings, tmp_path / "nowhere")
    assert await memories_of(settings.database) == 200
    assert [backup.path for backup in await list_backups(settings)] == [made.path]


async def test_a_backup_of_an_earlier_release_is_migrated_and_stays_as_it_was(tmp_path: Path) -> None:
    steps = migrations("hindsight.storage.sqlite")
    store = await SqliteStore.open(tmp_path / "old.db", known=steps[:2])
    await store.aclose()
    before = (tmp_path / "old.db").read_bytes()
    settings = settings_of(tmp_path)
    done = await restore(settings, tmp_path / "old.db")
    assert done.contents.schema == 2
    assert (tmp_path / "old.db").read_bytes() == before
    assert left_in(tmp_path) == ["memory.db", "old.db"]
    now = apsw.Connection(str(settings.database))
    assert now.pragma("user_version") == len(steps)
    now.close()


async def test_what_was_purged_since_the_backup_is_not_brought_back(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    store = await SqliteStore.open(settings.database)
    said = a_memory("m1", content="unforgettable words", sources=(Source("e1", 0, 19),))
    told = an_episode("e1", content="unforgettable words and others")
    await store.apply(a_batch("b", episodes=(told, an_episode("e2")), puts=(new(said), new(a_memory("m2")))))
    made = await back_up(settings)
    await store.purge(Purge(SPACE, "p", NOW, ("m1", "e2", "never-there")))
    await store.aclose()
    done = await restore(settings, made.path)
    assert done.purged == 3
    store = await SqliteStore.open(settings.database)
    assert set(await store.memories(SPACE, ["m1", "m2"])) == {"m2"}
    episodes = await store.episodes(SPACE, ["e1", "e2"])
    assert (episodes["e1"].content.strip(), episodes["e2"].content) == ("and others", "")
    assert {stone.id: stone.at for stone in await store.tombstones(SPACE)} == dict.fromkeys(
        ("m1", "e2", "never-there"), NOW
    )
    assert await store.purged_keys(SPACE, ["content of m1", "key of e2", "x"]) == {"content of m1", "key of e2"}
    await store.aclose()
    assert b"unforgettable" not in settings.database.read_bytes()
    assert (await restore(settings, made.path)).purged == 3


# Dying ----------------------------------------------------------------------------------------------------------------

COPYING = Path(__file__).with_name("copying.py")


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of POSIX")
@pytest.mark.parametrize("act", ["copy", "put_back"])
async def test_killed_anywhere_the_store_is_whole_and_a_later_run_finishes(tmp_path: Path, act: str) -> None:
    await fill(tmp_path / "memory.db", 30)
    await SqliteArchive(tmp_path / "memory.db").copy(tmp_path / "kept.db")
    await fill(tmp_path / "memory.db", 10, start=30)
    target = tmp_path / "kept.db" if act == "put_back" else tmp_path / "made.db"
    ended = []
    for number in range(1, 12):
        command = [str(COPYING), act, str(tmp_path / "memory.db"), str(target), str(number)]
        ended.append(await (await asyncio.create_subprocess_exec(sys.executable, *command)).wait())
        if ended[-1] == 0:
            break
        assert ended[-1] == -9
        assert await memories_of(tmp_path / "memory.db") == 40
        assert not (tmp_path / "made.db").exists()
    assert ended[-1] == 0
    assert len(ended) > 3
    assert await memories_of(tmp_path / "memory.db") == (40 if act == "copy" else 30)
    assert await memories_of(target) == (40 if act == "copy" else 30)


# Every day ------------------------------------------------------------------------------------------------------------


async def test_the_daily_backup_is_a_job_that_is_closed_once_the_copy_is_whole(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    store = await SqliteStore.open(settings.database)
    await store.apply(one(1))
    job = NewJob("j1", BACKUP_JOB, {}, NOW)
    assert await store.put_scheduled(Due("backup", "0 3 * * *", NOW), expected=None, jobs=((WHOLE, job),))
    leased = await store.lease_job((BACKUP_JOB,), owner="w", now=NOW, until=NOW + timedelta(minutes=1))
    assert leased is not None
    await make_backup_handler(settings, store)(leased, "w")
    assert not await store.jobs(WHOLE)
    await store.aclose()
    (made,) = await list_backups(settings)
    assert made.path.parent == tmp_path / "backups"
    assert await memories_of(made.path) == 1


# The command line -----------------------------------------------------------------------------------------------------


def test_the_command_line_makes_lists_and_restores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    folder = ["--data-dir", str(tmp_path), "--json"]
    assert cli.main(["write", "我对花生过敏", *folder]) == 0
    capsys.readouterr()
    assert cli.main(["backup", *folder]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["rows"]["memory"] == 1
    assert made["changes"] == {"default": 1}
    assert cli.main(["backup", "--to", str(tmp_path / "mine"), "--data-dir", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(str(tmp_path / "mine"))
    assert "1 memories" in shown.err
    assert cli.main(["backup", "--list", *folder]) == 0
    listed = json.loads(capsys.readouterr().out)["backups"]
    assert [one["file"] for one in listed] == [made["file"]]
    assert cli.main(["restore", made["file"], *folder]) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["rows"]["memory"] == 1
    assert Path(done["kept"]).is_file()
    assert cli.main(["restore", str(tmp_path / "nowhere"), *folder]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["field"] == "FILE"

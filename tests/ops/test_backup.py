"""Copies of everything: of one moment, read again, kept for a while, and put back without losing what is there."""

import asyncio
import json
import os
import stat
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight.app import BACKUP_JOB, make_backup_handler
from hindsight.domain.change import NewJob
from hindsight.domain.schedule import Due
from hindsight.errors import Conflict, InvalidInput, NotFound, StorageCorrupt, StorageFull
from hindsight.errors import StorageUnavailable as InUse
from hindsight.interfaces.cli import main as cli
from hindsight.ops.backup import back_up, list_backups, restore
from hindsight.ops.exports import export
from hindsight.storage.sqlite import archive as archive_module
from hindsight.storage.sqlite.archive import SqliteArchive
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import SPACE
from hindsight.upkeep.backup import BackupPolicy, Backups, backups_in, drop_old
from hindsight.upkeep.schedule import WHOLE
from tests.ops.stores import NOW, Noon, damage, fill, left_in, memories_of, one, settings_of

pytestmark = pytest.mark.anyio


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

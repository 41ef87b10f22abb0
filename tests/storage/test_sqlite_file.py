"""What can be wrong with a file or the disk under it, and what a caller is told."""

import asyncio
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from hindsight.errors import HindsightError, StorageCorrupt, StorageFull, StorageUnavailable
from hindsight.storage.sqlite.aside import Retention
from hindsight.storage.sqlite.connection import Database
from hindsight.storage.sqlite.drive import filesystem_of, is_network, refuse_network_drive
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import NOON, SPACE, a_batch, a_memory, an_episode, new


async def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "er" / "memory.db"
    store = await SqliteStore.open(file)
    await store.apply(a_batch("b"))
    for each in file.parent.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600, each
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    await store.aclose()


@pytest.mark.parametrize("content", [b"this is no database, " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
async def test_what_is_no_database_is_refused_with_a_hint(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "memory.db"
    file.write_bytes(content)
    with pytest.raises(StorageCorrupt, match=r"memory\.db") as refusal:
        await SqliteStore.open(file)
    assert "recover" in refusal.value.hint
    assert file.read_bytes() == content


async def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    other = apsw.Connection(str(file))
    other.execute("CREATE TABLE theirs (x)")
    other.close()
    with pytest.raises(StorageCorrupt, match="another program"):
        await SqliteStore.open(file)


async def test_a_damaged_page_is_reported_not_read(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    store = await SqliteStore.open(file)
    await store.apply(a_batch("b", puts=tuple(new(a_memory(f"m{n}")) for n in range(500))))
    await store.aclose()
    whole = file.read_bytes()
    file.write_bytes(whole[: 4096 * 4] + os.urandom(4096 * 20) + whole[4096 * 24 :])
    with pytest.raises(StorageCorrupt):
        await read_all(file)


async def read_all(file: Path) -> None:
    store = await SqliteStore.open(file)
    try:
        for n in range(500):
            await store.memories(SPACE, [f"m{n}"])
            await store.history(SPACE, f"m{n}")
    finally:
        await store.aclose()


async def test_a_folder_in_place_of_the_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match="can't be opened"):
        await SqliteStore.open(tmp_path)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="not run: root may write to anything")
async def test_a_file_that_may_not_be_written_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    await (await SqliteStore.open(file)).aclose()
    file.chmod(0o400)
    with pytest.raises(StorageUnavailable):
        await SqliteStore.open(file)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps an open file in its place")
@pytest.mark.parametrize("replaced", [True, False])
async def test_a_file_removed_or_replaced_while_it_is_open_takes_no_more(tmp_path: Path, replaced: bool) -> None:
    older = await SqliteStore.open(tmp_path / "older.db")
    await older.apply(a_batch("old", episodes=(an_episode("e1"),)))
    await older.aclose()
    file = tmp_path / "memory.db"
    store = await SqliteStore.open(file)
    await store.apply(a_batch("b1", episodes=(an_episode("e1"),)))
    await store.apply(a_batch("b2", episodes=(an_episode("e2"),)))
    aside = file.rename(tmp_path / "aside.db")
    if replaced:
        (tmp_path / "older.db").rename(file)
    for call in (lambda: store.apply(a_batch("b3")), lambda: store.stats(SPACE), lambda: store.head(SPACE)):
        with pytest.raises(StorageUnavailable, match="removed or replaced") as refusal:
            await call()
        assert "start again" in refusal.value.hint
    aside.replace(file)
    await store.apply(a_batch("b3", episodes=(an_episode("e3"),)))
    assert (await store.stats(SPACE)).episodes == 3
    await store.aclose()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.needs("mount", "root")
async def test_a_full_disk_keeps_whole_batches_only(small_disk: Path) -> None:
    store = await SqliteStore.open(small_disk / "memory.db")
    kept: list[int] = []
    refused: list[int] = []
    for number in range(40):
        episodes = tuple(an_episode(f"e{number}-{n}", content="字" * 2000) for n in range(10))
        try:
            await store.apply(a_batch(f"b{number}", episodes=episodes))
            kept.append(number)
        except StorageFull:
            refused.append(number)
    assert kept
    assert refused
    assert (await store.stats(SPACE)).episodes == 10 * len(kept)
    assert len(await store.episodes(SPACE, [f"e{n}-9" for n in kept])) == len(kept)
    await store.aclose()
    store = await SqliteStore.open(small_disk / "memory.db")
    assert (await store.stats(SPACE)).episodes == 10 * len(kept)
    await store.aclose()


@pytest.mark.needs("mount", "root")
async def test_a_full_disk_in_a_group_fails_only_what_does_not_fit(small_disk: Path) -> None:
    store = await SqliteStore.open(small_disk / "memory.db")
    batches = [a_batch(f"b{n}", episodes=(an_episode(f"e{n}", content="字" * 9000),)) for n in range(60)]
    results = await asyncio.gather(*map(store.apply, batches), return_exceptions=True)
    full = [result for result in results if isinstance(result, StorageFull)]
    assert 0 < len(full) < 60
    assert not [result for result in results if isinstance(result, BaseException) and result not in full]
    assert (await store.stats(SPACE)).episodes == 60 - len(full)
    await store.aclose()


async def test_a_cancelled_read_is_stopped_and_the_reader_goes_on(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db", readers=1)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    def never_ends(database: Database) -> object:
        return database.query(endless, ())

    for _ in range(3):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await store._read(never_ends)
        async with asyncio.timeout(30):
            assert await store.head(SPACE) == 0
    await store.aclose()


async def test_a_write_cancelled_while_it_waits_is_never_applied(tmp_path: Path) -> None:
    begun = threading.Event()
    store = await SqliteStore.open(
        tmp_path / "memory.db", watch=lambda name: begun.set() if name == "BEGIN IMMEDIATE" else None
    )
    begun.clear()
    other = apsw.Connection(str(tmp_path / "memory.db"))
    other.execute("BEGIN IMMEDIATE")  # the writer has to wait, and the second batch behind it
    first = asyncio.ensure_future(store.apply(a_batch("first")))
    await asyncio.to_thread(begun.wait)
    second = asyncio.ensure_future(store.apply(a_batch("second")))
    await asyncio.sleep(0)
    second.cancel()
    other.execute("ROLLBACK")
    other.close()
    await first
    assert second.cancelled() or await asyncio.gather(second, return_exceptions=True)
    assert await store.changeset(SPACE, "second") is None
    assert await store.head(SPACE) == 1
    await store.aclose()


async def test_searches_do_not_wait_for_use_counts_and_traces(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db", traces=Retention(3))
    writer = apsw.Connection(str(tmp_path / "memory.db"))
    writer.execute("BEGIN IMMEDIATE")  # nothing can be written now
    for n in range(8):
        await store.record_use(SPACE, ["m1"], NOON)
        await store.save_trace(SPACE, f"t{n}", NOON, {"n": n})
    assert (await store.uses(SPACE, ["m1"]))["m1"].count == 8
    assert await store.trace(SPACE, "t0") == {"n": 0}
    writer.execute("ROLLBACK")
    writer.close()
    await store.aclose()
    store = await SqliteStore.open(tmp_path / "memory.db")
    assert (await store.uses(SPACE, ["m1"]))["m1"].count == 8
    assert [await store.trace(SPACE, f"t{n}") for n in (4, 5, 7)] == [None, {"n": 5}, {"n": 7}]
    await store.aclose()


async def test_traces_that_are_too_old_are_dropped_in_every_namespace(tmp_path: Path) -> None:
    kept = Retention(100, timedelta(days=2))
    store = await SqliteStore.open(tmp_path / "memory.db", traces=kept)
    for days, namespace in ((9, "other"), (3, SPACE), (1, SPACE)):
        await store.save_trace(namespace, f"t{days}", NOON - timedelta(days=days), {"days": days})
    await store.aclose()
    store = await SqliteStore.open(tmp_path / "memory.db", traces=kept)
    await store.save_trace(SPACE, "t0", NOON, {})
    await store.aclose()
    store = await SqliteStore.open(tmp_path / "memory.db", traces=kept)
    assert await store.trace("other", "t9") is None
    assert [await store.trace(SPACE, f"t{days}") for days in (3, 1, 0)] == [None, {"days": 1}, {}]
    await store.aclose()


async def test_no_traces_are_kept_where_none_are_wanted(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db", traces=Retention(0))
    await store.save_trace(SPACE, "t1", NOON, {})
    assert await store.trace(SPACE, "t1") is None
    await store.aclose()


async def test_words_deleted_from_the_file_are_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    store = await SqliteStore.open(file)
    await store.apply(a_batch("b", episodes=(an_episode(content="unforgettable " * 500),)))
    await store.aclose()
    assert b"unforgettable" in file.read_bytes()
    store = await SqliteStore.open(file)
    await store._write(lambda database: database.query("DELETE FROM episode", ()))
    await store.aclose()
    assert b"unforgettable" not in file.read_bytes()


async def test_every_commit_is_synced_to_the_disk(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "memory.db")
    assert await store._write(lambda database: database.pragma("synchronous")) == 2
    assert await store._write(lambda database: database.pragma("journal_mode")) == "wal"
    await store.aclose()


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/export /home nfs4 rw 0 0
/dev/sdb1 /home/me/local\\040disk ext4 rw 0 0
sshfs#x /mnt/far fuse.sshfs rw 0 0
C:\\134 /mnt/c 9p rw 0 0
/dev/sdc1 /media/usb fuseblk rw 0 0
"""


@pytest.mark.parametrize(
    ("where", "filesystem"),
    [("/var/x", "ext4"), ("/home/me/x", "nfs4"), ("/home/me/local disk/x", "ext4"), ("/homestead", "ext4")],
)
def test_the_file_system_of_a_path_is_that_of_its_nearest_mount(where: str, filesystem: str) -> None:
    assert filesystem_of(where, MOUNTS) == filesystem


@pytest.mark.parametrize("where", ["/home/me/memory.db", "/mnt/far/memory.db", "/mnt/c/Users/me/memory.db"])
def test_network_drives_are_refused(where: str) -> None:
    with pytest.raises(StorageUnavailable, match="network drive"):
        refuse_network_drive(Path(where), MOUNTS)


@pytest.mark.parametrize("where", ["/var/memory.db", "/media/usb/memory.db"])
def test_local_drives_are_taken(where: str) -> None:
    refuse_network_drive(Path(where), MOUNTS)
    assert not is_network("fuse.ntfs-3g")


def test_a_read_only_disk_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(HindsightError, match="Read-only file system"):
        asyncio.run(SqliteStore.open(tmp_path / "memory.db"))

"""A backup is put back without losing what is there, and not over somebody's head."""

import asyncio
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hindsight import Hindsight
from hindsight.domain.memory import Source
from hindsight.domain.purge import Purge
from hindsight.errors import InvalidInput, SchemaMismatch, StorageCorrupt
from hindsight.errors import StorageUnavailable as InUse
from hindsight.ops.backup import back_up, index_folder, list_backups, restore
from hindsight.storage.schema import migrations
from hindsight.storage.sqlite.archive import SqliteArchive
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import SPACE, a_batch, a_memory, an_episode, new
from tests.ops.stores import NOW, damage, fill, left_in, memories_of, one, settings_of

pytestmark = pytest.mark.anyio


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

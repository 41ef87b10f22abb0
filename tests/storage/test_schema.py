"""Migrations: forward only, noticed when edited, safe with a backup, refused when newer."""

from pathlib import Path

import apsw
import pytest

import hindsight.storage.sqlite
from hindsight.errors import SchemaMismatch
from hindsight.storage.schema import Migration, migrations
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import SPACE, a_batch, a_memory, new

KNOWN = migrations(hindsight.storage.sqlite.__name__)
NEXT = Migration(len(KNOWN) + 1, "next", "ALTER TABLE memory ADD COLUMN mood TEXT; CREATE TABLE extra (x TEXT) STRICT;")


def schema_of(file: Path) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
    finally:
        connection.close()


def files_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


async def test_a_fresh_schema_is_the_migrated_one(tmp_path: Path) -> None:
    steps = (*KNOWN, NEXT)
    for count in range(1, len(steps) + 1):
        await (await SqliteStore.open(tmp_path / "migrated.db", known=steps[:count])).aclose()
    await (await SqliteStore.open(tmp_path / "fresh.db", known=steps)).aclose()
    assert schema_of(tmp_path / "migrated.db") == schema_of(tmp_path / "fresh.db")


async def test_an_older_folder_is_migrated_with_a_backup_first(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    store = await SqliteStore.open(file)
    await store.apply(a_batch("b", puts=(new(a_memory()),)))
    await store.aclose()
    store = await SqliteStore.open(file, known=(*KNOWN, NEXT))
    assert await store.memories(SPACE, ["m1"])
    await store.apply(a_batch("c", puts=(new(a_memory("m2")),)))
    await store.aclose()
    backup = tmp_path / f"memory.db.schema-{len(KNOWN)}.bak"
    assert files_in(tmp_path) == ["memory.db", backup.name]
    assert backup.stat().st_mode & 0o077 == 0
    old = await SqliteStore.open(backup)
    assert list(await old.memories(SPACE, ["m1", "m2"])) == ["m1"]
    await old.aclose()


async def test_a_new_folder_needs_no_backup(tmp_path: Path) -> None:
    await (await SqliteStore.open(tmp_path / "memory.db", known=(*KNOWN, NEXT))).aclose()
    assert files_in(tmp_path) == ["memory.db"]


async def test_a_newer_schema_is_refused_with_the_reason(tmp_path: Path) -> None:
    await (await SqliteStore.open(tmp_path / "memory.db", known=(*KNOWN, NEXT))).aclose()
    with pytest.raises(SchemaMismatch, match=f"schema {NEXT.number}") as refusal:
        await SqliteStore.open(tmp_path / "memory.db")
    assert "Upgrade" in refusal.value.hint


async def test_an_edited_migration_is_noticed(tmp_path: Path) -> None:
    await (await SqliteStore.open(tmp_path / "memory.db")).aclose()
    edited = Migration(1, KNOWN[0].name, KNOWN[0].text + "\n-- a word more")
    with pytest.raises(SchemaMismatch, match="0001_first"):
        await SqliteStore.open(tmp_path / "memory.db", known=(edited, *KNOWN[1:]))


async def test_line_ends_do_not_make_another_migration() -> None:
    assert Migration(1, "x", "a\r\nb").digest == Migration(1, "x", "a\nb").digest


async def test_a_broken_migration_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    await (await SqliteStore.open(file)).aclose()
    before = schema_of(file)
    broken = Migration(NEXT.number, "broken", "CREATE TABLE good (x TEXT) STRICT; CREATE TABEL bad (x);")
    with pytest.raises(Exception, match="TABEL"):
        await SqliteStore.open(file, known=(*KNOWN, broken))
    assert schema_of(file) == before


async def test_a_running_process_notices_a_newer_schema_and_stops_writing(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    running = await SqliteStore.open(file)
    await running.apply(a_batch("b", puts=(new(a_memory()),)))
    newer = await SqliteStore.open(file, known=(*KNOWN, NEXT))
    for key in ("c", "d"):
        with pytest.raises(SchemaMismatch):
            await running.apply(a_batch(key))
    assert await newer.head(SPACE) == 1
    assert await running.memories(SPACE, ["m1"])
    await newer.aclose()
    await running.aclose()

"""Brings a file to this release's schema: safe when several processes open it at once, with a backup of what was."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import apsw

from hindsight.errors import StorageCorrupt
from hindsight.storage.schema import Migration, missing
from hindsight.storage.sqlite.connection import Database

APPLICATION_ID = 0x48_53_44_31  # "HSD1": tells `file` and us whose database this is


def upgrade(database: Database, known: Sequence[Migration]) -> Path | None:
    """Run the migrations that are missing, all or none. A file that held something is backed up first: to where."""
    with database.snapshot():
        _refuse_foreign(database)
        todo = missing(known, applied(database), database.path)
    if not todo:
        return None
    kept = back_up(database, todo[0].number - 1) if todo[0].number > 1 else None
    database.begin()
    try:
        # Another process may have been quicker.
        for migration in missing(known, applied(database), database.path):
            _run(database, migration)
        database.script("COMMIT")
    finally:
        if database.in_transaction:
            database.script("ROLLBACK")
    return kept


def back_up(database: Database, version: int) -> Path | None:
    """A copy beside the file, `NAME.schema-N.bak`; `None` if another process has migrated the file meanwhile."""
    target = database.path.with_name(f"{database.path.name}.schema-{version}.bak")
    draft = target.with_name(f"{target.name}.{secrets.token_hex(4)}")
    # VACUUM INTO takes an empty file; made here so that nobody else may read it.
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    try:
        database.query("VACUUM INTO ?", (str(draft),))
        copy = apsw.Connection(str(draft), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            held = copy.pragma("user_version")
        finally:
            copy.close()
        if held != version:
            return None
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)
        return target
    finally:
        draft.unlink(missing_ok=True)


def _refuse_foreign(database: Database) -> None:
    owner = database.pragma("application_id")
    empty = not database.query("SELECT 1 FROM sqlite_schema LIMIT 1", ())
    if owner != APPLICATION_ID and not empty:
        raise StorageCorrupt(
            f"{database.path} is a database of another program", hint="Choose another file or HINDSIGHT_DATA_DIR."
        )


def applied(database: Database) -> dict[int, str]:
    """The hashes of the migrations that a file has had, by number."""
    if database.pragma("user_version") == 0:
        return {}
    return dict(database.query("SELECT number, sha256 FROM migration ORDER BY number", ()))


def _run(database: Database, migration: Migration) -> None:
    if migration.number == 1:
        database.pragma("application_id", APPLICATION_ID)
        database.script(
            "CREATE TABLE migration (number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL) STRICT"
        )
    database.script(migration.text)
    database.query("INSERT INTO migration VALUES (?, ?, ?)", (migration.number, migration.name, migration.digest))
    database.pragma("user_version", migration.number)

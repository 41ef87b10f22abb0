"""What has been purged stays purged: the tombstones of a store, laid again in a backup that takes its place."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

import apsw

from hindsight.domain.purge import Purge
from hindsight.storage.purging import SECRET
from hindsight.storage.sql import Row, moment
from hindsight.storage.sqlite import purge as purging
from hindsight.storage.sqlite import reading
from hindsight.storage.sqlite.connection import Database

GONE = ("rows", "turns", "spans")  # what is counted as taken out: memories, turns, parts of turns


@dataclass(frozen=True, slots=True)
class Stones:
    """What a store knows of all that was purged from it: rows of `purged`, rows of `purged_key`, and their secret."""

    stones: tuple[Row, ...]
    marks: tuple[Row, ...]
    secret: str


def stones_of(path: Path) -> Stones | None:
    """Those of a store; `None` where nothing was purged, and for one that can't be read: then nobody knows."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            secret = connection.execute("SELECT value FROM setting WHERE name = ?", (SECRET,)).fetchone()
            if secret is None:
                return None
            stones = connection.execute("SELECT namespace, id, at, removed FROM purged ORDER BY at, id").fetchall()
            marks = connection.execute("SELECT namespace, mark FROM purged_key").fetchall()
            return Stones(tuple(stones), tuple(marks), str(secret[0]))
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.SQLError, apsw.CantOpenError):
        return None


def purge_again(database: Database, known: Stones) -> int:
    """Take out of a backup what was purged since it was made; how many memories and turns that were."""
    database.begin()
    try:
        secret = reading.setting(database, SECRET)
        if secret is None:
            database.run("put_setting", (SECRET, known.secret))
        gone = sum(_purge(database, known, namespace) for namespace in {row[0] for row in known.stones})
        replacing = "INSERT OR REPLACE INTO purged (namespace, id, at, removed) VALUES (?, ?, ?, ?)"
        for row in known.stones:
            database.query(replacing, row)
        if secret in (None, known.secret):  # marks of another secret say nothing here
            database.run_many("lay_mark", known.marks)
        database.script("COMMIT")
    finally:
        if database.in_transaction:
            database.script("ROLLBACK")
    purging.scrub(database)
    return gone


def _purge(database: Database, known: Stones, namespace: str) -> int:
    rows = [row for row in known.stones if row[0] == namespace]
    at = moment(max(row[2] for row in rows))
    key = f"restore:{secrets.token_hex(8)}"
    done, _ = purging.purge(database, Purge(namespace, key, at, tuple(row[1] for row in rows)))
    return sum(done.removed.get(part, 0) for part in GONE)

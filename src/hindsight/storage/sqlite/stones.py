"""Tombstones: what has been purged is known again when it comes back, and refused."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from hindsight.domain.change import Batch
from hindsight.domain.purge import Tombstone
from hindsight.errors import Conflict
from hindsight.storage.purging import SECRET, archived_for, mark
from hindsight.storage.snapshot import loads
from hindsight.storage.sql import Row, listed, micros, moment
from hindsight.storage.sqlite import reading
from hindsight.storage.sqlite.connection import Database


def secret_of(database: Database) -> str:
    """What marks are made with; made at the first purge."""
    found = reading.setting(database, SECRET)
    if found is None:
        found = secrets.token_hex(32)
        database.run("put_setting", (SECRET, found))
    return found


def refuse_purged(database: Database, batch: Batch) -> None:
    """`Conflict` for what has been purged and comes again under its own id. Quick where nothing ever was."""
    secret = reading.setting(database, SECRET)
    if secret is None:
        return
    fresh = [put.memory for put in batch.puts if put.expected_version is None]
    new = {episode.id for episode in batch.episodes} | {memory.id for memory in fresh}
    keys: set[str] = set()
    if batch.kept is not None:
        new |= {one.episode.id for one in batch.kept.episodes} | {one.memory.id for one in batch.kept.memories}
        keys = {one.episode.key for one in batch.kept.episodes}
        keys |= {one.memory.content_key for one in batch.kept.memories}
    rests = {source.episode_id for memory in fresh for source in memory.sources}
    if purged(database, batch.namespace, sorted(new | rests)) or purged_keys(database, batch.namespace, sorted(keys)):
        raise Conflict("the batch brings what has been purged", hint="Leave out what has a tombstone.")


def purged(database: Database, namespace: str, ids: Sequence[str]) -> Mapping[str, Tombstone]:
    """See `Store.purged`."""
    return {row[0]: _stone(row) for row in database.rows("stones", (namespace, listed(ids)))}


def tombstones(database: Database, namespace: str) -> Sequence[Tombstone]:
    """See `Store.tombstones`."""
    return [_stone(row) for row in database.rows("all_stones", (namespace,))]


def _stone(row: Row) -> Tombstone:
    return Tombstone(row[0], moment(row[1]), loads(row[2]))


def purged_keys(database: Database, namespace: str, keys: Sequence[str]) -> frozenset[str]:
    """See `Store.purged_keys`."""
    secret = reading.setting(database, SECRET)
    if secret is None or not keys:
        return frozenset()
    marks = {mark(secret, key): key for key in keys}
    return frozenset(marks[row[0]] for row in database.rows("marked", (namespace, listed(list(marks)))))


def hidden(database: Database, now: datetime, grace: timedelta, limit: int) -> Sequence[tuple[str, str]]:
    """See `Store.hidden`."""
    rows = database.rows("hidden", (micros(now - grace),))
    found = [(row[0], row[1]) for row in rows if row[2] is None or archived_for(row[2], now)]
    return sorted(found)[:limit]

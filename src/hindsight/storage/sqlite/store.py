"""The store in a SQLite file: implements `hindsight.ports.Store`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hindsight.domain.change import Applied, Batch, Changeset, Review, Revision, Touched
from hindsight.domain.entry import Entry
from hindsight.domain.episode import Episode
from hindsight.domain.memory import Memory
from hindsight.domain.page import Order, Page, Stats
from hindsight.domain.purge import Purge, Purged, Tombstone
from hindsight.domain.query import Filters
from hindsight.errors import Conflict, StorageUnavailable
from hindsight.storage.checks import (
    check_batch,
    check_filters,
    check_limit,
    check_purge,
    check_text,
    check_texts,
    check_time,
)
from hindsight.storage.schema import Migration, migrations
from hindsight.storage.sqlite import purge as purging
from hindsight.storage.sqlite import reading, stones
from hindsight.storage.sqlite.applying import apply
from hindsight.storage.sqlite.aside import Retention
from hindsight.storage.sqlite.beside import Beside
from hindsight.storage.sqlite.channel import Watch
from hindsight.storage.sqlite.connection import Database, TheFile, connect, create_file
from hindsight.storage.sqlite.keyring import Keyring
from hindsight.storage.sqlite.threads import explained
from hindsight.storage.sqlite.upgrade import upgrade

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

EMBEDDING_MODEL = "embedding_model"
TRACES = Retention()


class SqliteStore(Beside, Keyring):
    """Memory in one file, shared by any number of processes of one machine. Made by `open`."""

    @classmethod
    async def open(
        cls,
        path: Path | str,
        *,
        readers: int = 3,
        traces: Retention = TRACES,
        known: Sequence[Migration] | None = None,
        watch: Watch = None,
    ) -> SqliteStore:
        """Open the file, making or upgrading it where needed.

        `traces`: how many are kept, and how long. `known` stands for this release's migrations, and `watch` hears
        the name of every statement before it runs; both are for tests. Raises `StorageUnavailable` where the file
        can't be written or lies on a network drive, `StorageCorrupt`, `SchemaMismatch`, `StorageFull`.
        """
        steps = migrations(__package__) if known is None else known
        database, file = await asyncio.to_thread(_prepare, Path(path), steps, watch)
        store = cls(database, file, len(steps), readers=readers, traces=traces, watch=watch)
        if known is None:
            await store._make_up()
        return store

    async def _make_up(self) -> None:
        """Clear what a purge took out, where its process died or readers were in the way before that was done."""
        try:
            await self.scrub()
        except StorageUnavailable as error:
            log.warning("free pages may still hold what was purged: %s", error)

    # Writing --------------------------------------------------------------------------------------------------------

    async def apply(self, batch: Batch) -> Applied:
        """See `Store.apply`.

        Vectors of an entry whose searchable text changes go, unless the batch brings new ones: they would answer for
        words that are no longer there. Cancelled after it has begun, a batch may be kept: ask again with its key.
        """
        check_batch(batch)
        return await self._write(apply, batch)

    async def set_embedding_model(self, model: str, *, expected: str | None) -> None:
        """See `Store.set_embedding_model`."""
        check_text("model", model, empty=False)
        await self._write(_set_embedding_model, model, expected)

    # The change log and the indexes ---------------------------------------------------------------------------------

    async def head(self, namespace: str) -> int:
        """See `Store.head`."""
        check_text("namespace", namespace)
        return await self._read(reading.head, namespace)

    async def touched(self, namespace: str, *, after: int, limit: int) -> Sequence[Touched]:
        """See `Store.touched`."""
        check_text("namespace", namespace)
        check_limit(limit)
        return await self._read(reading.touched, namespace, after, limit)

    async def entries(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Entry]:
        """See `Store.entries`."""
        check_texts("ids", (namespace, *ids))
        return await self._read(reading.entries, namespace, ids)

    async def vectors(self, namespace: str, ids: Sequence[str], *, model: str) -> Mapping[str, NDArray[np.float32]]:
        """See `Store.vectors`."""
        check_texts("ids", (namespace, model, *ids))
        return await self._read(reading.vectors, namespace, ids, model)

    async def unembedded(self, namespace: str, *, model: str, limit: int) -> Sequence[Entry]:
        """See `Store.unembedded`."""
        check_texts("model", (namespace, model))
        check_limit(limit)
        return await self._read(reading.unembedded, namespace, model, limit)

    async def embedding_model(self) -> str | None:
        """See `Store.embedding_model`."""
        return await self._read(reading.setting, EMBEDDING_MODEL)

    # Memories -------------------------------------------------------------------------------------------------------

    async def memories(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Memory]:
        """See `Store.memories`."""
        check_texts("ids", (namespace, *ids))
        return await self._read(reading.memories, namespace, ids)

    async def resolve(self, namespace: str, id_or_short: str) -> str:
        """See `Store.resolve`."""
        check_texts("memory_id", (namespace, id_or_short))
        return await self._read(reading.resolve, namespace, id_or_short)

    async def by_content_key(self, namespace: str, keys: Sequence[str]) -> Mapping[str, Memory]:
        """See `Store.by_content_key`."""
        check_texts("keys", (namespace, *keys))
        return await self._read(reading.by_content_key, namespace, keys)

    async def about(self, namespace: str, topics: Sequence[str], *, limit: int) -> Mapping[str, Sequence[str]]:
        """See `Store.about`."""
        check_texts("topics", (namespace, *topics))
        check_limit(limit)
        return await self._read(reading.about, namespace, topics, limit)

    async def reviews(self, namespace: str, *, waiting: bool = True) -> Sequence[Review]:
        """See `Store.reviews`."""
        check_text("namespace", namespace)
        return await self._read(reading.reviews, namespace, waiting)

    async def find(
        self,
        namespace: str,
        filters: Filters,
        *,
        order: Order = Order.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Memory]:
        """See `Store.find`."""
        check_text("namespace", namespace)
        check_filters(filters)
        check_limit(limit)
        return await self._read(reading.find, namespace, filters, order, limit, after)

    async def history(self, namespace: str, memory_id: str) -> Sequence[Revision]:
        """See `Store.history`."""
        check_texts("memory_id", (namespace, memory_id))
        return await self._read(reading.history, namespace, memory_id)

    async def changeset(self, namespace: str, key: str) -> Changeset | None:
        """See `Store.changeset`."""
        check_texts("key", (namespace, key))
        return await self._read(reading.changeset, namespace, key)

    # Episodes -------------------------------------------------------------------------------------------------------

    async def episodes(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Episode]:
        """See `Store.episodes`."""
        check_texts("ids", (namespace, *ids))
        return await self._read(reading.episodes, namespace, ids)

    async def memories_and_episodes(
        self, namespace: str, memory_ids: Sequence[str], episode_ids: Sequence[str]
    ) -> tuple[Mapping[str, Memory], Mapping[str, Episode]]:
        """See `Store.memories_and_episodes`."""
        check_texts("ids", (namespace, *memory_ids, *episode_ids))
        return await self._read(reading.memories_and_episodes, namespace, memory_ids, episode_ids)

    async def known_episodes(self, namespace: str, keys: Sequence[str]) -> Mapping[str, str]:
        """See `Store.known_episodes`."""
        check_texts("keys", (namespace, *keys))
        return await self._read(reading.known_episodes, namespace, keys)

    async def session(self, namespace: str, session_id: str, *, limit: int = 100, after: int = -1) -> Sequence[Episode]:
        """See `Store.session`."""
        check_texts("session_id", (namespace, session_id))
        check_limit(limit)
        return await self._read(reading.session, namespace, session_id, limit, after)

    async def memories_of(self, namespace: str, episode_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """See `Store.memories_of`. An episode on which nothing rests has an empty list."""
        check_texts("episode_ids", (namespace, *episode_ids))
        return await self._read(reading.memories_of, namespace, episode_ids)

    # What has been purged -------------------------------------------------------------------------------------------

    async def purge(self, purge: Purge) -> Purged:
        """See `Store.purge`."""
        check_purge(purge)
        self._gathered.hurry()
        await self._write(reading.head, purge.namespace)  # behind it, traces and uses that still wait are written
        done, needles = await self._write(purging.purge, purge)
        if not purge.scrub:
            return done
        return replace(done, scrubbed=await self._writer.alone(lambda database: purging.scrub(database, needles)))

    async def purged(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Tombstone]:
        """See `Store.purged`."""
        check_texts("ids", (namespace, *ids))
        return await self._read(stones.purged, namespace, ids)

    async def purged_keys(self, namespace: str, keys: Sequence[str]) -> frozenset[str]:
        """See `Store.purged_keys`."""
        check_texts("keys", (namespace, *keys))
        return await self._read(stones.purged_keys, namespace, keys)

    async def tombstones(self, namespace: str) -> Sequence[Tombstone]:
        """See `Store.tombstones`."""
        check_text("namespace", namespace)
        return await self._read(stones.tombstones, namespace)

    async def hidden(self, *, now: datetime, grace: timedelta, limit: int) -> Sequence[tuple[str, str]]:
        """See `Store.hidden`."""
        check_time("now", now)
        check_limit(limit)
        return await self._read(stones.hidden, now, grace, limit)

    async def scrub(self) -> bool:
        """See `Store.scrub`."""
        self._check_open()
        return await self._writer.alone(purging.scrub)

    # The whole ------------------------------------------------------------------------------------------------------

    async def stats(self, namespace: str) -> Stats:
        """See `Store.stats`."""
        check_text("namespace", namespace)
        return await self._read(reading.stats, namespace)

    async def namespaces(self) -> Sequence[str]:
        """See `Store.namespaces`."""
        return await self._read(reading.namespaces)


def _prepare(path: Path, known: Sequence[Migration], watch: Watch) -> tuple[Database, TheFile]:
    create_file(path)
    # Before it is opened: one that is replaced while this waits for it is told from the one in its place.
    file = TheFile(path)
    database: Database | None = None
    try:
        database = connect(path, writer=True, watch=watch)
        upgrade(database, known)
    except Exception as error:
        if database is not None:
            database.close()
        raise explained(error, path) from error
    return database, file


def _set_embedding_model(database: Database, model: str, expected: str | None) -> None:
    found = reading.setting(database, EMBEDDING_MODEL)
    if found != expected:
        raise Conflict(f"the store's embedding model is {found!r} by now, not {expected!r}")
    database.run("put_setting", (EMBEDDING_MODEL, model))

"""The store in a SQLite file: implements `hindsight.ports.Store`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, TypeVar

from hindsight.domain.change import Applied, Batch, Changeset, Job, Review, Revision, Touched
from hindsight.domain.entry import Entry
from hindsight.domain.episode import Episode, JsonValue
from hindsight.domain.memory import Memory
from hindsight.domain.page import Order, Page, Stats, Use
from hindsight.domain.query import Filters
from hindsight.errors import Conflict, StorageUnavailable
from hindsight.storage.checks import (
    check_batch,
    check_filters,
    check_limit,
    check_text,
    check_texts,
    check_time,
    encoded,
)
from hindsight.storage.schema import Migration, migrations
from hindsight.storage.snapshot import loads
from hindsight.storage.sqlite import jobs, reading
from hindsight.storage.sqlite.applying import apply
from hindsight.storage.sqlite.aside import Gathered, Retention, merged, stored_trace, stored_traces, stored_uses
from hindsight.storage.sqlite.connection import Database, TheFile, connect, create_file
from hindsight.storage.sqlite.threads import Readers, Writer, explained
from hindsight.storage.sqlite.upgrade import upgrade

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

P = ParamSpec("P")
Answer = TypeVar("Answer")

EMBEDDING_MODEL = "embedding_model"
TRACES = Retention()
Watch: TypeAlias = Callable[[str], None] | None


class SqliteStore:
    """Memory in one file, shared by any number of processes of one machine. Made by `open`."""

    def __init__(self, database: Database, schema: int, *, readers: int, traces: Retention, watch: Watch) -> None:
        self._gathered = Gathered(traces, lambda: self._writer.wake())
        file = TheFile(database.path)
        self._writer = Writer(database, file, schema, self._gathered)
        self._readers = Readers(database.path, file, readers, watch)
        self._closed = False
        self._path = database.path

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
        database = await asyncio.to_thread(_prepare, Path(path), steps, watch)
        return cls(database, len(steps), readers=readers, traces=traces, watch=watch)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    async def aclose(self) -> None:
        """Finish what is queued and close; a second call does nothing."""
        if not self._closed:
            self._closed = True
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._readers.close()
        self._writer.close()

    async def _read(
        self, work: Callable[Concatenate[Database, P], Answer], *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        self._check_open()
        return await self._readers.read(lambda database: work(database, *args, **kwargs))

    async def _write(
        self, work: Callable[Concatenate[Database, P], Answer], *args: P.args, **kwargs: P.kwargs
    ) -> Answer:
        self._check_open()
        return await self._writer.write(lambda database: work(database, *args, **kwargs))

    def _check_open(self) -> None:
        if self._closed:
            raise StorageUnavailable(f"the store {self._path} has been closed")

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

    # The whole ------------------------------------------------------------------------------------------------------

    async def stats(self, namespace: str) -> Stats:
        """See `Store.stats`."""
        check_text("namespace", namespace)
        return await self._read(reading.stats, namespace)

    async def namespaces(self) -> Sequence[str]:
        """See `Store.namespaces`."""
        return await self._read(reading.namespaces)

    # Beside the truth -----------------------------------------------------------------------------------------------

    async def record_use(self, namespace: str, ids: Sequence[str], at: datetime) -> None:
        """See `Store.record_use`. Returns at once."""
        self._check_open()
        check_texts("ids", (namespace, *ids))
        check_time("at", at)
        self._gathered.use(namespace, ids, at)

    async def uses(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Use]:
        """See `Store.uses`. Counts what this process has not yet written, too."""
        check_texts("ids", (namespace, *ids))
        while True:
            steps = self._gathered.steps()
            stored = await self._read(stored_uses, namespace, ids)
            waiting = self._gathered.waiting_uses(namespace, ids)
            # A flush that ran meanwhile would be counted twice or not at all.
            if steps == self._gathered.steps() and steps % 2 == 0:
                return merged(stored, waiting)

    async def save_trace(self, namespace: str, trace_id: str, at: datetime, body: Mapping[str, JsonValue]) -> None:
        """See `Store.save_trace`. Returns at once."""
        self._check_open()
        check_texts("trace_id", (namespace, trace_id))
        check_time("at", at)
        self._gathered.trace(namespace, trace_id, at, encoded("body", body))

    async def trace(self, namespace: str, trace_id: str) -> Mapping[str, JsonValue] | None:
        """See `Store.trace`."""
        check_texts("trace_id", (namespace, trace_id))
        waiting = self._gathered.waiting_trace(namespace, trace_id)
        return waiting if waiting is not None else await self._read(stored_trace, namespace, trace_id)

    async def traces(self, namespace: str, *, limit: int) -> Sequence[Mapping[str, JsonValue]]:
        """See `Store.traces`."""
        check_texts("namespace", (namespace,))
        if limit <= 0:
            return []
        waiting = self._gathered.waiting_traces(namespace)  # before the file: none is missed in between
        stored = await self._read(stored_traces, namespace, limit)
        return [loads(text) for text in {**stored, **waiting}.values()][-limit:]

    # Jobs -----------------------------------------------------------------------------------------------------------

    async def lease_job(self, kinds: Sequence[str], *, owner: str, now: datetime, until: datetime) -> Job | None:
        """See `Store.lease_job`."""
        check_texts("kinds", (owner, *kinds))
        check_time("now", now)
        check_time("until", until)
        if not await self._read(jobs.is_due, kinds, now):
            return None
        return await self._write(jobs.lease_job, kinds, owner, now, until)

    async def renew_job(self, job_id: str, *, owner: str, until: datetime) -> None:
        """See `Store.renew_job`."""
        check_texts("job_id", (job_id, owner))
        check_time("until", until)
        await self._write(jobs.renew_job, job_id, owner, until)

    async def fail_job(self, job_id: str, *, owner: str, error: str, retry_at: datetime | None) -> None:
        """See `Store.fail_job`."""
        check_texts("job_id", (job_id, owner, error))
        if retry_at is not None:
            check_time("retry_at", retry_at)
        await self._write(jobs.fail_job, job_id, owner, error, retry_at)

    async def jobs(self, namespace: str) -> Sequence[Job]:
        """See `Store.jobs`."""
        check_text("namespace", namespace)
        return await self._read(jobs.jobs, namespace)


def _prepare(path: Path, known: Sequence[Migration], watch: Watch) -> Database:
    create_file(path)
    database: Database | None = None
    try:
        database = connect(path, writer=True, watch=watch)
        upgrade(database, known)
    except Exception as error:
        if database is not None:
            database.close()
        raise explained(error, path) from error
    return database


def _set_embedding_model(database: Database, model: str, expected: str | None) -> None:
    found = reading.setting(database, EMBEDDING_MODEL)
    if found != expected:
        raise Conflict(f"the store's embedding model is {found!r} by now, not {expected!r}")
    database.run("put_setting", (EMBEDDING_MODEL, model))

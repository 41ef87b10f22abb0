"""A store's way to its threads: units of work go to the one that writes or to those that read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar

from hindsight.errors import StorageUnavailable
from hindsight.storage.sqlite.aside import Gathered, Retention
from hindsight.storage.sqlite.connection import Database, TheFile
from hindsight.storage.sqlite.threads import Readers, Writer

P = ParamSpec("P")
Answer = TypeVar("Answer")

Watch: TypeAlias = Callable[[str], None] | None


class Channel:
    """Reads and writes on one file, until closed."""

    def __init__(
        self, database: Database, file: TheFile, schema: int, *, readers: int, traces: Retention, watch: Watch
    ) -> None:
        self._gathered = Gathered(traces, lambda: self._writer.wake())
        self._writer = Writer(database, file, schema, self._gathered)
        self._readers = Readers(database.path, file, readers, watch)
        self._closed = False
        self._path = database.path

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

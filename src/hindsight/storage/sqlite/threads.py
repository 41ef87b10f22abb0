"""The threads that own the connections: one that writes, a few that read.

A unit of work is a plain function that gets a `Database`; it takes one hop to a thread and one back, however many
statements it runs.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

import apsw

from hindsight.errors import HindsightError, SchemaMismatch
from hindsight.storage.sqlite.connection import Database, TheFile, connect, meaning

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

GROUP = 64  # waiting batches that share one transaction, and so one fsync


class Call(Generic[Answer]):
    """One unit of work on its way through a thread, and the task that waits for it."""

    def __init__(self, work: Callable[[Database], Answer], *, stoppable: bool, alone: bool = False) -> None:
        self.work = work
        self.alone = alone
        self._stoppable = stoppable
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[Answer] = self._loop.create_future()
        self._lock = threading.Lock()
        self._gone = False
        self._database: Database | None = None

    async def wait(self) -> Answer:
        """The answer. Cancelled before it started, the work never runs; a read that runs is stopped."""
        try:
            return await self._future
        except asyncio.CancelledError:
            with self._lock:
                self._gone = True
                if self._stoppable and self._database is not None:
                    self._database.interrupt()
            raise

    def start(self, database: Database) -> bool:
        """Take the work up, in the thread; false if nobody waits any more."""
        with self._lock:
            if self._gone:
                return False
            database.resume()
            self._database = database
            return True

    def finish(self, answer: Answer | None, error: BaseException | None) -> None:
        """Hand the answer or the error to the task that waits."""
        with self._lock:
            self._database = None
        # A loop that was closed has nobody waiting on it.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._settle, answer, error)

    def _settle(self, answer: Any, error: BaseException | None) -> None:
        if self._future.done():
            return
        if error is None:
            self._future.set_result(answer)
        else:
            self._future.set_exception(error)


class Readers:
    """A pool of threads with a connection each. They start when there is something to read."""

    def __init__(self, path: Path, file: TheFile, count: int, watch: Callable[[str], None] | None) -> None:
        self._path = path
        self._file = file
        self._watch = watch
        self._queue: SimpleQueue[Call[Any] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._run, name=f"read-{n}", daemon=True) for n in range(count)]
        for thread in self._threads:
            thread.start()

    async def read(self, work: Callable[[Database], Answer]) -> Answer:
        """Run a unit of work on one unchanging view of the file."""
        call = Call(work, stoppable=True)
        self._queue.put(call)
        return await call.wait()

    def _run(self) -> None:
        database: Database | None = None
        while (call := self._queue.get()) is not None:
            try:
                self._file.check()
                if database is None:
                    database = connect(self._path, writer=False, watch=self._watch)
                if not call.start(database):
                    continue
                with database.snapshot():
                    answer = call.work(database)
            except Exception as error:  # noqa: BLE001 - the end of a thread: the caller gets it
                call.finish(None, explained(error, self._path))
            else:
                call.finish(answer, None)
        if database is not None:
            database.close()

    def close(self) -> None:
        """Finish what is queued, then end the threads. Blocks."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()


class Aside(Protocol):
    """What the writer does when it has nothing else to do."""

    def wait(self) -> float | None:
        """Seconds until there is something to do; `None`: nothing."""
        ...

    def flush(self, database: Database) -> None:
        """Write what has come together, in the open transaction."""
        ...

    def settle(self, *, kept: bool) -> None:
        """The transaction of the last flush has ended."""
        ...


class Signal(Enum):
    """What the writer's queue holds beside work."""

    WAKE = "look at what stands aside"
    END = "finish"


class Writer:
    """The one thread that writes. Batches that wait together share a transaction; each stands or falls by itself."""

    def __init__(self, database: Database, file: TheFile, schema: int, aside: Aside) -> None:
        self._database = database
        self._file = file
        self._schema = schema
        self._aside = aside
        self._queue: SimpleQueue[Call[Any] | Signal] = SimpleQueue()
        self._ending = False
        self._put_back: Call[Any] | None = None  # taken from the queue, to be run by itself next
        self._refusal: SchemaMismatch | None = None
        self._thread = threading.Thread(target=self._run, name="write", daemon=True)
        self._thread.start()

    async def write(self, work: Callable[[Database], Answer]) -> Answer:
        """Run a unit of work in a transaction; it is durable when this returns.

        Cancelled once the work has started, it may be kept all the same: only the caller is gone.
        """
        call = Call(work, stoppable=False)
        self._queue.put(call)
        return await call.wait()

    async def alone(self, work: Callable[[Database], Answer]) -> Answer:
        """Run a unit of work outside any transaction, with no other in between."""
        call = Call(work, stoppable=False, alone=True)
        self._queue.put(call)
        return await call.wait()

    def wake(self) -> None:
        """Look at what stands aside."""
        self._queue.put(Signal.WAKE)

    def close(self) -> None:
        """Finish what is queued and what stands aside, then end the thread. Blocks."""
        self._queue.put(Signal.END)
        self._thread.join()

    def _run(self) -> None:
        while not self._ending or self._put_back is not None:
            group = self._next_group()
            live = [call for call in group if call.start(self._database)]
            if live and live[0].alone:
                self._run_alone(live[0])
            elif live:
                self._write(live)
            if self._aside.wait() == 0:
                self._flush()
        if self._aside.wait() is not None:
            self._flush()
        self._database.close()

    def _next_group(self) -> list[Call[Any]]:
        """Whatever waits, up to `GROUP`; waits for the first itself, until something stands aside for too long."""
        group: list[Call[Any]] = []
        if self._put_back is not None:
            group, self._put_back = [self._put_back], None
            return group
        try:
            item = self._queue.get(timeout=self._aside.wait())
            while True:
                if item is Signal.END:
                    self._ending = True
                    return group
                if isinstance(item, Call):
                    if item.alone and group:
                        self._put_back = item
                        return group
                    group.append(item)
                    if item.alone:
                        return group
                if len(group) == GROUP:
                    return group
                item = self._queue.get_nowait()
        except Empty:
            return group

    def _run_alone(self, call: Call[Any]) -> None:
        try:
            self._file.check()
            answer = call.work(self._database)
        except Exception as error:  # noqa: BLE001 - the end of a thread: the caller gets it
            call.finish(None, explained(error, self._database.path))
        else:
            call.finish(answer, None)
        finally:
            if self._database.in_transaction:
                self._database.script("ROLLBACK")

    def _write(self, group: Sequence[Call[Any]]) -> None:
        try:
            outcomes = self._transaction(group)
        except Exception as error:  # noqa: BLE001 - the end of a thread: the callers get it
            if len(group) > 1:
                # The disk filled up, or the like: what fits by itself is kept, the rest hears why not.
                for call in group:
                    self._write([call])
                return
            outcomes = [(None, error)]
        for call, (answer, failure) in zip(group, outcomes, strict=True):
            call.finish(answer, None if failure is None else explained(failure, self._database.path))

    def _transaction(self, group: Sequence[Call[Any]]) -> list[tuple[Any, Exception | None]]:
        self._begin()
        try:
            if len(group) == 1:
                outcomes: list[tuple[Any, Exception | None]] = [(group[0].work(self._database), None)]
            else:
                outcomes = [self._alone(call) for call in group]
            self._database.script("COMMIT")
        finally:
            if self._database.in_transaction:
                self._database.script("ROLLBACK")
        return outcomes

    def _alone(self, call: Call[Any]) -> tuple[Any, Exception | None]:
        """One batch of a group: its failure takes back its own changes only."""
        self._database.script("SAVEPOINT batch")
        try:
            answer = call.work(self._database)
        except Exception as error:
            if not self._database.in_transaction:
                raise  # SQLite gave up the whole transaction
            self._database.script("ROLLBACK TO batch")
            self._database.script("RELEASE batch")
            return None, error
        self._database.script("RELEASE batch")
        return answer, None

    def _begin(self) -> None:
        if self._refusal is not None:
            raise self._refusal
        self._file.check()
        self._database.begin()
        found = self._database.pragma("user_version")
        if found != self._schema:
            self._database.script("ROLLBACK")
            self._refusal = newer_schema(self._database.path, found, self._schema)
            raise self._refusal

    def _flush(self) -> None:
        kept = False
        try:
            self._begin()
            self._aside.flush(self._database)
            self._database.script("COMMIT")
            kept = True
        except (apsw.Error, HindsightError) as error:
            # Use counts and traces may be lost; a search must not fail for them.
            log.warning("use counts and traces were dropped: %s", explained(error, self._database.path))
        finally:
            if self._database.in_transaction:
                self._database.script("ROLLBACK")
            self._aside.settle(kept=kept)


def explained(error: BaseException, path: Path) -> BaseException:
    """An error as callers see it, with the driver's own as its cause."""
    said = meaning(error, path)
    if said is not error:
        said.__cause__ = error
    return said


def newer_schema(path: Path, found: int, known: int) -> SchemaMismatch:
    """The refusal of a file that a later release has changed."""
    return SchemaMismatch(
        f"{path} has schema {found}, this release knows {known}",
        hint="A newer hindsight has opened this folder. Upgrade this one, or restore the backup from before.",
    )

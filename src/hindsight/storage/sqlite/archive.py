"""Copies of the whole file, made while others use it, and put back: implements `hindsight.ports.Archive`.

A copy is made page by page inside one read transaction, so it is of one moment and nobody who writes waits for it; the
write-ahead log grows meanwhile. It is a single file: a copy in WAL mode would leave side files where it is looked at.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

import apsw

from hindsight.domain.backup import Contents, Flaws, Restored
from hindsight.domain.kept import Record
from hindsight.errors import Conflict, NotFound, SchemaMismatch, StorageCorrupt, StorageFull, StorageUnavailable
from hindsight.ports import Report
from hindsight.storage.schema import migrations, missing
from hindsight.storage.sql import Row
from hindsight.storage.sqlite.connection import BUSY_MS, Database, connect
from hindsight.storage.sqlite.exporting import exported
from hindsight.storage.sqlite.restoring import Stones, purge_again, stones_of
from hindsight.storage.sqlite.threads import explained
from hindsight.storage.sqlite.upgrade import APPLICATION_ID, applied, upgrade

AT_ONCE = 200  # records read from the file between two looks of who exports
STEP = 512  # pages copied at a time: about 2 MB between two looks at whether the caller is still there
LOOKS = 20_000  # instructions of SQLite between two such looks while it checks and counts
# What the doctor calls orphans, and their statements in exporting.sql.
ORPHANS = {
    "vectors without entries": "lost_vectors",
    "use counts without entries": "lost_uses",
    "reviews without memories": "lost_reviews",
    "history without a memory": "lost_history",
    "memories whose turns are missing": "lost_memories",
}
MENDED = ("lost_vectors", "lost_uses", "lost_reviews")
SIDE_FILES = ("-wal", "-shm", "-journal")

Answer = TypeVar("Answer")


class SqliteArchive:
    """Copies of one SQLite file. Every call works in a thread of its own; cancelled, it leaves nothing behind."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def copy(self, target: Path, *, report: Report | None = None) -> Contents:
        """See `Archive.copy`."""
        return await _in_thread(lambda stop: _copied(self._path, target, _Watcher(stop, report)))

    async def inspect(self, file: Path, *, report: Report | None = None) -> Contents:
        """See `Archive.inspect`."""
        return await _in_thread(lambda stop: _inspected(file, _Watcher(stop, report)))

    async def flaws(self) -> Flaws:
        """See `Archive.flaws`."""
        return await _in_thread(lambda stop: _flaws(self._path, _Watcher(stop, None)))

    async def mend(self) -> Mapping[str, int]:
        """See `Archive.mend`."""
        return await _in_thread(lambda stop: _mended(self._path, _Watcher(stop, None)))

    async def records(self, *, namespace: str | None, vectors: bool) -> AsyncIterator[Sequence[tuple[str, Record]]]:
        """See `Archive.records`."""
        source = _records(self._path, namespace, vectors)
        with ThreadPoolExecutor(1, thread_name_prefix="hindsight-export") as thread:
            loop = asyncio.get_running_loop()
            try:
                while part := await loop.run_in_executor(thread, lambda: list(islice(source, AT_ONCE))):
                    yield part
            finally:
                await asyncio.shield(loop.run_in_executor(thread, source.close))

    async def put_back(self, file: Path, *, aside: Path, report: Report | None = None) -> Restored:
        """See `Archive.put_back`."""
        return await _in_thread(lambda stop: _put_back(file, self._path, aside, _Watcher(stop, report)))


class Stopped(Exception):
    """The caller has gone."""


class _Watcher:
    """Tells the caller how far the work is, and the work whether the caller is still there."""

    def __init__(self, stop: threading.Event, report: Report | None) -> None:
        self._stop = stop
        self._report = report

    def at(self, stage: str, done: int, total: int) -> None:
        """So much of a stage is done. Raises `Stopped`."""
        if self._stop.is_set():
            raise Stopped
        if self._report is not None:
            self._report(stage, done, total)

    def watch(self, connection: apsw.Connection) -> None:
        """Interrupt what runs on a connection once the caller has gone."""
        connection.set_progress_handler(self._stop.is_set, LOOKS)


async def _in_thread(work: Callable[[threading.Event], Answer]) -> Answer:
    stop = threading.Event()
    with ThreadPoolExecutor(1, thread_name_prefix="hindsight-archive") as thread:
        running = asyncio.get_running_loop().run_in_executor(thread, work, stop)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait({running})
            running.exception()  # nobody else asks for it
            raise


# Copying ------------------------------------------------------------------------------------------------------------


def _copied(source: Path, target: Path, watcher: _Watcher) -> Contents:
    if not source.exists():
        raise NotFound("the store", str(source))
    if target.exists():
        raise Conflict(f"{target} is there already", hint="Choose another name; a backup never takes another's place.")
    with _draft(target) as draft:
        held = _fill(source, draft, watcher)
        try:
            found = _inspected(draft, watcher)
        except StorageCorrupt as error:
            raise StorageCorrupt(
                f"{source} is damaged, and a copy of it would be: {error}",
                hint="Put back an earlier backup: `hindsight backup --list`, `hindsight restore FILE`.",
            ) from error
        if found != held:
            raise StorageCorrupt(
                f"the copy of {source} holds something else than the store: {_difference(held, found)}",
                hint="Try again, and look at the disk it is written to.",
            )
        with _faults_of(draft):
            _sync(draft)
            draft.replace(target)
            _sync(target.parent)
    return found


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A file beside the target that only its owner may read; gone at the end, unless it took the target's place."""
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with _faults_of(draft):
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield draft
    finally:
        for ending in ("", *SIDE_FILES):
            with suppress(OSError):
                draft.with_name(draft.name + ending).unlink()


def _fill(source: Path, draft: Path, watcher: _Watcher) -> Contents:
    """Copy the pages of `source` as they are at one moment; what was counted in it at that moment."""
    with _open(source) as original:
        watcher.watch(original)
        with _faults_of(source):
            _refuse_foreign(original, source)
            # Read something: only then the view is fixed.
            original.execute("BEGIN")
            held = _counted(original)
            _check_room(original, draft)
        with _open(draft, write=True) as copy, _faults_of(draft):
            copy.pragma("journal_mode", "off")  # an unfinished draft is thrown away as a whole
            copy.pragma("synchronous", "off")  # and a finished one is synced once
            with copy.backup("main", original, "main") as work:
                while not work.done:
                    work.step(STEP)
                    watcher.at("copying", work.page_count - work.remaining, work.page_count)
        with _open(draft, write=True) as copy, _faults_of(draft):
            copy.pragma("journal_mode", "delete")
    return held


def _check_room(original: apsw.Connection, draft: Path) -> None:
    needed = original.pragma("page_count") * original.pragma("page_size")
    free = shutil.disk_usage(draft.parent).free
    if needed > free:
        raise StorageFull(
            f"a copy takes {needed / 1e6:.1f} MB, and {draft.parent} has {free / 1e6:.1f} MB left",
            hint="Free some space, or have it written to another disk.",
        )


# Exporting ----------------------------------------------------------------------------------------------------------


def _records(path: Path, namespace: str | None, vectors: bool) -> Generator[tuple[str, Record], None, None]:
    if not path.exists():
        raise NotFound("the store", str(path))
    with _open(path) as connection, _faults_of(path):
        database = Database(connection, path)
        _refuse_foreign(connection, path)
        if missing(migrations(__package__), applied(database), path):
            raise SchemaMismatch(
                f"{path} is of an earlier release", hint="Open it once with this one, as a search does."
            )
        with database.snapshot():
            yield from exported(database, namespace, vectors=vectors)


# Looking ------------------------------------------------------------------------------------------------------------


def _inspected(file: Path, watcher: _Watcher) -> Contents:
    """Read a copy whole. `NotFound`, `StorageCorrupt`, `SchemaMismatch` for one of a newer release."""
    if not file.exists():
        raise NotFound("file", str(file))
    with _open(file) as copy:
        watcher.watch(copy)
        watcher.at("checking", 0, 0)
        with _faults_of(file):
            _refuse_foreign(copy, file)
            missing(migrations(__package__), applied(Database(copy, file)), file)
            _check_whole(copy, file)
            watcher.at("counting", 0, 0)
            return _counted(copy)


def _flaws(path: Path, watcher: _Watcher) -> Flaws:
    if not path.exists():
        raise NotFound("the store", str(path))
    with _open(path) as connection, _faults_of(path):
        watcher.watch(connection)
        found = [row[0] for row in _rows(connection, "PRAGMA quick_check(5)")]
        if found != ["ok"]:
            return Flaws(damage=tuple(found))
        database = Database(connection, path)
        with database.snapshot():
            orphans = {sort: database.rows(f"count_{name}")[0][0] for sort, name in ORPHANS.items()}
            orphans["rows without parents"] = len(_rows(connection, "PRAGMA foreign_key_check"))
    return Flaws(orphans={sort: count for sort, count in orphans.items() if count})


def _mended(path: Path, watcher: _Watcher) -> Mapping[str, int]:
    done: dict[str, int] = {}
    with _open(path, write=True) as connection, _faults_of(path):
        watcher.watch(connection)
        database = Database(connection, path)
        database.begin()
        try:
            for sort, name in ORPHANS.items():
                if name in MENDED:
                    done[sort] = len(database.rows(f"drop_{name}"))
            database.script("COMMIT")
        finally:
            if database.in_transaction:
                database.script("ROLLBACK")
    return {sort: count for sort, count in done.items() if count}


def _refuse_foreign(connection: apsw.Connection, file: Path) -> None:
    if connection.pragma("application_id") != APPLICATION_ID:
        raise StorageCorrupt(f"{file} is no store of hindsight", hint="Name a file that `hindsight backup` made.")


def _check_whole(connection: apsw.Connection, file: Path) -> None:
    found = [row[0] for row in _rows(connection, "PRAGMA integrity_check(3)")]
    if found != ["ok"]:
        raise StorageCorrupt(f"{file} is damaged: {'; '.join(found)}", hint="Use another backup.")
    lost = _rows(connection, "PRAGMA foreign_key_check")
    if lost:
        raise StorageCorrupt(f"{file}: {len(lost)} rows without their parents", hint="Use another backup.")


def _counted(connection: apsw.Connection) -> Contents:
    tables = _rows(
        connection, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    # The names come from the schema, not from outside.
    rows = {name: _rows(connection, f'SELECT count(*) FROM "{name}"')[0][0] for (name,) in tables}
    changes: dict[str, int] = dict(_rows(connection, "SELECT name, change FROM namespace ORDER BY name"))
    return Contents(connection.pragma("user_version"), rows, changes)


def _rows(connection: apsw.Connection, text: str) -> list[Row]:
    return connection.execute(text).fetchall()


def _difference(held: Contents, found: Contents) -> str:
    names = sorted({*held.rows, *found.rows})
    return ", ".join(
        f"{name} {held.rows.get(name)} and {found.rows.get(name)}"
        for name in names
        if held.rows.get(name) != found.rows.get(name)
    )


# Putting back -------------------------------------------------------------------------------------------------------


def _put_back(file: Path, path: Path, aside: Path, watcher: _Watcher) -> Restored:
    contents = _inspected(file, watcher)
    there = path.exists()
    if there:
        _be_alone(path)  # before the long work, so that a running server is told at once
    with _draft(path) as draft:
        _fill(file, draft, watcher)
        if there:
            _be_alone(path)
        purged = _made_ready(draft, stones_of(path) if there else None)
        _sync(draft)
        if there:
            _set_aside(path, aside)
        with _faults_of(path):
            for ending in SIDE_FILES:
                path.with_name(path.name + ending).unlink(missing_ok=True)
            draft.replace(path)
            _sync(path.parent)
    return Restored(contents, aside if there else None, purged)


def _made_ready(draft: Path, stones: Stones | None) -> int:
    """Bring the draft to this release's schema now: what can't be migrated must not take the store's place.

    What was purged from the store since goes from the draft as well; how many entries that were.
    """
    with _faults_of(draft):
        database = connect(draft, writer=True)
        try:
            kept = upgrade(database, migrations(__package__))
            purged = 0 if stones is None else purge_again(database, stones)
            database.pragma("journal_mode", "delete")
        finally:
            database.close()
        if kept is not None:
            kept.unlink(missing_ok=True)  # the backup itself is that copy
    return purged


def _be_alone(path: Path) -> None:
    """`StorageUnavailable` while anybody has the file open; else everything it holds is in this one file afterwards.

    A file in WAL mode is locked by all who have it open for as long as they do, even if they are idle; leaving that
    mode needs all of them gone.
    """
    try:
        with _open(path, write=True) as connection:
            connection.set_busy_timeout(0)
            mode = connection.pragma("journal_mode", "delete")
    except (apsw.BusyError, apsw.LockedError) as error:
        raise _in_use(path) from error
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.FormatError):
        _be_alone_with_damage(path)  # which is what it may be replaced for
    else:
        if mode != "delete":  # a full disk: the log stays, and is set aside with the file
            _be_alone_with_damage(path)


def _be_alone_with_damage(path: Path) -> None:
    """As above, without reading the file: by the lock alone."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        for level in (apsw.SQLITE_LOCK_SHARED, apsw.SQLITE_LOCK_RESERVED, apsw.SQLITE_LOCK_EXCLUSIVE):
            file.xLock(level)
    except apsw.BusyError as error:
        raise _in_use(path) from error
    finally:
        file.xUnlock(apsw.SQLITE_LOCK_NONE)
        file.xClose()


def _in_use(path: Path) -> StorageUnavailable:
    return StorageUnavailable(
        f"another program has {path} open", hint="Stop every hindsight that uses this folder, and try again."
    )


def _set_aside(path: Path, aside: Path) -> None:
    """Keep the file under another name as well; it stays in its place, so that there is one at every moment."""
    with _faults_of(aside):
        aside.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for ending in ("", "-wal"):
            old, new = path.with_name(path.name + ending), aside.with_name(aside.name + ending)
            if not old.exists():
                continue
            try:
                os.link(old, new)
            except OSError:  # another disk, or a file system without links
                shutil.copy2(old, new)
                _sync(new)
        _sync(aside.parent)


# Files --------------------------------------------------------------------------------------------------------------


@contextmanager
def _open(path: Path, *, write: bool = False) -> Iterator[apsw.Connection]:
    # A store in WAL mode can't be read by who may not repair its log, so it is opened for writing too.
    with _faults_of(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(BUSY_MS)
        if not write:
            connection.pragma("query_only", True)
        yield connection
    finally:
        connection.close()


@contextmanager
def _faults_of(path: Path) -> Iterator[None]:
    """Errors of the driver and the system as ours."""
    try:
        yield
    except apsw.Error as error:
        raise explained(error, path) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StorageFull(f"no room left on the disk of {path}", hint="Free some space and try again.") from error
        raise StorageUnavailable(
            f"{path} can't be written: {error.strerror or error}", hint="This user needs write access to its folder."
        ) from error


def _sync(path: Path) -> None:
    """On the disk, whatever happens next; a folder too, where the system lets one."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return  # Windows opens no folders; it keeps names in order by itself
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

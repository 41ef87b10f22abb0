"""One connection to the file: how it is opened, how statements run on it, and what its errors mean.

apsw brings the only SQLite of the process. A second library in the same process would drop the first one's locks
whenever it closes the file (POSIX locks belong to the process), and the file would be damaged.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from time import monotonic, sleep
from types import MappingProxyType
from typing import Any

import apsw

from hindsight.errors import (
    DeadlineExceeded,
    HindsightError,
    InvalidInput,
    StorageCorrupt,
    StorageFull,
    StorageUnavailable,
)
from hindsight.storage.sql import Row, statements
from hindsight.storage.sqlite.drive import refuse_network_drive

BUSY_MS = 5_000  # one wait of SQLite itself for another process
BUSY_SECONDS = 30.0  # all waits together, then the caller hears of it
READER_CACHE_KIB = 4_096
WRITER_CACHE_KIB = 16_384
WAL_LIMIT = 64 * 1024 * 1024  # bytes the log is cut back to after a checkpoint
PART, OVERLAP = 4 * 1024 * 1024, 4096  # bytes of the file read at once, and read again with the next part
LITTLE_ROOM = 1024 * 1024  # bytes; a write error with less than this left on the disk means that it is full


@cache
def queries() -> MappingProxyType[str, str]:
    """The statements of the `.sql` files beside this one, by name."""
    found = sorted(file.name for file in files(__package__).iterdir() if file.name.endswith(".sql"))
    texts = [files(__package__).joinpath(name).read_text(encoding="utf-8") for name in found]
    return MappingProxyType(dict(statements("\n".join(texts))))


class Database:
    """Runs statements by name on one connection. Used by one thread at a time; `interrupt` may come from any."""

    def __init__(self, connection: apsw.Connection, path: Path, watch: Callable[[str], None] | None = None) -> None:
        self._connection = connection
        self._path = path
        self._queries = queries()
        self._watch = watch
        self._stopped = threading.Event()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def in_transaction(self) -> bool:
        """False also after SQLite gave a transaction up by itself, as it may on a full disk."""
        return self._connection.in_transaction

    def rows(self, name: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a named statement."""
        return self.query(self._queries[name], values, name)

    def row(self, name: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a named statement, or `None`. The statement is run to its end."""
        found = self.query(self._queries[name], values, name)
        return found[0] if found else None

    def run(self, name: str, values: Sequence[Any] = ()) -> None:
        """Run a named statement that gives nothing back."""
        self.query(self._queries[name], values, name)

    def run_many(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a named statement once for each row of values."""
        self._before(name)
        self._connection.executemany(self._queries[name], rows)

    def query(self, text: str, values: Sequence[Any], name: str = "") -> list[Row]:
        """All rows of a statement composed in `hindsight.storage.sql`."""
        self._before(name or text)
        return self._connection.execute(text, values).fetchall()

    def stream(self, name: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a named statement one by one, as they are read: for more of them than memory holds."""
        self._before(name)
        yield from self._connection.execute(self._queries[name], values)

    def script(self, text: str) -> None:
        """Run statements of a migration, or one that steers a transaction."""
        self._before(text)
        self._connection.execute(text)

    def pragma(self, name: str, value: Any = None) -> Any:
        """Read or set a pragma."""
        return self._connection.pragma(name) if value is None else self._connection.pragma(name, value)

    def _before(self, name: str) -> None:
        if self._stopped.is_set():
            raise apsw.InterruptError("the caller has gone")
        if self._watch is not None:
            self._watch(name)

    def parts(self) -> Iterator[bytes]:
        """The file itself, piece by piece, each with the end of the one before: read through SQLite's own handle.

        Another handle of this process would drop all locks on the file when it is closed.
        """
        size = self.pragma("page_size") * self.pragma("page_count")
        for at in range(0, size, PART):
            begin = max(0, at - OVERLAP)
            _, content = self._connection.read("main", 0, begin, min(at + PART, size) - begin)
            yield content

    def interrupt(self) -> None:
        """Stop what runs now, and whatever the same unit of work would run next."""
        self._stopped.set()
        self._connection.interrupt()

    def resume(self) -> None:
        """Ready for the next unit of work after an interrupt."""
        self._stopped.clear()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """One unchanging view for all statements inside."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            # Nothing was written; ROLLBACK never fails for want of room, COMMIT might.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def begin(self) -> None:
        """Begin to write. Waits for other processes, up to `BUSY_SECONDS`."""
        patiently(lambda: self.script("BEGIN IMMEDIATE"))

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class TheFile:
    """Which file a path named when it was opened: what is written to it under no name any more, nobody finds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened = _identity(path)

    def check(self) -> None:
        """`StorageUnavailable` where the path names another file by now, or none."""
        if _identity(self._path) != self._opened:
            raise StorageUnavailable(
                f"{self._path} has been removed or replaced while it was open",
                hint="Stop every hindsight that uses this folder, put the right file there, and start again.",
            )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def patiently(act: Callable[[], object]) -> None:
    """Try again while another process holds the file. SQLite does not wait by itself in every case it is busy."""
    limit = monotonic() + BUSY_SECONDS
    while True:
        try:
            act()
            return
        except (apsw.BusyError, apsw.LockedError):
            if monotonic() > limit:
                raise
            sleep(0.005)


def create_file(path: Path) -> None:
    """Make the file, readable by its owner only, unless it is there; SQLite gives its side files the same mode."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        refuse_network_drive(path)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StorageFull(f"no room to make {path}", hint="Free some space on the disk.") from error
        raise StorageUnavailable(
            f"{path} can't be opened for writing: {error.strerror}",
            hint="HINDSIGHT_DATA_DIR must name a folder this user may write to.",
        ) from error


def connect(path: Path, *, writer: bool, watch: Callable[[str], None] | None = None) -> Database:
    """Open the file as the writer or as a reader. Raises apsw's errors; see `meaning`."""
    # Readers could not repair the log after another process died if they were opened read-only.
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=200)
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("foreign_keys", True)
    connection.pragma("cache_size", -(WRITER_CACHE_KIB if writer else READER_CACHE_KIB))
    if writer:
        connection.pragma("secure_delete", True)
        patiently(lambda: connection.pragma("journal_mode", "wal"))
        connection.pragma("synchronous", "full")
        connection.pragma("journal_size_limit", WAL_LIMIT)
    else:
        connection.pragma("query_only", True)
    return Database(connection, path, watch)


def meaning(error: BaseException, path: Path) -> BaseException:
    """What an error of the driver says to a caller; anything else is given back as it is."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput("text", error.object, "whole Unicode characters, no half of a surrogate pair")
    if isinstance(error, OverflowError):
        return InvalidInput("number", str(error), "whole numbers of at most 64 bits")
    if not isinstance(error, apsw.Error):
        return error
    return _driver_error(error, path)


def _driver_error(error: apsw.Error, path: Path) -> HindsightError:
    match error:
        case apsw.FullError():
            return _full(path)
        case apsw.CorruptError() | apsw.NotADBError() | apsw.FormatError():
            return StorageCorrupt(
                f"{path} is damaged or is no SQLite database: {error}",
                hint=f"Restore a backup, or save what can be read with: sqlite3 {path} .recover",
            )
        case apsw.BusyError() | apsw.LockedError():
            return StorageUnavailable(
                f"another process has held {path} for {BUSY_SECONDS:.0f} s",
                hint="Look for a program that keeps it open.",
            )
        case apsw.InterruptError():
            return DeadlineExceeded("the work was stopped before it was done")
        case apsw.TooBigError():
            return InvalidInput("text", "…", "at most 1,000,000,000 bytes")
        case apsw.IOError() | apsw.CantOpenError() if _no_room(path):
            return _full(path)
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return StorageUnavailable(
                f"{path} can't be written: {error}", hint="This user needs write access to the file and its folder."
            )
        case _:
            return StorageUnavailable(f"{path} can't be used: {type(error).__name__}: {error}")


def _full(path: Path) -> StorageFull:
    return StorageFull(
        f"no room left on the disk of {path}; nothing of this write was kept", hint="Free some space and try again."
    )


def _no_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < LITTLE_ROOM
    except OSError:
        return False

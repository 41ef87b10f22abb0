"""Use counts and traces: gathered in memory, written by the writer about once a second, dropped first under load."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from hindsight.domain.episode import JsonValue
from hindsight.domain.page import Use
from hindsight.storage.snapshot import loads
from hindsight.storage.sql import Row, listed, micros
from hindsight.storage.sqlite.connection import Database

PAUSE = 1.0  # seconds between two flushes; each costs an fsync
MICROSECOND = timedelta(microseconds=1)
MOST_USES = 20_000  # memories whose counts may wait
MOST_TRACES = 300  # traces that may wait: a few MB

AGED_EVERY = 3600.0  # seconds between two looks for traces that are too old

Key = tuple[str, str]  # namespace, id


@dataclass(frozen=True, slots=True)
class Retention:
    """How many traces each namespace keeps, the newest, and for how long. `count` 0: none."""

    count: int = 1000
    age: timedelta = timedelta(days=30)


class Gathered:
    """What waits to be written. Safe from any thread; never waits for the disk."""

    def __init__(self, traces: Retention, wake: Callable[[], None]) -> None:
        self._retention = traces
        self._wake = wake
        self._lock = threading.Lock()
        self._uses: dict[Key, tuple[int, int]] = {}
        self._traces: dict[Key, tuple[int, str]] = {}
        self._uses_going: dict[Key, tuple[int, int]] = {}
        self._traces_going: dict[Key, tuple[int, str]] = {}
        self._due: float | None = None
        self._aged = 0.0
        self._steps = 0  # odd while a flush is on its way
        self.dropped = 0

    def use(self, namespace: str, ids: Sequence[str], at: datetime) -> None:
        """Count one use of each id."""
        with self._lock:
            for identifier in ids:
                count, last = self._uses.get((namespace, identifier), (0, 0))
                self._uses[namespace, identifier] = (count + 1, max(last, micros(at)) if count else micros(at))
            self._shrink()
            first = self._schedule()
        if first:
            self._wake()

    def trace(self, namespace: str, trace_id: str, at: datetime, text: str) -> None:
        """Keep a trace, as JSON text, if any are kept."""
        if self._retention.count == 0:
            return
        with self._lock:
            self._traces[namespace, trace_id] = (micros(at), text)
            self._shrink()
            first = self._schedule()
        if first:
            self._wake()

    def _shrink(self) -> None:
        while len(self._uses) > MOST_USES:
            del self._uses[next(iter(self._uses))]
            self.dropped += 1
        while len(self._traces) > MOST_TRACES:
            del self._traces[next(iter(self._traces))]
            self.dropped += 1

    def _schedule(self) -> bool:
        if self._due is not None or not (self._uses or self._traces):
            return False
        self._due = monotonic() + PAUSE
        return True

    def wait(self) -> float | None:
        """Seconds until the next flush; `None` where nothing waits."""
        with self._lock:
            return None if self._due is None else max(0.0, self._due - monotonic())

    def flush(self, database: Database) -> None:
        """Write all of it in the open transaction."""
        with self._lock:
            self._uses_going, self._uses = self._uses, {}
            self._traces_going, self._traces = self._traces, {}
            self._due = None
            self._steps += 1
        uses, traces = still_told(database, self._uses_going, self._traces_going)
        database.run_many("add_use", [(*key, count, last) for key, (count, last) in uses.items()])
        database.run_many("put_trace", [(*key, at, body) for key, (at, body) in traces.items()])
        for namespace in {namespace for namespace, _ in self._traces_going}:
            database.run("trim_traces", (namespace, self._retention.count))
        if self._traces_going and monotonic() >= self._aged:
            # Looks at every trace, so not each time; by the time of the newest, as this has no clock of its own.
            newest = max(at for at, _ in self._traces_going.values())
            database.run("drop_traces_before", (newest - round(self._retention.age / MICROSECOND),))
            self._aged = monotonic() + AGED_EVERY

    def hurry(self) -> None:
        """Have what waits written after the next unit of work."""
        with self._lock:
            if self._due is not None:
                self._due = monotonic()

    def settle(self, *, kept: bool) -> None:
        """The transaction of the flush has ended; what it could not keep is dropped."""
        with self._lock:
            if not kept:
                self.dropped += len(self._uses_going) + len(self._traces_going)
            self._uses_going, self._traces_going = {}, {}
            self._due = monotonic() + PAUSE if self._uses or self._traces else None
            self._steps += self._steps % 2

    def steps(self) -> int:
        """Rises when a flush begins and when it ends; odd in between."""
        with self._lock:
            return self._steps

    def waiting_uses(self, namespace: str, ids: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Counts not yet handed to a flush, with the last use in microseconds."""
        with self._lock:
            return {id_: self._uses[namespace, id_] for id_ in ids if (namespace, id_) in self._uses}

    def waiting_trace(self, namespace: str, trace_id: str) -> Mapping[str, JsonValue] | None:
        """A trace that is not known to be in the file yet."""
        key = (namespace, trace_id)
        with self._lock:
            found = self._traces.get(key) or self._traces_going.get(key)
        return None if found is None else loads(found[1])

    def waiting_traces(self, namespace: str) -> dict[str, str]:
        """Traces that are not known to be in the file yet, as JSON text by id, oldest first."""
        with self._lock:
            waiting = [*self._traces_going.items(), *self._traces.items()]
        return {trace_id: text for (space, trace_id), (_, text) in waiting if space == namespace}


def still_told(
    database: Database, uses: Mapping[Key, tuple[int, int]], traces: Mapping[Key, tuple[int, str]]
) -> tuple[dict[Key, tuple[int, int]], dict[Key, tuple[int, str]]]:
    """Uses and traces without those of what has been purged since they were gathered, here or in another process."""
    kept_uses, kept_traces = dict(uses), dict(traces)
    for namespace in {namespace for namespace, _ in uses}:
        ids = [one for space, one in uses if space == namespace]
        for row in database.rows("stones", (namespace, listed(ids))):
            del kept_uses[namespace, row[0]]
    for namespace in {namespace for namespace, _ in traces}:
        first = min(at for (space, _), (at, _) in traces.items() if space == namespace)
        gone = [row[0] for row in database.rows("stones_since", (namespace, first))]
        for key, (_, body) in traces.items() if gone else ():
            if key[0] == namespace and any(one in body for one in gone):
                del kept_traces[key]
    return kept_uses, kept_traces


def stored_uses(database: Database, namespace: str, ids: Sequence[str]) -> tuple[list[Row], set[str]]:
    """Id, count and last use in microseconds of those that have a row, and those that have been purged."""
    wanted = (namespace, listed(ids))
    return database.rows("uses", wanted), {row[0] for row in database.rows("stones", wanted)}


def stored_trace(database: Database, namespace: str, trace_id: str) -> Mapping[str, JsonValue] | None:
    """A trace in the file."""
    row = database.row("trace", (namespace, trace_id))
    return None if row is None else loads(row[0])


def stored_traces(database: Database, namespace: str, limit: int) -> dict[str, str]:
    """The latest traces in the file, as JSON text by id, oldest first."""
    rows = database.rows("traces", (namespace, limit))
    return {row[0]: row[1] for row in reversed(rows)}


def merged(stored: Sequence[Row], waiting: Mapping[str, tuple[int, int]]) -> dict[str, Use]:
    """Counts of the file and of those that wait, together."""
    found = {row[0]: (row[1], row[2]) for row in stored}
    for identifier, (count, last) in waiting.items():
        before, at = found.get(identifier, (0, last))
        found[identifier] = (before + count, max(at, last))
    return {identifier: Use(count, last / 1_000_000) for identifier, (count, last) in found.items()}

"""Everything that a store holds, or one namespace of it, as JSON lines: a header, a line for each record, an end.

The end has the counts and a checksum over content for each namespace. It is a sum over records, so it does not depend
on their order; what is not content is left out (`records.digest`), so an import into an empty store has the same.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from hindsight.app import SystemClock, make_archive, open_store
from hindsight.config import Settings
from hindsight.domain.change import Embedding, Job, JobState
from hindsight.domain.kept import KeptEpisode, KeptMemory, KeptSession, Record
from hindsight.errors import InvalidInput, NotFound, StorageFull, StorageUnavailable
from hindsight.ops.records import Json, digest, line_of
from hindsight.ports import Report
from hindsight.write.embed import EMBED_JOB

FORM = "hindsight-export"
VERSION = 1
_RING = 1 << 256
# Work on what was written; other work is of a store on itself, and another has its own.
_WORK_ON_CONTENT = ("write.", "experience.")


@dataclass(slots=True)
class Tally:
    """What was counted of one namespace, and the checksum over its content."""

    counts: Counter[str] = field(default_factory=Counter)
    total: int = 0

    def take(self, record: Record, line: Json) -> None:
        """Count one record, by its line as well."""
        self.total = (self.total + digest(line)) % _RING
        match record:
            case KeptEpisode():
                self.counts["episodes"] += 1
            case KeptMemory(memory, revisions):
                self.counts["memories"] += 1
                self.counts[f"memories_{memory.status.value}"] += 1
                self.counts[f"kind_{memory.kind.value}"] += 1
                self.counts["revisions"] += len(revisions)
            case KeptSession():
                self.counts["sessions"] += 1
            case Embedding():
                self.counts["vectors"] += 1
            case Job():
                self.counts["jobs"] += 1
            case _:
                self.counts["reviews"] += 1

    @property
    def checksum(self) -> str:
        """64 hexadecimal digits; all zero where there is nothing."""
        return f"{self.total:064x}"

    def shape(self) -> Json:
        """As it stands at the end of a file."""
        return {**dict(sorted(self.counts.items())), "checksum": self.checksum}


async def checksums(settings: Settings, *, namespace: str | None = None) -> dict[str, Tally]:
    """Counts and checksum of each namespace, nothing written."""
    tallies: dict[str, Tally] = {}
    async for held, record in _records(settings, namespace, vectors=False):
        tallies.setdefault(held, Tally()).take(record, line_of(held, record))
    return tallies


async def export(
    settings: Settings,
    target: Path | BinaryIO,
    *,
    namespace: str | None = None,
    vectors: bool = False,
    report: Report | None = None,
) -> dict[str, Tally]:
    """Write a file, whole or not at all, or to a stream. `NotFound` for a namespace that holds nothing."""
    tallies: dict[str, Tally] = {}
    with _writing(target) as stream:
        stream.write(_line(await _header(settings, namespace)))
        written = 0
        async for held, record in _records(settings, namespace, vectors=vectors):
            line = line_of(held, record)
            tallies.setdefault(held, Tally()).take(record, line)
            stream.write(_line(line))
            written += 1
            if report is not None:
                report("exporting", written, 0)
        if namespace is not None and not tallies:
            raise NotFound("namespace", namespace)
        ends = {name: tally.shape() for name, tally in sorted(tallies.items())}
        stream.write(_line({"type": "end", "namespaces": ends}))
    return tallies


async def _header(settings: Settings, namespace: str | None) -> Json:
    if not await asyncio.to_thread(settings.database.exists):
        raise NotFound("the store", str(settings.database))
    store = await open_store(settings)  # which brings it to this release's form, too
    try:
        now: datetime = SystemClock().now()
        return {
            "type": "header",
            "form": FORM,
            "version": VERSION,
            "at": now.isoformat(),
            "namespace": namespace,
            "embedding_model": await store.embedding_model(),
        }
    finally:
        await store.aclose()


async def _records(settings: Settings, namespace: str | None, *, vectors: bool) -> AsyncIterator[tuple[str, Record]]:
    async for part in make_archive(settings).records(namespace=namespace, vectors=vectors):
        for held, record in part:
            if not isinstance(record, Job) or _is_work_on_content(record):
                yield held, record


def _is_work_on_content(job: Job) -> bool:
    known = job.kind.startswith(_WORK_ON_CONTENT) and job.kind != EMBED_JOB
    return known and job.state in (JobState.READY, JobState.LEASED, JobState.DEAD)


def _line(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@contextmanager
def _writing(target: Path | BinaryIO) -> Iterator[BinaryIO]:
    """The stream, or a file that only its owner may read and that has its name once it is whole."""
    if not isinstance(target, Path):
        yield target
        return
    if target.is_dir():
        raise InvalidInput("FILE", str(target), "the name of a file")
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(target)
    except OSError as error:
        raise _not_written(target, error) from error
    finally:
        with suppress(OSError):
            draft.unlink()


def _not_written(target: Path, error: OSError) -> StorageFull | StorageUnavailable:
    if error.errno == errno.ENOSPC:
        return StorageFull(f"no room left on the disk of {target}", hint="Free some space and try again.")
    return StorageUnavailable(f"{target} can't be written: {error.strerror}", hint="Choose another place.")

"""Backups: one file for each, named by its time, made while the store is in use, and dropped when they are old."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hindsight.domain.backup import Backup, Restored
from hindsight.ports import Archive, Clock, Report

log = logging.getLogger(__name__)

ABANDONED = 86_400.0  # seconds; no copy takes so long to make
_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"(?:memory|before-restore)-(\d{8}T\d{6}Z)(?:-(\d+))?\.db")


@dataclass(frozen=True, slots=True)
class BackupPolicy:
    """Where backups go, and how long they are kept. The newest is kept however old it is."""

    folder: Path
    keep: timedelta = timedelta(days=30)


class Backups:
    """The backups of one store."""

    def __init__(self, archive: Archive, clock: Clock, policy: BackupPolicy) -> None:
        self._archive = archive
        self._clock = clock
        self._policy = policy

    async def make(self, *, to: Path | None = None, report: Report | None = None) -> Backup:
        """One more, in the folder `to` or the usual one, from which those that are too old go.

        They go only once the new one has been read again and found whole.
        """
        folder = self._policy.folder if to is None else to
        now = self._clock.now()
        path = await asyncio.to_thread(_free_name, folder, "memory", now)
        contents = await self._archive.copy(path, report=report)
        made = Backup(path, now, (await asyncio.to_thread(path.stat)).st_size, contents)
        log.info("backup %s: %d memories, %d episodes", path, contents.memories, contents.episodes)
        if to is None:
            for gone in await asyncio.to_thread(drop_old, folder, now - self._policy.keep):
                log.info("backup %s was too old and is gone", gone)
        return made

    async def restore(self, file: Path, *, report: Report | None = None) -> Restored:
        """Put a backup in the store's place. What was there is kept among the backups."""
        aside = await asyncio.to_thread(_free_name, self._policy.folder, "before-restore", self._clock.now())
        return await self._archive.put_back(file, aside=aside, report=report)

    async def list(self, folder: Path | None = None) -> tuple[Backup, ...]:
        """Those in a folder, the newest first."""
        return await asyncio.to_thread(backups_in, self._policy.folder if folder is None else folder)


def backups_in(folder: Path) -> tuple[Backup, ...]:
    """Files that are called as a backup is, the newest first."""
    found: list[tuple[datetime, int, Backup]] = []
    for path in folder.glob("*.db") if folder.is_dir() else ():
        match = _NAME.fullmatch(path.name)
        if match is not None:
            with suppress(FileNotFoundError, ValueError):  # gone meanwhile, or called like a day that does not exist
                at = datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC)
                found.append((at, int(match[2] or 0), Backup(path, at, path.stat().st_size)))
    return tuple(backup for _, _, backup in sorted(found, key=lambda one: one[:2], reverse=True))


def drop_old(folder: Path, before: datetime) -> list[Path]:
    """Take away backups from before then, but never the newest, and what was left half done; the paths that went."""
    gone = [one.path for one in backups_in(folder)[1:] if one.at < before]
    # File times are the machine's, whatever clock names the backups.
    left = [path for path in folder.glob(".*.part*") if time.time() - path.stat().st_mtime > ABANDONED]
    for path in (*gone, *left):
        for each in (path, path.with_name(f"{path.name}-wal")):
            each.unlink(missing_ok=True)
    return gone


def _free_name(folder: Path, kind: str, now: datetime) -> Path:
    stem = f"{kind}-{now.astimezone(UTC).strftime(_STAMP)}"
    path, number = folder / f"{stem}.db", 1
    while path.exists():
        path, number = folder / f"{stem}-{number}.db", number + 1
    return path

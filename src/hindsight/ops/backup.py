"""Backups by hand: made beside a running server, listed, and put back once it is stopped."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from hindsight.app import make_backups
from hindsight.config import Settings
from hindsight.domain.backup import Backup, Restored
from hindsight.errors import InvalidInput
from hindsight.ports import Report


async def back_up(settings: Settings, *, to: Path | None = None, report: Report | None = None) -> Backup:
    """Copy the store of the settings; see `Archive.copy`."""
    _check_folder("--to", to)
    return await make_backups(settings).make(to=to, report=report)


async def list_backups(settings: Settings, *, folder: Path | None = None) -> tuple[Backup, ...]:
    """The backups in a folder, by default the usual one; the newest first."""
    _check_folder("--to", folder)
    return await make_backups(settings).list(folder)


async def restore(settings: Settings, file: Path, *, report: Report | None = None) -> Restored:
    """Put a backup in the store's place; see `Archive.put_back`. The files of the indexes go: they are made anew."""
    _check_file(file)
    done = await make_backups(settings).restore(file, report=report)
    await asyncio.to_thread(shutil.rmtree, index_folder(settings), ignore_errors=True)
    return done


def index_folder(settings: Settings) -> Path:
    """Where the indexes keep what makes the next start quick."""
    return settings.database.parent / "index"


def _check_file(file: Path) -> None:
    if not file.is_file():
        raise InvalidInput("FILE", str(file), "a file that `hindsight backup` made; `--list` names them")


def _check_folder(name: str, folder: Path | None) -> None:
    if folder is not None and folder.exists() and not folder.is_dir():
        raise InvalidInput(name, str(folder), "a folder")

"""Commands about copies of everything: backup, restore."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hindsight.interfaces.cli.call import Call, command

if TYPE_CHECKING:
    from hindsight.domain.backup import Backup, Contents
    from hindsight.interfaces.shapes import Shape
    from hindsight.ports import Report

app = typer.Typer()


@command(app)
def backup(
    call: Call,
    *,
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Folder for it; else HINDSIGHT_BACKUP_DIR.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Only name the backups that are there.")] = False,
) -> None:
    """Copy everything into one file, also while a server runs; the copy is read again and counted."""
    from hindsight.ops import backup as ops  # noqa: PLC0415 - brings the whole engine

    settings = call.settings()
    if listed:
        found = asyncio.run(ops.list_backups(settings, folder=to))
        lines = [f"{one.at:%Y-%m-%d %H:%M:%S} UTC  {_size(one.size):>9}  {one.path}" for one in found]
        call.answer({"backups": [backup_shape(one) for one in found]}, lines)
        call.note(() if found else ("no backups yet",))
        return
    with shown_progress(call) as report:
        made = asyncio.run(ops.back_up(settings, to=to, report=report))
    assert made.contents is not None
    call.answer(backup_shape(made), [str(made.path)])
    call.note([f"{_size(made.size)}, read again and whole: {_counts(made.contents)}"])


@command(app)
def restore(
    call: Call, file: Annotated[Path, typer.Argument(metavar="FILE", help="What `hindsight backup` made.")]
) -> None:
    """Put a backup in the store's place; what is there now is kept beside the backups. Stop the server first."""
    from hindsight.ops import backup as ops  # noqa: PLC0415 - as above

    with shown_progress(call) as report:
        done = asyncio.run(ops.restore(call.settings(), file, report=report))
    shape: Shape = {
        "restored": str(file),
        "kept": None if done.aside is None else str(done.aside),
        "purged": done.purged,
        **contents_shape(done.contents),
    }
    call.answer(shape, [f"restored {_counts(done.contents)}"])
    if done.aside is not None:
        call.note([f"what was there before is kept as {done.aside}"])
    if done.purged:
        call.note([f"purged since that backup, and so not brought back: {done.purged}"])


def backup_shape(backup: Backup) -> Shape:
    """A backup as JSON; the counts where they are known."""
    counted = {} if backup.contents is None else contents_shape(backup.contents)
    return {"file": str(backup.path), "at": backup.at.isoformat(), "bytes": backup.size, **counted}


def contents_shape(contents: Contents) -> Shape:
    """What was counted, as JSON."""
    return {"schema": contents.schema, "rows": dict(contents.rows), "changes": dict(contents.changes)}


@contextmanager
def shown_progress(call: Call) -> Iterator[Report | None]:
    """A bar on stderr, on a terminal only, for work that tells how far it is."""
    from rich.console import Console  # noqa: PLC0415 - takes a tenth of a second
    from rich.progress import (  # noqa: PLC0415 - it brings all of rich
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=call.json or not console.is_terminal) as progress:
        tasks = {"": progress.add_task("opening", total=None)}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                progress.remove_task(tasks.popitem()[1])
                tasks[stage] = progress.add_task(stage, total=total or None)
            progress.update(tasks[stage], completed=done, total=total or None)

        yield report


def _counts(contents: Contents) -> str:
    return f"{contents.memories} memories, {contents.episodes} episodes, {len(contents.changes)} namespaces"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB"

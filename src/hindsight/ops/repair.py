"""What `hindsight doctor --fix` puts right by itself: nothing of it can lose what was said."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from hindsight import config
from hindsight.app import make_archive, open_engine
from hindsight.config import Settings
from hindsight.engine import Engine
from hindsight.errors import Conflict, HindsightError
from hindsight.ops.backup import index_folder
from hindsight.ops.check import few
from hindsight.ops.checkup import stuck_jobs
from hindsight.upkeep.reindex import Reindexer

SIDE_FILES = ("", "-wal", "-shm")


async def repair(given: Mapping[str, object]) -> tuple[str, ...]:
    """Put right what is safe; a sentence for each thing that was done or could not be.

    The index files are dropped and built anew, leases of dead work are given back, orphans on which nothing rests go,
    missing vectors are made, and the files are closed to others. It may run beside a server.
    """
    settings = config.load(**given)
    done = await asyncio.to_thread(_close_files, settings)
    if not settings.database.exists():
        return tuple(done)
    await asyncio.to_thread(shutil.rmtree, index_folder(settings), ignore_errors=True)
    try:
        engine = await open_engine(settings)
    except HindsightError as error:
        return (*done, f"the store could not be opened: {error}")
    try:
        done += await _inside(engine, settings)
    except HindsightError as error:
        done.append(f"not finished: {error}")
    finally:
        await engine.aclose()
    return tuple(done)


async def _inside(engine: Engine, settings: Settings) -> list[str]:
    done = []
    gone = await make_archive(settings).mend()
    if gone:
        done.append("taken out: " + ", ".join(f"{count} {sort}" for sort, count in gone.items()))
    namespaces = await engine.namespaces()
    freed = [job for namespace in ("", *namespaces) for job in await _free(engine, namespace)]
    if freed:
        done.append(f"given back to be done: {few(freed)}")
    parts = engine.parts
    if parts.embedder is not None:
        made = await Reindexer(parts.store, parts.embedder, parts.clock, parts.ids).fill()
        if made:
            done.append(f"vectors made: {made}")
    for namespace in namespaces:
        await parts.projection.warm(namespace)
    done.append(f"indexes built anew: {len(namespaces)} namespaces")
    return done


async def _free(engine: Engine, namespace: str) -> list[str]:
    """Give back work that is leased for longer than anybody works."""
    freed = []
    store, now = engine.parts.store, engine.now()
    for job in stuck_jobs(await store.jobs(namespace), now):
        try:
            await store.fail_job(job.id, owner=job.owner or "", error="given back by the doctor", retry_at=now)
        except Conflict:
            continue  # its owner lives after all
        freed.append(f"{job.kind} {job.id}")
    return freed


def _close_files(settings: Settings) -> list[str]:
    if os.name != "posix":
        return []
    database = settings.database
    files = [database.with_name(database.name + ending) for ending in SIDE_FILES]
    files += [folder / config.FILE_NAME for folder in (settings.data_dir, settings.config_dir)]
    closed = [path for path in files if path.is_file() and _open_to_others(path)]
    for path in closed:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & 0o700)
    return [f"closed to other users: {path}" for path in closed]


def _open_to_others(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)

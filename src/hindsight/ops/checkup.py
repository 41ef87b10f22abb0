"""What the doctor looks at inside a store and around it, each as one check."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hindsight.app import SystemClock, make_archive, make_backups, make_reranker
from hindsight.config import Settings
from hindsight.domain.backup import Backup, Flaws
from hindsight.domain.change import Job, JobState
from hindsight.domain.page import Order
from hindsight.domain.query import Filters
from hindsight.engine import Engine
from hindsight.errors import HindsightError
from hindsight.ops.check import Check, State, failed, few
from hindsight.ops.junk import Junk, check_junk, find_junk

NEAR = 0.95  # closeness above which two statements may be the same (SPEC §6)
COMPARED = 300  # newest memories of a namespace that are compared with all others
LATE = timedelta(days=2)  # a daily backup that is this old has been missed
LONGEST_LEASE = timedelta(days=1)  # no work is leased for so long: a clock was wrong when it was
STEP = timedelta(minutes=5)
SET_CLOCK = "Set the clock of this machine; times and «yesterday» rest on it."


def check_flaws(flaws: Flaws, database: Path) -> tuple[Check, Check]:
    """The file is whole, and nothing in it has lost its parents."""
    if flaws.damage:
        return (
            Check(
                "integrity",
                State.FAIL,
                f"{database} is damaged: {few(flaws.damage, 3)}",
                f"Stop hindsight and put a backup back (`hindsight backup --list`), or save what can be read: "
                f"sqlite3 {database} .recover",
            ),
            Check("orphans", State.SKIP, "the file is damaged"),
        )
    whole = Check("integrity", State.OK, f"{database} is whole")
    if not flaws.orphans:
        return whole, Check("orphans", State.OK, "none")
    found = ", ".join(f"{sort}: {count}" for sort, count in flaws.orphans.items())
    return whole, Check(
        "orphans", State.WARN, found, "`hindsight doctor --fix` takes out those on which nothing rests.", "orphans"
    )


def check_file_times(now: datetime, database: Path) -> Check:
    """The clock is not behind the time at which the file was last written."""
    written = max(
        datetime.fromtimestamp(path.stat().st_mtime, tz=UTC)
        for path in (database, database.with_name(f"{database.name}-wal"))
        if path.exists()
    )
    if written > now + STEP:
        found = f"{database.name} was written at {written:%Y-%m-%d %H:%M} UTC, which is yet to come"
        return Check("file times", State.WARN, found, SET_CLOCK)
    return Check("file times", State.OK, f"last written {written:%Y-%m-%d %H:%M} UTC")


async def check_backups(settings: Settings, now: datetime) -> Check:
    """There is a backup of these days, where one is wanted."""
    name = "backups"
    if settings.backup_hour < 0:
        return Check(name, State.SKIP, "none are made daily (HINDSIGHT_BACKUP_HOUR)")
    made = [one for one in await make_backups(settings).list() if one.path.name.startswith("memory-")]
    return newest_backup(made, now, settings.backups)


def newest_backup(made: Sequence[Backup], now: datetime, folder: Path) -> Check:
    """Whether the newest is new enough."""
    remedy = "Run `hindsight backup`; a server makes one each day, and says in its log why it could not."
    if not made:
        return Check("backups", State.OK, f"none in {folder} yet", "Run `hindsight backup`, or leave it to a server.")
    newest = made[0]
    found = f"{len(made)} in {folder}, the newest of {newest.at:%Y-%m-%d %H:%M} UTC"
    late = now - newest.at > LATE
    return Check("backups", State.WARN if late else State.OK, found, remedy if late else "")


def check_leases(jobs: Sequence[Job], now: datetime) -> Check:
    """No work is held for longer than anybody works on it."""
    stuck = stuck_jobs(jobs, now)
    if not stuck:
        return Check("leases", State.OK, "none is stuck")
    shown = few([f"{job.kind} {job.id}, until {job.lease_until:%Y-%m-%d}" for job in stuck])
    return Check("leases", State.WARN, f"held too long: {shown}", "`hindsight doctor --fix` gives them back.", "leases")


def stuck_jobs(jobs: Sequence[Job], now: datetime) -> list[Job]:
    """Jobs whose lease ends so late that a clock must have been wrong."""
    return [
        job
        for job in jobs
        if job.state is JobState.LEASED and job.lease_until is not None and job.lease_until - now > LONGEST_LEASE
    ]


async def check_reranker(settings: Settings) -> Check:
    """The reranker answers: it is asked to judge one text."""
    name = "reranker"
    try:
        reranker = make_reranker(settings)
    except HindsightError as error:
        return failed(name, error)
    if reranker is None:
        return Check(name, State.SKIP, "none is set")
    try:
        await reranker.warm()
        await reranker.score(
            "Where is the cat?", ["The cat is on the mat."], within=max(5.0, settings.reranker_deadline)
        )
    except HindsightError as error:
        return Check(name, State.WARN, f"{error} Until it answers, the order stays as it is without.", error.hint)
    finally:
        await reranker.aclose()
    return Check(name, State.OK, f"{reranker.model} answers")


async def look_for_junk(engine: Engine, settings: Settings, namespaces: Sequence[str]) -> tuple[Check, ...]:
    """Everything is read once; the newest memories are compared with all others."""
    archive = make_archive(settings)
    junk = await find_junk(archive.records(namespace=None, vectors=False), engine.now(), settings.stale_days)
    await _find_near(engine, namespaces, junk)
    return check_junk(junk)


async def _find_near(engine: Engine, namespaces: Sequence[str], junk: Junk) -> None:
    twins = engine.parts.cleaner.twins
    known = set(junk.doubles)
    for namespace in namespaces:
        page = await engine.parts.store.find(namespace, Filters(), order=Order.NEWEST, limit=COMPARED)
        for twin in await twins.among(namespace, page.items, NEAR):
            name = f"{namespace}: {twin.newer.id}"
            if name not in known:
                junk.near.append(name)


async def check_around(settings: Settings) -> tuple[Check, ...]:
    """Times of the file, and backups."""
    now = SystemClock().now()
    if not settings.database.exists():
        return ()
    times = await asyncio.to_thread(check_file_times, now, settings.database)
    return times, await check_backups(settings, now)

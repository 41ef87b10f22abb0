"""The job table: work that is promised in the transaction that makes it necessary."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import apsw

from hindsight.domain.change import Job, JobDone, JobState, NewJob
from hindsight.domain.schedule import Due
from hindsight.errors import Conflict, NotFound
from hindsight.storage.snapshot import dumps
from hindsight.storage.sql import Row, listed, mapping_of, micros, moment, optional_micros, optional_moment
from hindsight.storage.sqlite.connection import Database


def add_jobs(database: Database, namespace: str, jobs: Sequence[NewJob]) -> None:
    """Put jobs in; one whose `dedup_key` an open job has is dropped. Born leased counts as the first attempt."""
    if not jobs:
        return
    database.run_many(
        "insert_job",
        [
            (
                namespace,
                job.id,
                job.kind,
                dumps(job.payload),
                (JobState.READY if job.owner is None else JobState.LEASED).value,
                micros(job.run_at),
                0 if job.owner is None else 1,
                job.owner,
                # Leased without an end, it would never be taken over.
                optional_micros(job.run_at if job.owner and job.lease_until is None else job.lease_until),
                job.dedup_key,
            )
            for job in jobs
        ],
    )


def finish_job(database: Database, namespace: str, done: JobDone) -> None:
    """Close a job, which takes it out of the table."""
    if not database.rows("finish_job", (namespace, done.job_id, done.owner)):
        raise _lost(done.job_id, done.owner)


def is_due(database: Database, kinds: Sequence[str], now: datetime) -> bool:
    """Whether there is anything to lease: asked by a reader, so that idle workers do not write."""
    return database.row("due_job", (listed(kinds), micros(now))) is not None


def lease_job(database: Database, kinds: Sequence[str], owner: str, now: datetime, until: datetime) -> Job | None:
    """See `Store.lease_job`."""
    rows = database.rows("lease_job", (listed(kinds), micros(now), owner, micros(until)))
    return job_of(rows[0]) if rows else None


def renew_job(database: Database, job_id: str, owner: str, until: datetime) -> None:
    """See `Store.renew_job`."""
    if not database.rows("renew_job", (job_id, owner, micros(until))):
        raise _lost(job_id, owner)


def fail_job(database: Database, job_id: str, owner: str, error: str, retry_at: datetime | None) -> None:
    """See `Store.fail_job`."""
    if not database.rows("fail_job", (job_id, owner, error, optional_micros(retry_at))):
        raise _lost(job_id, owner)


def close_job(database: Database, job_id: str, owner: str) -> None:
    """See `Store.close_job`."""
    if not database.rows("close_job", (job_id, owner)):
        raise _lost(job_id, owner)


def cancel_job(database: Database, namespace: str, job_id: str) -> Job:
    """See `Store.cancel_job`."""
    rows = database.rows("cancel_job", (namespace, job_id))
    if not rows:
        raise NotFound("job_id", job_id)
    return job_of(rows[0])


def scheduled(database: Database) -> Sequence[Due]:
    """See `Store.scheduled`."""
    return [Due(row[0], row[1], moment(row[2]), optional_moment(row[3])) for row in database.rows("scheduled")]


def put_scheduled(database: Database, entry: Due, expected: datetime | None, new: Sequence[tuple[str, NewJob]]) -> bool:
    """See `Store.put_scheduled`."""
    row = (entry.name, entry.cron, micros(entry.due), optional_micros(entry.last), optional_micros(expected))
    if not database.rows("put_scheduled", row):
        return False
    try:
        for namespace, job in new:
            add_jobs(database, namespace, (job,))
    except apsw.ConstraintError as error:
        raise Conflict("a job with this id is there already") from error
    return True


def jobs(database: Database, namespace: str) -> Sequence[Job]:
    """See `Store.jobs`."""
    return [job_of(row) for row in database.rows("jobs", (namespace,))]


def job_of(row: Row) -> Job:
    """The job in a row of the fragment `job`."""
    return Job(
        id=row[0],
        namespace=row[1],
        kind=row[2],
        payload=mapping_of(row[3]),
        state=JobState(row[4]),
        run_at=moment(row[5]),
        attempts=row[6],
        owner=row[7],
        lease_until=optional_moment(row[8]),
        last_error=row[9],
        dedup_key=row[10],
    )


def _lost(job_id: str, owner: str) -> Conflict:
    return Conflict(f"job {job_id} is not leased to {owner} any more")

"""Jobs and the schedule as they cross the wire."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hindsight.domain.change import Job
from hindsight.domain.schedule import Due
from hindsight.interfaces.shapes import Shape


def job_shape(job: Job) -> Shape:
    """One job; its payload stays inside."""
    return {
        "job_id": job.id,
        "kind": job.kind,
        "namespace": job.namespace,
        "state": job.state.value,
        "run_at": job.run_at.isoformat(),
        "attempts": job.attempts,
        "lease_until": _when(job.lease_until),
        "last_error": job.last_error,
    }


def jobs_shape(jobs: Sequence[Job], schedule: Sequence[Due], now: datetime) -> Shape:
    """Jobs that are not done, how long the oldest that is due has waited, and what comes again."""
    return {
        "items": [job_shape(job) for job in jobs],
        "oldest_seconds": max([0.0, *((now - job.run_at).total_seconds() for job in jobs)]),
        "schedule": [
            {"name": one.name, "cron": one.cron, "due": one.due.isoformat(), "last": _when(one.last)}
            for one in schedule
        ],
    }


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()

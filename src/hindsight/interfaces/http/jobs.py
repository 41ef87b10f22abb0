"""REST of jobs: what waits or goes on in the background (`GET /v1/jobs`, `DELETE /v1/jobs/{id}`)."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import APIRouter

from hindsight.interfaces.http.answers import Answer
from hindsight.interfaces.http.request import Memory
from hindsight.interfaces.shapes_jobs import job_shape, jobs_shape

routes = APIRouter(prefix="/jobs")


@routes.get("")
async def jobs(memory: Memory) -> Answer:
    """Jobs of the namespace that are not done, oldest first, and when the work that comes again is due."""
    return Answer(jobs_shape(await memory.jobs(), await memory.schedule(), datetime.now(UTC)))


@routes.delete("/{job_id}")
async def cancel(job_id: str, memory: Memory) -> Answer:
    """Take a job out, also one at work; 404 for one that is done or not of this namespace."""
    return Answer(job_shape(await memory.cancel_job(job_id)))

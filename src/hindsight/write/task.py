"""The promise to distil what was captured: a write's own job, as it goes into the table and comes out again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import cast

from hindsight.domain.change import Job, NewJob
from hindsight.domain.episode import Episode, JsonValue
from hindsight.domain.memory import Kind
from hindsight.errors import Conflict, Unavailable
from hindsight.ports import Clock, Store
from hindsight.write.prepare import Intake, Told

log = logging.getLogger(__name__)

DISTIL_JOB = "write.distil"
LEASE = timedelta(seconds=60)  # prolonged while the writer lives
CHARACTERS_PER_SECOND = 10_000  # at the slowest; a longer text gets a longer lease


def distil_key(key: str) -> str:
    """Key of the second batch of the write whose first has `key`."""
    return f"{key}/distil"


def distil_later(intake: Intake, job_id: str, *, owner: str) -> NewJob:
    """The job for these episodes, leased by the writer, who means to do it at once."""
    payload = payload_of(intake, {episode.id for episode in intake.episodes}, key=intake.key)
    until = intake.at + LEASE + timedelta(seconds=intake.characters // CHARACTERS_PER_SECOND)
    return NewJob(job_id, DISTIL_JOB, payload, run_at=intake.at, owner=owner, lease_until=until)


def payload_of(intake: Intake, ids: Collection[str], *, key: str) -> dict[str, JsonValue]:
    """What a job needs to know of these episodes of an intake; `told_in` and `intake_of` read it back."""
    groups: dict[Told, list[str]] = {}
    for episode in intake.episodes:
        if episode.id in ids:
            groups.setdefault(intake.told[episode.id], []).append(episode.id)
    return {
        "key": key,
        "actor": intake.actor,
        "told": [
            {
                "request": told.request,
                "kind": told.kind.value if told.kind is not None else None,
                "importance": told.importance,
                "tags": list(told.tags),
                "episodes": list(ids),
            }
            for told, ids in groups.items()
        ],
    }


@asynccontextmanager
async def kept_leased(store: Store, clock: Clock, job_id: str, owner: str) -> AsyncIterator[None]:
    """Prolong the lease while the work goes on: a language model may take longer than a lease."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / 3)
            try:
                await store.renew_job(job_id, owner=owner, until=clock.now() + LEASE)
            except Conflict:
                return  # another took it over; only one of the two can store its results
            except Unavailable as error:
                log.warning("lease of job %s not renewed: %s", job_id, error)

    heart = asyncio.create_task(beat())
    try:
        yield
    finally:
        heart.cancel()
        await asyncio.wait({heart})


def told_in(job: Job) -> dict[str, Told]:
    """What was told about each episode of a job, by episode id, in the order of writing."""
    told: dict[str, Told] = {}
    for group in cast("list[Mapping[str, JsonValue]]", job.payload["told"]):
        kind, importance = group["kind"], group["importance"]
        one = Told(
            request=cast("int", group["request"]),
            kind=Kind(kind) if isinstance(kind, str) else None,
            importance=float(importance) if isinstance(importance, int | float) else None,
            tags=tuple(cast("list[str]", group["tags"])),
        )
        told.update((episode_id, one) for episode_id in cast("list[str]", group["episodes"]))
    return dict(sorted(told.items()))


def intake_of(job: Job, episodes: Iterable[Episode], told: dict[str, Told], intake_at: Episode | None) -> Intake:
    """What a worker takes up again after the writer died."""
    kept = tuple(episodes)
    return Intake(
        namespace=job.namespace,
        key=cast("str", job.payload["key"]),
        at=intake_at.recorded_at if intake_at is not None else job.run_at,
        episodes=kept,
        told=told,
        requests=1 + max((one.request for one in told.values()), default=0),
        actor=cast("str", job.payload["actor"]),
    )

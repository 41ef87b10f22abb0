"""Vectors for what a write brings, and later for what was written while the model was away."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hindsight.domain.change import Batch, Embedding, Job, JobDone, NewJob
from hindsight.domain.entry import without_speaker
from hindsight.domain.episode import Episode
from hindsight.errors import ModelUnavailable
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.write.extract import Candidate

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMBED_JOB = "write.embed"
SLICE = 256  # texts handed to the model at once, so that a question never waits for a whole book


def searched(candidate: Candidate, episode: Episode) -> str:
    """The text by which what comes of a candidate will be found; see `searchable_text`."""
    if candidate.experience is None:
        return without_speaker(candidate.content, episode.speaker)
    body = candidate.experience
    return " ".join((body.trigger.context, *body.trigger.keywords, *candidate.tags, *body.action.tools_used))


async def vectors_of(embedder: Embedder, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The vector of each text, each embedded once. `ModelUnavailable`."""
    distinct = list(dict.fromkeys(texts))
    found: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(distinct), SLICE):
        part = distinct[start : start + SLICE]
        found.update(zip(part, await embedder.embed(part), strict=True))
    return found


async def vectors_in_time(
    embedder: Embedder | None, texts: Sequence[str], *, seconds: float | None
) -> tuple[Mapping[str, NDArray[np.float32]], tuple[str, ...]]:
    """The vectors, or none and the name of what was missing, when the model is away or takes longer than `seconds`."""
    if embedder is None or not texts:
        return {}, ()
    try:
        async with asyncio.timeout(seconds):
            return await vectors_of(embedder, texts), ()
    except (ModelUnavailable, TimeoutError):
        return {}, ("embedder",)


def embed_later(ids: Ids, clock: Clock) -> NewJob:
    """The job that makes up for vectors that were missing; one at a time is enough."""
    return NewJob(ids.new(), EMBED_JOB, {}, run_at=clock.now(), dedup_key=EMBED_JOB)


async def embed_missing(store: Store, embedder: Embedder, ids: Ids, clock: Clock, job: Job, owner: str) -> None:
    """Give every entry that lacks one its vector, and close the job. `ModelUnavailable` leaves the rest for a retry.

    What is written meanwhile relies on this job, so it looks again before it closes, however few there were.
    """
    while entries := await store.unembedded(job.namespace, model=embedder.model, limit=SLICE):
        vectors = await vectors_of(embedder, [entry.content for entry in entries])
        embeddings = tuple(Embedding(entry.id, embedder.model, vectors[entry.content]) for entry in entries)
        await store.apply(Batch(job.namespace, ids.new(), clock.now(), embeddings=embeddings))
    await store.apply(Batch(job.namespace, ids.new(), clock.now(), done=JobDone(job.id, owner)))

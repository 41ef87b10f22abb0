"""Everything that a file holds, record by record, in the form that an import takes over."""

from __future__ import annotations

from collections.abc import Iterator

from hindsight.domain.change import Embedding, Review
from hindsight.domain.episode import EpisodeState
from hindsight.domain.kept import KeptEpisode, KeptMemory, KeptSession, Record
from hindsight.domain.page import Use
from hindsight.domain.session import Session, Variable
from hindsight.storage.snapshot import loads
from hindsight.storage.sql import Row, episode_of, memory_of, moment, optional_moment, texts_of
from hindsight.storage.sqlite.connection import Database
from hindsight.storage.sqlite.jobs import job_of
from hindsight.storage.sqlite.reading import history, vector_of


def exported(database: Database, namespace: str | None, *, vectors: bool) -> Iterator[tuple[str, Record]]:
    """See `Archive.records`; inside a snapshot."""
    for row in database.stream("kept_episodes", (namespace,)):
        state, since = row[16], moment(row[17])
        yield row[0], KeptEpisode(episode_of(row[0], row[3:]), EpisodeState(state), since, _use(row))
    for row in database.stream("kept_memories", (namespace,)):
        memory = memory_of(row[0], row[3:])
        yield row[0], KeptMemory(memory, tuple(history(database, row[0], memory.id)), _use(row))
    for row in database.stream("kept_sessions", (namespace,)):
        variables = tuple(
            (name, Variable(loads(value), moment(set_at), optional_moment(expires_at)))
            for name, value, set_at, expires_at in database.rows("kept_variables", row[:2])
        )
        yield row[0], KeptSession(Session(row[1], moment(row[2]), optional_moment(row[3])), variables)
    for row in database.stream("kept_reviews", (namespace,)):
        yield row[0], Review(row[1], texts_of(row[2]), row[3], moment(row[4]), bool(row[5]))
    for row in database.stream("kept_jobs", (namespace,)):
        job = job_of(row)
        yield job.namespace, job
    if vectors:
        for row in database.stream("kept_vectors", (namespace,)):
            yield row[0], Embedding(row[1], row[2], vector_of(row[3]))


def _use(row: Row) -> Use | None:
    return None if row[1] is None else Use(row[1], row[2] / 1_000_000)

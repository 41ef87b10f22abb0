"""What `Store.apply` does inside its transaction, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import apsw
import numpy as np

from hindsight.domain.change import Applied, Batch, Put
from hindsight.domain.entry import searchable_text
from hindsight.domain.episode import EpisodeState
from hindsight.domain.experience import Experience
from hindsight.domain.kept import Kept, KeptMemory
from hindsight.domain.memory import Memory, Statement
from hindsight.errors import Conflict
from hindsight.storage.snapshot import dumps, receipt_json, receipt_of, snapshot_json
from hindsight.storage.sql import (
    MEMORY_COLUMNS,
    Row,
    episode_row,
    listed,
    memory_of,
    memory_row,
    micros,
)
from hindsight.storage.sqlite.connection import Database
from hindsight.storage.sqlite.jobs import add_jobs, finish_job
from hindsight.storage.sqlite.reading import known_episodes
from hindsight.storage.sqlite.sessions import check_ends, end_sessions, keep_session, wake
from hindsight.storage.sqlite.stones import refuse_purged


@dataclass(slots=True)
class Progress:
    """What has been done of a batch so far. `before`: the state of each episode before it; `None` for new ones."""

    change: int
    touched: dict[str, None] = field(default_factory=dict)
    before: dict[str, EpisodeState | None] = field(default_factory=dict)


def apply(database: Database, batch: Batch) -> Applied:
    """Apply a batch that `check_batch` has passed."""
    known = database.row("applied", (batch.namespace, batch.key))
    if known is not None:
        return Applied(known[0], receipt_of(known[1]), repeated=True)
    refuse_purged(database, batch)
    return step(database, batch)


def step(database: Database, batch: Batch, also: Sequence[str] = ()) -> Applied:
    """One step of the change log, which names `also` beside what the batch touches."""
    try:
        return _apply(database, batch, also)
    except apsw.ConstraintError as error:
        raise Conflict(_taken(str(error)), hint="Read again, decide anew, and write with a new batch.") from error


def _apply(database: Database, batch: Batch, also: Sequence[str]) -> Applied:
    check_ends(database, batch.namespace, batch.ends)
    if batch.done is not None:
        finish_job(database, batch.namespace, batch.done)
    (change,) = _only(database.rows("next_change", (batch.namespace,)))
    progress = Progress(change, dict.fromkeys(also))
    _add_episodes(database, batch, progress)
    _put_memories(database, batch, progress)
    if batch.kept is not None:
        _keep(database, batch.namespace, batch.kept, progress)
    _put_vectors(database, batch, progress)
    _move_episodes(database, batch, progress)
    end_sessions(database, batch)
    add_jobs(database, batch.namespace, batch.jobs)
    database.run_many(
        "put_review",
        [
            (batch.namespace, one.memory_id, listed(one.other_ids), one.reason, micros(one.at), int(one.open))
            for one in batch.reviews
        ],
    )
    database.run(
        "insert_change",
        (
            batch.namespace,
            change,
            micros(batch.at),
            listed(list(progress.touched)),
            dumps(list(progress.before.items())),
        ),
    )
    database.run("insert_applied", (batch.namespace, batch.key, change, receipt_json(batch.receipt)))
    return Applied(change, batch.receipt)


def _only(rows: Sequence[Row]) -> Row:
    (row,) = rows
    return row


def _taken(message: str) -> str:
    """What a broken constraint means. SQLite names the columns: «UNIQUE constraint failed: memory.content_key»."""
    for column, meaning in (
        ("memory.content_key", "another active memory says the same (content_key)"),
        ("memory.id", "a memory with this id is there already"),
        ("episode.id", "an episode with this id is there already"),
        ("episode.key", "an episode with this key is there already"),
        ("job.id", "a job with this id is there already"),
    ):
        if column in message:
            return meaning
    return f"the batch does not fit what is stored: {message}"


# Episodes -----------------------------------------------------------------------------------------------------------


def _add_episodes(database: Database, batch: Batch, progress: Progress) -> None:
    if not batch.episodes:
        return
    known = dict(known_episodes(database, batch.namespace, [episode.key for episode in batch.episodes]))
    places: dict[str | None, int] = {}
    rows: list[Row] = []
    left_out: set[str] = set()
    for episode in batch.episodes:
        if episode.key in known:
            if known[episode.key] != episode.id:
                left_out.add(episode.id)
            continue
        known[episode.key] = episode.id
        session = episode.session_id
        places[session] = 1 + (places[session] if session in places else _last(database, batch.namespace, session))
        rows.append(episode_row(episode, places[session], batch.at))
        progress.before[episode.id] = None
        progress.touched[episode.id] = None
    if referred := left_out.intersection(_references(batch)):
        raise Conflict(
            f"the episode {min(referred)} is stored already under another id, and the batch refers to it",
            hint="Read known_episodes and write again.",
        )
    database.run_many("insert_episode", rows)
    wake(database, batch.namespace, [session for session in places if session is not None], batch.at)


def _last(database: Database, namespace: str, session: str | None) -> int:
    if session is None:
        row = database.row("last_loose_position", (namespace,))
    else:
        row = database.row("last_position", (namespace, session))
    return -1 if row is None or row[0] is None else int(row[0])


def _references(batch: Batch) -> Iterable[str]:
    yield from batch.receipt.episode_ids
    yield from (episode_id for episode_id, _ in batch.episode_states)
    yield from (embedding.entry_id for embedding in batch.embeddings)
    for put in batch.puts:
        yield from (source.episode_id for source in put.memory.sources)


def _move_episodes(database: Database, batch: Batch, progress: Progress) -> None:
    if not batch.episode_states:
        return
    places = _places(database, batch.namespace, [episode_id for episode_id, _ in batch.episode_states])
    for episode_id, state in batch.episode_states:
        if episode_id not in places:
            raise Conflict(f"there is no episode {episode_id} to be {state.value}")
        progress.before.setdefault(episode_id, EpisodeState(places[episode_id][2]))
        progress.touched[episode_id] = None
        database.run("move_episode", (batch.namespace, episode_id, state.value, micros(batch.at)))


def _places(database: Database, namespace: str, ids: Sequence[str]) -> dict[str, tuple[int, int, str]]:
    """Row number, position and state of episodes by id."""
    if not ids:
        return {}
    rows = database.rows("episode_places", (namespace, listed(ids)))
    return {row[0]: (row[1], row[2], row[3]) for row in rows}


# Memories -----------------------------------------------------------------------------------------------------------


def _put_memories(database: Database, batch: Batch, progress: Progress) -> None:
    if not batch.puts:
        return
    namespace = batch.namespace
    # A memory put twice in one batch has two revisions and ends as the last one says.
    last = {put.memory.id: put.memory for put in batch.puts}
    stored = {row[1]: row for row in database.rows("stored_memories", (namespace, listed(list(last))))}
    _check_versions(batch.puts, {identifier: row[28] for identifier, row in stored.items()})
    if len(last) > 1:
        # Keys may move between memories of one batch in any order, so nobody holds one while they are written.
        database.run_many("vacate_content_key", [(row[0],) for row in stored.values()])
    sources = [source.episode_id for put in batch.puts for source in put.memory.sources]
    places = _places(database, namespace, list(dict.fromkeys(sources)))
    for episode_id in sources:
        if episode_id not in places:
            raise Conflict(f"a memory rests on episode {episode_id}, which is not stored")
    numbers = _numbers(database, last, stored)
    rows = {identifier: memory_row(memory) for identifier, memory in last.items()}
    database.run_many(
        "put_memory",
        [_whole_row(numbers[identifier], last[identifier], row, places) for identifier, row in rows.items()],
    )
    _put_lookups(database, last, stored, rows, numbers, places)
    _add_revisions(database, batch, progress.change, rows)
    progress.touched.update(dict.fromkeys(last))
    _drop_stale_vectors(database, batch, stored)


def _drop_stale_vectors(database: Database, batch: Batch, stored: dict[str, Row]) -> None:
    texts = {identifier: searchable_text(memory_of(batch.namespace, row[1:])) for identifier, row in stored.items()}
    stale = {put.memory.id for put in batch.puts if texts.get(put.memory.id) not in (None, searchable_text(put.memory))}
    database.run_many("drop_vectors", [(batch.namespace, identifier) for identifier in stale])


def _check_versions(puts: Sequence[Put], versions: dict[str, int]) -> None:
    for put in puts:
        found = versions.get(put.memory.id)
        if found != put.expected_version:
            raise Conflict(
                f"memory {put.memory.id} is at version {found}, not {put.expected_version}",
                hint="Read the memory again and decide anew.",
            )
        versions[put.memory.id] = put.memory.version


def _numbers(database: Database, last: dict[str, Memory], stored: dict[str, Row]) -> dict[str, int]:
    """Row numbers: those they have, and for new memories the next ones."""
    (highest,) = _only(database.rows("last_memory_seq"))
    highest = highest or 0
    numbers: dict[str, int] = {}
    for identifier in last:
        if identifier in stored:
            numbers[identifier] = stored[identifier][0]
        else:
            highest += 1
            numbers[identifier] = highest
    return numbers


def _whole_row(number: int, memory: Memory, row: Row, places: dict[str, tuple[int, int, str]]) -> Row:
    """In the order of the statement `put_memory`."""
    position = places[memory.sources[0].episode_id][1] if memory.sources else -1
    body = memory.body
    trust = body.outcome.confidence / 100 if isinstance(body, Experience) else float(memory.confidence)
    return (number, memory.namespace, *row, position, trust)


_LOOKUPS = (
    ("tags", "drop_tags", "insert_tag"),
    ("entities", "drop_entities", "insert_entity"),
    ("sources", "drop_sources", "insert_source"),
    ("body", "drop_topics", "insert_topic"),
)


def _put_lookups(
    database: Database,
    last: dict[str, Memory],
    stored: dict[str, Row],
    rows: dict[str, Row],
    numbers: dict[str, int],
    places: dict[str, tuple[int, int, str]],
) -> None:
    """Bring the look-up tables beside the JSON columns level with them."""
    new: dict[str, list[Row]] = {column: [] for column, _, _ in _LOOKUPS}
    for identifier, memory in last.items():
        number = numbers[identifier]
        for column, drop, _ in _LOOKUPS:
            at = MEMORY_COLUMNS.index(column)
            if identifier in stored:
                if stored[identifier][at + 1] == rows[identifier][at]:
                    continue
                database.run(drop, (number,))
            new[column] += _lookup_rows(column, memory, number, places)
    for column, _, statement in _LOOKUPS:
        if new[column]:
            database.run_many(statement, new[column])


def _lookup_rows(column: str, memory: Memory, number: int, places: dict[str, tuple[int, int, str]]) -> Iterable[Row]:
    if column == "sources":
        return [(places[source.episode_id][0], number) for source in memory.sources]
    if column == "tags":
        words: Iterable[str] = memory.tags
    elif column == "entities":
        words = memory.entities
    else:
        words = memory.body.topics if isinstance(memory.body, Statement) else ()
    return [(memory.namespace, word, number) for word in words]


def _add_revisions(database: Database, batch: Batch, change: int, rows: dict[str, Row]) -> None:
    last = {put.memory.id: put.memory for put in batch.puts}
    database.run_many(
        "insert_revision",
        [
            (
                batch.namespace,
                change,
                put.memory.id,
                micros(batch.at),
                put.act.value,
                put.reason,
                listed(put.other_ids),
                put.actor,
                snapshot_json(
                    MEMORY_COLUMNS,
                    rows[put.memory.id] if put.memory is last[put.memory.id] else memory_row(put.memory),
                ),
            )
            for put in batch.puts
        ],
    )


# Exports ------------------------------------------------------------------------------------------------------------


def _keep(database: Database, namespace: str, kept: Kept, progress: Progress) -> None:
    """Take over part of an export as it is: nothing of it is read anew, and its past stays."""
    for one in kept.episodes:
        episode = one.episode
        taken = database.row("position_taken", (namespace, episode.session_id, episode.position))
        place = episode.position
        if place < 0 or taken is not None:
            place = 1 + _last(database, namespace, episode.session_id)
        row = episode_row(episode, place, one.since)
        database.run("insert_episode", (*row[:-2], one.state.value, row[-1]))
        progress.before[episode.id] = None
        progress.touched[episode.id] = None
    if kept.memories:
        _keep_memories(database, namespace, kept.memories, progress)
    uses = [(one.episode.id, one.use) for one in kept.episodes] + [(one.memory.id, one.use) for one in kept.memories]
    database.run_many(
        "keep_use",
        [
            (namespace, entry_id, use.count, round((use.last_used or 0) * 1_000_000))
            for entry_id, use in uses
            if use is not None
        ],
    )
    for session in kept.sessions:
        keep_session(database, namespace, session)


def _keep_memories(database: Database, namespace: str, kept: Sequence[KeptMemory], progress: Progress) -> None:
    memories = {one.memory.id: one.memory for one in kept}
    if len(memories) < len(kept) or database.rows("stored_memories", (namespace, listed(list(memories)))):
        raise Conflict("a memory with this id is there already")
    sources = [source.episode_id for memory in memories.values() for source in memory.sources]
    places = _places(database, namespace, list(dict.fromkeys(sources)))
    for episode_id in sources:
        if episode_id not in places:
            raise Conflict(f"a memory rests on episode {episode_id}, which is not stored")
    numbers = _numbers(database, memories, {})
    rows = {identifier: memory_row(memory) for identifier, memory in memories.items()}
    database.run_many(
        "put_memory",
        [_whole_row(numbers[identifier], memories[identifier], row, places) for identifier, row in rows.items()],
    )
    _put_lookups(database, memories, {}, rows, numbers, places)
    database.run_many(
        "insert_revision",
        [
            (
                namespace, progress.change, one.memory.id, micros(state.at), state.act.value, state.reason,
                listed(state.other_ids), state.actor, snapshot_json(MEMORY_COLUMNS, memory_row(state.memory)),
            )
            for one in kept
            for state in one.revisions
        ],
    )  # fmt: skip
    progress.touched.update(dict.fromkeys(memories))


# Vectors ------------------------------------------------------------------------------------------------------------


def _put_vectors(database: Database, batch: Batch, progress: Progress) -> None:
    if not batch.embeddings:
        return
    ids = list(dict.fromkeys(embedding.entry_id for embedding in batch.embeddings))
    if absent := database.rows("absent_entries", (batch.namespace, listed(ids))):
        raise Conflict(f"there is no memory or episode {absent[0][0]} for its embedding")
    numbers = {model: _model_number(database, model) for model in {e.model for e in batch.embeddings}}
    database.run_many(
        "put_vector",
        [
            (batch.namespace, e.entry_id, numbers[e.model], np.asarray(e.vector).astype("<f2").tobytes())
            for e in batch.embeddings
        ],
    )
    progress.touched.update(dict.fromkeys(ids))


def _model_number(database: Database, model: str) -> int:
    database.run("add_model", (model,))
    (number,) = _only(database.rows("model_number", (model,)))
    return int(number)

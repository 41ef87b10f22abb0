"""What the read methods of the store do on a reader's connection, each on one unchanging view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hindsight.domain.change import Act, Changeset, Review, Revision, Touched
from hindsight.domain.entry import Entry
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.memory import SHORT_ID_LENGTH, Memory, Status
from hindsight.domain.page import Order, Page, Stats
from hindsight.domain.query import Filters
from hindsight.errors import Ambiguous, NotFound
from hindsight.storage.purging import SECRET, mark
from hindsight.storage.snapshot import loads, snapshot_row
from hindsight.storage.sql import (
    MEMORY_COLUMNS,
    Row,
    episode_entry,
    episode_of,
    listed,
    memory_entry,
    memory_of,
    moment,
    page_query,
    place_after,
    texts_of,
)
from hindsight.storage.sqlite.connection import Database, queries

if TYPE_CHECKING:
    from numpy.typing import NDArray


def head(database: Database, namespace: str) -> int:
    """See `Store.head`."""
    row = database.row("head", (namespace,))
    return 0 if row is None else int(row[0])


def touched(database: Database, namespace: str, after: int, limit: int) -> Sequence[Touched]:
    """See `Store.touched`."""
    return [
        Touched(row[0], texts_of(row[1]), moment(row[2])) for row in database.rows("touched", (namespace, after, limit))
    ]


def entries(database: Database, namespace: str, ids: Sequence[str]) -> Mapping[str, Entry]:
    """See `Store.entries`."""
    wanted = listed(ids)
    found = {row[0]: memory_entry(namespace, row) for row in database.rows("memory_entries", (namespace, wanted))}
    if len(found) < len(ids):
        for row in database.rows("visible_episodes", (namespace, wanted)):
            entry = episode_entry(namespace, row)
            if entry is not None:
                found[row[0]] = entry
    return found


def vectors(database: Database, namespace: str, ids: Sequence[str], model: str) -> Mapping[str, NDArray[np.float32]]:
    """See `Store.vectors`.

    They are stored as float16, half the size, and brought back to unit length: over 20,000 random vectors of 256
    dimensions and 200 queries no cosine moved by more than 7e-5.
    """
    rows = database.rows("vectors", (namespace, listed(ids), model))
    return {row[0]: vector_of(row[1]) for row in rows}


def vector_of(stored: bytes) -> NDArray[np.float32]:
    """A stored vector in float32, of unit length again after its rounding."""
    vector = np.frombuffer(stored, "<f2").astype(np.float32)
    length = float(np.sqrt(vector @ vector))
    return vector / np.float32(length) if length else vector


def unembedded(database: Database, namespace: str, model: str, limit: int) -> Sequence[Entry]:
    """See `Store.unembedded`."""
    ids = [row[0] for row in database.rows("unembedded", (namespace, model, limit))]
    found = entries(database, namespace, ids)
    return [found[entry_id] for entry_id in ids]


def memories(database: Database, namespace: str, ids: Sequence[str]) -> Mapping[str, Memory]:
    """See `Store.memories`."""
    rows = database.rows("memories", (namespace, listed(ids)))
    return {row[0]: memory_of(namespace, row) for row in rows}


def resolve(database: Database, namespace: str, id_or_short: str) -> str:
    """See `Store.resolve`."""
    if database.row("whole_id", (namespace, id_or_short)) is not None:
        return id_or_short
    found = []
    if len(id_or_short) == SHORT_ID_LENGTH:
        found = [row[0] for row in database.rows("ids_by_short_id", (namespace, id_or_short))]
    if not found:
        raise NotFound("memory_id", id_or_short)
    if len(found) > 1:
        raise Ambiguous(
            f"memory_id: {id_or_short!r} fits {', '.join(found)}", hint="Use one of these whole ids instead."
        )
    return str(found[0])


def by_content_key(database: Database, namespace: str, keys: Sequence[str]) -> Mapping[str, Memory]:
    """See `Store.by_content_key`."""
    rows = database.rows("memories_by_content_key", (namespace, listed(keys)))
    return {row[8]: memory_of(namespace, row) for row in rows}


def about(database: Database, namespace: str, topics: Sequence[str], limit: int) -> Mapping[str, Sequence[str]]:
    """See `Store.about`."""
    found: dict[str, list[str]] = {}
    for topic, memory_id in database.rows("memories_about", (namespace, listed(list(dict.fromkeys(topics))), limit)):
        found.setdefault(topic, []).append(memory_id)
    return found


def reviews(database: Database, namespace: str, waiting: bool) -> Sequence[Review]:
    """See `Store.reviews`."""
    rows = database.rows("reviews", (namespace, int(waiting)))
    return [Review(row[0], texts_of(row[1]), row[2], moment(row[3]), bool(row[4])) for row in rows]


def find(
    database: Database, namespace: str, filters: Filters, order: Order, limit: int, after: str | None
) -> Page[Memory]:
    """See `Store.find`."""
    text, values = page_query(queries()["memory"], namespace, filters, order, after=after, limit=limit)
    found = [memory_of(namespace, row) for row in database.query(text, values, "find")]
    items = tuple(found[:limit])
    return Page(items, place_after(items[-1], order) if len(found) > limit else None)


def history(database: Database, namespace: str, memory_id: str) -> Sequence[Revision]:
    """See `Store.history`."""
    return [_revision(namespace, row) for row in database.rows("history", (namespace, memory_id))]


def changeset(database: Database, namespace: str, key: str) -> Changeset | None:
    """See `Store.changeset`."""
    row = database.row("changed_by_key", (namespace, key))
    if row is None:
        return None
    change, episodes, entries = row
    return Changeset(
        change,
        tuple(_revision(namespace, row) for row in database.rows("revisions_of_change", (namespace, change))),
        tuple((episode_id, None if state is None else EpisodeState(state)) for episode_id, state in loads(episodes)),
        tuple(row[0] for row in database.rows("stones", (namespace, entries))),
    )


def _revision(namespace: str, row: Row) -> Revision:
    return Revision(
        change=row[0],
        at=moment(row[1]),
        act=Act(row[2]),
        reason=row[3],
        other_ids=texts_of(row[4]),
        actor=row[5],
        memory=memory_of(namespace, snapshot_row(MEMORY_COLUMNS, row[6])),
    )


def episodes(database: Database, namespace: str, ids: Sequence[str]) -> Mapping[str, Episode]:
    """See `Store.episodes`."""
    rows = database.rows("episodes", (namespace, listed(ids)))
    return {row[0]: episode_of(namespace, row) for row in rows}


def memories_and_episodes(
    database: Database, namespace: str, memory_ids: Sequence[str], episode_ids: Sequence[str]
) -> tuple[Mapping[str, Memory], Mapping[str, Episode]]:
    """See `Store.memories_and_episodes`."""
    return memories(database, namespace, memory_ids), episodes(database, namespace, episode_ids)


def known_episodes(database: Database, namespace: str, keys: Sequence[str]) -> Mapping[str, str]:
    """See `Store.known_episodes`."""
    found: dict[str, str] = dict(database.rows("episode_ids_by_key", (namespace, listed(keys))))
    secret = setting(database, SECRET)
    if secret is not None and len(found) < len(keys):
        # What has been purged in part, or as a whole, is known again by a mark of its key.
        marks = {mark(secret, key): key for key in keys if key not in found}
        rows = database.rows("episode_ids_by_key", (namespace, listed(list(marks))))
        found |= {marks[row[0]]: row[1] for row in rows}
    return found


def session(database: Database, namespace: str, session_id: str, limit: int, after: int) -> Sequence[Episode]:
    """See `Store.session`."""
    rows = database.rows("session", (namespace, session_id, after, limit))
    return [episode_of(namespace, row) for row in rows]


def memories_of(database: Database, namespace: str, episode_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """See `Store.memories_of`."""
    found: dict[str, list[str]] = {episode_id: [] for episode_id in episode_ids}
    for episode_id, memory_id in database.rows("memories_of", (namespace, listed(list(found)))):
        found[episode_id].append(memory_id)
    return found


def stats(database: Database, namespace: str) -> Stats:
    """See `Store.stats`."""
    statuses: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    layers: Counter[str] = Counter()
    for status, kind, layer, count in database.rows("count_memories", (namespace,)):
        statuses[status] += count
        if status == Status.ACTIVE:
            kinds[kind] += count
            layers[layer] += count
    row = database.row("count_episodes", (namespace,))
    episode_count, sessions = row if row is not None else (0, 0)
    return Stats(episode_count, dict(statuses), dict(kinds), dict(layers), sessions, head(database, namespace))


def namespaces(database: Database) -> Sequence[str]:
    """See `Store.namespaces`."""
    return [row[0] for row in database.rows("namespaces")]


def setting(database: Database, name: str) -> str | None:
    """One value the store keeps about itself."""
    row = database.row("setting", (name,))
    return None if row is None else str(row[0])

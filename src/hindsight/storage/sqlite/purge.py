"""Purging in the SQLite file: one transaction, and then the pages and logs that may still hold what it took out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic, sleep

from hindsight.domain.episode import Episode
from hindsight.domain.memory import Memory
from hindsight.domain.purge import Purge, Purged
from hindsight.storage.purging import (
    SCRUB_DUE,
    Plan,
    batch_of,
    blank_metadata,
    counted,
    in_json,
    mark,
    planned,
    shortened_state,
    without_words,
)
from hindsight.storage.snapshot import dumps, receipt_json, receipt_of, snapshot_json, snapshot_row
from hindsight.storage.sql import MEMORY_COLUMNS, Row, listed, memory_of, memory_row, micros, texts_of
from hindsight.storage.sqlite import reading
from hindsight.storage.sqlite.applying import step
from hindsight.storage.sqlite.connection import Database
from hindsight.storage.sqlite.stones import secret_of

READERS_WAIT = 5.0  # seconds that others who read may hold up the clearing of the log
PIECE = 40  # bytes of a text that are looked for in the file; longer ones may be spread over pages


@dataclass(frozen=True, slots=True)
class HeldIn:
    """What one namespace of a file has to tell a purge."""

    database: Database
    namespace: str

    def memories(self, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Memories by id."""
        return reading.memories(self.database, self.namespace, ids)

    def episodes(self, ids: Sequence[str]) -> Mapping[str, Episode]:
        """Episodes by id."""
        return reading.episodes(self.database, self.namespace, ids)

    def resting(self, episode_ids: Sequence[str]) -> Sequence[Memory]:
        """Memories that rest on any of these turns, by id."""
        return self._memories("resting", episode_ids)

    def states(self, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Every state these memories ever had."""
        rows = self.database.rows("states", (self.namespace, listed(memory_ids)))
        return [memory_of(self.namespace, snapshot_row(MEMORY_COLUMNS, row[0])) for row in rows]

    def telling(self, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Summaries and experiences that name any of these, by id."""
        return self._memories("telling", memory_ids)

    def _memories(self, name: str, ids: Sequence[str]) -> Sequence[Memory]:
        if not ids:
            return []
        return [memory_of(self.namespace, row) for row in self.database.rows(name, (self.namespace, listed(ids)))]


def purge(database: Database, purge: Purge) -> tuple[Purged, Sequence[bytes] | None]:
    """See `Store.purge`; with what the file has to be cleared of, `None` where an earlier purge waits for that too."""
    known = database.row("applied", (purge.namespace, purge.key))
    if known is not None:
        return Purged(known[0]), None
    plan = planned(HeldIn(database, purge.namespace), purge)
    if purge.done is None and not plan.memories and not plan.contents:
        stones = database.rows("stones", (purge.namespace, listed(purge.ids)))
        if {row[0] for row in stones} >= set(purge.ids):
            return Purged(reading.head(database, purge.namespace)), None
    applied = step(database, batch_of(purge, plan), also=(*sorted(plan.memories), *plan.contents))
    removed = counted(_take_out(database, plan))
    waits = reading.setting(database, SCRUB_DUE) is not None
    at = micros(purge.at)
    database.run_many("lay_stone", [(purge.namespace, one, at, dumps(removed)) for one in plan.ids])
    database.run("put_setting", (SCRUB_DUE, purge.key))
    done = Purged(applied.change, plan.ids, tuple(plan.changed), tuple(plan.contents), removed, scrubbed=False)
    return done, None if waits else _needles(plan)


def _take_out(database: Database, plan: Plan) -> dict[str, int]:
    namespace, secret = plan.purge.namespace, secret_of(database)
    gone = listed(sorted(plan.memories))
    numbers = listed([row[0] for row in database.rows("memory_numbers", (namespace, gone))])
    links = database.row("count_links", (numbers,))
    counts = {"rows": len(plan.memories), "links": 0 if links is None else links[0], "summaries": len(plan.changed)}
    database.run("delete_memories", (numbers,))
    counts["history"] = len(database.rows("delete_revisions", (namespace, gone)))
    _shorten_history(database, plan)
    entries = listed([*sorted(plan.memories), *plan.contents])
    counts["vectors"] = len(database.rows("delete_vectors", (namespace, entries)))
    counts["uses"] = len(database.rows("delete_uses", (namespace, entries)))
    counts["spans"] = counts["turns"] = 0
    for one, episode in reading.episodes(database, namespace, list(plan.contents)).items():
        content = plan.contents[one]
        counts["spans" if content else "turns"] += 1
        row = (namespace, one, content, dumps(blank_metadata(episode, plan)), mark(secret, episode.key))
        database.run("blank_episode", row)
    counts["reviews"] = _reviews(database, plan)
    marks = {mark(secret, state.content_key) for state in plan.states}
    database.run_many("lay_mark", [(namespace, one) for one in sorted(marks)])
    return counts | _beside(database, plan)


def _shorten_history(database: Database, plan: Plan) -> None:
    namespace = plan.purge.namespace
    if not plan.changed:
        return
    for seq, snapshot in database.rows("revisions_of", (namespace, listed(list(plan.changed)))):
        state = memory_of(namespace, snapshot_row(MEMORY_COLUMNS, snapshot))
        left = shortened_state(state, plan)
        if left is None:
            database.run("delete_revision", (seq,))
        elif left is not state:
            database.run("rewrite_revision", (seq, snapshot_json(MEMORY_COLUMNS, memory_row(left))))


def _reviews(database: Database, plan: Plan) -> int:
    touched = 0
    for memory_id, stored in database.rows("all_reviews", (plan.purge.namespace,)):
        others = texts_of(stored)
        left = tuple(other for other in others if other not in plan.memories)
        gone = memory_id in plan.memories
        if not gone and len(left) == len(others):
            continue
        touched += 1
        if gone or not left:
            database.run("delete_review", (plan.purge.namespace, memory_id))
        else:
            database.run("shorten_review", (plan.purge.namespace, memory_id, listed(left)))
    return touched


def _beside(database: Database, plan: Plan) -> dict[str, int]:
    namespace = plan.purge.namespace
    texts = [in_json(one) for one in plan.needles]
    said, named = listed(texts), (*sorted(plan.named), *texts)
    receipts = 0
    for key, stored in _holding(database, "receipts", namespace, named):
        receipt = receipt_of(stored)
        cleaned = without_words(receipt, plan)
        if cleaned != receipt:
            receipts += 1
            database.run("rewrite_receipt", (namespace, key, receipt_json(cleaned)))
    traces = _holding(database, "trace_bodies", namespace, named)
    database.run_many("delete_trace", [(seq,) for seq, _ in traces])
    jobs = len(database.rows("delete_jobs_with", (namespace, said)))
    return {
        "receipts": receipts,
        "traces": len(traces),
        "jobs": jobs + len(database.rows("quiet_jobs_with", (namespace, said))),
        "variables": len(database.rows("delete_variables_with", (namespace, said))),
    }


def _holding(database: Database, name: str, namespace: str, needles: Sequence[str]) -> list[Row]:
    """The rows whose second column holds any of the needles."""
    return [row for row in database.rows(name, (namespace,)) if any(needle in row[1] for needle in needles)]


# Free pages and logs --------------------------------------------------------------------------------------------------


def scrub(database: Database, needles: Sequence[bytes] | None = None) -> bool:
    """Clear the write-ahead log, and free pages where they hold any of the needles; `None`: whatever they hold.

    The setting stays where another purge has come in between: its own turn clears it.
    SQLite overwrites what it deletes, but not what it leaves behind where rows move between pages. False where others
    who read were in the way all the time. Outside a transaction.
    """
    due = reading.setting(database, SCRUB_DUE)
    if due is None:
        return True
    clear = _empty_log(database)
    if needles is None or _holds(database, needles):
        database.script("VACUUM")
        clear = _empty_log(database)
    if clear:
        database.begin()
        database.run("drop_setting", (SCRUB_DUE, due))
        database.script("COMMIT")
    return clear


def _needles(plan: Plan) -> list[bytes]:
    """What the file may not hold, in pieces."""
    found = []
    for text in plan.needles:
        whole = text.encode()
        found += [whole[at : at + PIECE] for at in range(0, len(whole), PIECE)]
    return [piece for piece in found if len(piece) >= PIECE // 4]


def _empty_log(database: Database) -> bool:
    until = monotonic() + READERS_WAIT
    while True:
        busy, _, _ = database.query("PRAGMA wal_checkpoint(TRUNCATE)", ())[0]
        if not busy:
            return True
        if monotonic() > until:
            return False
        sleep(0.02)


def _holds(database: Database, needles: Sequence[bytes]) -> bool:
    return any(needle in part for part in database.parts() for needle in needles)

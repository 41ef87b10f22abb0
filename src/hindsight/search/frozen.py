"""What a replay holds still: use counts, and entries as they were at a change of the store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from hindsight.domain.entry import Entry, entry_of_memory
from hindsight.domain.memory import UNSEEN, Status
from hindsight.domain.query import Filters
from hindsight.ports import Store
from hindsight.search.routes import Recalled
from hindsight.search.understand import Question

STEP = 1000  # changes read from the log at once


@dataclass(frozen=True, slots=True)
class Past:
    """A moment of a namespace: its change number, when that was, and the entries that were touched since."""

    change: int
    at: datetime
    touched: frozenset[str] = frozenset()

    @classmethod
    async def of_change(cls, store: Store, namespace: str, change: int, at: datetime) -> Past:
        """The moment after a change."""
        touched: set[str] = set()
        last = change
        while steps := await store.touched(namespace, after=last, limit=STEP):
            touched.update(entry_id for step in steps for entry_id in step.entry_ids)
            last = steps[-1].change
        return cls(change, at, frozenset(touched))

    def of(self, filters: Filters) -> Filters:
        """Filters that ask about this moment, unless they ask about one already."""
        return filters if filters.as_of is not None else replace(filters, as_of=self.at)


@dataclass(frozen=True, slots=True)
class Frozen:
    """`uses`: counts of then, `None` for today's. `past`: the store as of then, `None` for today's."""

    uses: Mapping[str, int] | None = None
    past: Past | None = None


def widened(question: Question, past: Past | None) -> Question:
    """The question as it is asked of the indexes of now: what matched then may have ended since."""
    if past is None or not past.touched:
        return question
    statuses = tuple(status for status in Status if status not in UNSEEN)
    return replace(question, filters=replace(question.filters, as_of=None, statuses=statuses))


async def recalled_then(
    store: Store, namespace: str, question: Question, recalled: Recalled, past: Past | None
) -> Recalled:
    """What the widened question found, without what did not match then."""
    if past is None or not past.touched:
        return recalled
    routes = [found for found in (recalled.words, recalled.meaning) if found is not None]
    ids = dict.fromkeys(hit.id for found in routes for hit in found.hits)
    ids |= dict.fromkeys(entry_id for brought in recalled.aside.values() for entry_id in brought)
    around = recalled.around
    entries = await store.entries(namespace, list(ids | dict.fromkeys(around.ids if around is not None else ())))
    then = await as_they_were(store, namespace, entries, past)
    kept = {entry_id for entry_id, entry in then.items() if question.filters.matches(entry)}
    words, meaning, cosines = recalled.words, recalled.meaning, recalled.cosines
    if around is not None:
        mask = np.array([entry_id in kept for entry_id in around.ids], np.bool_)
        around, cosines = around.only(mask), None if cosines is None else cosines[mask]
    return replace(
        recalled,
        words=words and replace(words, hits=[hit for hit in words.hits if hit.id in kept]),
        meaning=meaning and replace(meaning, hits=[hit for hit in meaning.hits if hit.id in kept]),
        around=around,
        cosines=cosines,
        aside={
            name: {entry_id: value for entry_id, value in brought.items() if entry_id in kept}
            for name, brought in recalled.aside.items()
        },
    )


async def as_they_were(store: Store, namespace: str, entries: Mapping[str, Entry], past: Past) -> dict[str, Entry]:
    """The entries in their state of then; what was not there yet is left out, and so is what is forgotten by now."""
    then = {entry_id: entry for entry_id, entry in entries.items() if entry_id not in past.touched}
    changed = [entry for entry_id, entry in entries.items() if entry_id in past.touched]
    turns = [entry for entry in changed if entry.kind is None]
    said = await store.episodes(namespace, [entry.id for entry in turns])
    for entry in turns:
        if said[entry.id].recorded_at <= past.at and entry.status is not Status.FORGOTTEN:
            # A turn is put out of sight once and for all, unless that is undone: before that it was in sight.
            then[entry.id] = replace(entry, status=Status.ACTIVE, valid_to=None)
    memories = [entry for entry in changed if entry.kind is not None and entry.status not in UNSEEN]
    histories = await asyncio.gather(*(store.history(namespace, entry.id) for entry in memories))
    for entry, history in zip(memories, histories, strict=True):
        states = [revision.memory for revision in history if revision.change <= past.change]
        if states:
            then[entry.id] = entry_of_memory(states[-1], entry.position)
    return {entry_id: then[entry_id] for entry_id in entries if entry_id in then}

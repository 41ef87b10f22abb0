"""What a replay holds still: use counts, and entries as they were at a change of the store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from hindsight.domain.entry import Entry, entry_of_memory
from hindsight.domain.memory import Status
from hindsight.domain.query import Filters
from hindsight.ports import Store

STEP = 1000  # changes read from the log at once


@dataclass(frozen=True, slots=True)
class Past:
    """A moment of a namespace: its change number, and when that was."""

    change: int
    at: datetime

    def of(self, filters: Filters) -> Filters:
        """Filters that ask about this moment, unless they ask about one already."""
        return filters if filters.as_of is not None else replace(filters, as_of=self.at)


@dataclass(frozen=True, slots=True)
class Frozen:
    """`uses`: counts of then, `None` for today's. `past`: the store as of then, `None` for today's."""

    uses: Mapping[str, int] | None = None
    past: Past | None = None


def widened(filters: Filters) -> Filters:
    """Filters that let through what may have matched then: the rest is told by the entry as it was."""
    return replace(filters, as_of=None, statuses=tuple(status for status in Status if status is not Status.FORGOTTEN))


async def as_they_were(store: Store, namespace: str, entries: Mapping[str, Entry], past: Past) -> dict[str, Entry]:
    """The entries in their state of then; what was not there yet is left out, and so is what is forgotten by now."""
    touched = await touched_since(store, namespace, past.change)
    then = {entry_id: entry for entry_id, entry in entries.items() if entry_id not in touched}
    changed = [entry for entry_id, entry in entries.items() if entry_id in touched]
    turns = [entry for entry in changed if entry.kind is None]
    said = await store.episodes(namespace, [entry.id for entry in turns])
    for entry in turns:
        if said[entry.id].recorded_at <= past.at and entry.status is not Status.FORGOTTEN:
            # A turn is put out of sight once and for all, unless that is undone: before that it was in sight.
            then[entry.id] = replace(entry, status=Status.ACTIVE, valid_to=None)
    memories = [entry for entry in changed if entry.kind is not None and entry.status is not Status.FORGOTTEN]
    histories = await asyncio.gather(*(store.history(namespace, entry.id) for entry in memories))
    for entry, history in zip(memories, histories, strict=True):
        states = [revision.memory for revision in history if revision.change <= past.change]
        if states:
            then[entry.id] = entry_of_memory(states[-1], entry.position)
    return {entry_id: then[entry_id] for entry_id in entries if entry_id in then}


async def touched_since(store: Store, namespace: str, change: int) -> set[str]:
    """Ids of entries that a later change touched."""
    touched: set[str] = set()
    while steps := await store.touched(namespace, after=change, limit=STEP):
        touched.update(entry_id for step in steps for entry_id in step.entry_ids)
        change = steps[-1].change
    return touched

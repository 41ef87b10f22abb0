"""Work that comes again by the clock, among any number of processes: each entry is put in once when it is due.

When an entry is due stands in the store. Whoever moves it on puts in its jobs, in one transaction; who comes second
finds it moved. What was missed while nobody ran is made up for once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo

from hindsight.domain.change import NewJob
from hindsight.domain.schedule import Due
from hindsight.errors import InvalidInput, Unavailable
from hindsight.ports import Clock, Ids, Store
from hindsight.upkeep.cron import OFF, Cron, parse

log = logging.getLogger(__name__)

FIRST = 15.0  # seconds after the start: a command that is soon done starts no work of this sort
LOOK = 20.0  # seconds between two looks
WHOLE = ""  # the namespace of jobs that are about the store as a whole: no other can be called so


@dataclass(frozen=True, slots=True)
class Entry:
    """Work that comes again. `each`: a job for every namespace; else one, about the store as a whole."""

    name: str
    cron: str
    kind: str
    each: bool = False


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Puts in what is due. `entries` have a handler in every process that runs one."""

    store: Store
    clock: Clock
    ids: Ids
    entries: tuple[Entry, ...]
    zone: tzinfo

    async def watch(self) -> None:
        """Look from time to time, until cancelled. An outage of the store is waited out."""
        await asyncio.sleep(FIRST)
        while True:
            try:
                await self.tick()
            except Unavailable as error:
                log.warning("the schedule waits: %s", error)
            await asyncio.sleep(LOOK)

    async def tick(self) -> tuple[str, ...]:
        """Put in what is due now; the names of those whose turn it was here."""
        held = {one.name: one for one in await self.store.scheduled()}
        fired = [entry.name for entry in self.entries if await self._look(entry, held.get(entry.name))]
        return tuple(fired)

    async def _look(self, entry: Entry, held: Due | None) -> bool:
        cron = parse(entry.cron, field=f"schedule.{entry.name}")
        if cron is None:
            return False
        if held is None or held.cron != entry.cron:
            await self._plan(entry, cron, held)
            return False
        now = self.clock.now()
        if held.due > now:
            return False
        moved = Due(entry.name, entry.cron, cron.after(now, self.zone), now)
        return await self.store.put_scheduled(moved, expected=held.due, jobs=await self._jobs(entry))

    async def _plan(self, entry: Entry, cron: Cron, held: Due | None) -> None:
        """A new entry, or one with a new rule: due the next time, not at once."""
        planned = Due(entry.name, entry.cron, cron.after(self.clock.now(), self.zone), held.last if held else None)
        await self.store.put_scheduled(planned, expected=held.due if held else None)

    async def _jobs(self, entry: Entry) -> tuple[tuple[str, NewJob], ...]:
        namespaces = await self.store.namespaces() if entry.each else (WHOLE,)
        now = self.clock.now()
        return tuple(
            (name, NewJob(self.ids.new(), entry.kind, {}, run_at=now, dedup_key=f"schedule:{entry.name}"))
            for name in namespaces
        )


def chosen(entries: tuple[Entry, ...], given: Mapping[str, str]) -> tuple[Entry, ...]:
    """The table with other rules for some of its names; `off` for never. `InvalidInput` for a name that is none."""
    names = [entry.name for entry in entries]
    for name, cron in given.items():
        if name not in names:
            raise InvalidInput("schedule", name, f"any of {', '.join(names)}")
        parse(cron, field=f"schedule.{name}")
    return tuple(Entry(entry.name, given.get(entry.name, entry.cron), entry.kind, each=entry.each) for entry in entries)


def rules_in(text: str) -> dict[str, str]:
    """«purge=0 4 * * *; clean-up=off» by name. `InvalidInput`."""
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, equals, cron = part.partition("=")
        if not equals or not name.strip() or not cron.strip():
            raise InvalidInput("schedule", part, f"name=rule, such as purge=0 4 * * *, or name={OFF}; several by ;")
        found[name.strip()] = cron.strip()
    return found

"""For good: what was forgotten goes after a time of grace, or at once where that is asked for."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from hindsight.domain.change import Job
from hindsight.domain.pruning import GRACE
from hindsight.domain.purge import Purge, Purged
from hindsight.ports import Clock, Ids, Store
from hindsight.write.embed import embed_later

log = logging.getLogger(__name__)

PURGE_JOB = "purge"
AT_ONCE = 25  # things purged in one transaction: each looks through receipts and traces, and a search must not wait
MOST = 5_000  # of one run


@dataclass(frozen=True, slots=True)
class Purger:
    """Purges in one store. `embeds`: there is a model, so that what is left of a turn gets its vector anew."""

    store: Store
    clock: Clock
    ids: Ids
    grace: timedelta = GRACE
    embeds: bool = True

    async def purge(self, namespace: str, ids: Sequence[str]) -> Purged:
        """Take these memories and turns out now. What was done with some of them stays done where the rest fails."""
        if len(ids) <= AT_ONCE:
            return await self.store.purge(self._purge(namespace, ids, scrub=True))
        return await self._many(namespace, ids)

    async def sweep(self) -> dict[str, Purged]:
        """Purge what has been out of sight for the time of grace, of every namespace."""
        due = await self.store.hidden(now=self.clock.now(), grace=self.grace, limit=MOST)
        found: dict[str, Purged] = {}
        for namespace in dict.fromkeys(space for space, _ in due):
            ids = [one for space, one in due if space == namespace]
            found[namespace] = await self._many(namespace, ids)
            log.info("%d things were purged, %s after they were forgotten", len(found[namespace].ids), self.grace)
        return found

    async def run(self, job: Job, owner: str) -> None:
        """The job that purges what is due."""
        await self.sweep()
        await self.store.close_job(job.id, owner=owner)

    async def _many(self, namespace: str, ids: Sequence[str]) -> Purged:
        found = [
            await self.store.purge(self._purge(namespace, ids[start : start + AT_ONCE], scrub=False))
            for start in range(0, len(ids), AT_ONCE)
        ]
        return replace(together(found), scrubbed=await self.store.scrub())

    def _purge(self, namespace: str, ids: Sequence[str], *, scrub: bool) -> Purge:
        jobs = (embed_later(self.ids, self.clock),) if self.embeds else ()
        return Purge(namespace, f"purge:{self.ids.new()}", self.clock.now(), tuple(ids), jobs, scrub=scrub)


def together(purged: Sequence[Purged]) -> Purged:
    """Several purges of one namespace as one."""
    removed: dict[str, int] = {}
    for one in purged:
        for part, number in one.removed.items():
            removed[part] = removed.get(part, 0) + number
    return Purged(
        change=max((one.change for one in purged), default=0),
        ids=tuple(dict.fromkeys(each for one in purged for each in one.ids)),
        changed=tuple(dict.fromkeys(each for one in purged for each in one.changed)),
        episodes=tuple(dict.fromkeys(each for one in purged for each in one.episodes)),
        removed=removed,
        scrubbed=all(one.scrubbed for one in purged),
    )

"""The work that waits or goes on in the background, and the work that comes again."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight.domain.change import Job
from hindsight.domain.schedule import Due
from hindsight.engine.parts import Running, checked
from hindsight.errors import NotFound
from hindsight.upkeep.schedule import WHOLE
from hindsight.write.request import check_text


class Jobs(Running):
    """The work that waits or goes on in the background, and the work that comes again."""

    async def jobs(self, namespace: str, *, whole: bool) -> Sequence[Job]:
        """Jobs that are not done, oldest first; with `whole` those about the store as a whole too."""
        store = self._parts.store
        found = list(await store.jobs(checked(namespace)))
        return [*found, *(await store.jobs(WHOLE))] if whole else found

    async def cancel_job(self, namespace: str, job_id: str, *, whole: bool) -> Job:
        """Take a job out, also one at work. `NotFound`."""
        store, name = self._parts.store, check_text("job_id", job_id)
        try:
            return await store.cancel_job(checked(namespace), name)
        except NotFound:
            if not whole:
                raise
            return await store.cancel_job(WHOLE, name)

    async def schedule(self) -> Sequence[Due]:
        """When the work that comes again is due, by name."""
        return await self._parts.store.scheduled()

"""The work that waits or goes on in the background, and the work that comes again."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight.domain.change import Job
from hindsight.domain.schedule import Due
from hindsight.embedded.opening import Opened


class Jobs(Opened):
    """The work that waits or goes on in the background, and the work that comes again."""

    async def jobs(self, *, whole: bool = False, namespace: str | None = None) -> Sequence[Job]:
        """Jobs that are not done, oldest first; with `whole` those about the store as a whole too."""
        return await (await self.engine()).jobs(self._within(namespace), whole=whole)

    async def cancel_job(self, job_id: str, *, whole: bool = False, namespace: str | None = None) -> Job:
        """Take a job out, also one at work: what comes of it can't be stored any more. `NotFound`."""
        return await (await self.engine()).cancel_job(self._within(namespace), job_id, whole=whole)

    async def schedule(self) -> Sequence[Due]:
        """When clean-up, purge and backup are due, by name; empty until a process has run for a quarter of a minute."""
        return await (await self.engine()).schedule()

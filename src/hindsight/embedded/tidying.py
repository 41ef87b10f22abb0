"""Keeping a namespace small and current: clean-up, and what is known of somebody in one piece."""

from __future__ import annotations

from hindsight.domain.cleaning import CleanReport
from hindsight.domain.profile import Profile
from hindsight.embedded.opening import Opened
from hindsight.experience.record import agent_name
from hindsight.upkeep.cleanup import parse_cleaning


class Tidying(Opened):
    """Keeping a namespace small and current."""

    async def cleanup(
        self, *, namespace: str | None = None, dry_run: bool = True, agent: str | None = None
    ) -> CleanReport:
        """Name what is over, weak, said twice, long past or unconfirmed; without `dry_run`, put it away.

        The report's `undo` takes all of it back. What a language model has still to write is `pending`.
        """
        agent = self._settings.agent if agent is None else agent
        wanted = parse_cleaning(dry_run=dry_run, actor="" if agent is None else agent_name(agent))
        return await (await self.engine()).cleanup(self._within(namespace), wanted)

    async def profile(self, subject: str | None = None, *, namespace: str | None = None) -> Profile:
        """What is known of somebody: limits, facts, tastes, relations and rules, each with how often it was said.

        Without a `subject` it is the user.
        """
        return await (await self.engine()).profile(self._within(namespace), subject)

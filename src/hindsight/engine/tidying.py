"""Keeping a namespace small and current: clean-up, and what is known of somebody in one piece."""

from __future__ import annotations

from hindsight.domain.cleaning import CleanReport
from hindsight.domain.profile import Profile
from hindsight.engine.parts import Running, checked
from hindsight.upkeep.cleanup import Cleaning
from hindsight.upkeep.profile import Profiler


class Tidying(Running):
    """Keeping a namespace small and current."""

    async def cleanup(self, namespace: str, wanted: Cleaning) -> CleanReport:
        """What is over, weak, said twice, long past or unconfirmed: named, and put away where that is wanted."""
        report = await self._parts.cleaner.clean(checked(namespace), wanted)
        if not wanted.dry_run:
            await self._parts.answers.drop(namespace)
            self._written(namespace)
        return report

    async def profile(self, namespace: str, subject: str | None) -> Profile:
        """What is known of a subject, of the user where none is named."""
        parts = self._parts
        profiler = Profiler(parts.store, parts.clock, parts.searcher.settings.ruler, parts.cleaner.rules)
        return await profiler.profile(checked(namespace), subject)

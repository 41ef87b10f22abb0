"""Forgetting for good, forgetting many things at once, and the proof of it."""

from __future__ import annotations

from hindsight.domain.forgotten import Forgetting, Proof
from hindsight.domain.purge import Purged
from hindsight.embedded.opening import Opened
from hindsight.upkeep.forget import parse_meant


class Forgets(Opened):
    """Forgetting for good, forgetting many things at once, and the proof of it."""

    async def purge(self, memory_id: str, *, namespace: str | None = None) -> Purged:
        """Take a memory or a turn out for good, at once: no undo, and no byte of it is left.

        What backups made before hold is not touched; a restore of one purges it again.
        """
        return await (await self.engine()).purge(self._within(namespace), memory_id)

    async def forget_about(
        self,
        about: str | None = None,
        *,
        session_id: str | None = None,
        everything: bool = False,
        dry_run: bool = True,
        purge: bool = False,
        reason: str = "",
        namespace: str | None = None,
    ) -> Forgetting:
        """Forget everything about a name, of a session, or of the namespace: only counted and shown in a `dry_run`.

        `undo` of the answer takes it back within the time of grace; with `purge` it goes for good at once.
        """
        meant = parse_meant(about, session_id, everything)
        engine = await self.engine()
        return await engine.forget_many(self._within(namespace), meant, dry_run=dry_run, purge=purge, reason=reason)

    async def proof(self, memory_id: str, *, namespace: str | None = None) -> Proof:
        """What is left of a purged memory or turn in the store: nothing, once `gone`. `NotFound`."""
        return await (await self.engine()).proof(self._within(namespace), memory_id)

"""Forgetting for good, forgetting many things at once, and the proof of it."""

from __future__ import annotations

from collections.abc import Mapping

from hindsight.domain.forgotten import Forgetting, Meant, Proof
from hindsight.domain.memory import SHORT_ID_LENGTH
from hindsight.domain.purge import Purged, Tombstone
from hindsight.engine.parts import Running, checked
from hindsight.errors import Ambiguous, NotFound, Unavailable
from hindsight.upkeep.proof import prove
from hindsight.write.request import check_text


class Forgets(Running):
    """Forgetting for good, forgetting many things at once, and the proof of it."""

    async def purge(self, namespace: str, memory_id: str) -> Purged:
        """Take a memory or a turn out for good, at once. There is no undo."""
        whole = await self._resolve(namespace, memory_id)
        return await self._purged(namespace, await self._parts.purger.purge(namespace, [whole]))

    async def forget_many(self, namespace: str, meant: Meant, *, dry_run: bool, purge: bool, reason: str) -> Forgetting:
        """Everything about something, of a session, or of the namespace: named, hidden, or taken out for good."""
        parts = self._parts
        report = await parts.forgetter.forget(checked(namespace), meant, dry_run=dry_run, purge=purge, reason=reason)
        if report.purged is not None:
            await self._purged(namespace, report.purged)
        elif not dry_run:
            await parts.answers.drop(namespace)
            self._written(namespace)
        return report

    async def purge_due(self) -> Mapping[str, Purged]:
        """Purge what was forgotten longer ago than the time of grace, of every namespace."""
        done = await self._parts.purger.sweep()
        for namespace, purged in done.items():
            await self._purged(namespace, purged)
        return done

    async def proof(self, namespace: str, memory_id: str) -> Proof:
        """What is left of a purged memory or turn, looked for in every table and index. `NotFound`."""
        named = check_text("memory_id", memory_id).strip().removeprefix("#")
        stone = await self._stone(checked(namespace), named)
        if stone is None:
            return await prove(self._parts.store, namespace, await self._resolve(namespace, named), None)
        return await prove(self._parts.store, namespace, stone.id, stone)

    async def _stone(self, namespace: str, named: str) -> Tombstone | None:
        store = self._parts.store
        exact = (await store.purged(namespace, [named])).get(named)
        if exact is not None or len(named) != SHORT_ID_LENGTH:
            return exact
        found = [one for one in await store.tombstones(namespace) if one.id.endswith(named)]
        if len(found) > 1:
            raise Ambiguous(f"memory_id: {named!r} fits {', '.join(one.id for one in found)}")
        return found[0] if found else None

    async def _purged(self, namespace: str, purged: Purged) -> Purged:
        """Caches and indexes follow at once: what they keep in files goes with it."""
        await self._parts.answers.drop(namespace)
        try:
            await self._parts.projection.warm(namespace)
        except (Unavailable, NotFound):
            self._parts.projection.follow(namespace)
        self._parts.worker.wake()
        return purged

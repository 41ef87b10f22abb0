"""Working memory of running tasks, and the end of their sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight.domain.change import Receipt
from hindsight.domain.session import Session, Working
from hindsight.engine.parts import Running, checked, page_size


class Sessions(Running):
    """Working memory of running tasks, and the end of their sessions."""

    async def working(
        self, namespace: str, session_id: str, *, values: Mapping[str, object] | None, ttl: object
    ) -> Working:
        """What a running task has noted, and its last turns; `values` are noted first."""
        return await self._parts.sessions.working(checked(namespace), session_id, values=values, ttl=ttl)

    async def end_session(self, namespace: str, session_id: str) -> Receipt:
        """End a session: what it has noted becomes an episode, and its jobs start."""
        receipt = await self._parts.sessions.end(checked(namespace), session_id)
        self._written(namespace)
        return receipt

    async def sessions(self, namespace: str, *, limit: int) -> Sequence[Session]:
        """The sessions that were active last, newest first."""
        return await self._parts.store.sessions(checked(namespace), limit=page_size(limit))

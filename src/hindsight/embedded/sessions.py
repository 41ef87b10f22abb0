"""Working memory of running tasks, and the end of their sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight.domain.change import Receipt
from hindsight.domain.session import Session, Working
from hindsight.embedded.opening import Opened


class Sessions(Opened):
    """Working memory of running tasks, and the end of their sessions."""

    async def working(
        self,
        session_id: str,
        *,
        set: Mapping[str, object] | None = None,
        ttl: float | None = None,
        namespace: str | None = None,
    ) -> Working:
        """What a running task has noted, and its last turns.

        `set` notes variables first, each a name and a JSON value; `None` takes one away. They are shown for `ttl`
        seconds, or until the session ends. Every search with this `session_id` has them in its context block.
        """
        engine = await self.engine()
        return await engine.working(self._within(namespace), session_id, values=set, ttl=ttl)

    async def end_session(self, session_id: str, *, namespace: str | None = None) -> Receipt:
        """End a session: what it has noted becomes an episode, and its jobs start. It also ends when it is idle."""
        return await (await self.engine()).end_session(self._within(namespace), session_id)

    async def sessions(self, *, limit: int = 50, namespace: str | None = None) -> Sequence[Session]:
        """The sessions that were active last, newest first."""
        return await (await self.engine()).sessions(self._within(namespace), limit=limit)

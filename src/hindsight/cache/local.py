"""Answers in this process: a bounded number, each for a bounded time, the longest unasked going first."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime, timedelta

from hindsight.domain.query import Answer
from hindsight.ports import Clock

MOST = 200  # answers: a few MB
LIFETIME = timedelta(seconds=60)


class LocalCache:
    """Implements `hindsight.ports.Cache` for one process; for the tasks of one loop."""

    def __init__(self, clock: Clock, *, most: int = MOST, lifetime: timedelta = LIFETIME) -> None:
        self._clock = clock
        self._most = most
        self._lifetime = lifetime
        # The longest unasked first; with the moment until which each is kept.
        self._held: OrderedDict[tuple[str, str], tuple[datetime, Answer]] = OrderedDict()

    async def get(self, namespace: str, key: str) -> Answer | None:
        """See `Cache.get`."""
        found = self._held.get((namespace, key))
        if found is None:
            return None
        until, answer = found
        if self._clock.now() >= until:
            del self._held[namespace, key]
            return None
        self._held.move_to_end((namespace, key))
        return answer

    async def put(self, namespace: str, key: str, answer: Answer) -> None:
        """See `Cache.put`."""
        now = self._clock.now()
        self._held[namespace, key] = (now + self._lifetime, answer)
        self._held.move_to_end((namespace, key))
        # Of those longest unasked, what has expired gives its memory back too.
        while self._held and (len(self._held) > self._most or next(iter(self._held.values()))[0] <= now):
            self._held.popitem(last=False)

    async def drop(self, namespace: str) -> None:
        """See `Cache.drop`."""
        for key in [key for key in self._held if key[0] == namespace]:
            del self._held[key]

    async def aclose(self) -> None:
        """Let all of them go."""
        self._held.clear()

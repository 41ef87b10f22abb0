"""Who makes a call over HTTP: told by the key it carries, never by what its body says."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeAlias

from hindsight.domain.access import ApiKey, Caller
from hindsight.errors import RateLimited, Unauthenticated

REMEMBERED = 5.0  # seconds that a key is not asked for again: how long a revoked one may go on at most
MOST_REMEMBERED = 10_000
MINUTE = 60.0

Recognise: TypeAlias = Callable[[str], Awaitable[ApiKey | None]]
"""The key that a token belongs to."""
Locked: TypeAlias = Callable[[], Awaitable[bool]]
"""Whether there are keys at all, so that each call needs one."""


class Exhausted(RateLimited):
    """The bucket of a key is empty; it holds a call again in `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__("this key has made more calls than it may", hint=f"Call again in {seconds:.0f} s.")


class Callers:
    """Recognises callers, and counts the calls of each key.

    `server_key` is the one of the settings, which may do everything. Where it is not set and no key has been made,
    whoever reaches the server may do everything: it listens on loopback alone.
    """

    def __init__(
        self, server_key: str | None, recognise: Recognise, locked: Locked, now: Callable[[], float] = monotonic
    ) -> None:
        self._server_key = server_key.encode() if server_key else None
        self._recognise = recognise
        self._locked = locked
        self._now = now
        self._held: dict[str, tuple[float, ApiKey]] = {}
        self._open_until = 0.0
        self._left: dict[str, tuple[float, float]] = {}

    async def caller(self, authorization: str) -> Caller:
        """Who sends this header. `Unauthenticated`, `RateLimited`."""
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if not authorization and self._server_key is None and await self._open():
            return Caller()
        if scheme.lower() == "bearer" and token:
            if self._server_key is not None and secrets.compare_digest(token.encode(), self._server_key):
                return Caller()
            key = await self._key(token)
            if key is not None:
                self._count(key)
                return Caller(key)
        raise Unauthenticated(
            "Authorization: no key that is accepted", hint="Send `Authorization: Bearer KEY` with a key of this server."
        )

    async def _open(self) -> bool:
        if self._now() >= self._open_until:
            if await self._locked():
                return False
            self._open_until = self._now() + REMEMBERED
        return True

    async def _key(self, token: str) -> ApiKey | None:
        until, key = self._held.get(token, (0.0, None))
        if key is not None and self._now() < until:
            return key
        self._held.pop(token, None)
        key = await self._recognise(token)
        if key is not None:
            if len(self._held) >= MOST_REMEMBERED:
                self._held.clear()
            self._held[token] = (self._now() + REMEMBERED, key)
        return key

    def _count(self, key: ApiKey) -> None:
        """Take one from the key's bucket, which fills evenly and holds the calls of a minute."""
        if key.per_minute is None:
            return
        now = self._now()
        left, at = self._left.get(key.id, (float(key.per_minute), now))
        left = min(float(key.per_minute), left + (now - at) * key.per_minute / MINUTE)
        if left < 1:
            self._left[key.id] = (left, now)
            raise Exhausted((1 - left) * MINUTE / key.per_minute)
        self._left[key.id] = (left - 1, now)

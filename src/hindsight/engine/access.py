"""Keys of callers: made, listed, revoked, and recognised."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta

from hindsight.domain.access import EVERY_NAMESPACE, ApiKey, Grant, digest_of, parts_of, token_of
from hindsight.engine.parts import Running, checked
from hindsight.errors import InvalidInput, NotFound
from hindsight.write.request import MAX_NAME, check_text

SECRET_BYTES = 32  # 256 random bits, 43 characters
ID_CHARACTERS = 8  # of the random end of a fresh id
MOST_DAYS = 36_500
MOST_PER_MINUTE = 1_000_000


class Access(Running):
    """Keys of callers."""

    async def make_key(
        self, name: str, grants: Sequence[Grant], *, days: int | None = None, per_minute: int | None = None
    ) -> tuple[ApiKey, str]:
        """A new key, and what its holder sends. The latter is shown once: only its digest is kept."""
        if len(check_text("name", name)) > MAX_NAME:
            raise InvalidInput("name", name, f"at most {MAX_NAME} characters")
        if not grants:
            raise InvalidInput("grants", list(grants), "at least one namespace with a role, such as me:write")
        named = [grant.namespace for grant in grants]
        for namespace in named:
            if namespace != EVERY_NAMESPACE:
                checked(namespace)
            if named.count(namespace) > 1:
                raise InvalidInput("grants", namespace, "each namespace once")
        now, secret = self.now(), secrets.token_urlsafe(SECRET_BYTES)
        key = ApiKey(
            id=self._parts.ids.new()[-ID_CHARACTERS:],
            name=name,
            digest=digest_of(secret),
            grants=tuple(grants),
            created_at=now,
            expires_at=None if days is None else now + timedelta(days=_within("days", days, MOST_DAYS)),
            per_minute=None if per_minute is None else _within("per_minute", per_minute, MOST_PER_MINUTE),
        )
        await self._parts.store.put_key(key)
        return key, token_of(key.id, secret)

    async def keys(self) -> Sequence[ApiKey]:
        """All keys, oldest first, those that have ended too."""
        return await self._parts.store.keys()

    async def revoke_key(self, key_id: str) -> ApiKey:
        """End a key; servers notice within seconds. One that has ended stays as it is. `NotFound`."""
        held = await self._parts.store.key(check_text("key_id", key_id).strip())
        if held is None:
            raise NotFound("key_id", key_id)
        ended = held.revoked(self.now())
        await self._parts.store.put_key(ended)
        return ended

    async def key_of(self, token: str) -> ApiKey | None:
        """The key that this is the token of, while it holds; `None`: there is none."""
        found = parts_of(token)
        held = None if found is None else await self._parts.store.key(found[0])
        if found is None or held is None or not held.answers_to(found[1]) or not held.holds(self.now()):
            return None
        return held


def _within(field: str, given: int, most: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most:
        raise InvalidInput(field, given, f"a whole number from 1 to {most}")
    return given

"""Keys of callers over HTTP: for who has the store itself, never over HTTP."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight.domain.access import ApiKey, Grant
from hindsight.embedded.opening import Opened


class Keys(Opened):
    """Keys of callers over HTTP."""

    async def make_key(
        self, name: str, grants: Sequence[Grant], *, days: int | None = None, per_minute: int | None = None
    ) -> tuple[ApiKey, str]:
        """A new key, and the token that its holder sends, which nobody can read again.

        `days` from now it ends; `per_minute` calls it may make, else as many as it likes.
        """
        return await (await self.engine()).make_key(name, grants, days=days, per_minute=per_minute)

    async def keys(self) -> Sequence[ApiKey]:
        """All keys, oldest first, those that have ended too."""
        return await (await self.engine()).keys()

    async def revoke_key(self, key_id: str) -> ApiKey:
        """End a key; servers on the same store notice within seconds. `NotFound`."""
        return await (await self.engine()).revoke_key(key_id)

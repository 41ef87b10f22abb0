"""The keys of callers, in the file of the memories they reach: implements `hindsight.ports.Keyring`."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight.domain.access import ApiKey, Grant, Role
from hindsight.storage.checks import check_text, check_texts
from hindsight.storage.snapshot import dumps, loads
from hindsight.storage.sql import Row, micros, moment, optional_micros, optional_moment
from hindsight.storage.sqlite.channel import Channel
from hindsight.storage.sqlite.connection import Database


class Keyring(Channel):
    """Keys are few: they are read whole."""

    async def put_key(self, key: ApiKey) -> None:
        """See `Keyring.put_key`."""
        check_texts("key", (key.id, key.name, key.digest, *(grant.namespace for grant in key.grants)))
        await self._write(_put, key)

    async def key(self, key_id: str) -> ApiKey | None:
        """See `Keyring.key`."""
        check_text("key_id", key_id)
        return await self._read(_get, key_id)

    async def keys(self) -> Sequence[ApiKey]:
        """See `Keyring.keys`."""
        return await self._read(_all)


def _put(database: Database, key: ApiKey) -> None:
    database.run(
        "put_key",
        (
            key.id,
            key.name,
            key.digest,
            dumps([[grant.namespace, grant.role.value] for grant in key.grants]),
            micros(key.created_at),
            optional_micros(key.expires_at),
            optional_micros(key.revoked_at),
            key.per_minute,
        ),
    )


def _get(database: Database, key_id: str) -> ApiKey | None:
    row = database.row("key", (key_id,))
    return None if row is None else _key(row)


def _all(database: Database) -> list[ApiKey]:
    return [_key(row) for row in database.rows("keys", ())]


def _key(row: Row) -> ApiKey:
    key_id, name, digest, grants, created_at, expires_at, revoked_at, per_minute = row
    return ApiKey(
        id=key_id,
        name=name,
        digest=digest,
        grants=tuple(Grant(namespace, Role(role)) for namespace, role in loads(grants)),
        created_at=moment(created_at),
        expires_at=optional_moment(expires_at),
        revoked_at=optional_moment(revoked_at),
        per_minute=per_minute,
    )

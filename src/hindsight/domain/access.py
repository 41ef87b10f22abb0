"""Who may do what: a key, the namespaces it reaches, and its role in each."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final

from hindsight.errors import Forbidden

EVERY_NAMESPACE: Final = "*"
PREFIX: Final = "hs"
_TOKEN = re.compile(rf"{PREFIX}_([0-9a-z]{{8}})_([0-9A-Za-z_-]{{32,64}})")


class Role(StrEnum):
    """What a key may do; each includes those before it."""

    READ = "read"  # search, look at
    WRITE = "write"  # add, change, hide
    ADMIN = "admin"  # purge, keys, jobs, backups, metrics

    def includes(self, other: Role) -> bool:
        """Whether this role may do what `other` may."""
        order = tuple(Role)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class Grant:
    """A role in one namespace, or in every one (`*`)."""

    namespace: str
    role: Role


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept: of its secret only the digest, which does not give it back.

    The secret has 256 random bits, so that a plain SHA-256 is enough: there is nothing to guess. `per_minute`: calls it
    may make in a minute; `None`: as many as it likes.
    """

    id: str
    name: str
    digest: str
    grants: tuple[Grant, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    per_minute: int | None = None

    @property
    def home(self) -> str | None:
        """The namespace of a call that names none: the first it may write to, else the first; `None` for every one."""
        named = [grant for grant in self.grants if grant.namespace != EVERY_NAMESPACE]
        writing = [grant.namespace for grant in named if grant.role.includes(Role.WRITE)]
        return next(iter(writing or [grant.namespace for grant in named]), None)

    def answers_to(self, secret: str) -> bool:
        """Whether this is its secret, in a time that does not tell how much of it fits."""
        return hmac.compare_digest(digest_of(secret), self.digest)

    def holds(self, now: datetime) -> bool:
        """Whether it is neither revoked nor over."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def role_in(self, namespace: str) -> Role | None:
        """The highest role it has there; `None`: it does not reach it."""
        held = [grant.role for grant in self.grants if grant.namespace in (namespace, EVERY_NAMESPACE)]
        return max(held, key=tuple(Role).index, default=None)

    def revoked(self, at: datetime) -> ApiKey:
        """The same key, no longer accepted; a second time changes nothing."""
        return self if self.revoked_at is not None else replace(self, revoked_at=at)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call. `key` is `None` where no keys are set: whoever reaches the server may do everything."""

    key: ApiKey | None = None

    @property
    def name(self) -> str:
        """For the audit log."""
        return "anyone" if self.key is None else f"{self.key.name} ({self.key.id})"

    def within(self, asked: str | None, default: str) -> str:
        """The namespace of a call: the one it asks for, else the key's own, else the server's."""
        if asked is not None:
            return asked
        home = None if self.key is None else self.key.home
        return default if home is None else home

    def check(self, namespace: str, needed: Role) -> None:
        """`Forbidden` where the key does not reach the namespace, or may not do this in it.

        Says the same of a namespace that does not exist: what there is beyond a key's reach is nobody's business.
        """
        if self.key is None:
            return
        held = self.key.role_in(namespace)
        if held is None:
            raise Forbidden("this key does not reach that namespace", hint="Use a key that is made for it.")
        if not held.includes(needed):
            raise Forbidden(
                f"this key may {held.value} here, and this needs {needed.value}", hint="Use a key with that role."
            )

    def check_everywhere(self, needed: Role) -> None:
        """`Forbidden` where the key may not do this for the server as a whole."""
        self.check(EVERY_NAMESPACE, needed)


def digest_of(secret: str) -> str:
    """What is kept of a secret: hexadecimal SHA-256."""
    return hashlib.sha256(secret.encode()).hexdigest()


def token_of(key_id: str, secret: str) -> str:
    """What the holder of a key sends: its id, so that it is found, and its secret."""
    return f"{PREFIX}_{key_id}_{secret}"


def parts_of(token: str) -> tuple[str, str] | None:
    """The id and the secret in a token; `None` for what is none."""
    found = _TOKEN.fullmatch(token)
    return (found[1], found[2]) if found else None

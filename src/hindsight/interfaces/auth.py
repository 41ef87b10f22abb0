"""Who may call over HTTP: closed by default, and deaf to web pages of other origins.

Without a key the server listens on loopback only and answers only to a loopback `Host`, so that a page which resolves
its own name to 127.0.0.1 (DNS rebinding) is refused. A browser sends `Origin`; it must be of a host that is allowed.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hindsight.errors import ConfigError, Forbidden

if TYPE_CHECKING:
    from starlette.requests import Request

    from hindsight.config import Settings

_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether an address to listen on reaches this machine only."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def refuse_open_door(settings: Settings) -> None:
    """Refuse to listen beyond loopback without a key, unless it is switched on by name (a container does)."""
    keyed = settings.api_key is not None or settings.require_key
    if not keyed and not settings.allow_no_key and not is_loopback(settings.host):
        raise ConfigError(
            f"host: {settings.host!r} is reachable from other machines and no key is set",
            hint="Set HINDSIGHT_API_KEY, or HINDSIGHT_REQUIRE_KEY=true with keys of `hindsight keys`, or listen on "
            "127.0.0.1, or set HINDSIGHT_ALLOW_NO_KEY=true where something else keeps strangers out.",
        )


class Doorkeeper:
    """Checks Host and Origin of every request. `keyed`: each needs a key, so that any Host may be named."""

    def __init__(self, *, keyed: bool, allowed_hosts: Iterable[str]) -> None:
        self._keyed = keyed
        self._hosts = LOOPBACK_NAMES | {host.strip().lower() for host in allowed_hosts}

    def check(self, request: Request) -> None:
        """Raise `Forbidden` for a strange Host or Origin."""
        host = _host(request.headers.get("host", ""))
        if host not in self._hosts and not self._keyed:
            raise Forbidden(
                "Host: this name is not accepted", hint="Name it in HINDSIGHT_ALLOWED_HOSTS, or call 127.0.0.1."
            )
        if any(_origin(one) not in self._hosts for one in request.headers.getlist("origin")):
            raise Forbidden(
                "Origin: pages of this origin may not call", hint="Name its host in HINDSIGHT_ALLOWED_HOSTS."
            )


def _host(header: str) -> str | None:
    """The name in `host` or `host:port`, lower case; `None` for what has any other form."""
    found = _HOST.fullmatch(header)
    return found["name"].strip("[]").lower() if found else None


def _origin(header: str) -> str | None:
    """The name in the origin of a web page, lower case; `None` for what is none, such as `null`."""
    scheme, _, rest = header.partition("://")
    return _host(rest) if scheme.lower() in ("http", "https") else None

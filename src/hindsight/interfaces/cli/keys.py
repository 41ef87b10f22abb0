"""Commands about keys of callers over HTTP: make, list, revoke."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from hindsight.domain.access import ApiKey, Grant, Role
from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.call import Call, command
from hindsight.interfaces.schemas import Arguments
from hindsight.interfaces.shapes import Shape

GRANT_FORM = f"NAMESPACE:ROLE, the role one of {', '.join(Role)}; * for every namespace"
MOST = 1_000_000

app = typer.Typer()
keys = typer.Typer(help="Keys that callers over HTTP need.")
app.add_typer(keys, name="keys")


@command(keys, "make")
def make(
    call: Call,
    name: Annotated[str, typer.Argument(help="Who it is for; shown in lists and logs.")],
    *,
    grant: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMESPACE:ROLE", help="What it reaches, and as read, write or admin; repeat for each."),
    ] = None,
    days: Annotated[str | None, typer.Option(metavar="N", help="It ends after so many days; else never.")] = None,
    per_minute: Annotated[str | None, typer.Option(metavar="N", help="Calls it may make in a minute.")] = None,
) -> None:
    """Make a key. What is printed is shown this once: only its digest is kept."""
    given = Arguments({"days": days, "per_minute": per_minute}, ("days", "per_minute"))
    limits = {"days": given.whole("days", 1, MOST), "per_minute": given.whole("per_minute", 1, MOST)}
    with call.open() as memory:
        made, token = memory.make_key(name, [_grant(one) for one in grant or ()], **limits)
    call.answer({**key_shape(made), "token": token}, [token])
    call.note([f"{made.id}  {_told(made)}", "Send it as: Authorization: Bearer KEY. It is not shown again."])


@command(keys, "list")
def listing(call: Call) -> None:
    """List the keys, those that have ended too."""
    with call.open() as memory:
        found = memory.keys()
    call.answer({"items": [key_shape(key) for key in found]}, (f"{key.id}  {_told(key)}" for key in found))
    if not found:
        call.note(["no key has been made: on loopback, whoever reaches the server may do everything"])


@command(keys, "revoke")
def revoke(call: Call, key_id: Annotated[str, typer.Argument(metavar="ID", help="As `keys list` shows it.")]) -> None:
    """End a key. Servers on the same store notice within seconds."""
    with call.open() as memory:
        ended = memory.revoke_key(key_id)
    call.answer(key_shape(ended), [f"{ended.id}  {_told(ended)}"])


def key_shape(key: ApiKey) -> Shape:
    """A key without its digest."""
    return {
        "id": key.id,
        "name": key.name,
        "grants": [{"namespace": grant.namespace, "role": grant.role.value} for grant in key.grants],
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        "revoked_at": key.revoked_at.isoformat() if key.revoked_at else None,
        "per_minute": key.per_minute,
    }


def _grant(given: str) -> Grant:
    namespace, _, role = given.rpartition(":")
    if not namespace or role not in tuple(Role):
        raise InvalidInput("--grant", given, GRANT_FORM)
    return Grant(namespace, Role(role))


def _told(key: ApiKey) -> str:
    return "  ".join(_words(key))


def _words(key: ApiKey) -> Iterator[str]:
    yield key.name
    yield ", ".join(f"{grant.namespace}:{grant.role.value}" for grant in key.grants)
    yield f"made {key.created_at:%Y-%m-%d}"
    if key.per_minute is not None:
        yield f"{key.per_minute} a minute"
    if key.expires_at is not None:
        yield f"ends {key.expires_at:%Y-%m-%d}"
    if key.revoked_at is not None:
        yield f"revoked {key.revoked_at:%Y-%m-%d}"

"""Commands about sessions: session list, show, set, end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from hindsight.domain.session import Session, Working
from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.call import Call, command
from hindsight.interfaces.cli.render import receipt_lines, receipt_notes
from hindsight.interfaces.shapes import receipt_shape
from hindsight.interfaces.shapes_session import sessions_shape, working_shape

MAX_LISTED = 500

app = typer.Typer()
session = typer.Typer(help="Sessions and their working memory.", no_args_is_help=True)
app.add_typer(session, name="session")

SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="The conversation or task run.")]


@command(session, "list")
def list_sessions(
    call: Call,
    *,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=MAX_LISTED, help="How many at most.")] = 50,
) -> None:
    """The sessions that were active last, newest first."""
    with call.open() as memory:
        found = memory.sessions(limit=limit)
    call.answer(sessions_shape(found), map(_line, found))


@command(session, "show")
def show(call: Call, session_id: SessionId) -> None:
    """What a running task has noted, and its last turns."""
    with call.open() as memory:
        found = memory.working(session_id)
    call.answer(working_shape(found), _working_lines(found))


@command(session, "set")
def note(
    call: Call,
    session_id: SessionId,
    variables: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VALUE...", help="The value is JSON, or else text; NAME= takes it away."),
    ],
    *,
    ttl: Annotated[float | None, typer.Option(metavar="SECONDS", help="How long; else until the session ends.")] = None,
) -> None:
    """Note variables of a running task; searches with its --session have them in their block."""
    with call.open() as memory:
        found = memory.working(session_id, set=dict(map(_variable, variables)), ttl=ttl)
    call.answer(working_shape(found), _working_lines(found))


@command(session, "end")
def end(call: Call, session_id: SessionId) -> None:
    """End a session: what it has noted becomes an episode, and its jobs start."""
    with call.open() as memory:
        receipt = memory.end_session(session_id)
    call.answer(receipt_shape(receipt), receipt_lines(receipt))
    call.note(receipt_notes(receipt))


def _variable(given: str) -> tuple[str, object]:
    name, equals, text = given.partition("=")
    if not equals or not name.strip():
        raise InvalidInput("NAME=VALUE", given, "a name, an equals sign and a value, such as goal=report")
    try:
        return name, json.loads(text) if text else None
    except ValueError:
        return name, text


def _line(one: Session) -> str:
    end = "" if one.ended_at is None else f"  ended {one.ended_at:%Y-%m-%d %H:%M}"
    return f"{one.active_at:%Y-%m-%d %H:%M}  {one.id}{end}"


def _working_lines(found: Working) -> Iterator[str]:
    yield _line(found.session)
    for name, variable in found.variables.items():
        until = "" if variable.expires_at is None else f"  (until {variable.expires_at:%H:%M:%S})"
        value = variable.value if isinstance(variable.value, str) else json.dumps(variable.value, ensure_ascii=False)
        yield f"{name} = {value}{until}"
    for turn in found.turns:
        yield f"{turn.speaker or turn.role.value}: {' '.join(turn.content.split())}"

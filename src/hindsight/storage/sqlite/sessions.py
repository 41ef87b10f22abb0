"""Sessions and the variables of running tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from hindsight.domain.change import Batch
from hindsight.domain.kept import KeptSession
from hindsight.domain.session import Session, SessionEnd, Variable, Working
from hindsight.errors import Conflict
from hindsight.storage.snapshot import dumps, loads
from hindsight.storage.sql import Row, episode_of, micros, moment, optional_micros, optional_moment
from hindsight.storage.sqlite.connection import Database


def wake(database: Database, namespace: str, session_ids: Iterable[str], at: datetime) -> None:
    """Something has happened in these sessions."""
    database.run_many("wake_session", [(namespace, session_id, micros(at)) for session_id in session_ids])


def check_ends(database: Database, namespace: str, ends: Sequence[SessionEnd]) -> None:
    """`Conflict` for a session that is over already, or has gone on since it was read."""
    for end in ends:
        row = database.row("session_row", (namespace, end.session_id))
        if row is None or row[2] is not None or row[1] != micros(end.active_at):
            raise Conflict(
                f"session {end.session_id} has gone on or ended since it was read", hint="Read it again first."
            )


def end_sessions(database: Database, batch: Batch) -> None:
    """Close sessions; their variables go."""
    for end in batch.ends:
        database.run("end_session", (batch.namespace, end.session_id, micros(batch.at)))
        database.run("drop_variables", (batch.namespace, end.session_id))


def keep_session(database: Database, namespace: str, kept: KeptSession) -> None:
    """Take over a session of an export, with its variables, unless it is known."""
    session = kept.session
    row = (namespace, session.id, micros(session.active_at), optional_micros(session.ended_at))
    if database.row("keep_session", row) is not None:
        database.run_many(
            "put_variable",
            [
                (namespace, session.id, name, dumps(one.value), micros(one.set_at), optional_micros(one.expires_at))
                for name, one in kept.variables
            ],
        )


def set_working(
    database: Database,
    namespace: str,
    session_id: str,
    values: Mapping[str, str | None],
    at: datetime,
    expires_at: datetime | None,
) -> None:
    """See `Store.set_working`; values are JSON text."""
    wake(database, namespace, (session_id,), at)
    until = optional_micros(expires_at)
    for name, value in values.items():
        if value is None:
            database.run("drop_variable", (namespace, session_id, name))
        else:
            database.run("put_variable", (namespace, session_id, name, value, micros(at), until))


def working(database: Database, namespace: str, session_id: str, now: datetime, turns: int) -> Working | None:
    """See `Store.working`."""
    row = database.row("session_row", (namespace, session_id))
    if row is None:
        return None
    variables = {
        name: Variable(loads(value), moment(set_at), optional_moment(expires_at))
        for name, value, set_at, expires_at in database.rows("variables", (namespace, session_id, micros(now)))
    }
    said = database.rows("last_turns", (namespace, session_id, turns)) if turns > 0 else []
    return Working(session_of(row), variables, tuple(episode_of(namespace, one) for one in reversed(said)))


def sessions(database: Database, namespace: str, limit: int) -> Sequence[Session]:
    """See `Store.sessions`."""
    return [session_of(row) for row in database.rows("sessions", (namespace, limit))]


def idle_sessions(database: Database, before: datetime, limit: int) -> Sequence[tuple[str, Session]]:
    """See `Store.idle_sessions`."""
    return [(row[0], session_of(row[1:])) for row in database.rows("idle_sessions", (micros(before), limit))]


def session_of(row: Row) -> Session:
    """The session in a row: id, last activity, end."""
    return Session(row[0], moment(row[1]), optional_moment(row[2]))

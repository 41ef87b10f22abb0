"""Sessions as they cross the wire: what a running task has noted, its last turns, when it was active."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight.domain.episode import JsonValue
from hindsight.domain.session import Session, Working
from hindsight.interfaces.shapes import Shape


def session_shape(session: Session) -> Shape:
    """One session."""
    return {
        "session_id": session.id,
        "active_at": session.active_at.isoformat(),
        "ended_at": None if session.ended_at is None else session.ended_at.isoformat(),
    }


def sessions_shape(sessions: Sequence[Session]) -> Shape:
    """The sessions that were active last."""
    return {"items": [session_shape(session) for session in sessions]}


def working_shape(working: Working) -> Shape:
    """The working memory of a session: `variables` by name, `expires` of those that do, and `turns`, oldest first."""
    variables: dict[str, JsonValue] = {name: one.value for name, one in working.variables.items()}
    expires: dict[str, JsonValue] = {
        name: one.expires_at.isoformat() for name, one in working.variables.items() if one.expires_at is not None
    }
    turns: list[JsonValue] = [
        {
            "episode_id": turn.id,
            "role": turn.role.value,
            "speaker": turn.speaker,
            "occurred_at": turn.occurred_at.isoformat(),
            "content": turn.content,
        }
        for turn in working.turns
    ]
    return {**session_shape(working.session), "variables": variables, "expires": expires, "turns": turns}

"""REST of sessions: what a running task has noted, and the end of its session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, JsonValue

from hindsight.interfaces.http.bodies import Body
from hindsight.interfaces.http.request import Memory, ReadMemory
from hindsight.interfaces.shapes import Shape, receipt_shape
from hindsight.interfaces.shapes_session import sessions_shape, working_shape

routes = APIRouter(prefix="/sessions")


class WorkingBody(Body):
    """Variables of a running task."""

    set: dict[str, JsonValue] = Field(
        description="Names and values; null takes one away.", examples=[{"goal": "weekly report", "step": 2}]
    )
    ttl: float | None = Field(default=None, description="Seconds these are shown; else until the session ends.")


@routes.get("", response_model=None)
async def sessions(memory: ReadMemory, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Shape:
    """The sessions that were active last, newest first."""
    return sessions_shape(await memory.sessions(limit=limit))


@routes.get("/{session_id:path}/working", response_model=None)
async def working(session_id: str, memory: ReadMemory) -> Shape:
    """What the running task has noted, and its last turns; 404 for a session nobody has heard of."""
    return working_shape(await memory.working(session_id))


@routes.put("/{session_id:path}/working", response_model=None)
async def note(session_id: str, body: WorkingBody, memory: Memory) -> Shape:
    """Note variables beside those that are there; each search with this session has them in its block."""
    return working_shape(await memory.working(session_id, set=body.set, ttl=body.ttl))


@routes.post("/{session_id:path}/end", response_model=None)
async def end(session_id: str, memory: Memory) -> Shape:
    """End the session: what it has noted becomes an episode, and its jobs start."""
    return receipt_shape(await memory.end_session(session_id))

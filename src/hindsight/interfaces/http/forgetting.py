"""REST of forgetting many things at once. Purging needs the command line."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from hindsight.interfaces.http.answers import Answer
from hindsight.interfaces.http.bodies import Body
from hindsight.interfaces.http.request import Memory
from hindsight.interfaces.shapes_forget import forgetting_shape, proof_shape

routes = APIRouter()


class ForgetBody(Body):
    """What is meant: exactly one of the three."""

    about: str | None = Field(default=None, description="Everything that names this.", examples=["Ann"])
    session_id: str | None = Field(default=None, description="Everything of this session.")
    everything: bool = Field(default=False, description="The whole namespace.")
    dry_run: bool = Field(default=True, description="Only count it and show examples.")
    reason: str = ""


@routes.post("/forget")
async def forget(body: ForgetBody, memory: Memory) -> Answer:
    """Show, or hide, everything about a name, of a session, or of the namespace; `undo` takes it back in time."""
    report = await memory.forget_about(
        body.about, session_id=body.session_id, everything=body.everything, dry_run=body.dry_run, reason=body.reason
    )
    return Answer(forgetting_shape(report))


@routes.get("/memories/{memory_id}/forgotten")
async def forgotten(memory_id: str, memory: Memory) -> Answer:
    """Whether it has been purged, and what is left of it: nothing once `gone`. 404 for an id that nobody knows."""
    return Answer(proof_shape(await memory.proof(memory_id)))

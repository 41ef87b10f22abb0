"""REST of experiences: write, merge, feedback, reflect, prune."""

from __future__ import annotations

from fastapi import APIRouter

from hindsight.interfaces.http import bodies
from hindsight.interfaces.http.answers import Answer
from hindsight.interfaces.http.request import Memory, given_in
from hindsight.interfaces.shapes import memory_shape, receipt_shape
from hindsight.interfaces.shapes_prune import prune_shape
from hindsight.interfaces.shapes_reflect import reflection_shape

routes = APIRouter()


@routes.post("/experiences")
async def write_experience(body: bodies.ExperienceBody, memory: Memory) -> Answer:
    """Keep what worked or failed."""
    return Answer(receipt_shape(await memory.write_experience(**given_in(body))))


@routes.post("/memories/{memory_id}/feedback")
async def feedback(memory_id: str, body: bodies.FeedbackBody, memory: Memory) -> Answer:
    """Say whether following an experience worked."""
    return Answer(memory_shape(await memory.feedback(memory_id, **given_in(body))))


@routes.post("/experiences/merge")
async def merge(memory: Memory, body: bodies.MergeBody | None = None) -> Answer:
    """Merge experiences that are for the same situation; the receipt's `undo` takes it back."""
    return Answer(receipt_shape(await memory.merge_experiences(**({} if body is None else given_in(body)))))


@routes.post("/reflect")
async def reflect(body: bodies.ReflectBody, memory: Memory) -> Answer:
    """Propose experiences from what was done in a session: what failed, and what then worked."""
    return Answer(reflection_shape(await memory.reflect(**given_in(body))))


@routes.post("/prune")
async def prune(body: bodies.PruneBody, memory: Memory) -> Answer:
    """Name, or archive, the experiences that are not trusted, or old and hardly used."""
    return Answer(prune_shape(await memory.prune(**given_in(body))))

"""REST of the traces: the record of a search, the search run again, and why it did not return a memory."""

from __future__ import annotations

from fastapi import APIRouter

from hindsight.interfaces.http import bodies
from hindsight.interfaces.http.request import ReadMemory
from hindsight.interfaces.shapes import Shape
from hindsight.interfaces.shapes_trace import explanation_shape, replay_shape

routes = APIRouter(prefix="/traces")


@routes.get("/{trace_id}", response_model=None)
async def trace(trace_id: str, memory: ReadMemory) -> Shape:
    """The record of one search; 404 once it is no longer kept."""
    return await memory.trace(trace_id)


@routes.post("/{trace_id}/replay", response_model=None)
async def replay(trace_id: str, memory: ReadMemory, body: bodies.ReplayBody | None = None) -> Shape:
    """Run it again with the clock, use counts and weights of then, and tell what is different."""
    asked = bodies.ReplayBody() if body is None else body
    weights = asked.weights.model_dump() if isinstance(asked.weights, bodies.WeightsBody) else asked.weights
    return replay_shape(await memory.replay(trace_id, as_of_then=asked.as_of_then, weights=weights))


@routes.get("/{trace_id}/explain/{memory_id}", response_model=None)
async def explain(trace_id: str, memory_id: str, memory: ReadMemory) -> Shape:
    """Why it did, or did not, return a memory: the stage that lost it."""
    return explanation_shape(await memory.explain(trace_id, memory_id))

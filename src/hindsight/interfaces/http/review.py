"""REST of the reviews: what waits for the user's decision, and the decision (`GET` and `POST /v1/review`)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from hindsight.domain.change import ReviewState
from hindsight.interfaces.http import bodies
from hindsight.interfaces.http.request import Memory, ReadMemory
from hindsight.interfaces.shapes import Shape, receipt_shape
from hindsight.interfaces.shapes_reflect import reviews_shape

routes = APIRouter(prefix="/review")


@routes.get("", response_model=None)
async def reviews(
    memory: ReadMemory,
    state: ReviewState = ReviewState.OPEN,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: str | None = None,
) -> Shape:
    """What only a person can decide: contradictions, then proposals; `after` is the `next` of the page before."""
    return reviews_shape(await memory.reviews(state=state, limit=limit, after=after))


@routes.post("/{memory_id}", response_model=None)
async def resolve(memory_id: str, body: bodies.ReviewBody, memory: Memory) -> Shape:
    """Decide one by the id of its new memory, or of the proposal; 409 where that is done. `undo` lets it wait again."""
    return receipt_shape(await memory.resolve_review(memory_id, body.choice))

"""REST of the reviews: what waits for the user's decision, and the decision (`GET` and `POST /v1/review`)."""

# Annotations are evaluated here, not kept as text: they name the dependency that `review_routes` is given.

from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias

from fastapi import APIRouter, Depends, Query, Request

from hindsight.domain.change import ReviewState
from hindsight.embedded import AsyncHindsight
from hindsight.interfaces import rest_schemas as bodies
from hindsight.interfaces.shapes import Shape, receipt_shape, reviews_shape


def review_routes(of_request: Callable[[Request], Awaitable[AsyncHindsight]]) -> APIRouter:
    """The routes, on the memory that a request is about."""
    Memory: TypeAlias = Annotated[AsyncHindsight, Depends(of_request)]
    routes = APIRouter(prefix="/review")

    @routes.get("", response_model=None)
    async def reviews(
        memory: Memory,
        state: ReviewState = ReviewState.OPEN,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        after: str | None = None,
    ) -> Shape:
        """Contradictions that only the user can decide, oldest first; `after` is the `next` of the page before."""
        return reviews_shape(await memory.reviews(state=state, limit=limit, after=after))

    @routes.post("/{memory_id}", response_model=None)
    async def resolve(memory_id: str, body: bodies.ReviewBody, memory: Memory) -> Shape:
        """Decide one by the id of its new memory; 409 where it has been decided. `undo` lets it wait again."""
        return receipt_shape(await memory.resolve_review(memory_id, body.choice))

    return routes

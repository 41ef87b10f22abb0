"""REST of memories: write, search, list, change, forget, undo, counts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from hindsight.domain.page import Order
from hindsight.interfaces.http import bodies
from hindsight.interfaces.http.answers import Answer
from hindsight.interfaces.http.request import ListedFilters, Memory, ReadMemory, given_in
from hindsight.interfaces.shapes import memory_shape, receipt_shape, result_shape, revision_shape, stats_shape

routes = APIRouter()


@routes.post("/memories")
async def write(body: bodies.WriteBody, memory: Memory) -> Answer:
    """Keep what was said or done."""
    return Answer(receipt_shape(await memory.write(**given_in(body))))


@routes.post("/memories/batch")
async def write_batch(body: bodies.BatchBody, memory: Memory) -> Answer:
    """Keep many things at once; one receipt each, in order."""
    receipts = await memory.write_many([given_in(one) for one in body.writes])
    return Answer({"receipts": [receipt_shape(receipt) for receipt in receipts]})


@routes.post("/search")
async def search(body: bodies.SearchBody, memory: ReadMemory) -> Answer:
    """What matters for a question."""
    return Answer(result_shape(await memory.search(**given_in(body))))


@routes.get("/memories")
async def listing(
    memory: ReadMemory,
    filters: ListedFilters,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: str | None = None,
    order: Order = Order.NEWEST,
) -> Answer:
    """Active memories, a page at a time; `after` is the `next` of the page before."""
    page = await memory.list(filters=filters, order=order, limit=limit, after=after)
    return Answer({"items": [memory_shape(item) for item in page.items], "next": page.next})


@routes.get("/memories/{memory_id}")
async def get(memory_id: str, memory: ReadMemory) -> Answer:
    """One memory."""
    return Answer(memory_shape(await memory.get(memory_id)))


@routes.get("/memories/{memory_id}/history")
async def history(memory_id: str, memory: ReadMemory) -> Answer:
    """Every state of a memory, oldest first."""
    return Answer({"revisions": [revision_shape(revision) for revision in await memory.history(memory_id)]})


@routes.patch("/memories/{memory_id}")
async def update(memory_id: str, body: bodies.UpdateBody, memory: Memory) -> Answer:
    """Change a memory."""
    return Answer(receipt_shape(await memory.update(memory_id, **given_in(body))))


@routes.delete("/memories/{memory_id}")
async def forget(memory_id: str, memory: Memory, reason: str = "") -> Answer:
    """Hide a memory; the receipt's `undo` takes it back."""
    return Answer(receipt_shape(await memory.forget(memory_id, reason=reason)))


@routes.post("/memories/{memory_id}/decay")
async def decay(memory_id: str, body: bodies.DecayBody, memory: Memory) -> Answer:
    """Let a memory fade by a factor."""
    return Answer(receipt_shape(await memory.forget(memory_id, **given_in(body))))


@routes.post("/memories/{memory_id}/pin")
async def pin(memory_id: str, body: bodies.PinBody, memory: Memory) -> Answer:
    """Pin or unpin a memory."""
    return Answer(receipt_shape(await memory.pin(memory_id, pinned=body.pinned)))


@routes.post("/undo")
async def undo(body: bodies.UndoBody, memory: Memory) -> Answer:
    """Take back what a receipt's token stands for."""
    return Answer(receipt_shape(await memory.undo(body.token)))


@routes.get("/stats")
async def stats(memory: ReadMemory) -> Answer:
    """Counts of the namespace."""
    return Answer(stats_shape(await memory.stats()))

"""Writing, reading and changing memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final
from urllib.parse import quote
from uuid import uuid4

from pydantic import TypeAdapter

from hindsight.client.answers import Memory, MemoryPage, Receipt, ReviewPage, Revision, Stats
from hindsight.client.opening import Opened
from hindsight.client.reading import filters as filters_of
from hindsight.client.reading import messages, moment, plain
from hindsight.domain.change import ReviewChoice, ReviewState
from hindsight.domain.episode import EMPTY, Message, Metadata
from hindsight.domain.memory import Kind
from hindsight.domain.page import Order
from hindsight.domain.query import Filters
from hindsight.domain.reflection import ProposalChoice

RECEIPT: Final = TypeAdapter(Receipt)
RECEIPTS: Final = TypeAdapter(dict[str, list[Receipt]])
MEMORY: Final = TypeAdapter(Memory)
MEMORIES: Final = TypeAdapter(MemoryPage)
REVISIONS: Final = TypeAdapter(dict[str, list[Revision]])
REVIEWS: Final = TypeAdapter(ReviewPage)
STATS: Final = TypeAdapter(Stats)


class Memories(Opened):
    """Writing, reading and changing memories."""

    async def write(
        self,
        content: str | Message | Sequence[Message | Mapping[str, object]],
        *,
        namespace: str | None = None,
        session_id: str | None = None,
        occurred_at: datetime | str | None = None,
        speaker: str | None = None,
        role: str | None = None,
        kind: Kind | str | None = None,
        importance: float | None = None,
        tags: Sequence[str] = (),
        timezone: str | None = None,
        metadata: Metadata = EMPTY,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Keep what was said or done. Text, or messages with roles, speakers and times of their own.

        Sent again where the answer was lost on the way: a key of its own makes sure that it is kept once.
        """
        body = {
            "content": messages(content),
            "session_id": session_id,
            "occurred_at": moment(occurred_at),
            "speaker": speaker,
            "role": role,
            "kind": kind,
            "importance": importance,
            "tags": list(tags),
            "timezone": timezone,
            "metadata": dict(metadata),
            "idempotency_key": idempotency_key or uuid4().hex,
        }
        return await self._call(RECEIPT, "POST", "/v1/memories", namespace, body, again=True)

    async def write_many(
        self, writes: Iterable[Mapping[str, object]], *, namespace: str | None = None
    ) -> list[Receipt]:
        """Keep many things at once, each a mapping of `write`'s arguments by name; much quicker than one by one."""
        many = [{"idempotency_key": uuid4().hex, **_write(given)} for given in writes]
        answer = await self._call(RECEIPTS, "POST", "/v1/memories/batch", namespace, {"writes": many}, again=True)
        return answer["receipts"]

    async def get(self, memory_id: str, *, namespace: str | None = None) -> Memory:
        """One memory by its id, whole or short. `NotFound`, `Ambiguous`."""
        return await self._call(MEMORY, "GET", _path(memory_id), namespace)

    async def list(
        self,
        *,
        namespace: str | None = None,
        filters: Filters | Mapping[str, object] | None = None,
        order: Order | str = Order.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> MemoryPage:
        """Memories that match, a page at a time; `after` is the `next` of the page before."""
        asked = {"order": str(order), "limit": limit, "after": after, **(filters_of(filters) or {})}
        return await self._call(MEMORIES, "GET", "/v1/memories", namespace, parameters=asked)

    async def history(self, memory_id: str, *, namespace: str | None = None) -> Sequence[Revision]:
        """Every state of a memory, oldest first."""
        return (await self._call(REVISIONS, "GET", _path(memory_id, "history"), namespace))["revisions"]

    async def update(
        self,
        memory_id: str,
        new_content: str | None = None,
        *,
        namespace: str | None = None,
        confidence: float | None = None,
        importance: float | None = None,
    ) -> Receipt:
        """Change a memory; its former state stays in the history."""
        body = {"new_content": new_content, "confidence": confidence, "importance": importance}
        return await self._call(RECEIPT, "PATCH", _path(memory_id), namespace, body)

    async def pin(self, memory_id: str, *, namespace: str | None = None, pinned: bool = True) -> Receipt:
        """Keep a memory from fading and always in the context block; `pinned=False` lets it go."""
        return await self._call(RECEIPT, "POST", _path(memory_id, "pin"), namespace, {"pinned": pinned})

    async def forget(
        self, memory_id: str, *, namespace: str | None = None, decay_factor: float = 1.0, reason: str = ""
    ) -> Receipt:
        """Weaken a memory by a factor; 1 hides it at once. The receipt's `undo` takes it back."""
        body = {"decay_factor": decay_factor, "reason": reason}
        return await self._call(RECEIPT, "POST", _path(memory_id, "decay"), namespace, body)

    async def undo(self, token: str, *, namespace: str | None = None) -> Receipt:
        """Take back what a receipt's `undo` token stands for. `Conflict` if it has been changed since."""
        return await self._call(RECEIPT, "POST", "/v1/undo", namespace, {"token": token})

    async def reviews(
        self,
        *,
        namespace: str | None = None,
        state: ReviewState | str = ReviewState.OPEN,
        limit: int = 50,
        after: str | None = None,
    ) -> ReviewPage:
        """What waits for the user's decision, oldest first; `after` is the `next` of the page before."""
        asked = {"state": str(state), "limit": limit, "after": after}
        return await self._call(REVIEWS, "GET", "/v1/review", namespace, parameters=asked)

    async def resolve_review(
        self, memory_id: str, choice: ReviewChoice | ProposalChoice | str, *, namespace: str | None = None
    ) -> Receipt:
        """Decide a review by the id of its new memory: `new` holds, `old` goes on, or `both` stand.

        A proposed experience is decided by `accept` or `reject`.
        """
        path = f"/v1/review/{quote(memory_id, safe='')}"
        return await self._call(RECEIPT, "POST", path, namespace, {"choice": str(choice)})

    async def stats(self, *, namespace: str | None = None) -> Stats:
        """Counts of the namespace."""
        return await self._call(STATS, "GET", "/v1/stats", namespace)


def _path(memory_id: str, act: str = "") -> str:
    path = f"/v1/memories/{quote(memory_id, safe='')}"
    return f"{path}/{act}" if act else path


def _write(given: Mapping[str, object]) -> dict[str, object]:
    named = {name: plain(value) for name, value in given.items() if value is not None}
    if "content" in given and not isinstance(given["content"], str):
        named["content"] = messages(given["content"])  # type: ignore[arg-type]  # as `write` is given it
    return named

"""Writing, reading and changing memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from hindsight.domain.change import Contradiction, Receipt, ReviewChoice, ReviewState, Revision
from hindsight.domain.episode import EMPTY, Message, Metadata
from hindsight.domain.memory import Kind, Memory
from hindsight.domain.page import Order, Page, Stats
from hindsight.domain.query import Filters
from hindsight.domain.reflection import Proposal, ProposalChoice
from hindsight.embedded.opening import Opened
from hindsight.search.request import parse_filters
from hindsight.write.parse import parse_write


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

        `kind` says what the whole content is, and it becomes one memory of that kind; without it, statements are
        extracted. Raises `InvalidInput` by field.
        """
        given = {
            "content": content,
            "session_id": session_id,
            "occurred_at": occurred_at,
            "speaker": speaker,
            "role": role,
            "kind": kind,
            "importance": importance,
            "tags": tags,
            "timezone": timezone,
            "metadata": metadata,
            "idempotency_key": idempotency_key,
        }
        engine = await self.engine()
        return await engine.write(self._within(namespace), parse_write(given, timezone=self._settings.timezone))

    async def write_many(
        self, writes: Iterable[Mapping[str, object]], *, namespace: str | None = None
    ) -> list[Receipt]:
        """Keep many things at once, each a mapping of `write`'s arguments by name; much quicker than one by one."""
        zone = self._settings.timezone
        requests = [parse_write(given, timezone=zone) for given in writes]
        engine = await self.engine()
        return await engine.write_many(self._within(namespace), requests)

    async def get(self, memory_id: str, *, namespace: str | None = None) -> Memory:
        """One memory by its id, whole or short. `NotFound`, `Ambiguous`."""
        return await (await self.engine()).get(self._within(namespace), memory_id)

    async def list(
        self,
        *,
        namespace: str | None = None,
        filters: Filters | Mapping[str, object] | None = None,
        order: Order | str = Order.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Memory]:
        """Memories that match, a page at a time; `after` is the `next` of the page before."""
        engine = await self.engine()
        zone, now = self._settings.timezone, engine.now()
        wanted = filters if isinstance(filters, Filters) else parse_filters(filters, timezone=zone, now=now)
        return await engine.list(self._within(namespace), wanted, order=order, limit=limit, after=after)

    async def history(self, memory_id: str, *, namespace: str | None = None) -> Sequence[Revision]:
        """Every state of a memory, oldest first."""
        return await (await self.engine()).history(self._within(namespace), memory_id)

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
        engine = await self.engine()
        return await engine.update(
            self._within(namespace),
            memory_id,
            new_content=new_content,
            confidence=confidence,
            importance=importance,
        )

    async def pin(self, memory_id: str, *, namespace: str | None = None, pinned: bool = True) -> Receipt:
        """Keep a memory from fading and always in the context block; `pinned=False` lets it go."""
        return await (await self.engine()).pin(self._within(namespace), memory_id, pinned=pinned)

    async def forget(
        self, memory_id: str, *, namespace: str | None = None, decay_factor: float = 1.0, reason: str = ""
    ) -> Receipt:
        """Weaken a memory by a factor; 1 hides it at once. The receipt's `undo` takes it back.

        The id of a turn, which a search gives where no memory says the same, hides the turn and the memories that rest
        on it alone.
        """
        engine = await self.engine()
        return await engine.forget(self._within(namespace), memory_id, decay_factor=decay_factor, reason=reason)

    async def undo(self, token: str, *, namespace: str | None = None) -> Receipt:
        """Take back what a receipt's `undo` token stands for. `Conflict` if it has been changed since."""
        return await (await self.engine()).undo(self._within(namespace), token)

    async def reviews(
        self,
        *,
        namespace: str | None = None,
        state: ReviewState | str = ReviewState.OPEN,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Contradiction | Proposal]:
        """What waits for a person: contradictions, oldest first, then proposed experiences.

        `after` is the `next` of the page before.
        """
        engine = await self.engine()
        return await engine.reviews(self._within(namespace), state=state, limit=limit, after=after)

    async def resolve_review(
        self, memory_id: str, choice: ReviewChoice | ProposalChoice | str, *, namespace: str | None = None
    ) -> Receipt:
        """Decide a review by the id of its new memory: `new` holds, `old` goes on, or `both` stand.

        A proposed experience is decided by `accept` or `reject`; a rejected one does not come back.

        `NotFound` where nothing waits; `Conflict` where it has been decided already. The receipt's `undo` takes the
        decision back, and the review waits again.
        """
        return await (await self.engine()).resolve_review(self._within(namespace), memory_id, choice)

    async def stats(self, *, namespace: str | None = None) -> Stats:
        """Counts of the namespace."""
        return await (await self.engine()).stats(self._within(namespace))

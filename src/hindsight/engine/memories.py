"""Writing, reading and changing memories."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight.domain.change import Contradiction, Receipt, ReviewChoice, ReviewState, Revision
from hindsight.domain.memory import Memory, Status
from hindsight.domain.page import Order, Page
from hindsight.domain.query import Filters
from hindsight.domain.reflection import Proposal, ProposalChoice
from hindsight.engine.parts import Running, checked, page_size
from hindsight.errors import InvalidInput
from hindsight.experience.reflect.proposals import is_proposal
from hindsight.upkeep.cleanup import Cleaner
from hindsight.write.request import WriteRequest, check_text
from hindsight.write.review import decide


class Memories(Running):
    """Writing, reading and changing memories."""

    async def write(self, namespace: str, request: WriteRequest) -> Receipt:
        """Keep what was said or done."""
        with self._call(namespace, "write") as trace:
            receipt = await self._parts.writer.write(namespace, request, trace)
        receipt = await self._parts.merger.settle(namespace, receipt)
        self._written(namespace)
        return receipt

    async def write_many(self, namespace: str, requests: Sequence[WriteRequest]) -> list[Receipt]:
        """Keep many things at once; one receipt each, in order."""
        with self._call(namespace, "write") as trace:
            receipts = await self._parts.writer.write_many(namespace, requests, trace)
        receipts = [await self._parts.merger.settle(namespace, receipt) for receipt in receipts]
        self._written(namespace)
        return receipts

    async def get(self, namespace: str, memory_id: str) -> Memory:
        """One memory, whatever its status, by its id, whole or short."""
        return await self._memory(namespace, memory_id)

    async def list(
        self, namespace: str, filters: Filters, *, order: Order | str, limit: int, after: str | None
    ) -> Page[Memory]:
        """Memories that match, a page at a time."""
        if order not in tuple(Order):
            raise InvalidInput("order", order, f"one of {', '.join(Order)}")
        return await self._parts.store.find(
            checked(namespace), filters, order=Order(order), limit=page_size(limit), after=after
        )

    async def history(self, namespace: str, memory_id: str) -> Sequence[Revision]:
        """Every state of a memory, oldest first."""
        return await self._parts.store.history(namespace, (await self._memory(namespace, memory_id)).id)

    async def update(
        self,
        namespace: str,
        memory_id: str,
        *,
        new_content: str | None,
        confidence: float | None,
        importance: float | None,
    ) -> Receipt:
        """Change a memory; its former state stays in the history."""
        memory = await self._memory(namespace, memory_id)
        receipt = await self._parts.amender.update(
            namespace, memory.id, new_content=new_content, confidence=confidence, importance=importance
        )
        await self._parts.answers.drop(namespace)
        return receipt

    async def pin(self, namespace: str, memory_id: str, *, pinned: bool) -> Receipt:
        """Keep a memory from fading and always in the context block, or let it go."""
        memory = await self._memory(namespace, memory_id)
        return await self._parts.amender.pin(namespace, memory.id, pinned=pinned)

    async def forget(self, namespace: str, memory_id: str, *, decay_factor: float, reason: str) -> Receipt:
        """Weaken a memory by a factor; 1 hides it at once. A turn of a conversation can only be hidden."""
        whole = await self._resolve(namespace, memory_id)
        receipt = await self._parts.amender.forget(namespace, whole, decay_factor=decay_factor, reason=reason)
        await self._parts.answers.drop(namespace)
        return receipt

    async def undo(self, namespace: str, token: str) -> Receipt:
        """Take back what one call changed. `Conflict` if it has been changed since."""
        undo = self._parts.cleaner.undo if Cleaner.owns(check_text("token", token)) else self._parts.amender.undo
        receipt = await undo(checked(namespace), token)
        await self._parts.answers.drop(namespace)
        return receipt

    async def reviews(
        self, namespace: str, *, state: ReviewState | str, limit: int, after: str | None
    ) -> Page[Contradiction | Proposal]:
        """What only a person can decide: contradictions with the memories they are about, then proposed experiences."""
        if state not in tuple(ReviewState):
            raise InvalidInput("state", state, f"one of {', '.join(ReviewState)}")
        if after is not None:
            check_text("after", after)
        return await self._parts.reflector.proposals.reviews(
            checked(namespace), state=ReviewState(state), limit=page_size(limit), after=after
        )

    async def resolve_review(
        self, namespace: str, memory_id: str, choice: ReviewChoice | ProposalChoice | str
    ) -> Receipt:
        """Close a review: `new` holds in place of what it contradicts, `old` goes on, or `both` stand.

        A proposed experience: `accept` or `reject`.
        """
        if choice not in (*ReviewChoice, *ProposalChoice):
            raise InvalidInput("choice", choice, f"one of {', '.join((*ReviewChoice, *ProposalChoice))}")
        memory = await self._memory(namespace, memory_id)
        parts, proposals = self._parts, self._parts.reflector.proposals
        if choice in tuple(ProposalChoice):
            if not is_proposal(memory):
                raise InvalidInput("choice", choice, "new, old or both: this is no proposed experience")
            return await proposals.decide(namespace, memory, ProposalChoice(choice))
        if memory.status is Status.PROPOSED:
            raise InvalidInput("choice", choice, "accept or reject: this is a proposed experience")
        return await decide(parts.store, parts.clock, parts.ids, namespace, memory.id, ReviewChoice(choice))

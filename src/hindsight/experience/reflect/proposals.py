"""Proposals in the store: memories that wait. Nothing but the review shows them, and they come only once.

A proposal is put in by a batch whose key follows from what the session showed, not from how it was worded: the same
again changes nothing, whether it waits, was accepted or was rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hindsight.domain.change import (
    Act,
    Batch,
    Contradiction,
    Embedding,
    OutcomeAction,
    Put,
    Receipt,
    ReviewState,
    WriteOutcome,
)
from hindsight.domain.entry import searchable_text
from hindsight.domain.episode import JsonValue
from hindsight.domain.experience import rendered
from hindsight.domain.memory import Kind, Layer, Memory, Status
from hindsight.domain.page import Order, Page
from hindsight.domain.query import Filters
from hindsight.domain.reflection import Evidence, Proposal, ProposalChoice
from hindsight.errors import Conflict
from hindsight.experience.merge import Merger
from hindsight.experience.reflect.draft import Draft
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.write.embed import embed_later, vectors_in_time
from hindsight.write.keys import experience_key
from hindsight.write.review import AlreadyDecided, reviews_of

SOURCE = "reflection"  # `source` in the metadata of what came of it; under this name what it rests on stands too
REASON = "decided in review"
PLACE = "proposal:"  # begins the place of a page among the proposals, which come after the contradictions
EMBED_SECONDS = 4.0
MAX_EXCERPT = 300  # characters


@dataclass(frozen=True, slots=True)
class Proposals:
    """What keeping and deciding them needs."""

    store: Store
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    merger: Merger

    async def known(self, namespace: str, draft: Draft) -> bool:
        """Whether this was proposed before, or is kept already."""
        if await self.store.changeset(namespace, key_of(draft)) is not None:
            return True
        key = experience_key(draft.experience)
        return bool(await self.store.by_content_key(namespace, [key]))

    async def put(self, namespace: str, draft: Draft, words: Draft, about: Origin) -> Proposal | None:
        """Keep a proposal in the words of `words`; `None` where another was quicker."""
        memory = self._memory(namespace, words, about)
        outcome = WriteOutcome(
            OutcomeAction.PROPOSED, memory.id, memory.content, memory.kind, memory.importance, reason=words.sort.value
        )
        key = key_of(draft)
        batch = Batch(
            namespace,
            key,
            memory.created_at,
            puts=(Put(memory, None, Act.PROPOSED, words.sort.value, actor=about.agent or ""),),
            receipt=Receipt((outcome,), undo=key),
        )
        applied = await self.store.apply(batch)
        (first,) = applied.receipt.outcomes
        return proposal_of(memory) if first.memory_id == memory.id else None

    def _memory(self, namespace: str, draft: Draft, about: Origin) -> Memory:
        now = self.clock.now()
        body = draft.experience
        rests: dict[str, JsonValue] = {
            "sort": draft.sort.value,
            "worth": draft.worth,
            "confidence": draft.confidence,
            "evidence": [{"ref": ref, "text": draft.shown.get(ref, "")[:MAX_EXCERPT]} for ref in draft.refs],
            "steps": [list(step.refs) for step in draft.steps],
            "worded_by": about.worded_by,
        }
        return Memory(
            id=self.ids.new(),
            namespace=namespace,
            content=rendered(body),
            layer=Layer.PROCEDURAL,
            kind=Kind.EXPERIENCE,
            occurred_at=now,
            timezone="UTC",
            created_at=now,
            updated_at=now,
            content_key=experience_key(body),
            body=body,
            status=Status.PROPOSED,
            confidence=body.outcome.confidence / 100,
            session_id=about.session_id,
            agent=about.agent,
            metadata={"source": SOURCE, SOURCE: rests},
        )

    async def decide(self, namespace: str, memory: Memory, choice: ProposalChoice, *, actor: str = "") -> Receipt:
        """Accept a proposal, which then is an experience like any other, or reject it. `undo` lets it wait again.

        `AlreadyDecided`.
        """
        if memory.status is not Status.PROPOSED:
            raise AlreadyDecided(memory.short_id)
        try:
            if choice is ProposalChoice.REJECT:
                return await self._end(memory, REASON, actor)
            return await self._accept(memory, actor)
        except Conflict as error:
            if error.retryable:
                raise AlreadyDecided(memory.short_id) from error
            raise

    async def _accept(self, memory: Memory, actor: str) -> Receipt:
        namespace = memory.namespace
        held = (await self.store.by_content_key(namespace, [memory.content_key])).get(memory.content_key)
        if held is not None:
            receipt = await self._end(memory, f"kept already as #{held.short_id}", actor)
            (outcome,) = receipt.outcomes
            return replace(receipt, outcomes=(replace(outcome, action=OutcomeAction.IGNORED, other_ids=(held.id,)),))
        now, key = self.clock.now(), f"accept:{memory.id}:{self.ids.new()}"
        kept = replace(
            memory, status=Status.ACTIVE, occurred_at=now, created_at=now, updated_at=now, version=memory.version + 1
        )
        text = searchable_text(kept)
        vectors, missing = await vectors_in_time(self.embedder, [text], seconds=EMBED_SECONDS)
        model = self.embedder.model if self.embedder is not None else ""
        outcome = WriteOutcome(OutcomeAction.ADDED, kept.id, kept.content, kept.kind, kept.importance, reason=REASON)
        batch = Batch(
            namespace,
            key,
            now,
            puts=(Put(kept, memory.version, Act.ACCEPTED, REASON, actor=actor),),
            embeddings=(Embedding(kept.id, model, vectors[text]),) if vectors else (),
            jobs=(embed_later(self.ids, self.clock),) if missing else (),
            receipt=Receipt((outcome,), facts=1, degraded=missing, undo=key),
        )
        return await self.merger.settle(namespace, (await self.store.apply(batch)).receipt)

    async def _end(self, memory: Memory, reason: str, actor: str) -> Receipt:
        now, key = self.clock.now(), f"reject:{memory.id}:{self.ids.new()}"
        gone = replace(memory, status=Status.FORGOTTEN, strength=0.0, updated_at=now, version=memory.version + 1)
        outcome = WriteOutcome(OutcomeAction.REJECTED, gone.id, gone.content, gone.kind, gone.importance, reason=reason)
        put = Put(gone, memory.version, Act.REJECTED, reason, actor=actor)
        batch = Batch(memory.namespace, key, now, puts=(put,), receipt=Receipt((outcome,), undo=key))
        return (await self.store.apply(batch)).receipt

    async def reviews(
        self, namespace: str, *, state: ReviewState, limit: int, after: str | None
    ) -> Page[Contradiction | Proposal]:
        """Contradictions, oldest first, and after them the proposals that wait."""
        items: list[Contradiction | Proposal] = []
        place = after.removeprefix(PLACE) if after is not None and after.startswith(PLACE) else None
        if place is None:
            page = await reviews_of(self.store, namespace, state=state, limit=limit, after=after)
            if page.next is not None or state is not ReviewState.OPEN:
                return Page(tuple(page.items), page.next)
            items += page.items
        room = limit - len(items)
        wanted = Filters(kinds=(Kind.EXPERIENCE,), statuses=(Status.PROPOSED,), episodes=False)
        found = await self.store.find(namespace, wanted, order=Order.OLDEST, limit=max(room, 1), after=place or None)
        if room == 0:
            return Page(tuple(items), PLACE if found.items else None)
        items += [proposal for memory in found.items if (proposal := proposal_of(memory)) is not None]
        return Page(tuple(items), None if found.next is None else f"{PLACE}{found.next}")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where proposals come from.

    What they rest on stands in their metadata, not in `Memory.sources`: to forget an experience says nothing of the
    turns that it was learnt from.
    """

    session_id: str | None
    agent: str | None
    worded_by: str = ""


def key_of(draft: Draft) -> str:
    """The key of the batch that proposes it: the same for the same situation, steps and outcome."""
    return f"reflect:{experience_key(draft.experience)}"


def is_proposal(memory: Memory) -> bool:
    """Whether a memory is, or was, a proposal."""
    return isinstance(memory.metadata.get(SOURCE), dict)


def proposal_of(memory: Memory) -> Proposal | None:
    """What is known of a proposal beside its experience; `None` for other memories."""
    held = memory.metadata.get(SOURCE)
    if not isinstance(held, dict):
        return None
    return Proposal(
        memory,
        str(held.get("sort", "")),
        _number(held.get("worth")),
        _number(held.get("confidence")),
        tuple(_evidence(held.get("evidence"))),
        tuple(tuple(str(ref) for ref in refs) for refs in _listed(held.get("steps")) if isinstance(refs, list)),
        str(held.get("worded_by", "")),
    )


def _evidence(given: JsonValue) -> list[Evidence]:
    return [
        Evidence(str(one.get("ref", "")), str(one.get("text", ""))) for one in _listed(given) if isinstance(one, dict)
    ]


def _listed(given: JsonValue) -> Sequence[JsonValue]:
    return given if isinstance(given, list) else []


def _number(given: JsonValue) -> float:
    return float(given) if isinstance(given, int | float) and not isinstance(given, bool) else 0.0

"""Contradictions that only the user can decide: what stands when they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from hindsight.domain.change import Act, Batch, OutcomeAction, Put, Receipt, Review, WriteOutcome
from hindsight.domain.episode import Origin
from hindsight.domain.memory import Memory, Status
from hindsight.errors import NotFound
from hindsight.ports import Clock, Ids, Store
from hindsight.write.reconcile import ended_by

REASON = "decided in review"


class Choice(StrEnum):
    """What the user says of a contradiction."""

    NEW = "new"  # the memory that the review is about holds, in place of the others
    OLD = "old"  # it does not hold; the others go on
    BOTH = "both"  # they do not contradict


async def decide(
    store: Store, clock: Clock, ids: Ids, namespace: str, memory_id: str, choice: Choice, *, actor: str = ""
) -> Receipt:
    """Close a review as the user decided; what no longer holds ends, and can be had back by `undo`. `NotFound`."""
    review = next((one for one in await store.reviews(namespace) if one.memory_id == memory_id), None)
    if review is None:
        raise NotFound("memory_id", memory_id)
    found = await store.memories(namespace, [memory_id, *review.other_ids])
    memory = found[memory_id]
    others = [found[one] for one in review.other_ids if one in found and found[one].status is Status.ACTIVE]
    now = clock.now()
    puts: list[Put] = []
    if choice is Choice.NEW:
        # Once the user has confirmed it, it is worth what they say themselves.
        puts.append(_put(replace(memory, origin=Origin.USER, updated_at=now), memory, Act.UPDATED, actor))
        puts += [_put(ended_by(one, memory, at=now), one, Act.SUPERSEDED, actor, memory.id) for one in others]
    elif choice is Choice.OLD:
        puts.append(_put(ended_by(memory, others[0], at=now), memory, Act.SUPERSEDED, actor, others[0].id))
    receipt = Receipt(tuple(map(_outcome, puts)) or (_kept(memory, others),), undo=(key := ids.new()))
    closed = replace(review, open=False, at=now)
    batch = Batch(namespace, key, now, puts=tuple(puts), receipt=receipt, reviews=(closed,))
    return (await store.apply(batch)).receipt


async def open_reviews(store: Store, namespace: str) -> Sequence[tuple[Review, Memory, Sequence[Memory]]]:
    """Each open review with the memories that it is about, oldest first."""
    reviews = await store.reviews(namespace)
    ids = list({one for review in reviews for one in (review.memory_id, *review.other_ids)})
    found = await store.memories(namespace, ids)
    return [
        (review, found[review.memory_id], [found[one] for one in review.other_ids if one in found])
        for review in reviews
    ]


def _put(after: Memory, before: Memory, act: Act, actor: str, *other_ids: str) -> Put:
    return Put(replace(after, version=before.version + 1), before.version, act, REASON, other_ids, actor)


def _outcome(put: Put) -> WriteOutcome:
    action = OutcomeAction.UPDATED if put.act is Act.UPDATED else OutcomeAction.SUPERSEDED
    memory = put.memory
    return WriteOutcome(action, memory.id, memory.content, memory.kind, memory.importance, put.other_ids, REASON)


def _kept(memory: Memory, others: list[Memory]) -> WriteOutcome:
    ids = tuple(one.id for one in others)
    return WriteOutcome(
        OutcomeAction.KEPT_APART, memory.id, memory.content, memory.kind, memory.importance, ids, REASON
    )

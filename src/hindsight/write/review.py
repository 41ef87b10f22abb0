"""Contradictions that only the user can decide: which of them wait, and what stands when they have decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hindsight.domain.change import (
    Act,
    Batch,
    Contradiction,
    OutcomeAction,
    Put,
    Receipt,
    Review,
    ReviewChoice,
    ReviewState,
    WriteOutcome,
)
from hindsight.domain.episode import EpisodeState, Origin
from hindsight.domain.memory import Memory, Status
from hindsight.domain.page import Page
from hindsight.errors import Conflict, InvalidInput, NotFound
from hindsight.ports import Clock, Ids, Store
from hindsight.write.closing import closed_episodes
from hindsight.write.reconcile import Superseded, ended_by

REASON = "decided in review"
ATTEMPTS = 5  # at a state that others keep changing
STILL_TRUE = "confirmed in review"
NO_LONGER = "no longer true, by review"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLACE = re.compile(r"(?P<at>-?\d{1,18})-(?P<id>.+)", re.DOTALL)
_TOKEN = re.compile(r"(?P<undone>(?:undo:)*)review:(?P<id>.+):[^:]+", re.DOTALL)
_CLEANED = re.compile(r"(?P<undone>(?:undo:)*)(?P<key>clean:.+)", re.DOTALL)


class AlreadyDecided(Conflict):
    """Somebody else was quicker, or one side has ended: there is nothing left to decide."""

    retryable = False

    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"the review of {memory_id} is closed: it has been decided already, or one of its sides has ended",
            hint="List the open reviews anew. A decision is taken back by the undo token of its receipt.",
        )


async def reviews_of(
    store: Store, namespace: str, *, state: ReviewState, limit: int, after: str | None
) -> Page[Contradiction]:
    """Reviews with the memories they are about, oldest first, a page at a time."""
    found = await store.reviews(namespace, waiting=state is ReviewState.OPEN)
    if after is not None:
        place = _place_of(after)
        found = [one for one in found if (one.at, one.memory_id) > place]
    shown = found[:limit]
    memories = await store.memories(namespace, list({one for review in shown for one in _sides(review)}))
    items = tuple(
        Contradiction(
            memories[review.memory_id],
            tuple(memories[one] for one in review.other_ids if one in memories and one != review.memory_id),
            review.reason,
            review.at,
            state,
        )
        for review in shown
        if review.memory_id in memories
    )
    return Page(items, _place(shown[-1]) if len(found) > limit else None)


async def decide(
    store: Store, clock: Clock, ids: Ids, namespace: str, memory_id: str, choice: ReviewChoice, *, actor: str = ""
) -> Receipt:
    """Close a review as the user decided; what no longer holds ends, and can be had back by `undo`.

    Where a memory was only not confirmed for long, `old` says that it no longer holds, and the others that it does.
    `NotFound`; `AlreadyDecided` for all but the first of several who decide the same.
    """
    for attempt in range(ATTEMPTS):
        review = await _waiting(store, namespace, memory_id)
        found = await store.memories(namespace, list(_sides(review)))
        # Asked again after the memories were read: who decided before closed it, who decides later changes a version.
        await _waiting(store, namespace, memory_id)
        memory = found[memory_id]
        others = [found[one] for one in review.other_ids if one in found and found[one].status is Status.ACTIVE]
        if memory.status is not Status.ACTIVE or not others:
            raise AlreadyDecided(memory.short_id)
        now = clock.now()
        puts = _decided(memory, others, choice, at=now, actor=actor)
        key = f"review:{memory_id}:{ids.new()}"
        batch = Batch(
            namespace,
            key,
            now,
            puts=puts,
            receipt=Receipt(tuple(_outcomes(choice, memory, others, puts)), undo=key),
            episode_states=await _closed(store, namespace, choice, memory, others, puts),
            reviews=(replace(review, open=False),),
        )
        try:
            return (await store.apply(batch)).receipt
        except Conflict:
            # Every decision changes the memory's version, so of two that decide at once one comes here and asks again.
            if attempt + 1 == ATTEMPTS:
                raise
    raise AssertionError("unreachable: the last attempt raises or returns")


async def reopened(store: Store, namespace: str, token: str) -> tuple[Review, ...]:
    """The review as it stands once this call is taken back: open, or closed where the call was itself an undo."""
    if (cleaned := _CLEANED.fullmatch(token)) is not None:
        return await _unasked(store, namespace, cleaned["key"], undone=cleaned["undone"].count("undo:"))
    match = _TOKEN.fullmatch(token)
    if match is None:
        return ()
    is_open = match["undone"].count("undo:") % 2 == 0
    known = (*await store.reviews(namespace), *await store.reviews(namespace, waiting=False))
    return tuple(replace(one, open=is_open) for one in known if one.memory_id == match["id"])


async def _waiting(store: Store, namespace: str, memory_id: str) -> Review:
    for waiting in (True, False):
        for review in await store.reviews(namespace, waiting=waiting):
            if review.memory_id == memory_id:
                if waiting:
                    return review
                raise AlreadyDecided(memory_id)
    error = NotFound("memory_id", memory_id)
    error.hint = "Nothing of this waits for a decision. List the open reviews; the id is that of the new memory."
    raise error


def _decided(
    memory: Memory, others: Sequence[Memory], choice: ReviewChoice, *, at: datetime, actor: str
) -> tuple[Put, ...]:
    """The new states. The memory itself is always among them, which makes a second decision a conflict."""
    if others[0].id == memory.id:
        return (_confirmed(memory, choice, at=at, actor=actor),)
    if choice is ReviewChoice.OLD:
        return (_put(ended_by(memory, others[0], at=at), memory, Act.SUPERSEDED, actor, others[0].id),)
    if choice is ReviewChoice.BOTH:
        return (_put(replace(memory, updated_at=at), memory, Act.UPDATED, actor, *(one.id for one in others)),)
    # Once the user has confirmed it, it is worth what they say themselves.
    held = _put(replace(memory, origin=Origin.USER, updated_at=at), memory, Act.UPDATED, actor)
    return (held, *(_put(ended_by(one, memory, at=at), one, Act.SUPERSEDED, actor, memory.id) for one in others))


def _confirmed(memory: Memory, choice: ReviewChoice, *, at: datetime, actor: str) -> Put:
    """What stands of a memory that had not been confirmed for long."""
    changed = replace(memory, updated_at=at, version=memory.version + 1)
    if choice is not ReviewChoice.OLD:
        return Put(changed, memory.version, Act.UPDATED, STILL_TRUE, actor=actor)
    ended = replace(changed, status=Status.SUPERSEDED, valid_to=at)
    return Put(ended, memory.version, Act.SUPERSEDED, NO_LONGER, actor=actor)


async def _unasked(store: Store, namespace: str, key: str, *, undone: int) -> tuple[Review, ...]:
    """The reviews that a clean-up opened, closed once it is taken back, and open again once that is."""
    if await store.changeset(namespace, key) is None:
        return ()
    receipt = (await store.apply(Batch(namespace, key, _EPOCH))).receipt  # the key is known: this only reads its answer
    asked = {outcome.memory_id for outcome in receipt.outcomes if outcome.review}
    known = (*await store.reviews(namespace), *await store.reviews(namespace, waiting=False)) if asked else ()
    mine = [one for one in known if one.memory_id in asked and one.other_ids == (one.memory_id,)]
    return tuple(replace(one, open=undone % 2 == 1) for one in mine)


async def _closed(
    store: Store, namespace: str, choice: ReviewChoice, memory: Memory, others: Sequence[Memory], puts: Sequence[Put]
) -> tuple[tuple[str, EpisodeState], ...]:
    """Turns that say nothing but what no longer holds."""
    if choice is ReviewChoice.BOTH:
        return ()
    stays = memory if choice is ReviewChoice.NEW else others[0]  # itself, where it was not confirmed
    ended = tuple(put.memory for put in puts if put.act is Act.SUPERSEDED)
    closed = await closed_episodes(store, namespace, [Superseded(stays, ended, REASON)], new=(), covered=())
    return tuple((one, EpisodeState.CLOSED) for one in closed)


def _put(after: Memory, before: Memory, act: Act, actor: str, *other_ids: str) -> Put:
    return Put(replace(after, version=before.version + 1), before.version, act, REASON, other_ids, actor)


def _outcomes(
    choice: ReviewChoice, memory: Memory, others: Sequence[Memory], puts: Sequence[Put]
) -> Sequence[WriteOutcome]:
    if choice is ReviewChoice.BOTH and others[0].id != memory.id:
        return [_outcome(OutcomeAction.KEPT_APART, memory, tuple(one.id for one in others))]
    actions = {Act.UPDATED: OutcomeAction.UPDATED, Act.SUPERSEDED: OutcomeAction.SUPERSEDED}
    return [_outcome(actions[put.act], put.memory, put.other_ids) for put in puts]


def _outcome(action: OutcomeAction, memory: Memory, other_ids: tuple[str, ...]) -> WriteOutcome:
    return WriteOutcome(action, memory.id, memory.content, memory.kind, memory.importance, other_ids, REASON)


def _sides(review: Review) -> tuple[str, ...]:
    return (review.memory_id, *review.other_ids)


def _place(review: Review) -> str:
    """Where a page ends: microseconds since 1970, and the id."""
    return f"{(review.at - _EPOCH) // timedelta(microseconds=1)}-{review.memory_id}"


def _place_of(after: str) -> tuple[datetime, str]:
    match = _PLACE.fullmatch(after)
    try:
        if match is None:
            raise OverflowError
        return _EPOCH + timedelta(microseconds=int(match["at"])), match["id"]
    except OverflowError as error:
        raise InvalidInput("after", after, "the `next` of the page before") from error

"""What forgetting does to summaries: a sentence goes with what it rests on, and a summary with all that it tells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from hindsight.domain.change import Act, OutcomeAction, Put, WriteOutcome
from hindsight.domain.memory import Kind, Memory, Status
from hindsight.domain.summary import originals_of, without
from hindsight.ports import Store

SENTENCE_GONE = "a sentence rested on what was forgotten"
NOTHING_LEFT = "told nothing but what was forgotten"
TOLD_THERE = "was told in the forgotten summary"


async def without_told(
    store: Store,
    namespace: str,
    gone: Sequence[Memory],
    hidden: Collection[str],
    *,
    at: datetime,
    actor: str,
) -> tuple[Put, ...]:
    """The summaries that tell any of these memories, without the sentences that do. `hidden`: turns that go too."""
    episode_ids = list(dict.fromkeys(source.episode_id for one in gone for source in one.sources))
    if not episode_ids:
        return ()
    rests = await store.memories_of(namespace, episode_ids)
    names = {one for ids in rests.values() for one in ids} - {one.id for one in gone}
    held = await store.memories(namespace, sorted(names)) if names else {}
    ids = {one.id for one in gone}
    telling = [one for one in held.values() if one.status is not Status.FORGOTTEN and ids & {*originals_of(one)}]
    return tuple(_retold(one, ids, hidden, at, actor) for one in telling)


def _retold(summary: Memory, gone: Collection[str], hidden: Collection[str], at: datetime, actor: str) -> Put:
    left = without(summary, gone, hidden)
    changed = replace(left or summary, updated_at=at, version=summary.version + 1)
    if left is None:
        forgotten = replace(changed, status=Status.FORGOTTEN, strength=0.0)
        return Put(forgotten, summary.version, Act.FORGOTTEN, NOTHING_LEFT, tuple(gone), actor)
    return Put(changed, summary.version, Act.UPDATED, SENTENCE_GONE, tuple(gone), actor)


async def told_by(store: Store, summary: Memory) -> list[Memory]:
    """The originals of a summary that were put away for it; none for any other memory."""
    ids = originals_of(summary) if summary.kind is Kind.SUMMARY else ()
    held = await store.memories(summary.namespace, list(ids)) if ids else {}
    return [one for one in held.values() if one.status is Status.ARCHIVED]


def forgotten_with(originals: Sequence[Memory], summary: Memory, at: datetime, actor: str) -> tuple[Put, ...]:
    """Originals that are forgotten with the summary that tells them."""
    return tuple(
        Put(
            replace(one, status=Status.FORGOTTEN, strength=0.0, updated_at=at, version=one.version + 1),
            one.version,
            Act.FORGOTTEN,
            TOLD_THERE,
            (summary.id,),
            actor,
        )
        for one in originals
    )


def outcome_of_put(put: Put) -> WriteOutcome:
    """What a receipt says of one of these."""
    action = OutcomeAction.FORGOTTEN if put.act is Act.FORGOTTEN else OutcomeAction.UPDATED
    one = put.memory
    return WriteOutcome(action, one.id, one.content, one.kind, one.importance, put.other_ids, put.reason)

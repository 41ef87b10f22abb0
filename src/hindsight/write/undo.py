"""Taking back what one call changed: every memory gets its former state again, as a new step of its history."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count

from hindsight.domain.change import Act, Batch, Changeset, Embedding, OutcomeAction, Put, Receipt, WriteOutcome
from hindsight.domain.entry import searchable_text
from hindsight.domain.episode import EpisodeState
from hindsight.domain.memory import Memory, Status
from hindsight.errors import Conflict, NotFound
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.write.embed import embed_later, vectors_in_time
from hindsight.write.forget_turn import turn_outcome
from hindsight.write.reread import reread_key
from hindsight.write.review import reopened
from hindsight.write.task import distil_key

EMBED_SECONDS = 4.0
SINCE = "changed since, and left as it is"


async def take_back(
    store: Store,
    embedder: Embedder | None,
    clock: Clock,
    ids: Ids,
    namespace: str,
    token: str,
    *,
    actor: str = "",
    lenient: bool = False,
) -> Receipt:
    """Undo the call with this token; undoing it twice gives the first answer, undoing the undo does it again.

    What the call added is forgotten, not deleted. `NotFound`; `Conflict` if something of it has been changed since, or,
    `lenient`, that stays as it is and the receipt says so.
    """
    key = f"undo:{token}"
    if await store.changeset(namespace, key) is not None:
        return (await store.apply(Batch(namespace, key, clock.now()))).receipt

    changesets = await _changesets(store, namespace, token)
    if not changesets:
        raise NotFound("undo", token)
    changesets = _without_purged(changesets, lenient=lenient)
    pairs = await _former(store, namespace, changesets, lenient=lenient)
    now = clock.now()
    puts = tuple(
        Put(replace(former, version=current.version + 1, updated_at=now), current.version, Act.UNDONE, actor=actor)
        for current, former in pairs
    )
    changed = [put.memory for put, (current, _) in zip(puts, pairs, strict=True) if _reads_anew(put.memory, current)]
    vectors, missing = await vectors_in_time(embedder, [searchable_text(one) for one in changed], seconds=EMBED_SECONDS)
    model = embedder.model if embedder is not None else ""
    receipt = Receipt(
        outcomes=tuple(
            WriteOutcome(OutcomeAction.UNDONE, one.id, one.content, one.kind, one.importance)
            for one in (put.memory for put in puts)
        )
        + await _left_alone(store, namespace, changesets, {current.id for current, _ in pairs})
        or await _turns(store, namespace, changesets),
        degraded=missing,
        undo=key,
    )
    batch = Batch(
        namespace=namespace,
        key=key,
        at=now,
        puts=puts,
        embeddings=tuple(Embedding(one.id, model, vectors[searchable_text(one)]) for one in changed if vectors),
        jobs=(embed_later(ids, clock),) if missing else (),
        receipt=receipt,
        episode_states=await _former_states(store, namespace, changesets, [put.memory for put in puts]),
        reviews=await reopened(store, namespace, token),
    )
    return (await store.apply(batch)).receipt


def _without_purged(changesets: Sequence[Changeset], *, lenient: bool) -> list[Changeset]:
    """What can still be taken back. `Conflict` where some of it is gone for good."""
    gone = sorted({one for changeset in changesets for one in changeset.purged})
    if gone and not lenient:
        raise Conflict(
            f"{len(gone)} of what this call touched has been purged, so it can't be taken back",
            hint="A purge is for good; write again what you still need.",
        )
    return [
        replace(one, episodes=tuple(pair for pair in one.episodes if pair[0] not in one.purged)) for one in changesets
    ]


def merge_key(token: str, number: int) -> str:
    """The key of the batch by which what a call wrote was merged with others of its kind, counted from 1."""
    return f"merge:{token}:{number}"


def more_key(token: str, number: int) -> str:
    """The key of a further batch of a call that took several, counted from 1."""
    return f"more:{token}:{number}"


async def _changesets(store: Store, namespace: str, token: str) -> list[Changeset]:
    """What the call did: at once, by its job, each time that it was read again, and what was merged of it."""
    changesets = [
        found for one in (token, distil_key(token)) if (found := await store.changeset(namespace, one)) is not None
    ]
    for key_of in (_reread_key, merge_key, more_key):
        for number in count(1):
            again = await store.changeset(namespace, key_of(token, number))
            if again is None:
                break
            changesets.append(again)
    return changesets


def _reread_key(token: str, number: int) -> str:
    return distil_key(reread_key(token, number))


async def _left_alone(
    store: Store, namespace: str, changesets: Sequence[Changeset], taken: Collection[str]
) -> tuple[WriteOutcome, ...]:
    """What is said of memories that have been changed since and stay as they are."""
    touched = {revision.memory.id for changeset in changesets for revision in changeset.revisions} - set(taken)
    held = await store.memories(namespace, sorted(touched)) if touched else {}
    return tuple(
        WriteOutcome(OutcomeAction.IGNORED, one.id, one.content, one.kind, one.importance, reason=SINCE)
        for one in held.values()
    )


async def _former(
    store: Store, namespace: str, changesets: Sequence[Changeset], *, lenient: bool
) -> list[tuple[Memory, Memory]]:
    """For each memory the call touched: as it is now, and as it was before the call."""
    left: dict[str, Memory] = {}
    since: dict[str, int] = {}
    for changeset in changesets:
        for revision in changeset.revisions:
            left[revision.memory.id] = revision.memory
            since.setdefault(revision.memory.id, changeset.change)
    now = await store.memories(namespace, list(left))
    pairs = []
    for memory_id, memory in left.items():
        current = now.get(memory_id)
        if lenient and (current is None or current.version != memory.version):
            continue
        if current is None or current.version != memory.version:
            raise Conflict(
                f"memory {memory.short_id} has been changed since, so this can't be taken back as a whole",
                hint="Undo the later change first, or update the memory.",
            )
        history = await store.history(namespace, memory_id)
        before = [revision.memory for revision in history if revision.change < since[memory_id]]
        former = before[-1] if before else replace(current, status=Status.FORGOTTEN, strength=0.0)
        pairs.append((current, former))
    if lenient:
        said = await _said_by_others(store, namespace, [former for _, former in pairs])
        return [pair for pair in pairs if pair[1].content_key not in said or pair[1].status is not Status.ACTIVE]
    await _check_twins(store, namespace, [former for _, former in pairs])
    return pairs


async def _check_twins(store: Store, namespace: str, former: Sequence[Memory]) -> None:
    """`Conflict` where another memory has come to say what one of these would say again."""
    for key, twin in (await _said_by_others(store, namespace, former)).items():
        (mine,) = [memory.id for memory in former if memory.content_key == key and memory.status is Status.ACTIVE]
        raise Conflict(
            f"memory {twin.short_id} says the same as {mine} by now, so this can't be taken back",
            hint="Keep that one, or forget it first.",
        )


async def _said_by_others(store: Store, namespace: str, former: Sequence[Memory]) -> dict[str, Memory]:
    """By content key, other memories that have come to say what one of these would say again."""
    keys = list(dict.fromkeys(memory.content_key for memory in former if memory.status is Status.ACTIVE))
    own = {memory.id for memory in former}
    return {key: twin for key, twin in (await store.by_content_key(namespace, keys)).items() if twin.id not in own}


def _reads_anew(former: Memory, current: Memory) -> bool:
    return former.status is Status.ACTIVE and searchable_text(former) != searchable_text(current)


async def _turns(store: Store, namespace: str, changesets: Sequence[Changeset]) -> tuple[WriteOutcome, ...]:
    """What is said of a call that touched turns alone."""
    ids = list(dict.fromkeys(one for changeset in changesets for one, _ in changeset.episodes))
    episodes = (await store.episodes(namespace, ids)).values()
    return tuple(turn_outcome(OutcomeAction.UNDONE, one, reason="") for one in episodes)


async def _former_states(
    store: Store, namespace: str, changesets: Sequence[Changeset], former: Sequence[Memory]
) -> tuple[tuple[str, EpisodeState], ...]:
    """Episodes as they were; those that the call brought are hidden, since an episode is never deleted.

    Several memories of a turn may have been forgotten, and are taken back in any order: the turn answers again with the
    last of them, not before.
    """
    states: dict[str, EpisodeState] = {}
    for changeset in changesets:
        for episode_id, state in changeset.episodes:
            states.setdefault(episode_id, state or EpisodeState.FORGOTTEN)
    again = {one.id for one in former if one.status is Status.ACTIVE}
    rests = await store.memories_of(namespace, list({source.episode_id for one in former for source in one.sources}))
    resting = await store.memories(namespace, list({one for ids in rests.values() for one in ids}))
    gone = {one.id for one in resting.values() if one.status is Status.FORGOTTEN} - again
    for episode_id, ids in rests.items():
        if not gone.isdisjoint(ids):
            if episode_id in states:
                states[episode_id] = EpisodeState.FORGOTTEN
        elif states.get(episode_id) is EpisodeState.FORGOTTEN and not again.isdisjoint(ids):
            states[episode_id] = EpisodeState.OPEN
    return tuple(states.items())

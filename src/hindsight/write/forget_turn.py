"""Forgetting a turn of a conversation: its words, and what rests on it alone; and what is said of a turn hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from hindsight.domain.change import Act, Batch, OutcomeAction, Put, Receipt, WriteOutcome
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.memory import Kind, Memory, Status
from hindsight.domain.summary import originals_of
from hindsight.errors import InvalidInput, NotFound
from hindsight.ports import Store
from hindsight.write.retell import outcome_of_put, without_told

ALONE = "rests on the forgotten turn alone"
SHARED = "rests on other turns, and on the forgotten one no more"
SHOWN = 200  # characters of a turn in a receipt
TURN_IMPORTANCE = 0.5  # as a hit of a turn has


async def forgotten_turn(
    store: Store,
    namespace: str,
    episode_id: str,
    *,
    decay_factor: float,
    reason: str,
    at: datetime,
    key: str,
    actor: str,
) -> Batch | Receipt:
    """The batch that forgets a turn, or the answer where there is nothing to do. `NotFound`, `InvalidInput`."""
    episode = (await store.episodes(namespace, [episode_id])).get(episode_id)
    if episode is None:
        raise NotFound("memory_id", episode_id)
    if decay_factor < 1:
        allowed = "1, as this is a turn of a conversation, which does not fade: it can only be forgotten"
        raise InvalidInput("decay_factor", decay_factor, allowed)
    resting = (await store.memories_of(namespace, [episode_id]))[episode_id]
    memories = [
        one for one in (await store.memories(namespace, list(resting))).values() if one.status is not Status.FORGOTTEN
    ]
    puts = tuple(_put(one, episode_id, reason, at, actor) for one in memories if not originals_of(one))
    gone = [put.memory for put in puts if put.act is Act.FORGOTTEN]
    puts += await without_told(store, namespace, gone, [episode_id], at=at, actor=actor)
    told = {put.memory.id for put in puts}
    puts += tuple(
        _put(one, episode_id, reason, at, actor) for one in memories if originals_of(one) and one.id not in told
    )
    entry = (await store.entries(namespace, [episode_id])).get(episode_id)
    if not puts and entry is not None and entry.status is Status.FORGOTTEN:
        return Receipt((turn_outcome(OutcomeAction.IGNORED, episode, reason="already forgotten"),))
    outcomes = (turn_outcome(OutcomeAction.FORGOTTEN, episode, reason=reason), *map(_outcome, puts))
    return Batch(
        namespace,
        key,
        at,
        puts=puts,
        receipt=Receipt(outcomes, (episode_id,), undo=key),
        episode_states=((episode_id, EpisodeState.FORGOTTEN),),
    )


async def hidden_turns(
    store: Store, memory: Memory, states: Sequence[tuple[str, EpisodeState]]
) -> tuple[WriteOutcome, ...]:
    """What a receipt says of the turns that go out of sight with a memory: they said it in their own words."""
    ids = [one for one, _ in states]
    if not ids:
        return ()
    shown = await store.entries(memory.namespace, ids)
    seen = [one for one in ids if one in shown and shown[one].status is Status.ACTIVE]
    episodes = await store.episodes(memory.namespace, seen)
    rests = await store.memories_of(memory.namespace, seen)
    others = await store.memories(memory.namespace, list({one for some in rests.values() for one in some}))
    outcomes = []
    for one in seen:
        stay = tuple(i for i in rests[one] if i != memory.id and others[i].status is Status.ACTIVE)
        kept = f"; {len(stay)} other of its memories stay" if stay else ""
        said = f"the turn that says it is hidden as a whole{kept}"
        outcomes.append(replace(turn_outcome(OutcomeAction.FORGOTTEN, episodes[one], reason=said), other_ids=stay))
    return tuple(outcomes)


def turn_outcome(action: OutcomeAction, episode: Episode, *, reason: str) -> WriteOutcome:
    """What became of a turn; its id stands where a memory's would, as in a hit."""
    words = episode.content if len(episode.content) <= SHOWN else episode.content[: SHOWN - 1] + "…"
    return WriteOutcome(action, episode.id, words, Kind.EVENT, TURN_IMPORTANCE, reason=reason)


def _put(memory: Memory, episode_id: str, reason: str, at: datetime, actor: str) -> Put:
    left = tuple(source for source in memory.sources if source.episode_id != episode_id)
    changed = replace(memory, updated_at=at, version=memory.version + 1)
    if left:
        return Put(replace(changed, sources=left), memory.version, Act.UPDATED, SHARED, (episode_id,), actor)
    gone = replace(changed, status=Status.FORGOTTEN, strength=0.0)
    return Put(gone, memory.version, Act.FORGOTTEN, reason or ALONE, (episode_id,), actor)


def _outcome(put: Put) -> WriteOutcome:
    action, reason = (OutcomeAction.FORGOTTEN, ALONE) if put.act is Act.FORGOTTEN else (OutcomeAction.UPDATED, SHARED)
    memory = put.memory
    if originals_of(memory):
        return outcome_of_put(put)
    return WriteOutcome(action, memory.id, memory.content, memory.kind, memory.importance, put.other_ids, reason)

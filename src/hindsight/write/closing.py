"""Which episodes no longer answer by their own words, as all that came of them has ended (SPEC §2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hindsight.domain.memory import Memory, Status
from hindsight.ports import Store
from hindsight.write.reconcile import Decision, Ignored, Late, Superseded


async def closed_episodes(
    store: Store, namespace: str, decisions: Sequence[Decision], *, new: Collection[str], covered: Collection[str]
) -> tuple[str, ...]:
    """Episodes on which only ended memories rest once these decisions are carried out.

    `new`: episodes of the same batch; `covered`: those of them that a memory says word for word.
    """
    ended = {one.id: one for decision in decisions if isinstance(decision, Superseded) for one in decision.ended}
    ended |= {decision.memory.id: decision.memory for decision in decisions if isinstance(decision, Late)}
    left = list(dict.fromkeys(source.episode_id for one in ended.values() for source in one.sources))
    if not left:
        return ()
    held = {source.episode_id for one in _standing(decisions, ended) for source in one.sources}
    stored = [one for one in left if one not in new and one not in held]
    shown = await store.entries(namespace, stored)
    open_ones = [one for one in stored if one in shown and shown[one].status is Status.ACTIVE]
    rests = await store.memories_of(namespace, open_ones)
    others = {one for ids in rests.values() for one in ids} - ended.keys()
    memories = await store.memories(namespace, list(others)) if others else {}
    active = {one for one, memory in memories.items() if memory.status is Status.ACTIVE}
    fresh = [one for one in left if one in new and one not in held and one not in covered]
    return (*fresh, *(one for one in open_ones if active.isdisjoint(rests.get(one, ()))))


def _standing(decisions: Sequence[Decision], ended: Collection[str]) -> list[Memory]:
    return [one.memory for one in decisions if not isinstance(one, Ignored | Late) and one.memory.id not in ended]

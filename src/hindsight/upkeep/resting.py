"""Which turns have nothing left to answer for once memories that rest on them are put away."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight.domain.memory import Kind, Memory, Status
from hindsight.ports import Store


async def left_open(store: Store, namespace: str, gone: Sequence[Memory]) -> tuple[str, ...]:
    """Open turns on which, without these memories, nothing active rests: they are to be closed with them."""
    episode_ids = list(dict.fromkeys(source.episode_id for one in gone for source in one.sources))
    if not episode_ids:
        return ()
    shown = await store.entries(namespace, episode_ids)
    candidates = [one for one in episode_ids if one in shown and shown[one].status is Status.ACTIVE]
    rests = await store.memories_of(namespace, candidates) if candidates else {}
    put_away = {one.id for one in gone}
    others = {one for ids in rests.values() for one in ids} - put_away
    memories = await store.memories(namespace, list(others)) if others else {}
    # A summary keeps no turn in sight: it tells what was put away.
    kept = (one for one in memories.values() if one.kind is not Kind.SUMMARY)
    active = {one.id for one in kept if one.status is Status.ACTIVE}
    return tuple(one for one in candidates if active.isdisjoint(rests.get(one, ())))

"""Looks for what is left of something that was purged, in everything a store can tell."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hindsight.domain.episode import JsonValue
from hindsight.domain.forgotten import Proof
from hindsight.domain.memory import Status
from hindsight.domain.purge import Tombstone
from hindsight.ports import Store

LOOKED = ("rows", "history", "vectors", "entries", "turn", "edges", "reviews", "uses", "traces", "jobs")
ALL = 1_000_000


async def prove(store: Store, namespace: str, identifier: str, stone: Tombstone | None) -> Proof:
    """What a store still holds of this memory or turn: where, and how often. Ids in the change log are not counted."""
    memories = await store.memories(namespace, [identifier])
    episodes = await store.episodes(namespace, [identifier])
    entries = await store.entries(namespace, [identifier])
    model = await store.embedding_model()
    vectors = await store.vectors(namespace, [identifier], model=model) if model else {}
    reviews = [*await store.reviews(namespace), *await store.reviews(namespace, waiting=False)]
    resting = (await store.memories_of(namespace, [identifier]))[identifier]
    traces = await store.traces(namespace, limit=ALL)
    jobs = [job.payload for job in await store.jobs(namespace)]
    counts = {
        "rows": len(memories),
        "history": len(await store.history(namespace, identifier)),
        "vectors": len(vectors),
        "entries": sum(entry.status is not Status.FORGOTTEN or bool(entry.content) for entry in entries.values()),
        "turn": sum(bool(episode.content or episode.metadata) for episode in episodes.values()),
        "edges": len(resting),
        "reviews": sum(identifier in (one.memory_id, *one.other_ids) for one in reviews),
        "uses": len(await store.uses(namespace, [identifier])),
        "traces": sum(_names(trace, identifier) for trace in traces),
        "jobs": sum(_names(payload, identifier) for payload in jobs),
    }
    return Proof(identifier, stone, {place: count for place, count in counts.items() if count}, LOOKED)


def _names(body: Mapping[str, JsonValue], identifier: str) -> bool:
    return identifier in json.dumps(body)

"""Purging in the plain-Python store."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hindsight.domain.change import Batch, Review
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.experience import Experience
from hindsight.domain.memory import Kind, Memory, Status
from hindsight.domain.purge import Tombstone
from hindsight.errors import Conflict
from hindsight.storage.oracle.space import Space
from hindsight.storage.purging import (
    Plan,
    archived_for,
    blank_metadata,
    in_json,
    mark,
    shortened_state,
    without_words,
)
from hindsight.storage.snapshot import body_json, dumps


@dataclass(frozen=True, slots=True)
class HeldIn:
    """What one namespace has to tell a purge."""

    space: Space

    def memories(self, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Memories by id."""
        return {one: self.space.memories[one] for one in ids if one in self.space.memories}

    def episodes(self, ids: Sequence[str]) -> Mapping[str, Episode]:
        """Episodes by id."""
        return {one: self.space.episodes[one] for one in ids if one in self.space.episodes}

    def resting(self, episode_ids: Sequence[str]) -> Sequence[Memory]:
        """Memories that rest on any of these turns, by id."""
        found = [m for m in self.space.memories.values() if any(s.episode_id in episode_ids for s in m.sources)]
        return sorted(found, key=lambda memory: memory.id)

    def states(self, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Every state these memories ever had."""
        return [revision.memory for one, revision in self.space.revisions if one in memory_ids]

    def telling(self, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Summaries and experiences that name any of these, by id."""
        found = [
            memory
            for memory in self.space.memories.values()
            if memory.kind is Kind.SUMMARY or isinstance(memory.body, Experience)
            if any(one in dumps(dict(memory.metadata)) + body_json(memory.body) for one in memory_ids)
        ]
        return sorted(found, key=lambda memory: memory.id)


def refuse_purged(space: Space, batch: Batch) -> None:
    """`Conflict` for what has been purged and comes again under its own id."""
    new = {episode.id for episode in batch.episodes} | {put.memory.id for put in batch.puts}
    keys: set[str] = set()
    if batch.kept is not None:
        new |= {one.episode.id for one in batch.kept.episodes} | {one.memory.id for one in batch.kept.memories}
        keys = {one.episode.key for one in batch.kept.episodes}
        keys |= {one.memory.content_key for one in batch.kept.memories}
    new -= space.episodes.keys() | space.memories.keys()
    if new & space.purged.keys() or space.marked(keys):
        raise Conflict("the batch brings what has been purged")
    fresh = (put.memory for put in batch.puts if put.expected_version is None)
    if any(source.episode_id in space.purged for memory in fresh for source in memory.sources):
        raise Conflict("a memory rests on a turn that has been purged")


def take_out(space: Space, plan: Plan) -> dict[str, int]:
    """Everything of a plan but its changed memories, which are put before; how much went."""
    space.secret = space.secret or secrets.token_hex(32)
    gone = plan.memories
    counts = dict.fromkeys(("rows", "history", "vectors", "links", "spans", "turns", "reviews", "receipts"), 0)
    counts["rows"] = len(gone)
    for one in gone:
        memory = space.memories.pop(one)
        topics = getattr(memory.body, "topics", ())
        links = (set(memory.tags), set(memory.entities), set(topics), {s.episode_id for s in memory.sources})
        counts["links"] += sum(map(len, links))
    counts["history"] = sum(one in gone for one, _ in space.revisions)
    space.revisions = [(one, r) for one, r in space.revisions if one not in gone]
    space.revisions = [
        (one, r if new is r.memory else replace(r, memory=new))
        for one, r in space.revisions
        if (new := shortened_state(r.memory, plan) if one in plan.changed else r.memory) is not None
    ]
    dead = {key for key in space.vectors if key[0] in gone or key[0] in plan.contents}
    counts["vectors"] = len(dead)
    space.vectors = {key: vector for key, vector in space.vectors.items() if key not in dead}
    _blank(space, plan, counts)
    _reviews(space, gone, counts)
    for key, applied in space.applied.items():
        cleaned = without_words(applied.receipt, plan)
        if cleaned != applied.receipt:
            counts["receipts"] += 1
            space.applied[key] = replace(applied, receipt=cleaned)
    texts = [in_json(one) for one in plan.needles]
    said = {key for key, one in space.variables.items() if any(text in dumps(one.value) for text in texts)}
    space.variables = {key: one for key, one in space.variables.items() if key not in said}
    counts |= {"variables": len(said), "summaries": len(plan.changed)}
    space.marks |= {mark(space.secret, state.content_key) for state in plan.states}
    return counts


def _blank(space: Space, plan: Plan, counts: dict[str, int]) -> None:
    assert space.secret is not None
    for one, content in plan.contents.items():
        episode = space.episodes[one]
        counts["spans" if content else "turns"] += 1
        metadata = blank_metadata(episode, plan)
        space.episodes[one] = replace(
            episode,
            content=content,
            metadata=metadata,  # type: ignore[arg-type]  # part of what was there
            key=mark(space.secret, episode.key),
        )


def _reviews(space: Space, gone: frozenset[str], counts: dict[str, int]) -> None:
    left: dict[str, Review] = {}
    for one, review in space.reviews.items():
        others = tuple(other for other in review.other_ids if other not in gone)
        touched = one in gone or len(others) < len(review.other_ids)
        counts["reviews"] += touched
        if one not in gone and (others or not touched):
            left[one] = replace(review, other_ids=others, reason="" if touched else review.reason)
    space.reviews = left


def lay_stones(space: Space, plan: Plan, removed: Mapping[str, int]) -> None:
    """Tombstones for all that went."""
    for one in plan.ids:
        space.purged.setdefault(one, Tombstone(one, plan.purge.at, dict(removed)))


def hidden_in(space: Space, now: datetime, grace: timedelta) -> list[str]:
    """What has been out of sight for longer than the time of grace."""
    before = now - grace
    found = [one.id for one in space.memories.values() if _is_over(one, before, now)]
    alive = {
        source.episode_id
        for memory in space.memories.values()
        if memory.status is not Status.FORGOTTEN or memory.updated_at > before
        for source in memory.sources
    }
    for one, (state, since) in space.states.items():
        if state is EpisodeState.FORGOTTEN and since <= before and space.episodes[one].content and one not in alive:
            found.append(one)
    return found


def _is_over(memory: Memory, before: datetime, now: datetime) -> bool:
    if memory.status is Status.FORGOTTEN:
        return memory.updated_at <= before
    return memory.status is Status.ARCHIVED and archived_for(memory.metadata.get("purge_after"), now)

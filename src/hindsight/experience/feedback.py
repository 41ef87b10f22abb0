"""Feedback: whether following an experience worked moves the trust in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hindsight.domain.change import Act, Batch, Put
from hindsight.domain.confidence import Risk, after_feedback, risk_of
from hindsight.domain.experience import Credit, Experience, OutcomeStatus, Way, rendered
from hindsight.domain.memory import Memory, Status
from hindsight.errors import Conflict, InvalidInput
from hindsight.experience.ways import action_of, best_first
from hindsight.ports import Clock, Ids, Store
from hindsight.write.keys import experience_key

TRIES = 5  # readings anew when another process gives feedback at the same moment
MAX_NOTE = 2_000  # characters
MAX_CREDITS = 50  # agents named in one experience; what more of them report counts without a name
MAX_LINKS = 20  # merges followed from an original to what it has become


@dataclass(frozen=True, slots=True)
class Feedback:
    """What giving feedback needs."""

    store: Store
    clock: Clock
    ids: Ids

    async def give(
        self,
        namespace: str,
        memory_id: str,
        outcome: OutcomeStatus,
        *,
        note: str = "",
        actor: str = "",
        key: str | None = None,
    ) -> Memory:
        """The experience after feedback; the note and who gave it stand in its history. The same `key` counts once.

        The id of one that was merged counts for the whole and for its own way. `InvalidInput` for other memories.
        """
        if len(note) > MAX_NOTE:
            raise InvalidInput("note", note, f"at most {MAX_NOTE} characters")
        if key is not None and await self.store.changeset(namespace, key) is not None:
            return await self._whole(namespace, memory_id)
        key = key or self.ids.new()
        for left in reversed(range(TRIES)):
            memory = await self._whole(namespace, memory_id)
            at = self.clock.now()
            changed = _after(memory, memory_id, worked=outcome is OutcomeStatus.SUCCESS, agent=actor, at=at)
            changed = await self._beside_twin(changed, memory)
            reason = f"{outcome}: {note}" if note else outcome.value
            put = Put(changed, memory.version, Act.FEEDBACK, reason, _twins(changed), actor)
            try:
                await self.store.apply(Batch(namespace, key, at, puts=(put,)))
            except Conflict:
                if not left:
                    raise
            else:
                return changed
        raise AssertionError("unreachable: the last try returns or raises")

    async def _whole(self, namespace: str, memory_id: str) -> Memory:
        """The active experience that a memory is, or has been merged into."""
        found = memory_id
        for _ in range(MAX_LINKS):
            memory = (await self.store.memories(namespace, [found]))[found]
            if isinstance(memory.body, Experience) and memory.status is Status.ACTIVE:
                return memory
            if not isinstance(memory.body, Experience) or memory.superseded_by is None:
                break
            found = memory.superseded_by
        raise InvalidInput(
            "memory_id", memory.short_id, f"an active experience; this is {memory.status} and of kind {memory.kind}"
        )

    async def _beside_twin(self, changed: Memory, before: Memory) -> Memory:
        """What has become a warning goes where the same warning is known already: two would say the same."""
        if changed.content_key == before.content_key:
            return changed
        twin = (await self.store.by_content_key(changed.namespace, [changed.content_key])).get(changed.content_key)
        if twin is None:
            return changed
        return replace(changed, status=Status.SUPERSEDED, superseded_by=twin.id, valid_to=changed.updated_at)


def _twins(changed: Memory) -> tuple[str, ...]:
    return () if changed.superseded_by is None else (changed.superseded_by,)


def _after(memory: Memory, followed: str, *, worked: bool, agent: str, at: datetime) -> Memory:
    body, risk = memory.body, risk_of(memory.tags)
    assert isinstance(body, Experience)
    ways = _ways_after(body.ways, followed, worked=worked, risk=risk, at=at)
    body = replace(
        body,
        outcome=after_feedback(body.outcome, worked=worked, risk=risk, at=at),
        ways=ways,
        action=action_of(ways) if ways else body.action,
        credits=_credited(body.credits, agent, worked=worked),
    )
    return replace(
        memory,
        body=body,
        content=rendered(body),
        content_key=experience_key(body),
        confidence=body.outcome.confidence / 100,
        updated_at=at,
        version=memory.version + 1,
    )


def _ways_after(ways: Sequence[Way], followed: str, *, worked: bool, risk: Risk, at: datetime) -> tuple[Way, ...]:
    """The ways with the one that was followed moved, else the first; the best record first, ties as they were."""
    if not ways:
        return ()
    place = next((place for place, way in enumerate(ways) if way.id == followed), 0)
    moved = [
        replace(way, outcome=after_feedback(way.outcome, worked=worked, risk=risk, at=at)) if number == place else way
        for number, way in enumerate(ways)
    ]
    return best_first(moved)


def _credited(credits: tuple[Credit, ...], agent: str, *, worked: bool) -> tuple[Credit, ...]:
    if not agent:
        return credits
    known = next((one for one in credits if one.agent == agent), None)
    if known is None and len(credits) >= MAX_CREDITS:
        return credits
    before = known or Credit(agent)
    now = replace(before, successes=before.successes + worked, failures=before.failures + (not worked))
    return tuple(now if one is known else one for one in credits) if known else (*credits, now)

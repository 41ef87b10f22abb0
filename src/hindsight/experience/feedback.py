"""Feedback: whether following an experience worked moves the trust in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hindsight.domain.change import Act, Batch, Put
from hindsight.domain.confidence import after_feedback
from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.domain.memory import Memory, Status
from hindsight.errors import Conflict, InvalidInput
from hindsight.ports import Clock, Ids, Store

TRIES = 5  # readings anew when another process gives feedback at the same moment
MAX_NOTE = 2_000  # characters


@dataclass(frozen=True, slots=True)
class Feedback:
    """What giving feedback needs."""

    store: Store
    clock: Clock
    ids: Ids

    async def give(
        self, namespace: str, memory_id: str, outcome: OutcomeStatus, *, note: str = "", actor: str = ""
    ) -> Memory:
        """The experience after feedback; the note stands in its history. `InvalidInput` for other kinds of memory."""
        if len(note) > MAX_NOTE:
            raise InvalidInput("note", note, f"at most {MAX_NOTE} characters")
        key = self.ids.new()
        for left in reversed(range(TRIES)):
            memory = (await self.store.memories(namespace, [memory_id]))[memory_id]
            changed = self._after(memory, worked=outcome is OutcomeStatus.SUCCESS)
            put = Put(
                changed, memory.version, Act.FEEDBACK, reason=f"{outcome}: {note}" if note else outcome, actor=actor
            )
            try:
                await self.store.apply(Batch(namespace, key, changed.updated_at, puts=(put,)))
            except Conflict:
                if not left:
                    raise
            else:
                return changed
        raise AssertionError("unreachable: the last try returns or raises")

    def _after(self, memory: Memory, *, worked: bool) -> Memory:
        if not isinstance(memory.body, Experience) or memory.status is not Status.ACTIVE:
            raise InvalidInput(
                "memory_id", memory.short_id, f"an active experience; this is {memory.status} and of kind {memory.kind}"
            )
        outcome = after_feedback(memory.body.outcome, worked=worked)
        return replace(
            memory,
            body=replace(memory.body, outcome=outcome),
            confidence=outcome.confidence / 100,
            updated_at=self.clock.now(),
            version=memory.version + 1,
        )

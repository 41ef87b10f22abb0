"""From decisions to the one batch that carries them out, and the receipt that says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from hindsight.domain.change import Act, Embedding, OutcomeAction, Put, Review, WriteOutcome
from hindsight.domain.memory import Memory
from hindsight.write.reconcile import Added, Decision, Ignored, KeptApart, Late, Merged, Superseded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Assembled:
    """What goes into the batch, and the outcomes in the order of the statements."""

    puts: tuple[Put, ...]
    embeddings: tuple[Embedding, ...]
    outcomes: tuple[WriteOutcome, ...]
    reviews: tuple[Review, ...] = ()


def assemble(
    decisions: Sequence[Decision],
    vectors: Mapping[str, NDArray[np.float32]],
    *,
    model: str,
    actor: str = "",
) -> Assembled:
    """Puts with the last state of each memory. `vectors` has that of each proposed content, by the content."""
    puts: dict[str, Put] = {}
    reworded: dict[str, str] = {}
    for decision in decisions:
        match decision:
            case Added(memory, reason):
                puts[memory.id] = Put(memory, None, Act.ADDED, reason, actor=actor)
                reworded[memory.id] = memory.content
            case KeptApart(memory, near, reason):
                puts[memory.id] = Put(memory, None, Act.ADDED, reason, near, actor)
                reworded[memory.id] = memory.content
            case Late(memory, by, reason):
                puts[memory.id] = Put(memory, None, Act.ADDED, reason, (by,), actor)
                reworded[memory.id] = memory.content
            case Merged(memory, before, reason):
                puts[memory.id] = _merge_put(puts.get(memory.id), memory, before, reason, actor)
                if decision.reworded:
                    reworded[memory.id] = memory.content
            case Superseded(memory, ended, reason):
                puts[memory.id] = Put(memory, None, Act.ADDED, reason, tuple(one.id for one in ended), actor)
                reworded[memory.id] = memory.content
                for old in ended:
                    puts[old.id] = _end_put(puts.get(old.id), old, memory, reason, actor)
            case Ignored():
                pass
            case _:
                assert_never(decision)
    embeddings = tuple(
        Embedding(memory_id, model, vectors[content]) for memory_id, content in reworded.items() if content in vectors
    )
    outcomes = tuple(map(outcome_of, decisions))
    return Assembled(tuple(puts.values()), embeddings, outcomes, tuple(_reviews(decisions)))


def _reviews(decisions: Sequence[Decision]) -> Iterator[Review]:
    """The questions that remain for the user."""
    for one in decisions:
        if isinstance(one, KeptApart) and one.asks:
            yield Review(one.memory.id, one.near, one.reason, one.memory.created_at)


def outcome_of(decision: Decision) -> WriteOutcome:
    """What a receipt says of a decision."""
    memory = decision.memory
    match decision:
        case Added(reason=reason):
            return _outcome(OutcomeAction.ADDED, memory, reason=reason)
        case Merged(reason=reason):
            return _outcome(OutcomeAction.MERGED, memory, reason=reason)
        case Superseded(ended=ended, reason=reason):
            return _outcome(OutcomeAction.SUPERSEDED, memory, tuple(one.id for one in ended), reason)
        case KeptApart(near=near, reason=reason, asks=asks):
            return replace(_outcome(OutcomeAction.KEPT_APART, memory, near, reason), review=asks)
        case Late(by=by, reason=reason):
            return _outcome(OutcomeAction.ADDED, memory, (by,), reason)
        case Ignored(reason=reason):
            return WriteOutcome(OutcomeAction.IGNORED, None, memory.content, memory.kind, memory.importance, (), reason)
        case _:
            assert_never(decision)


def _outcome(action: OutcomeAction, memory: Memory, other_ids: tuple[str, ...] = (), reason: str = "") -> WriteOutcome:
    return WriteOutcome(action, memory.id, memory.content, memory.kind, memory.importance, other_ids, reason)


def _merge_put(pending: Put | None, memory: Memory, before: Memory, reason: str, actor: str) -> Put:
    """A merge into a stored memory, or into one that this batch already puts."""
    if pending is not None:
        return replace(pending, memory=replace(memory, version=pending.memory.version))
    return Put(replace(memory, version=before.version + 1), before.version, Act.MERGED, reason, actor=actor)


def _end_put(pending: Put | None, old: Memory, successor: Memory, reason: str, actor: str) -> Put:
    if pending is not None:
        return replace(pending, memory=replace(old, version=pending.memory.version))
    return Put(replace(old, version=old.version + 1), old.version, Act.SUPERSEDED, reason, (successor.id,), actor)

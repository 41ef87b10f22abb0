"""What a new statement does to what is known: same, different, contradicting.

Closeness of vectors only finds candidates: over labelled pairs it told «same» from «contradicting» no better than
chance. What decides is what the statements say: subject, slot, value, negation, numbers. In doubt both are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from hindsight.domain.confidence import after_merge
from hindsight.domain.episode import Origin
from hindsight.domain.memory import Kind, Layer, Memory, Statement
from hindsight.domain.query import Scored
from hindsight.language.difference import difference
from hindsight.language.fold import fold
from hindsight.language.stem import stem
from hindsight.write.extract import Slot

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Cosine from which two texts are worth comparing, by the start of the model's name. Measured on pairs of statements:
# with the checks below, .67 of the universal sentence encoder let no false merge through at 95 % of the true ones.
NEAR_FLOOR: Mapping[str, float] = {"usem3": 0.67}
DEFAULT_FLOOR = 0.75
MAX_NEIGHBOURS = 100  # compared per statement: more than any topic has near copies
MAX_NAMED = 3  # near ones that an outcome names

_TOKEN = re.compile(r"[a-z0-9]+|[^\W_]")
_TRUST = {origin: rank for rank, origin in enumerate((Origin.DOCUMENT, Origin.TOOL, Origin.USER))}
# Words whose coming and going changes nothing that is said.
_EMPTY_WORDS = "a an the now currently also just really very still so 的 了 也 还 就 都 很 呢 啊 吧"
_EMPTY = frozenset(_EMPTY_WORDS.split())
# Slots where the longer value only says the shorter one more closely («北京», «北京朝阳区»).
_SPECIFIABLE = frozenset({Slot.RESIDENCE, Slot.ORIGIN, Slot.JOB, Slot.PET, Slot.FAMILY, Slot.NAME})


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A memory that a write would add, and its vector, if there is one. `explicit`: the caller named its kind."""

    memory: Memory
    vector: NDArray[np.float32] | None = None
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class Added:
    """Nothing like it was known."""

    memory: Memory
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """It was known: `memory` is the known one in its new state, `before` in its old. `reworded`: with new words."""

    memory: Memory
    before: Memory
    reason: str
    reworded: bool = False


@dataclass(frozen=True, slots=True)
class Superseded:
    """It takes the place of others: `ended` are these in their new state, no longer valid."""

    memory: Memory
    ended: tuple[Memory, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Others are near and yet not the same; all stand."""

    memory: Memory
    near: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing comes of it."""

    memory: Memory
    reason: str


Decision: TypeAlias = Added | Merged | Superseded | KeptApart | Ignored


class Neighbours(Protocol):
    """Finds active semantic memories by closeness of meaning."""

    async def __call__(self, namespace: str, vectors: NDArray[np.float32], *, limit: int) -> Sequence[Sequence[Scored]]:
        """For each row, up to `limit` active semantic memories with their cosine, best first."""
        ...


class Known(Protocol):
    """What reconciling reads from the store."""

    async def by_content_key(self, namespace: str, keys: Sequence[str]) -> Mapping[str, Memory]:
        """The active memory of each content key that has one."""
        ...

    async def memories(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Memories by whole id."""
        ...


def near_floor(model: str) -> float:
    """The cosine from which two texts of this model are worth comparing."""
    return next((floor for name, floor in NEAR_FLOOR.items() if model.startswith(name)), DEFAULT_FLOOR)


async def reconcile(
    namespace: str,
    proposals: Sequence[Proposal],
    *,
    known: Known,
    neighbours: Neighbours | None,
    floor: float,
    at: datetime,
) -> list[Decision]:
    """One decision for each proposal, in order. Later ones see what earlier ones of the same call did."""
    exact = await known.by_content_key(namespace, list({one.memory.content_key for one in proposals}))
    near = await near_memories(namespace, proposals, exact, known, neighbours, floor)
    table = _Table(dict(exact), _alike(proposals, floor), at)
    return [table.decide(proposal, near.get(proposal.memory.id, ())) for proposal in proposals]


def _alike(proposals: Sequence[Proposal], floor: float) -> dict[str, list[str]]:
    """For each semantic proposal the earlier ones of the same call that are near, best first."""
    semantic = [one for one in proposals if one.vector is not None and one.memory.layer is Layer.SEMANTIC]
    if len(semantic) < 2:
        return {}
    vectors = np.stack([one.vector for one in semantic if one.vector is not None])
    cosines = vectors @ vectors.T
    alike: dict[str, list[str]] = {}
    for row, one in enumerate(semantic):
        order = np.argsort(-cosines[row, :row], kind="stable")[:MAX_NEIGHBOURS]
        alike[one.memory.id] = [semantic[int(at)].memory.id for at in order if cosines[row, at] >= floor]
    return alike


async def near_memories(
    namespace: str,
    proposals: Sequence[Proposal],
    exact: Mapping[str, Memory],
    known: Known,
    neighbours: Neighbours | None,
    floor: float,
) -> dict[str, tuple[Memory, ...]]:
    """Stored neighbours above the floor of each semantic proposal that is not known word for word."""
    vectors = {
        one.memory.id: one.vector
        for one in proposals
        if one.vector is not None and one.memory.layer is Layer.SEMANTIC and one.memory.content_key not in exact
    }
    if neighbours is None or not vectors:
        return {}
    found = await neighbours(namespace, np.stack(list(vectors.values())), limit=MAX_NEIGHBOURS)
    close = [[hit.id for hit in hits if hit.score >= floor] for hits in found]
    memories = await known.memories(namespace, list({one for ids in close for one in ids}))
    return {
        proposed: tuple(memories[one] for one in ids if one in memories)
        for proposed, ids in zip(vectors, close, strict=True)
    }


@dataclass(slots=True)
class _Table:
    """The state of everything this call touches, as decisions are made one after the other."""

    by_key: dict[str, Memory]
    alike: Mapping[str, list[str]]
    at: datetime
    now: dict[str, Memory] = field(default_factory=dict)  # memories this call changed or added, by id

    def decide(self, proposal: Proposal, stored: Sequence[Memory]) -> Decision:
        memory = proposal.memory
        if (twin := self.by_key.get(memory.content_key)) is not None:
            return self._merge(twin, proposal, "the same words")
        here = (self.now[one] for one in self.alike.get(memory.id, ()) if one in self.now)
        near = [one for one in (*(self.now.get(one.id, one) for one in stored), *here) if _comparable(one, memory)]
        for other in near:
            if same(other, memory):
                return self._merge(other, proposal, "the same statement in other words")
        self._settle(memory)
        if not near:
            return Added(memory)
        return KeptApart(memory, tuple(one.id for one in near[:MAX_NAMED]), _apart(near[0], memory))

    def _merge(self, before: Memory, proposal: Proposal, reason: str) -> Merged:
        after = merged(before, proposal.memory, at=self.at)
        if proposal.explicit and after.kind is not proposal.memory.kind and after.kind is not Kind.EXPERIENCE:
            after = replace(after, kind=proposal.memory.kind)
        if after.content_key != before.content_key:
            self.by_key.pop(before.content_key, None)
        self._settle(after)
        return Merged(after, before, reason, reworded=after.content != before.content)

    def _settle(self, memory: Memory) -> None:
        self.now[memory.id] = memory
        self.by_key[memory.content_key] = memory


def merged(before: Memory, new: Memory, *, at: datetime) -> Memory:
    """The known memory after it was said once more: trusted more, all sources kept, the more specific wording kept."""
    trusted = _TRUST[new.origin] >= _TRUST[before.origin]
    worded = before
    if trusted and before.content_key != new.content_key and _more_specific(new, before):
        worded = new
    return replace(
        before,
        content=worded.content,
        content_key=worded.content_key,
        body=worded.body,
        verbatim=worded.verbatim,
        confidence=after_merge(before.confidence),
        importance=max(before.importance, new.importance) if trusted else before.importance,
        strength=1.0,
        origin=new.origin if trusted else before.origin,
        tags=tuple(dict.fromkeys((*before.tags, *new.tags))),
        entities=tuple(dict.fromkeys((*before.entities, *new.entities))),
        sources=tuple(dict.fromkeys((*before.sources, *new.sources))),
        updated_at=at,
    )


def same(a: Memory, b: Memory) -> bool:
    """Whether two near memories state the same. `False` in doubt: a second copy costs less than a lost fact."""
    if not _comparable(a, b) or not isinstance(a.body, Statement) or not isinstance(b.body, Statement):
        return False
    if a.body.negated != b.body.negated or difference(a.content, b.content) is not None:
        return False
    if a.body.value is None or b.body.value is None:
        return _tokens(a.content) == _tokens(b.content)
    return _same_value(a.body.slot, _tokens(a.body.value), _tokens(b.body.value))


def _comparable(a: Memory, b: Memory) -> bool:
    """Whether two memories speak of the same thing, so that they can be the same or differ at all."""
    if not isinstance(a.body, Statement) or not isinstance(b.body, Statement):
        return False
    if a.layer is not Layer.SEMANTIC or b.layer is not Layer.SEMANTIC:
        return False
    if (a.body.subject, a.body.slot) != (b.body.subject, b.body.slot):
        return False
    return a.body.subject is not None or (a.speaker and fold(a.speaker)) == (b.speaker and fold(b.speaker))


def _same_value(slot: str | None, a: list[str], b: list[str]) -> bool:
    if a == b:
        return True
    shorter, longer = sorted((a, b), key=len)
    return slot in _SPECIFIABLE and bool(shorter) and longer[: len(shorter)] == shorter


def _more_specific(new: Memory, before: Memory) -> bool:
    return len(_tokens(new.content)) > len(_tokens(before.content))


def _apart(other: Memory, memory: Memory) -> str:
    reason = difference(other.content, memory.content)
    return f"near, but differs in {reason.value}" if reason is not None else "near, but not surely the same"


def _tokens(text: str) -> list[str]:
    return [stem(token) for token in _TOKEN.findall(fold(text)) if token not in _EMPTY]

"""What a new statement does to what is known: same, different, contradicting.

Candidates come by closeness of meaning and by what statements are about, so that they are found without vectors too.
What decides is what both say (`hindsight.language.statement.relate`), whose word counts more, and who spoke last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from hindsight.domain.confidence import after_merge
from hindsight.domain.episode import Origin
from hindsight.domain.memory import Kind, Layer, Memory, Statement, Status
from hindsight.domain.query import Scored
from hindsight.language.statement.claim import Reading
from hindsight.language.statement.doubt import open_to
from hindsight.language.statement.relate import relate
from hindsight.language.statement.verdict import Relation, Verdict
from hindsight.write.closeness import BOUND, closeness, cosine_at
from hindsight.write.importance import repeated
from hindsight.write.judge import MAX_OF_ONE, Bench, Doubt, Key
from hindsight.write.topics import reading_of, rivals_of, topics_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_NEIGHBOURS = 100  # compared per statement: more than any topic has near copies
MAX_ABOUT = 50  # of each topic, the newest
SENT_TWICE = timedelta(seconds=10)  # the same words within this time are one utterance that arrived twice
MAX_NAMED = 3  # near ones that an outcome names
_TRUST = {origin: rank for rank, origin in enumerate((Origin.DOCUMENT, Origin.TOOL, Origin.USER))}


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A memory that a write would add.

    `vector`: if there is one. `explicit`: the caller named its kind. `reading`: what it says with the words around it,
    such as a correction that precedes it; by default that of its content. `said_at`: when it was said.
    """

    memory: Memory
    vector: NDArray[np.float32] | None = None
    explicit: bool = False
    reading: Reading | None = None
    said_at: datetime | None = None

    @property
    def moment(self) -> datetime:
        """When it was said; where that is not known, when it happened."""
        return self.said_at or self.memory.occurred_at


@dataclass(frozen=True, slots=True)
class Added:
    """Nothing like it was known."""

    memory: Memory
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Merged:
    """It was known: `memory` is the known one in its new state, `before` in its old. `reworded`: with new words.

    `ruled`: not by the rules but by a judge, so that the new words stay findable by themselves.
    """

    memory: Memory
    before: Memory
    reason: str
    reworded: bool = False
    ruled: bool = False


@dataclass(frozen=True, slots=True)
class Superseded:
    """It takes the place of others: `ended` are these in their new state, no longer valid."""

    memory: Memory
    ended: tuple[Memory, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Late:
    """It was said before what is known now, and that has taken its place: kept for then, `by` holds now."""

    memory: Memory
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class KeptApart:
    """Others are near and yet not the same; all stand. `asks`: one contradicts, and only the user can decide."""

    memory: Memory
    near: tuple[str, ...]
    reason: str
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Ignored:
    """Nothing comes of it."""

    memory: Memory
    reason: str


Decision: TypeAlias = Added | Merged | Superseded | Late | KeptApart | Ignored


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

    async def about(self, namespace: str, topics: Sequence[str], *, limit: int) -> Mapping[str, Sequence[str]]:
        """Ids of active memories by what they are about, newest first."""
        ...

    async def memories(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Memories by whole id."""
        ...


@dataclass(frozen=True, slots=True)
class Measure:
    """How near counts as a candidate: `floor` is a cosine of `model`."""

    model: str
    floor: float

    def close(self, cosine: float) -> float:
        """A cosine on the common scale."""
        return closeness(self.model, cosine)


def measure(model: str, *, floor: float | None = None, bound: float = BOUND) -> Measure:
    """The measure of a model: from a cosine, or from a bound on the common scale."""
    return Measure(model, cosine_at(model, bound) if floor is None else floor)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a statement is compared with: the near ones best first, then the others; closeness of those that have it."""

    memories: tuple[Memory, ...] = ()
    close: Mapping[str, float] = field(default_factory=dict)


async def reconcile(
    namespace: str,
    proposals: Sequence[Proposal],
    *,
    known: Known,
    neighbours: Neighbours | None,
    by: Measure,
    at: datetime,
    bench: Bench | None = None,
) -> list[Decision]:
    """One decision for each proposal, in order. Later ones see what earlier ones of the same call did.

    `bench`: to whom pairs of a new and a stored statement go on which the rules are unsure.
    """

    async def stored() -> tuple[Mapping[str, Memory], Mapping[str, Candidates]]:
        exact = await known.by_content_key(namespace, list({one.memory.content_key for one in proposals}))
        return exact, await candidates(namespace, proposals, exact, known, neighbours, by)

    exact, found = await stored()
    rulings: Mapping[Key, Verdict] = {}
    if bench is not None:
        if await bench.hear(list(_doubts(proposals, found, exact))):
            exact, found = await stored()
        rulings = bench.known(list(_doubts(proposals, found, exact)))
    table = _Table(dict(exact), _alike(proposals, by), at, rulings)
    return [table.decide(proposal, found.get(proposal.memory.id, Candidates())) for proposal in proposals]


def _doubts(
    proposals: Sequence[Proposal], found: Mapping[str, Candidates], exact: Mapping[str, Memory]
) -> Iterator[Doubt]:
    """What a judge is asked of statements about which the rules have found nothing sure."""
    for one in proposals:
        reading = one.reading or reading_of(one.memory)
        stored = found.get(one.memory.id)
        if reading is None or stored is None or one.memory.content_key in exact:
            continue
        doubts: list[Doubt] = []
        for old in filter(_active_statement, stored.memories):
            verdict = judged(old, one.memory, reading, stored.close.get(old.id))
            if verdict.sure and verdict.relation is not Relation.DIFFERENT:
                doubts = []
                break
            known = reading_of(old)
            near = verdict.relation is Relation.SUPERSEDES or old.id in stored.close
            choices = open_to(known, reading, verdict) if known is not None and near else frozenset()
            doubts += [Doubt(one.memory, old, choices)] if choices else []
        doubts.sort(key=lambda doubt: -stored.close.get(doubt.old.id, 0.0))
        yield from doubts[:MAX_OF_ONE]


def _alike(proposals: Sequence[Proposal], by: Measure) -> dict[str, dict[str, float]]:
    """For each semantic proposal the earlier ones of the same call that are near, with their closeness, best first."""
    semantic = [one for one in proposals if one.vector is not None and one.memory.layer is Layer.SEMANTIC]
    if len(semantic) < 2:
        return {}
    vectors = np.stack([one.vector for one in semantic if one.vector is not None])
    cosines = vectors @ vectors.T
    alike: dict[str, dict[str, float]] = {}
    for row, one in enumerate(semantic):
        order = np.argsort(-cosines[row, :row], kind="stable")[:MAX_NEIGHBOURS]
        near = ((semantic[int(at)].memory.id, float(cosines[row, at])) for at in order)
        alike[one.memory.id] = {name: by.close(cosine) for name, cosine in near if cosine >= by.floor}
    return alike


async def candidates(
    namespace: str,
    proposals: Sequence[Proposal],
    exact: Mapping[str, Memory],
    known: Known,
    neighbours: Neighbours | None,
    by: Measure,
) -> dict[str, Candidates]:
    """Stored memories that each semantic proposal is compared with, if it is not known word for word."""
    open_ones = [one for one in proposals if one.memory.layer is Layer.SEMANTIC and one.memory.content_key not in exact]
    near = await _near(namespace, open_ones, neighbours, by)
    topics = {one.memory.id: _rivals(one) for one in open_ones}
    wanted = list(dict.fromkeys(topic for keys in topics.values() for topic in keys))
    about = await known.about(namespace, wanted, limit=MAX_ABOUT) if wanted else {}
    ids = {
        one.memory.id: list(
            dict.fromkeys(
                (
                    *near.get(one.memory.id, {}),
                    *(known_id for key in topics[one.memory.id] for known_id in about.get(key, ())),
                )
            )
        )
        for one in open_ones
    }
    memories = await known.memories(namespace, list({one for found in ids.values() for one in found}))
    return {
        proposed: Candidates(tuple(memories[one] for one in found if one in memories), near.get(proposed, {}))
        for proposed, found in ids.items()
    }


async def _near(
    namespace: str, proposals: Sequence[Proposal], neighbours: Neighbours | None, by: Measure
) -> dict[str, dict[str, float]]:
    vectors = {one.memory.id: one.vector for one in proposals if one.vector is not None}
    if neighbours is None or not vectors:
        return {}
    found = await neighbours(namespace, np.stack(list(vectors.values())), limit=MAX_NEIGHBOURS)
    return {
        proposed: {hit.id: by.close(hit.score) for hit in hits if hit.score >= by.floor}
        for proposed, hits in zip(vectors, found, strict=True)
    }


def _rivals(proposal: Proposal) -> tuple[str, ...]:
    reading = proposal.reading or reading_of(proposal.memory)
    return rivals_of(reading) if reading is not None else ()


@dataclass(slots=True)
class _Table:
    """The state of everything this call touches, as decisions are made one after the other."""

    by_key: dict[str, Memory]
    alike: Mapping[str, Mapping[str, float]]
    at: datetime
    rulings: Mapping[Key, Verdict] = field(default_factory=dict)
    now: dict[str, Memory] = field(default_factory=dict)  # memories this call changed or added, by id
    topics: dict[str, list[str]] = field(default_factory=dict)  # ids of these by topic, oldest first

    def decide(self, proposal: Proposal, stored: Candidates) -> Decision:
        memory = proposal.memory
        if (twin := self.by_key.get(memory.content_key)) is not None:
            return self._merge(twin, proposal, "the same words")
        near = {**stored.close, **self.alike.get(memory.id, {})}
        others = [one for one in self._others(proposal, stored) if _active_statement(one)]
        reading = proposal.reading or reading_of(memory)
        if reading is None or not others:
            return self._add(proposal, ())
        verdicts = [
            (one, self.rulings.get((memory.id, one.id)) or judged(one, memory, reading, near.get(one.id)))
            for one in others
        ]
        rivals = rivals_among(verdicts)
        same = [one for one, verdict in verdicts if verdict.relation is Relation.SAME]
        if rivals:
            return self._replace(proposal, rivals, same)
        if same:
            reason = next(verdict.reason for one, verdict in verdicts if one is same[0])
            return self._merge(same[0], proposal, reason, ruled=(memory.id, same[0].id) in self.rulings)
        akin = [(one, verdict) for one, verdict in verdicts if one.id in near and verdict.akin]
        return self._add(proposal, akin)

    def _others(self, proposal: Proposal, stored: Candidates) -> Iterable[Memory]:
        """Candidates in their latest state: the stored ones, then those of this call, newest first."""
        known = [one.id for one in stored.memories]
        here = [*self.alike.get(proposal.memory.id, {})]
        here += [one for key in _rivals(proposal) for one in reversed(self.topics.get(key, []))]
        by_id = {one.id: one for one in stored.memories}
        for one in dict.fromkeys((*known, *here)):
            if one != proposal.memory.id and (one in self.now or one in by_id):
                yield self.now.get(one) or by_id[one]

    def _add(self, proposal: Proposal, akin: Sequence[tuple[Memory, Verdict]]) -> Decision:
        self._settle(proposal.memory)
        if not akin:
            return Added(proposal.memory)
        named = tuple(one.id for one, _ in akin[:MAX_NAMED])
        return KeptApart(proposal.memory, named, f"near, but {akin[0][1].reason}")

    def _replace(
        self, proposal: Proposal, rivals: Sequence[tuple[Memory, Verdict]], same: Sequence[Memory]
    ) -> Decision:
        """It contradicts these: the later of two equally trusted takes the other's place."""
        memory, reason = proposal.memory, rivals[0][1].reason
        weaker = [one for one, _ in rivals if not outweighs(memory, one)]
        if weaker:
            self._settle(memory)
            reason = f"contradicts what is known from a more trusted source ({reason})"
            return KeptApart(memory, tuple(one.id for one in weaker), reason, asks=True)
        later = next((one for one, _ in rivals if _said(one) > proposal.moment), None)
        if later is not None:
            end = max(_begin(later), _begin(memory))
            late = replace(memory, status=Status.SUPERSEDED, superseded_by=later.id, valid_to=end)
            return Late(late, later.id, f"said before what holds now ({reason})")
        copies = [one for one in same if outweighs(memory, one)]
        ended = tuple(ended_by(one, memory, at=self.at) for one in (*(one for one, _ in rivals), *copies))
        for one in ended:
            self.now[one.id] = one
            self.by_key.pop(one.content_key, None)
        self._settle(memory)
        return Superseded(memory, ended, reason)

    def _merge(self, before: Memory, proposal: Proposal, reason: str, *, ruled: bool = False) -> Merged:
        after = merged(before, proposal.memory, at=self.at)
        if ruled:  # what a judge takes for the same is evidence, and no better wording
            after = replace(
                after,
                content=before.content,
                content_key=before.content_key,
                body=before.body,
                verbatim=before.verbatim,
            )
        if proposal.explicit and after.kind is not proposal.memory.kind and after.kind is not Kind.EXPERIENCE:
            after = replace(after, kind=proposal.memory.kind)
        if said_again(before, proposal) and (more := repeated(after.importance)) > after.importance:
            after = replace(after, importance=more)
            reason = f"{reason}; importance {more:g}: said again"
        if after.content_key != before.content_key:
            self.by_key.pop(before.content_key, None)
        self._settle(after)
        return Merged(after, before, reason, reworded=after.content != before.content, ruled=ruled)

    def _settle(self, memory: Memory) -> None:
        if memory.id not in self.now:
            for key in topics_of(reading_of(memory)):
                self.topics.setdefault(key, []).append(memory.id)
        self.now[memory.id] = memory
        self.by_key[memory.content_key] = memory


def judged(old: Memory, new: Memory, reading: Reading, close: float | None) -> Verdict:
    """How a new statement, read as `reading`, stands to a known one."""
    known = reading_of(old)
    if known is None or old.namespace != new.namespace:
        return Verdict(Relation.DIFFERENT, "no short statement")
    return relate(known, reading, close)


def rivals_among(verdicts: Sequence[tuple[Memory, Verdict]]) -> list[tuple[Memory, Verdict]]:
    """All that it surely contradicts; where it only shares words with some, the one that it shares most with."""
    contradicted = [(one, verdict) for one, verdict in verdicts if verdict.relation is Relation.SUPERSEDES]
    sure = [pair for pair in contradicted if pair[1].sure]
    if sure or not contradicted:
        return sure
    return [max(contradicted, key=lambda pair: (pair[1].shared, pair[0].created_at, pair[0].id))]


def ended_by(old: Memory, new: Memory, *, at: datetime) -> Memory:
    """An earlier statement at its end: valid until the new one holds."""
    end = max(_begin(old), _begin(new))
    if old.valid_to is not None:
        end = min(end, old.valid_to)
    return replace(old, status=Status.SUPERSEDED, superseded_by=new.id, valid_to=end, updated_at=at)


def outweighs(new: Memory, old: Memory) -> bool:
    """Whether where a statement comes from is trusted enough to take the other's place."""
    return _TRUST[new.origin] >= _TRUST[old.origin]


def _active_statement(memory: Memory) -> bool:
    return memory.status is Status.ACTIVE and memory.layer is Layer.SEMANTIC and isinstance(memory.body, Statement)


def _said(memory: Memory) -> datetime:
    """When a memory was said, as near as it tells: what is still to come was said before it was written."""
    return min(memory.occurred_at, memory.created_at)


def _begin(memory: Memory) -> datetime:
    return memory.valid_from or memory.occurred_at


def merged(before: Memory, new: Memory, *, at: datetime) -> Memory:
    """The known memory after it was said once more: trusted more, all sources kept, the more specific wording kept."""
    trusted = outweighs(new, before)
    worded = before
    if trusted and before.content_key != new.content_key and _detail(new) > _detail(before):
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


def said_again(before: Memory, proposal: Proposal) -> bool:
    """Whether a person said a statement once more, in another turn and at another time.

    An agent, a tool or a page that says it again does not make it matter more, nor does a turn that arrives twice.
    """
    new = proposal.memory
    told = {source.episode_id for source in before.sources}
    return (
        new.layer is Layer.SEMANTIC
        and new.origin is Origin.USER
        and abs(proposal.moment - before.occurred_at) >= SENT_TWICE
        and not any(source.episode_id in told for source in new.sources)
    )


def _detail(memory: Memory) -> int:
    """How much a memory says: words with content, numbers and times."""
    reading = reading_of(memory)
    if reading is None:
        return 0
    return sum(len(one.content) + len(one.numbers) + len(one.times) for one in reading.claims)

"""Merging: several experiences of one situation become a more general one that knows each way to act in it.

The originals stay in the store, superseded by what they have become, and their ids go on being accepted for feedback.
A merge is a batch of its own under a key that follows from the call's undo token, so that undoing that call undoes it.
Where rules are in doubt and there is an arbiter, it is asked by a job of its own: who writes does not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hindsight.domain.change import (
    Act,
    Batch,
    Embedding,
    Job,
    JobDone,
    NewJob,
    OutcomeAction,
    Put,
    Receipt,
    WriteOutcome,
)
from hindsight.domain.entry import searchable_text
from hindsight.domain.experience import Credit, Experience, Outcome, Trigger, Way, rendered
from hindsight.domain.memory import Kind, Memory, Status
from hindsight.domain.page import Order
from hindsight.domain.query import Filters, Scored
from hindsight.errors import Conflict, ModelUnavailable, Unavailable
from hindsight.experience.alike import BOUND, DOUBTFUL, apart, by_meaning, likeness, look_alike, words_of
from hindsight.experience.arbiter import Arbiter, Ruled
from hindsight.experience.feedback import MAX_CREDITS
from hindsight.experience.ways import action_of, best_first
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.write.embed import embed_later, vectors_in_time
from hindsight.write.keys import experience_key, plain
from hindsight.write.undo import merge_key

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 20  # experiences compared by meaning with a new one
RECENT = 300  # and by wording where there is no model: the newest
MAX_WAYS = 8  # ways kept in one experience; what more come stay apart
TRIES = 3
EMBED_SECONDS = 4.0
SOURCE = "merge"
MERGE_JOB = "experience.merge"
MAX_DOUBTS = 24  # pairs put to the arbiter by one call, and
MAX_OF_ONE = 3  # of one experience, the nearest first


class NearExperiences(Protocol):
    """Finds active experiences by the meaning of their triggers."""

    async def __call__(self, namespace: str, vector: NDArray[np.float32], *, limit: int) -> Sequence[Scored]:
        """Up to `limit` of them, the nearest first."""
        ...


@dataclass(frozen=True, slots=True)
class Alike:
    """An experience for the same situation, or maybe for it, and how near its trigger is, 0 to 1."""

    memory: Memory
    close: float
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Merger:
    """What merging needs."""

    store: Store
    embedder: Embedder | None
    near: NearExperiences | None
    clock: Clock
    ids: Ids
    arbiter: Arbiter | None = None

    async def join(
        self, namespace: str, memory_id: str, token: str, *, number: int = 1, actor: str = ""
    ) -> WriteOutcome | None:
        """Merge an experience with the nearest for the same situation, if there is one.

        The change is undone with `token`, or alone with `merge_key(token, number)`. Where others write at the same time
        it may be left for the next time.
        """
        for _ in range(TRIES):
            memory = (await self.store.memories(namespace, [memory_id])).get(memory_id)
            if memory is None or not _may_merge(memory):
                return None
            alike = [one for one in await self.alike(memory) if not one.doubtful]
            if not alike:
                return None
            reason = f"for the same situation (triggers alike: {alike[0].close:.2f})"
            try:
                key = merge_key(token, number)
                return await self._merge(alike[0].memory, memory, key, Ruled(reason), actor=actor)
            except Conflict:
                continue
        return None

    async def settle(self, namespace: str, receipt: Receipt) -> Receipt:
        """The receipt of a write once each experience that it added has met those for the same situation."""
        if receipt.undo is None:
            return receipt
        outcomes = list(receipt.outcomes)
        merged = 0
        alone: list[str] = []
        for place, outcome in enumerate(outcomes):
            if outcome.kind is not Kind.EXPERIENCE or outcome.action is not OutcomeAction.ADDED:
                continue
            if outcome.memory_id is None:
                continue
            done = await self.join(namespace, outcome.memory_id, receipt.undo, number=merged + 1)
            if done is None:
                alone.append(outcome.memory_id)
            else:
                merged += 1
                outcomes[place] = done
        await self._ask_later(namespace, receipt.undo, alone)
        return replace(receipt, outcomes=tuple(outcomes)) if merged else receipt

    async def sweep(self, namespace: str, *, actor: str = "") -> Receipt:
        """Merge whatever is for the same situation, oldest first; one token undoes it all."""
        token = self.ids.new()
        outcomes: list[WriteOutcome] = []
        for memory in await self._all(namespace):
            done = await self.join(namespace, memory.id, token, number=len(outcomes) + 1, actor=actor)
            if done is not None:
                outcomes.append(done)
        missing = await self._sweep_doubts(namespace, token, outcomes, actor) if self.arbiter is not None else ()
        return Receipt(tuple(outcomes), degraded=missing, undo=token if outcomes else None)

    async def alike(self, memory: Memory) -> list[Alike]:
        """Active experiences whose trigger is alike and that are no look-alikes, the nearest first.

        Those that are certain: alike above `BOUND`, and nothing tells them apart. With an arbiter the doubtful too.
        """
        body = _body(memory)
        others = [one for one in await self._candidates(memory) if one.id != memory.id and _may_merge(one)]
        tell = apart if self.arbiter is None else look_alike
        others = [one for one in others if tell(body, _body(one)) is None]
        others = [one for one in others if len(_ways(one)) + len(_ways(memory)) <= MAX_WAYS]
        if not others:
            return []
        near = await self._closeness(body.trigger.context, [_body(one).trigger.context for one in others])
        undone = await self._undone(memory)
        found = [
            Alike(one, close, doubtful=close <= BOUND or apart(body, _body(one)) is not None)
            for one, close in zip(others, near, strict=True)
            if frozenset((one.id, memory.id)) not in undone
        ]
        least = BOUND if self.arbiter is None else DOUBTFUL
        return sorted(
            (one for one in found if one.close > least),
            key=lambda one: (-one.close, one.memory.created_at, one.memory.id),
        )

    async def judge(self, job: Job, owner: str) -> None:
        """Do a job of `MERGE_JOB`: put an experience to the arbiter beside those it may be the same as.

        `ModelUnavailable` leaves it for a retry. What has been merged, undone or forgotten meanwhile stays as it is.
        """
        namespace, done = job.namespace, JobDone(job.id, owner)
        memory_id, token = str(job.payload.get("memory_id")), str(job.payload.get("token"))
        memory = (await self.store.memories(namespace, [memory_id])).get(memory_id)
        if memory is not None and _may_merge(memory):
            known = await self._doubts(memory)
            ruled = await self._ruled([(one, memory) for one in known])
            for place in sorted(ruled):  # the nearest first; what is joined is another experience from then on
                await self._merge(known[place], memory, await self._free_key(namespace, token), ruled[place], done)
                return
        await self.store.apply(Batch(namespace, self.ids.new(), self.clock.now(), done=done))

    async def _ask_later(self, namespace: str, token: str, ids: Sequence[str]) -> None:
        """Leave to a job what only the arbiter can tell, where there is one and anything to ask."""
        if self.arbiter is None or not ids:
            return
        memories = await self.store.memories(namespace, ids)
        at = self.clock.now()
        doubted = [one.id for one in memories.values() if _may_merge(one) and await self._doubts(one)]
        if doubted:
            jobs = tuple(
                NewJob(self.ids.new(), MERGE_JOB, {"memory_id": one, "token": token}, run_at=at, dedup_key=one)
                for one in doubted
            )
            await self.store.apply(Batch(namespace, f"merge later:{token}", at, jobs=jobs))

    async def _sweep_doubts(
        self, namespace: str, token: str, outcomes: list[WriteOutcome], actor: str
    ) -> tuple[str, ...]:
        """Put the doubtful pairs of a namespace to the arbiter; says what was missing."""
        pairs: dict[frozenset[str], tuple[Memory, Memory]] = {}
        for memory in await self._all(namespace):
            for known in await self._doubts(memory):
                older, newer = sorted((known, memory), key=lambda one: (one.created_at, one.id))
                pairs.setdefault(frozenset((known.id, memory.id)), (older, newer))
            if len(pairs) >= MAX_DOUBTS:
                break
        asked = list(pairs.values())[:MAX_DOUBTS]
        try:
            ruled = await self._ruled(asked)
        except Unavailable:
            return ("arbiter",)
        for place in sorted(ruled):
            older, newer = asked[place]
            with suppress(Conflict):  # one of them has been merged or changed meanwhile
                key = merge_key(token, len(outcomes) + 1)
                outcomes.append(await self._merge(older, newer, key, ruled[place], actor=actor))
        return ()

    async def _doubts(self, memory: Memory) -> list[Memory]:
        return [one.memory for one in await self.alike(memory) if one.doubtful][:MAX_OF_ONE]

    async def _ruled(self, pairs: Sequence[tuple[Memory, Memory]]) -> Mapping[int, Ruled]:
        if self.arbiter is None or not pairs:
            return {}
        return await self.arbiter.rule([(_body(known), _body(new)) for known, new in pairs])

    async def _free_key(self, namespace: str, token: str) -> str:
        for number in count(1):
            key = merge_key(token, number)
            if await self.store.changeset(namespace, key) is None:
                return key
        raise AssertionError("unreachable: numbers have no end")

    async def _candidates(self, memory: Memory) -> list[Memory]:
        ids: list[str] = []
        if self.near is not None and self.embedder is not None:
            try:
                (vector,) = await self.embedder.embed([searchable_text(memory)])
            except ModelUnavailable:
                vector = None
            if vector is not None:
                ids = [one.id for one in await self.near(memory.namespace, vector, limit=NEAR)]
                found = await self.store.memories(memory.namespace, ids)
                return [found[one] for one in ids if one in found]
        wanted = Filters(kinds=(Kind.EXPERIENCE,), episodes=False)
        return list((await self.store.find(memory.namespace, wanted, limit=RECENT)).items)

    async def _closeness(self, context: str, others: Sequence[str]) -> list[float]:
        """The better of wording and meaning: a model misses what is the same but for a word of any task."""
        worded = [likeness(context, one) for one in others]
        vectors, _ = await vectors_in_time(self.embedder, [context, *others], seconds=EMBED_SECONDS)
        if not vectors or self.embedder is None:
            return worded
        model = self.embedder.model
        meant = [by_meaning(model, float(np.dot(vectors[context], vectors[one]))) for one in others]
        return [max(pair) for pair in zip(worded, meant, strict=True)]

    async def _undone(self, memory: Memory) -> set[frozenset[str]]:
        """Pairs that were merged once and taken apart again: whoever did that is not asked twice."""
        wanted = Filters(kinds=(Kind.EXPERIENCE,), statuses=(Status.FORGOTTEN,), episodes=False)
        page = await self.store.find(memory.namespace, wanted, limit=RECENT)
        merged = [_body(one).originals for one in page.items if isinstance(one.body, Experience)]
        return {frozenset((memory.id, other)) for ids in merged if memory.id in ids for other in ids}

    async def _all(self, namespace: str) -> list[Memory]:
        wanted = Filters(kinds=(Kind.EXPERIENCE,), episodes=False)
        found: list[Memory] = []
        after: str | None = None
        while True:
            page = await self.store.find(namespace, wanted, order=Order.OLDEST, limit=RECENT, after=after)
            found += page.items
            after = page.next
            if after is None:
                return found

    async def _merge(
        self, base: Memory, memory: Memory, key: str, ruled: Ruled, done: JobDone | None = None, *, actor: str = ""
    ) -> WriteOutcome:
        at = self.clock.now()
        # One that is general already takes another in; else both give way to a new one, whose id means neither alone.
        grows = bool(_body(base).originals)
        into = replace(base, version=base.version + 1) if grows else replace(base, id=self.ids.new(), version=1)
        into = _joined(into, base, memory, ruled.trigger)
        into = replace(into, updated_at=at) if grows else replace(into, created_at=at, updated_at=at)
        ended = [memory] if grows else [base, memory]
        gone = [
            replace(one, status=Status.SUPERSEDED, superseded_by=into.id, valid_to=at, updated_at=at,
                    version=one.version + 1)
            for one in ended
        ]  # fmt: skip
        ids = tuple(one.id for one in ended)
        puts = [Put(one, one.version - 1, Act.SUPERSEDED, ruled.reason, (into.id,)) for one in gone]
        puts.append(
            Put(into, base.version if grows else None, Act.MERGED, ruled.reason, ids, actor or memory.agent or "")
        )
        text = searchable_text(into)
        vectors, missing = await vectors_in_time(self.embedder, [text], seconds=EMBED_SECONDS)
        model = self.embedder.model if self.embedder is not None else ""
        outcome = WriteOutcome(
            OutcomeAction.MERGED, into.id, into.content, into.kind, into.importance, ids, ruled.reason
        )
        await self.store.apply(
            Batch(
                namespace=memory.namespace,
                key=key,
                at=at,
                puts=tuple(puts),
                embeddings=(Embedding(into.id, model, vectors[text]),) if vectors else (),
                jobs=(embed_later(self.ids, self.clock),) if missing else (),
                done=done,
                receipt=Receipt((outcome,), degraded=missing, undo=key),
            )
        )
        return outcome


def _may_merge(memory: Memory) -> bool:
    return isinstance(memory.body, Experience) and memory.status is Status.ACTIVE


def _body(memory: Memory) -> Experience:
    assert isinstance(memory.body, Experience)
    return memory.body


def _ways(memory: Memory) -> tuple[Way, ...]:
    body = _body(memory)
    return body.ways or (Way(memory.id, body.action, body.outcome),)


def _joined(into: Memory, base: Memory, memory: Memory, general: str | None) -> Memory:
    """Both as one: the more general trigger, the ways in order of record, everything else together."""
    one, other = _body(base), _body(memory)
    ways = best_first(_distinct((*_ways(base), *_ways(memory))))
    body = Experience(
        trigger=_more_general(one.trigger, other.trigger, general),
        action=action_of(ways),
        outcome=_together(one.outcome, other.outcome),
        ways=ways,
        originals=_each((*(one.originals or (base.id,)), *(other.originals or (memory.id,)))),
        credits=_credited((*one.credits, *other.credits)),
    )
    return replace(
        into,
        body=body,
        content=rendered(body),
        content_key=experience_key(body),
        confidence=body.outcome.confidence / 100,
        occurred_at=max(base.occurred_at, memory.occurred_at),
        importance=max(base.importance, memory.importance),
        strength=max(base.strength, memory.strength),
        pinned=base.pinned or memory.pinned,
        session_id=base.session_id if base.session_id == memory.session_id else None,
        speaker=base.speaker if base.speaker == memory.speaker else None,
        agent=base.agent if base.agent == memory.agent else None,
        tags=_each((*base.tags, *memory.tags)),
        entities=_each((*base.entities, *memory.entities)),
        sources=tuple(dict.fromkeys((*base.sources, *memory.sources))),
        metadata={**memory.metadata, **base.metadata, "source": SOURCE},
    )


def _more_general(one: Trigger, other: Trigger, general: str | None) -> Trigger:
    """As it was worded; else the one that says less of its own, then the shorter. Keywords are those of both."""
    shorter = min((one, other), key=lambda trigger: (len(words_of(trigger.context)), len(trigger.context)))
    return Trigger(general or shorter.context, _each((*one.keywords, *other.keywords)))


def _distinct(ways: Iterable[Way]) -> list[Way]:
    """Ways that do the same are one, with both records together."""
    found: dict[tuple[str, ...], Way] = {}
    for way in ways:
        steps = tuple(plain(step) for step in way.action.steps)
        known = found.get(steps)
        found[steps] = way if known is None else replace(known, outcome=_together(known.outcome, way.outcome))
    return list(found.values())


def _together(one: Outcome, other: Outcome) -> Outcome:
    """Both records as one; trust is that of the more trusted."""
    used = [moment for moment in (one.last_used, other.last_used) if moment is not None]
    return Outcome(
        one.status,
        max(one.confidence, other.confidence),
        one.successes + other.successes,
        one.failures + other.failures,
        max(used, default=None),
    )


def _credited(credits: Iterable[Credit]) -> tuple[Credit, ...]:
    found: dict[str, Credit] = {}
    for one in credits:
        held = found.get(one.agent, Credit(one.agent))
        found[one.agent] = Credit(one.agent, held.successes + one.successes, held.failures + one.failures)
    return tuple(found.values())[:MAX_CREDITS]


def _each(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))

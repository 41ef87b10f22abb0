"""The way of a write: prepare → capture → extract → embed → reconcile → link → apply.

A quick extractor and a text of ordinary size go through in one transaction. Otherwise the episodes are captured first,
with a job that this writer holds; whoever finishes it, the writer or, if it dies, a worker, runs the same code.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from hindsight.domain.change import (
    Batch,
    Embedding,
    Job,
    JobDone,
    NewJob,
    OutcomeAction,
    Receipt,
    WriteOutcome,
)
from hindsight.domain.episode import EpisodeState
from hindsight.domain.memory import Kind, Status
from hindsight.errors import Conflict, HindsightError
from hindsight.observe.trace import Trace
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.write.assemble import assemble, outcome_of
from hindsight.write.closeness import BOUND
from hindsight.write.closing import closed_episodes
from hindsight.write.embed import embed_later, searched, vectors_in_time
from hindsight.write.extract import Candidate, Extraction, Extractor, Unread
from hindsight.write.judge import Bench, Judge
from hindsight.write.link import linked
from hindsight.write.prepare import Intake, prepare
from hindsight.write.propose import complete, covered, explained, proposals
from hindsight.write.receipts import joined, pending_receipts, receipts
from hindsight.write.reconcile import Decision, Merged, Neighbours, measure, reconcile
from hindsight.write.request import WriteRequest, check
from hindsight.write.reread import check_progress, reread_later, still_there, without_known
from hindsight.write.task import distil_key, distil_later, intake_of, kept_leased, told_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

KNOWN = "already stored; nothing is doubled"


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """Bounds of a write.

    `bound`: closeness on the scale of `closeness` from which statements are compared; `floor`: the same as a cosine.
    """

    redacts: bool = True
    patience: float = 5.0  # seconds after which a caller gets a receipt that says `pending`
    judge_seconds: float = 60.0  # in the background, after which the rules' outcome stands
    embed_seconds: float = 4.5  # a model slower than this is done without, and made up for by a job
    quick_characters: int = 200_000  # more goes through two transactions
    slice_messages: int = 500  # of many writes, how many share a transaction
    attempts: int = 20  # at a state that others keep changing
    retry: timedelta = timedelta(seconds=5)
    bound: float = BOUND
    floor: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """What was read out of the episodes, before it meets what is known. `vectors` by text."""

    candidates: tuple[Candidate, ...]
    covered: frozenset[str]
    vectors: Mapping[str, NDArray[np.float32]]
    degraded: tuple[str, ...]
    unread: tuple[Unread, ...] = ()


class Writer:
    """Writes into one store. `owner` names this process in the job table and must differ between processes."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        clock: Clock,
        ids: Ids,
        *,
        extractor: Extractor,
        neighbours: Neighbours | None,
        owner: str,
        policy: WritePolicy | None = None,
        judge: Judge | None = None,
    ) -> None:
        """`judge`: rules on doubtful pairs, of writes that are finished in the background."""
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._extractor = extractor
        self._neighbours = neighbours
        self._owner = owner
        self._policy = policy or WritePolicy()
        self._judge = judge
        self._background: set[asyncio.Task[list[Receipt]]] = set()
        self._losers = asyncio.Lock()

    async def write(self, namespace: str, request: WriteRequest, trace: Trace) -> Receipt:
        """Keep what was said or done. `InvalidInput` by field; what can't be finished in time says `pending`."""
        (receipt,) = await self._write(namespace, (request,), trace)
        return receipt

    async def write_many(self, namespace: str, requests: Sequence[WriteRequest], trace: Trace) -> list[Receipt]:
        """Keep many things, a receipt for each. Nothing is written if one of them is `InvalidInput`.

        They share transactions, hundreds at a time, and those that shared one share its `undo` too. A request with an
        idempotency key has a transaction to itself.
        """
        parts = list(_slices(requests, self._policy))
        for part in parts:
            check(part)
        return [receipt for part in parts for receipt in await self._write(namespace, part, trace)]

    async def distil(self, job: Job, owner: str, trace: Trace) -> Receipt:
        """Finish a write whose writer did not, and close its job."""
        told = told_in(job)
        episodes = await self._store.episodes(job.namespace, list(told))
        entries = await self._store.entries(job.namespace, list(told))
        # What was taken back or purged in the meantime is no longer open, and nothing may come of it.
        still = [
            episodes[one] for one in told if one in episodes and one in entries and entries[one].status is Status.ACTIVE
        ]
        intake = intake_of(job, still, told, next(iter(still), None))
        draft = await self._read(intake, trace, seconds=None)
        answers = await self._settle(intake, draft, trace, done=JobDone(job.id, owner))
        return answers[0]

    async def reread(self, job: Job, owner: str, trace: Trace) -> Receipt:
        """Read again what could not be read as it should, add what is new in it, and close the job.

        What still can't be read gets a job of its own. `ModelUnavailable` if that is all of it.
        """
        told = told_in(job)
        episodes, known = await still_there(self._store, job.namespace, list(told))
        intake = intake_of(job, episodes, told, next(iter(episodes), None))
        with trace.span("extract") as span:
            extraction = await self._extractor.extract(episodes)
            self._note(extraction, trace)
            check_progress(job, {one.episode_id: one for one in extraction.unread}, episodes)
            candidates = without_known(extraction.candidates, known)
            span.count(candidates=len(candidates), **extraction.counts)
        vectors, missing = await vectors_in_time(self._embedder, [one.content for one in candidates], seconds=None)
        degraded = (*extraction.degraded, *missing)
        draft = Draft(tuple(candidates), frozenset(), vectors, degraded, extraction.unread)
        answers = await self._settle(intake, draft, trace, done=JobDone(job.id, owner))
        return answers[0]

    async def aclose(self) -> None:
        """Wait for what goes on in the background."""
        if self._background:
            await asyncio.wait(set(self._background))

    # The two ways ------------------------------------------------------------------------------------------------

    async def _write(self, namespace: str, requests: Sequence[WriteRequest], trace: Trace) -> list[Receipt]:
        with trace.span("prepare") as span:
            intake = prepare(namespace, requests, at=self._clock.now(), ids=self._ids, redacting=self._policy.redacts)
            intake = await self._unknown(intake)
            span.count(episodes=len(intake.episodes), ignored=len(intake.ignored))
        if not intake.episodes and not intake.repeatable:
            return receipts(intake, (), (), ())
        if self._extractor.quick and intake.characters <= self._policy.quick_characters:
            draft = await self._read(intake, trace, seconds=self._policy.embed_seconds)
            return await self._settle(intake, draft, trace, done=None)
        return await self._in_two(intake, trace)

    async def _in_two(self, intake: Intake, trace: Trace) -> list[Receipt]:
        with trace.span("capture") as span:
            intake, job, repeated = await self._capture(intake)
            span.count(episodes=len(intake.episodes))
        if repeated is not None:
            return [await self._first_answer(intake, repeated)]
        if job is None:
            return receipts(intake, (), (), ())
        task = asyncio.create_task(self._finish(intake, job, trace))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        # `wait` neither cancels the task when time is up nor when the caller goes away.
        done, _ = await asyncio.wait({task}, timeout=self._policy.patience)
        return task.result() if done else pending_receipts(intake, ())

    async def _capture(self, intake: Intake) -> tuple[Intake, NewJob | None, Receipt | None]:
        """Make the episodes durable together with the promise to distil them."""
        for attempt in range(self._policy.attempts):
            if not intake.episodes and not intake.repeatable:
                return intake, None, None
            job = distil_later(intake, self._ids.new(), owner=self._owner)
            receipt = Receipt(episode_ids=_ids(intake), pending=True, undo=intake.key)
            batch = Batch(
                intake.namespace, intake.key, intake.at, episodes=intake.episodes, jobs=(job,), receipt=receipt
            )
            try:
                applied = await self._store.apply(batch)
            except Conflict:
                if attempt + 1 == self._policy.attempts:
                    raise
                intake = await self._unknown(intake)
            else:
                return intake, job, applied.receipt if applied.repeated else None
        raise AssertionError("unreachable: the last attempt raises or returns")

    async def _first_answer(self, intake: Intake, captured: Receipt) -> Receipt:
        """What a repeated call gets: the finished answer if there is one by now."""
        key = distil_key(intake.key)
        if await self._store.changeset(intake.namespace, key) is None:
            return captured
        return (await self._store.apply(Batch(intake.namespace, key, intake.at))).receipt

    async def _finish(self, intake: Intake, job: NewJob, trace: Trace) -> list[Receipt]:
        """The second half of a write in two; what fails is given back to the job table and tried again from there."""
        try:
            async with kept_leased(self._store, self._clock, job.id, self._owner):
                draft = await self._read(intake, trace, seconds=None)
                return await self._settle(intake, draft, trace, done=JobDone(job.id, self._owner))
        except HindsightError as error:
            await self._give_back(job, error)
        except Exception as error:  # the edge of a background task: nobody else would hear of it
            log.exception("write %s could not be finished", intake.key)
            await self._give_back(job, HindsightError(f"{type(error).__name__}: {error}"))
        return pending_receipts(intake, ("extractor",))

    async def _give_back(self, job: NewJob, error: HindsightError) -> None:
        retry_at = self._clock.now() + self._policy.retry if error.retryable else None
        log.warning("job %s (%s) failed in its writer: %s", job.id, job.kind, error)
        try:
            await self._store.fail_job(job.id, owner=self._owner, error=f"{error.code}: {error}", retry_at=retry_at)
        except HindsightError as second:
            # Its lease runs out, and a worker takes it over.
            log.warning("job %s could not be given back: %s", job.id, second)

    # The stages --------------------------------------------------------------------------------------------------

    async def _unknown(self, intake: Intake) -> Intake:
        """The intake without episodes that are stored already."""
        if not intake.dated or not intake.episodes:
            return intake
        known = await self._store.known_episodes(intake.namespace, [one.key for one in intake.episodes])
        again = [one for one in intake.episodes if one.key in known]
        if not again:
            return intake
        rests = await self._store.memories_of(intake.namespace, list(known.values()))
        ignored = [
            (
                intake.told[one.id].request,
                WriteOutcome(
                    OutcomeAction.IGNORED,
                    None,
                    one.content[:200],
                    intake.told[one.id].kind or Kind.EVENT,
                    0.0,
                    other_ids=tuple(rests.get(known[one.key], ())),
                    reason=KNOWN,
                ),
            )
            for one in again
        ]
        return intake.without({one.id for one in again}, ignored)

    async def _read(self, intake: Intake, trace: Trace, *, seconds: float | None) -> Draft:
        """Extract and embed. `seconds`: how long the embedder may take; `None` as long as it needs."""
        with trace.span("extract") as span:
            untold = [one for one in intake.episodes if intake.told[one.id].kind is None]
            extraction = await self._extractor.extract(untold)
            candidates = complete(intake.episodes, intake.told, extraction)
            whole = covered(intake.episodes, candidates)
            facts = sum(not one.verbatim for one in candidates)
            span.count(candidates=len(candidates), facts=facts, **extraction.counts)
            self._note(extraction, trace)
        with trace.span("embed") as span:
            told_by = {one.id: one for one in intake.episodes}
            found_by = {one.content: searched(one, told_by[one.episode_id]) for one in candidates}
            texts = [*found_by.values(), *(one.content for one in intake.episodes if one.id not in whole)]
            vectors, missing = await vectors_in_time(self._embedder, texts, seconds=seconds)
            vectors = {**vectors, **{content: vectors[text] for content, text in found_by.items() if text in vectors}}
            span.count(texts=len(texts), vectors=len(vectors))
        degraded = (*extraction.degraded, *missing)
        return Draft(tuple(candidates), frozenset(whole), vectors, degraded, extraction.unread)

    def _note(self, extraction: Extraction, trace: Trace) -> None:
        if extraction.reader:
            trace.note("extractor", extraction.reader)

    async def _settle(self, intake: Intake, draft: Draft, trace: Trace, *, done: JobDone | None) -> list[Receipt]:
        """Reconcile and apply; again from what is known by then, if others wrote in between."""
        bench = Bench(self._judge, seconds=self._policy.judge_seconds) if self._judge is not None and done else None
        for attempt in range(self._policy.attempts):
            if not intake.episodes and not intake.repeatable and done is None:
                return receipts(intake, (), (), ())
            if bench is not None and attempt:
                bench.close()
            # The first try is free for all; those that lost one queue up, so that each gets its turn.
            async with self._losers if attempt else nullcontext():
                try:
                    return await self._attempt(intake, draft, trace, done, bench)
                except Conflict:
                    if attempt + 1 == self._policy.attempts:
                        raise
                    if done is None:
                        intake = await self._unknown(intake)
        raise AssertionError("unreachable: the last attempt raises or returns")

    async def _attempt(
        self, intake: Intake, draft: Draft, trace: Trace, done: JobDone | None, bench: Bench | None
    ) -> list[Receipt]:
        kept = {one.id for one in intake.episodes}
        if done is not None:
            # What was forgotten or taken back while a language model read it may not come back as its statements.
            entries = await self._store.entries(intake.namespace, list(kept))
            kept -= {one for one, entry in entries.items() if entry.status is not Status.ACTIVE}
            draft = replace(draft, covered=draft.covered & kept)
        candidates = [one for one in draft.candidates if one.episode_id in kept]
        with trace.span("reconcile") as span:
            decisions = await self._reconciled(intake, candidates, draft, bench)
            span.count(**_counted(decisions), **(bench.counts if bench is not None else {}))
            if bench is not None and bench.label:
                trace.note("judge", bench.label)
        draft = replace(draft, covered=draft.covered - _ruled_same(candidates, decisions))
        answers = receipts(intake, candidates, decisions, draft.degraded, undo=intake.key)
        closed = await closed_episodes(
            self._store, intake.namespace, decisions, new=kept if done is None else (), covered=draft.covered
        )
        with trace.span("apply") as span:
            batch = self._batch(intake, draft, decisions, answers, done, closed)
            span.count(puts=len(batch.puts), episodes=len(batch.episodes), embeddings=len(batch.embeddings))
            applied = await self._store.apply(batch)
        return [applied.receipt] * len(answers) if applied.repeated else answers

    async def _reconciled(
        self, intake: Intake, candidates: Sequence[Candidate], draft: Draft, bench: Bench | None
    ) -> list[Decision]:
        episodes = {one.id: one for one in intake.episodes}
        proposed = proposals(
            episodes, intake.told, candidates, draft.vectors, at=self._clock.now(), new_id=self._ids.new
        )
        named = await linked(self._store, intake.namespace, [one.memory for one in proposed])
        proposed = [replace(one, memory=memory) for one, memory in zip(proposed, named, strict=True)]
        model = self._embedder.model if self._embedder is not None else ""
        at = self._clock.now()
        decisions = await reconcile(
            intake.namespace,
            proposed,
            known=self._store,
            neighbours=self._neighbours,
            by=measure(model, floor=self._policy.floor, bound=self._policy.bound),
            at=at,
            bench=bench,
        )
        return [
            explained(decision, candidate, intake.told[candidate.episode_id], at=at)
            for decision, candidate in zip(decisions, candidates, strict=True)
        ]

    def _batch(
        self,
        intake: Intake,
        draft: Draft,
        decisions: Sequence[Decision],
        answers: Sequence[Receipt],
        done: JobDone | None,
        closed: Sequence[str],
    ) -> Batch:
        model = self._embedder.model if self._embedder is not None else ""
        assembled = assemble(decisions, draft.vectors, model=model, actor=intake.actor)
        own = tuple(
            Embedding(one.id, model, draft.vectors[one.content])
            for one in intake.episodes
            if one.id not in draft.covered and one.content in draft.vectors
        )
        jobs: tuple[NewJob, ...] = (embed_later(self._ids, self._clock),) if "embedder" in draft.degraded else ()
        if unread := {one.episode_id for one in draft.unread} & {one.id for one in intake.episodes}:
            jobs += (reread_later(intake, unread, self._ids.new(), at=self._clock.now()),)
        return Batch(
            namespace=intake.namespace,
            key=intake.key if done is None else distil_key(intake.key),
            at=self._clock.now(),
            episodes=intake.episodes if done is None else (),
            puts=assembled.puts,
            embeddings=(*assembled.embeddings, *own),
            jobs=jobs,
            done=done,
            receipt=joined(answers),
            episode_states=(
                *((one.id, EpisodeState.COVERED) for one in intake.episodes if one.id in draft.covered),
                *((one, EpisodeState.CLOSED) for one in closed),
            ),
            reviews=assembled.reviews,
        )


def _slices(requests: Sequence[WriteRequest], policy: WritePolicy) -> Iterator[Sequence[WriteRequest]]:
    """Requests in order, cut into those that share a transaction."""
    part: list[WriteRequest] = []
    messages = characters = 0
    for request in requests:
        size = sum(len(one.content) for one in request.messages if isinstance(one.content, str))
        alone = request.idempotency_key is not None
        full = messages + len(request.messages) > policy.slice_messages or characters + size > policy.quick_characters
        if part and (alone or full):
            yield part
            part, messages, characters = [], 0, 0
        part.append(request)
        messages, characters = messages + len(request.messages), characters + size
        if alone:
            yield part
            part, messages, characters = [], 0, 0
    if part:
        yield part


def _counted(decisions: Sequence[Decision]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for decision in decisions:
        name = outcome_of(decision).action.value
        counts[name] = counts.get(name, 0) + 1
    return counts


def _ruled_same(candidates: Sequence[Candidate], decisions: Sequence[Decision]) -> set[str]:
    """Episodes whose words stand in no memory: a judge took them for the same as other words."""
    return {
        one.episode_id
        for one, decision in zip(candidates, decisions, strict=True)
        if isinstance(decision, Merged) and decision.ruled
    }


def _ids(intake: Intake) -> tuple[str, ...]:
    return tuple(episode.id for episode in intake.episodes)

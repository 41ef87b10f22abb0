"""The core API: each method opens a trace and calls one pipeline."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hindsight.domain.change import Contradiction, Receipt, ReviewChoice, ReviewState, Revision
from hindsight.domain.episode import JsonValue
from hindsight.domain.evaluation import Evaluation
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Memory
from hindsight.domain.page import Order, Page, Stats
from hindsight.domain.pruning import PruneReport
from hindsight.domain.query import Filters, Query, SearchResult
from hindsight.domain.replay import Explanation, Replay
from hindsight.errors import InvalidInput, NotFound
from hindsight.experience.feedback import Feedback
from hindsight.experience.merge import Merger
from hindsight.experience.prune import Pruner, Wanted
from hindsight.experience.record import ExperienceRequest, Recorder, agent_name
from hindsight.language.statement.lexicon import lexicon
from hindsight.observe.trace import Trace
from hindsight.ports import Clock, Embedder, Ids, Index, LanguageModel, Reranker, Store
from hindsight.projection import Projection
from hindsight.search.answers import Answers
from hindsight.search.evaluate import Evaluator, parse_setting
from hindsight.search.pipeline import Searcher
from hindsight.search.replay import Replayer
from hindsight.search.routes import CONTEXT, DEADLINES
from hindsight.upkeep.jobs import Worker
from hindsight.write.amend import Amender
from hindsight.write.pipeline import Writer
from hindsight.write.request import MAX_NAME, WriteRequest, check_text
from hindsight.write.review import decide, reviews_of

log = logging.getLogger(__name__)

MAX_PAGE = 500


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything an engine is made of, chosen by `app`."""

    store: Store
    indexes: tuple[Index, ...]
    projection: Projection
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    writer: Writer
    amender: Amender
    searcher: Searcher
    answers: Answers
    replayer: Replayer
    recorder: Recorder
    merger: Merger
    pruner: Pruner
    feedback: Feedback
    worker: Worker
    language_model: LanguageModel | None = None
    reranker: Reranker | None = None


class Engine:
    """Memory for any number of namespaces. Safe from several tasks of one loop; `aclose` finishes what is queued."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._working: asyncio.Task[None] | None = None

    @property
    def parts(self) -> Parts:
        """What it is made of, for an operator's tools."""
        return self._parts

    def start(self) -> None:
        """Begin to work off jobs in the background."""
        self._working = asyncio.create_task(self._parts.worker.run(), name="hindsight jobs")

    async def aclose(self) -> None:
        """Finish what is queued and close everything; a second call does nothing."""
        if self._working is not None:
            self._working.cancel()
            await asyncio.gather(self._working, return_exceptions=True)
            self._working = None
        parts = self._parts
        await parts.writer.aclose()
        await parts.searcher.aclose()
        await parts.answers.aclose()
        await parts.projection.aclose()
        if parts.embedder is not None:
            await parts.embedder.aclose()
        if parts.language_model is not None:
            await parts.language_model.aclose()
        if parts.reranker is not None:
            await parts.reranker.aclose()
        for index in parts.indexes:
            await index.aclose()
        await parts.store.aclose()

    def now(self) -> datetime:
        """This moment by the engine's clock."""
        return self._parts.clock.now()

    async def ping(self) -> None:
        """Answer if the store does. `StorageUnavailable` if not."""
        await self._parts.store.embedding_model()

    async def warm(self, namespace: str) -> None:
        """Load the models and bring the indexes of a namespace level, so that the first search is quick."""
        if self._parts.embedder is not None:
            await self._parts.embedder.warm()
        await self._parts.projection.warm(_checked(namespace))
        if self._parts.reranker is not None:
            await self._parts.reranker.warm()
        await asyncio.to_thread(lexicon)  # what questions and statements are read with: 40 ms

    async def write(self, namespace: str, request: WriteRequest) -> Receipt:
        """Keep what was said or done."""
        receipt = await self._parts.writer.write(_checked(namespace), request, self._trace(namespace, "write"))
        receipt = await self._parts.merger.settle(namespace, receipt)
        self._written(namespace)
        return receipt

    async def write_many(self, namespace: str, requests: Sequence[WriteRequest]) -> list[Receipt]:
        """Keep many things at once; one receipt each, in order."""
        receipts = await self._parts.writer.write_many(_checked(namespace), requests, self._trace(namespace, "write"))
        receipts = [await self._parts.merger.settle(namespace, receipt) for receipt in receipts]
        self._written(namespace)
        return receipts

    async def write_experience(self, namespace: str, request: ExperienceRequest) -> Receipt:
        """Keep what worked or failed."""
        return await self._parts.recorder.record(_checked(namespace), request, self._trace(namespace, "experience"))

    async def merge_experiences(self, namespace: str, *, agent: str | None = None) -> Receipt:
        """Merge experiences that are for the same situation, wherever they came from."""
        actor = "" if agent is None else agent_name(agent)
        return await self._parts.merger.sweep(_checked(namespace), actor=actor)

    async def prune(self, namespace: str, wanted: Wanted) -> PruneReport:
        """Experiences that are not trusted, or old and hardly used: named, and archived where that is wanted."""
        return await self._parts.pruner.prune(_checked(namespace), wanted)

    async def search(self, namespace: str, query: Query) -> SearchResult:
        """What matters for a question; its trace is kept."""
        trace = self._trace(namespace, "search")
        result = await self._parts.answers.search(_checked(namespace), query, trace)
        await self._parts.store.save_trace(namespace, trace.id, self.now(), trace.body())
        return result

    async def trace(self, namespace: str, trace_id: str) -> dict[str, JsonValue]:
        """The record of one search."""
        body = await self._parts.store.trace(_checked(namespace), check_text("trace_id", trace_id))
        if body is None:
            raise NotFound("trace_id", trace_id)
        return dict(body)

    async def replay(self, namespace: str, trace_id: str, *, as_of_then: bool, weights: object) -> Replay:
        """A traced search run again, and what is different."""
        return await self._parts.replayer.replay(
            _checked(namespace), check_text("trace_id", trace_id), as_of_then=as_of_then, weights=weights
        )

    async def explain(self, namespace: str, trace_id: str, memory_id: str) -> Explanation:
        """What became of a memory, or a turn, in a traced search."""
        whole = await self._resolve(namespace, memory_id)
        return await self._parts.replayer.explain(namespace, check_text("trace_id", trace_id), whole)

    async def evaluate(
        self, namespace: str, questions: Sequence[Mapping[str, object]] | None, a: str | None, b: str | None
    ) -> Evaluation:
        """How well questions with known answers are answered under two settings; `None`: those that had feedback."""
        parts = self._parts
        routes = sorted(DEADLINES.keys() - {CONTEXT})
        sides = [parse_setting(name, given, parts.searcher.in_force, routes) for name, given in (("a", a), ("b", b))]
        evaluator = Evaluator(parts.store, parts.searcher, parts.clock)
        if questions is None:
            return await evaluator.of_feedback(_checked(namespace), sides)
        return await evaluator.of_questions(_checked(namespace), questions, sides)

    async def get(self, namespace: str, memory_id: str) -> Memory:
        """One memory, whatever its status, by its id, whole or short."""
        return await self._memory(namespace, memory_id)

    async def list(
        self, namespace: str, filters: Filters, *, order: Order | str, limit: int, after: str | None
    ) -> Page[Memory]:
        """Memories that match, a page at a time."""
        if order not in tuple(Order):
            raise InvalidInput("order", order, f"one of {', '.join(Order)}")
        return await self._parts.store.find(
            _checked(namespace), filters, order=Order(order), limit=_page_size(limit), after=after
        )

    async def history(self, namespace: str, memory_id: str) -> Sequence[Revision]:
        """Every state of a memory, oldest first."""
        return await self._parts.store.history(namespace, (await self._memory(namespace, memory_id)).id)

    async def update(
        self,
        namespace: str,
        memory_id: str,
        *,
        new_content: str | None,
        confidence: float | None,
        importance: float | None,
    ) -> Receipt:
        """Change a memory; its former state stays in the history."""
        memory = await self._memory(namespace, memory_id)
        receipt = await self._parts.amender.update(
            namespace, memory.id, new_content=new_content, confidence=confidence, importance=importance
        )
        await self._parts.answers.drop(namespace)
        return receipt

    async def pin(self, namespace: str, memory_id: str, *, pinned: bool) -> Receipt:
        """Keep a memory from fading and always in the context block, or let it go."""
        memory = await self._memory(namespace, memory_id)
        return await self._parts.amender.pin(namespace, memory.id, pinned=pinned)

    async def forget(self, namespace: str, memory_id: str, *, decay_factor: float, reason: str) -> Receipt:
        """Weaken a memory by a factor; 1 hides it at once. A turn of a conversation can only be hidden."""
        whole = await self._resolve(namespace, memory_id)
        receipt = await self._parts.amender.forget(namespace, whole, decay_factor=decay_factor, reason=reason)
        await self._parts.answers.drop(namespace)
        return receipt

    async def undo(self, namespace: str, token: str) -> Receipt:
        """Take back what one call changed. `Conflict` if it has been changed since."""
        receipt = await self._parts.amender.undo(_checked(namespace), check_text("token", token))
        await self._parts.answers.drop(namespace)
        return receipt

    async def reviews(
        self, namespace: str, *, state: ReviewState | str, limit: int, after: str | None
    ) -> Page[Contradiction]:
        """Contradictions that only the user can decide, with the memories they are about, oldest first."""
        if state not in tuple(ReviewState):
            raise InvalidInput("state", state, f"one of {', '.join(ReviewState)}")
        if after is not None:
            check_text("after", after)
        return await reviews_of(
            self._parts.store, _checked(namespace), state=ReviewState(state), limit=_page_size(limit), after=after
        )

    async def resolve_review(self, namespace: str, memory_id: str, choice: ReviewChoice | str) -> Receipt:
        """Close a review: `new` holds in place of what it contradicts, `old` goes on, or `both` stand."""
        if choice not in tuple(ReviewChoice):
            raise InvalidInput("choice", choice, f"one of {', '.join(ReviewChoice)}")
        memory = await self._memory(namespace, memory_id)
        parts = self._parts
        return await decide(parts.store, parts.clock, parts.ids, namespace, memory.id, ReviewChoice(choice))

    async def feedback(
        self, namespace: str, memory_id: str, outcome: OutcomeStatus | str, *, note: str, agent: str | None = None
    ) -> Memory:
        """Say whether following an experience worked; `agent` says so."""
        if outcome not in tuple(OutcomeStatus):
            raise InvalidInput("outcome", outcome, f"one of {', '.join(OutcomeStatus)}")
        memory = await self._memory(namespace, memory_id)
        actor = "" if agent is None else agent_name(agent)
        return await self._parts.feedback.give(namespace, memory.id, OutcomeStatus(outcome), note=note, actor=actor)

    async def stats(self, namespace: str) -> Stats:
        """Counts of the namespace."""
        return await self._parts.store.stats(_checked(namespace))

    async def lag(self, namespace: str) -> dict[str, int]:
        """By how many changes each index is behind the store."""
        return await self._parts.projection.lag(_checked(namespace))

    async def namespaces(self) -> Sequence[str]:
        """Every namespace that holds something."""
        return await self._parts.store.namespaces()

    def _written(self, namespace: str) -> None:
        self._parts.worker.wake()
        self._parts.projection.follow(namespace)

    async def _memory(self, namespace: str, memory_id: str) -> Memory:
        """The memory with this id; `InvalidInput` where it is a turn's, which a search gives in its place."""
        whole = await self._resolve(namespace, memory_id)
        memory = (await self._parts.store.memories(namespace, [whole])).get(whole)
        if memory is None:
            raise InvalidInput(
                "memory_id",
                memory_id,
                "the id of a memory; this is a turn of a conversation, kept as it "
                "was said, and it can only be forgotten",
            )
        return memory

    async def _resolve(self, namespace: str, memory_id: str) -> str:
        return await self._parts.store.resolve(
            _checked(namespace), check_text("memory_id", memory_id).strip().removeprefix("#")
        )

    def _trace(self, namespace: str, operation: str) -> Trace:
        return Trace(self._parts.ids.new(), namespace, operation)


def _page_size(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_PAGE:
        raise InvalidInput("limit", limit, f"a whole number from 1 to {MAX_PAGE}")
    return limit


def _checked(namespace: str) -> str:
    if len(check_text("namespace", namespace)) > MAX_NAME:
        raise InvalidInput("namespace", namespace, f"at most {MAX_NAME} characters")
    return namespace

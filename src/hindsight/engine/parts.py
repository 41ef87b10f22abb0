"""What an engine is made of, and how long it lives."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from hindsight.domain.change import JobState
from hindsight.domain.memory import Memory, Status
from hindsight.domain.page import Stats
from hindsight.errors import InvalidInput
from hindsight.experience.feedback import Feedback
from hindsight.experience.merge import Merger
from hindsight.experience.prune import Pruner
from hindsight.experience.record import Recorder
from hindsight.experience.reflect.reflector import Reflector
from hindsight.language.statement.lexicon import lexicon
from hindsight.observe.metrics import Level, Metrics
from hindsight.observe.trace import Trace
from hindsight.ports import Clock, Embedder, Ids, Index, LanguageModel, Reranker, Store
from hindsight.projection import Projection
from hindsight.search.answers import Answers
from hindsight.search.pipeline import Searcher
from hindsight.search.replay import Replayer
from hindsight.upkeep.cleanup import Cleaner
from hindsight.upkeep.forget import Forgetter
from hindsight.upkeep.jobs import Worker
from hindsight.upkeep.purge import Purger
from hindsight.upkeep.schedule import WHOLE, Scheduler
from hindsight.upkeep.sessions import Sessions
from hindsight.upkeep.telling import Teller
from hindsight.write.amend import Amender
from hindsight.write.pipeline import Writer
from hindsight.write.request import MAX_NAME, check_text

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
    cleaner: Cleaner
    feedback: Feedback
    reflector: Reflector
    worker: Worker
    sessions: Sessions
    purger: Purger
    forgetter: Forgetter
    scheduler: Scheduler
    language_model: LanguageModel | None = None
    teller: Teller | None = None
    reranker: Reranker | None = None
    metrics: Metrics = field(default_factory=Metrics)
    slow_search: float = 1.0  # seconds


class Running:
    """The parts at work, from `start` to `aclose`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def parts(self) -> Parts:
        """What it is made of, for an operator's tools."""
        return self._parts

    def start(self) -> None:
        """Begin to work off jobs in the background."""
        parts = self._parts
        self._tasks = [
            asyncio.create_task(parts.worker.run(), name="hindsight jobs"),
            asyncio.create_task(parts.sessions.watch(), name="hindsight sessions"),
            asyncio.create_task(parts.scheduler.watch(), name="hindsight schedule"),
        ]

    async def aclose(self) -> None:
        """Finish what is queued and close everything; a second call does nothing."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
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
        await self._parts.projection.warm(checked(namespace))
        if self._parts.reranker is not None:
            await self._parts.reranker.warm()
        await asyncio.to_thread(lexicon)  # what questions and statements are read with: 40 ms

    async def stats(self, namespace: str) -> Stats:
        """Counts of the namespace."""
        return await self._parts.store.stats(checked(namespace))

    async def lag(self, namespace: str) -> dict[str, int]:
        """By how many changes each index is behind the store."""
        return await self._parts.projection.lag(checked(namespace))

    async def namespaces(self) -> Sequence[str]:
        """Every namespace that holds something."""
        return await self._parts.store.namespaces()

    async def level(self) -> Level:
        """How things stand, for operators."""
        store, now = self._parts.store, self.now()
        queue: Counter[tuple[str, str]] = Counter()
        oldest, lag, memories = 0.0, 0, 0
        namespaces = await store.namespaces()
        for namespace in (*namespaces, WHOLE):
            for job in await store.jobs(namespace):
                queue[job.kind, job.state.value] += 1
                if job.state is not JobState.DEAD:
                    oldest = max(oldest, (now - job.run_at).total_seconds())
        for namespace in namespaces:
            lag = max(lag, *(await self.lag(namespace)).values())
            memories += (await store.stats(namespace)).memories_by_status.get(Status.ACTIVE, 0)
        return Level(queue=queue, oldest_job=oldest, index_lag=lag, memories=memories)

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
            checked(namespace), check_text("memory_id", memory_id).strip().removeprefix("#")
        )

    @contextmanager
    def _call(self, namespace: str, operation: str) -> Iterator[Trace]:
        """The trace of a call, and its counts for operators."""
        trace = Trace(self._parts.ids.new(), checked(namespace), operation)
        with self._parts.metrics.call(trace):
            yield trace


def page_size(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_PAGE:
        raise InvalidInput("limit", limit, f"a whole number from 1 to {MAX_PAGE}")
    return limit


def checked(namespace: str) -> str:
    if len(check_text("namespace", namespace)) > MAX_NAME:
        raise InvalidInput("namespace", namespace, f"at most {MAX_NAME} characters")
    return namespace

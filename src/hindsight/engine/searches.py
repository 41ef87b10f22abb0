"""Searching, and what is known of searches that were made."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from time import perf_counter

from hindsight.domain.episode import JsonValue
from hindsight.domain.evaluation import Evaluation
from hindsight.domain.query import Query, SearchResult
from hindsight.domain.replay import Explanation, Replay
from hindsight.engine.parts import Running, checked
from hindsight.errors import NotFound
from hindsight.observe.trace import Trace
from hindsight.search.evaluate import Evaluator, parse_setting
from hindsight.search.routes import CONTEXT, DEADLINES
from hindsight.write.request import check_text

log = logging.getLogger(__name__)


class Searches(Running):
    """Searching, and what is known of searches that were made."""

    async def search(self, namespace: str, query: Query) -> SearchResult:
        """What matters for a question; its trace is kept."""
        started = perf_counter()
        with self._call(namespace, "search") as trace:
            result = await self._parts.answers.search(namespace, query, trace)
        self._tell_if_slow(trace, perf_counter() - started)
        self._parts.metrics.answered(cached=result.cached, confident=result.confident, degraded=result.degraded)
        await self._parts.store.save_trace(namespace, trace.id, self.now(), trace.body())
        return result

    def _tell_if_slow(self, trace: Trace, seconds: float) -> None:
        """Which stage took the time; what was asked is in the trace, which is behind its namespace."""
        if seconds >= self._parts.slow_search:
            stages = ", ".join(f"{span.name} {span.seconds:.3f}" for span in trace.spans)
            log.warning("a search took %.3f s (trace %s): %s", seconds, trace.id, stages)

    async def trace(self, namespace: str, trace_id: str) -> dict[str, JsonValue]:
        """The record of one search."""
        body = await self._parts.store.trace(checked(namespace), check_text("trace_id", trace_id))
        if body is None:
            raise NotFound("trace_id", trace_id)
        return dict(body)

    async def replay(self, namespace: str, trace_id: str, *, as_of_then: bool, weights: object) -> Replay:
        """A traced search run again, and what is different."""
        return await self._parts.replayer.replay(
            checked(namespace), check_text("trace_id", trace_id), as_of_then=as_of_then, weights=weights
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
            return await evaluator.of_feedback(checked(namespace), sides)
        return await evaluator.of_questions(checked(namespace), questions, sides)

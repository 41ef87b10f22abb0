"""Searching, and what is known of searches that were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from hindsight.domain.episode import JsonValue
from hindsight.domain.evaluation import Evaluation
from hindsight.domain.query import Filters, SearchResult, TimeRange
from hindsight.domain.replay import Explanation, Replay
from hindsight.embedded.opening import Opened
from hindsight.search.request import parse_query


class Searches(Opened):
    """Searching, and what is known of searches that were made."""

    async def search(
        self,
        query: str,
        *,
        namespace: str | None = None,
        top_k: int | None = None,
        session_id: str | None = None,
        time_range: TimeRange | str | None = None,
        filters: Filters | Mapping[str, object] | None = None,
        asked_at: datetime | str | None = None,
        max_tokens: int | None = None,
        as_of: datetime | str | None = None,
    ) -> SearchResult:
        """What matters for a question, ranked, with the context block. `session_id` asks for that session only."""
        engine = await self.engine()
        question = parse_query(
            query,
            now=engine.now(),
            timezone=self._settings.timezone,
            top_k=top_k,
            session_id=session_id,
            time_range=time_range,
            filters=filters,
            asked_at=asked_at,
            max_tokens=max_tokens,
            as_of=as_of,
        )
        return await engine.search(self._within(namespace), question)

    async def trace(self, trace_id: str, *, namespace: str | None = None) -> dict[str, JsonValue]:
        """The record of one search by the `trace_id` of its result. `NotFound` once it is no longer kept."""
        return await (await self.engine()).trace(self._within(namespace), trace_id)

    async def replay(
        self,
        trace_id: str,
        *,
        namespace: str | None = None,
        as_of_then: bool = False,
        weights: str | Mapping[str, float] | None = None,
    ) -> Replay:
        """Run a traced search again with the clock, use counts and weights of then, and tell what is different.

        `as_of_then` asks the store as it was. `weights`: a preset, `now`, or numbers by name in place of those of then.
        """
        engine = await self.engine()
        return await engine.replay(self._within(namespace), trace_id, as_of_then=as_of_then, weights=weights)

    async def explain(self, trace_id: str, memory_id: str, *, namespace: str | None = None) -> Explanation:
        """Why a traced search did, or did not, return a memory: the stage that lost it."""
        return await (await self.engine()).explain(self._within(namespace), trace_id, memory_id)

    async def evaluate(
        self,
        questions: Sequence[Mapping[str, object]] | None = None,
        *,
        namespace: str | None = None,
        a: str | None = None,
        b: str | None = None,
    ) -> Evaluation:
        """How well questions with known answers are answered under the settings `a` and `b`, each by default the one
        in force, for instance `weights=balanced;routes=keyword;rerank=off`.

        `questions`: objects with `query`, `relevant` (ids) and `asked_at`; `None` takes the stored searches that had
        feedback. Nothing is written.
        """
        return await (await self.engine()).evaluate(self._within(namespace), questions, a, b)

    async def warm(self, *, namespace: str | None = None) -> None:
        """Load now what would otherwise load at the first search."""
        await (await self.engine()).warm(self._within(namespace))

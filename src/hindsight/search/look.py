"""Looking for what a question asks: once as it stands, and again by its parts or in other words where needed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from hindsight.domain.query import Query, Weights
from hindsight.errors import Unavailable
from hindsight.observe.trace import Json, Trace
from hindsight.ports import Embedder, Store
from hindsight.projection import Projection
from hindsight.search.frozen import Frozen, recalled_then, widened
from hindsight.search.rank import Ranking, rank
from hindsight.search.rewrite import MOST, Rewriter
from hindsight.search.routes import Recalled, Routes, recall
from hindsight.search.several import with_parts, with_rewordings
from hindsight.search.spread import spread
from hindsight.search.understand import Question, understand
from hindsight.search.widen import by_other_names, by_other_words, reworded

EXPANSION = "expansion"  # the name under which a search says that the language model gave no other wording
# Seconds: other words are looked for only where a first look was quick, and are given up in time for its answer.
QUICK, WIDENING = 1.0, 1.2
TRACED = 10  # hits of a part or another wording that a trace keeps

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Expansion:
    """Whether a question that finds nothing fitting is put in other words: by rules, and by a model if there is one."""

    on: bool = True
    rewriter: Rewriter | None = None


@dataclass(frozen=True, slots=True)
class Looked:
    """What a question came to. `missing`: routes that did not answer, of any look."""

    recalled: Recalled
    ranking: Ranking
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """One namespace, looked at as it was when `head` was read. `frozen`: what a replay holds still."""

    store: Store
    projection: Projection
    embedder: Embedder | None
    routes: Routes
    weights: Weights
    namespace: str
    head: int
    frozen: Frozen

    async def once(self, question: Question, trace: Trace) -> Looked:
        """The question as it stands: recall, then rank."""
        past = self.frozen.past
        with trace.span("routes"):
            recalled = await recall(
                self.projection,
                self.embedder,
                self.namespace,
                widened(question, past),
                head=self.head,
                routes=self.routes,
                trace=trace,
            )
        recalled = await recalled_then(self.store, self.namespace, question, recalled, past)
        with trace.span("rank") as span:
            ranking = await rank(
                self.store,
                self.projection,
                self.namespace,
                question,
                recalled,
                self.weights,
                head=self.head,
                frozen=self.frozen,
            )
            span.count(ranked=len(ranking.ranked), outside_pool=ranking.outside_pool)
        if question.open:
            ranking = spread(ranking, question.windows, question.most)
        return Looked(recalled, ranking, recalled.missing)

    async def fully(self, question: Question, expansion: Expansion, trace: Trace) -> Looked:
        """The question, each of its parts beside it, and other words for it where nothing fits."""
        clock = asyncio.get_running_loop().time
        begun = clock()
        if not question.parts:
            whole = await self.once(question, trace)
        else:
            parts = [_part(question, text) for text in question.parts]
            whole, found = await asyncio.gather(self.once(question, trace), self._aside(parts, "parts", trace))
            ranking = with_parts(whole.ranking, [one.ranking for one in found])
            whole = Looked(whole.recalled, ranking, _missing([whole, *found]))
        if clock() - begun > QUICK:
            return whole
        try:
            async with asyncio.timeout(WIDENING):
                return await self._widened(whole, question, expansion, trace)
        except TimeoutError:
            return replace(whole, missing=(*whole.missing, EXPANSION))

    async def _widened(self, first: Looked, question: Question, expansion: Expansion, trace: Trace) -> Looked:
        more = by_other_names(question, first.ranking)
        missing: tuple[str, ...] = ()
        if expansion.on and not first.ranking.confident and not question.bare and not question.open:
            more += by_other_words(question)
            said, missing = await self._said_otherwise(question, expansion.rewriter, trace)
            more += said
        more = more[:MOST]
        if not more:
            return replace(first, missing=(*first.missing, *missing)) if missing else first
        found = await self._aside(more, "wordings", trace)
        ranking = with_rewordings(first.ranking, [one.ranking for one in found])
        return Looked(first.recalled, ranking, (*_missing([first, *found]), *missing))

    async def _said_otherwise(
        self, question: Question, rewriter: Rewriter | None, trace: Trace
    ) -> tuple[list[Question], tuple[str, ...]]:
        """The question in a language model's words, and what was missing."""
        if rewriter is None or self.frozen.past is not None:  # a replay asks no model: its answer would be another
            return [], ()
        try:
            with trace.span(EXPANSION):
                texts = await rewriter.rewrite(question.text)
        except Unavailable as error:
            _log.warning("no other wording of a question: %s", error)
            return [], (EXPANSION,)
        trace.note("rewriter", rewriter.label)
        return [reworded(question, text) for text in texts], ()

    async def _aside(self, questions: Sequence[Question], name: str, trace: Trace) -> list[Looked]:
        """Looks beside the first, each with a record of its own that the trace keeps under this name."""
        records = [Trace("", self.namespace, "search") for _ in questions]
        looked = await asyncio.gather(*map(self.once, questions, records))
        if looked:
            trace.note(name, [_noted(*one) for one in zip(questions, looked, records, strict=True)])
        return looked


def _part(question: Question, text: str) -> Question:
    """A part of a question, under the same filters and the same clock."""
    part = understand(Query(text, question.asked_at, top_k=question.most, filters=question.filters))
    return replace(part, windows=part.windows or question.windows, parts=(), max_tokens=question.max_tokens)


def _missing(looked: Sequence[Looked]) -> tuple[str, ...]:
    return tuple(sorted({name for one in looked for name in one.missing}))


def _noted(question: Question, looked: Looked, record: Trace) -> Json:
    """What a look aside asked and found, and how long its stages took."""
    given: list[Json] = [[one.entry.id, round(one.score, 4)] for one in looked.ranking.ranked[:TRACED]]
    stages = cast("list[Json]", record.body()["stages"])
    return {"query": question.meaning, "terms": list[Json](question.terms), "found": given, "stages": stages}

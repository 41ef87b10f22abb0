"""The best of a ranking read again by a model that sees question and text together."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from hindsight.domain.entry import Entry
from hindsight.errors import Unavailable
from hindsight.observe.trace import Trace
from hindsight.ports import Reranker
from hindsight.search.rank import Ranked, Ranking
from hindsight.search.understand import Question

RERANK: Final = "rerank"
GRACE: Final = 0.25  # seconds that a reranker may go on after its deadline before it is given up

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reranking:
    """How many of the best the model reads, how many seconds it has, and how much its word counts, 0 to 1."""

    reranker: Reranker
    candidates: int = 30
    deadline: float = 1.0
    weight: float = 0.3


async def rerank(
    reranking: Reranking | None, question: Question, ranking: Ranking, trace: Trace, *, within: float = math.inf
) -> tuple[Ranking, tuple[str, ...]]:
    """The ranking in its new order, and what was missing.

    Score and relevance become `(1 - weight) · what they were + weight · the model's`; what the model did not read
    counts as 0 for it and so stays behind. A model that is late or fails changes nothing and is named. `within`: the
    seconds that are left, where these are fewer than its own.
    """
    if reranking is None or not ranking.ranked:
        return ranking, ()
    model = reranking.reranker
    allowed = min(reranking.deadline, within - GRACE)
    read = ranking.ranked[: reranking.candidates]
    with trace.span(RERANK) as span:
        try:
            if allowed <= 0:
                raise TimeoutError
            async with asyncio.timeout(allowed + GRACE):
                texts = [_text_of(one.entry) for one in read]
                scores = await model.score(question.text, texts, within=allowed)
        except (TimeoutError, Unavailable) as error:
            reason = str(error) or f"no answer in {max(0.0, allowed):g} s"
            _log.warning("search goes on in the order of its first stage: %s", reason)
            trace.note(RERANK, {"model": model.model, "missing": reason})
            return ranking, (RERANK,)
        span.count(read=len(read))
        fused = _fused(ranking.ranked, scores, reranking.weight)
        moved = sum(one.entry.id != before.entry.id for one, before in zip(fused, ranking.ranked, strict=True))
        trace.note(RERANK, {"model": model.model, "weight": reranking.weight, "read": len(read), "moved": moved})
    return replace(ranking, ranked=fused), ()


def _fused(ranked: Sequence[Ranked], scores: Sequence[float], weight: float) -> tuple[Ranked, ...]:
    read = [_with(one, score, weight) for one, score in zip(ranked, scores, strict=False)]
    read.sort(key=lambda one: (-one.score, one.entry.id))
    return (*read, *(_with(one, None, weight) for one in ranked[len(scores) :]))


def _with(one: Ranked, score: float | None, weight: float) -> Ranked:
    said = score or 0.0
    relevance = (1.0 - weight) * one.parts.relevance + weight * said
    return replace(
        one,
        signals=one.signals if score is None else {**one.signals, RERANK: score},
        parts=replace(one.parts, relevance=relevance),
        score=(1.0 - weight) * one.score + weight * said,
    )


def _text_of(entry: Entry) -> str:
    """With who said it, which the text of an entry leaves out."""
    return f"{entry.speaker}: {entry.content}" if entry.speaker else entry.content

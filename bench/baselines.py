"""Plain means beside which a search must show its worth: BM25, and the cosine of one encoder, over bare turns."""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from bench.data import Item, Question
from bench.recall import by_scope
from hindsight.language.segment import index_terms, query_terms
from hindsight.models.embedder import UseMultilingual

K1, B = 1.2, 0.75
DEPTH = 20

Values = NDArray[np.float64]


def by_bm25(items: Sequence[Item], questions: Sequence[Question]) -> list[list[str]]:
    """The best turns for each question by Okapi BM25, in hindsight's terms, the speaker's name among them."""
    scopes = {scope: _Postings.of(held) for scope, held in by_scope(items).items()}
    return [
        _best(question, scopes[question.scope].items, scopes[question.scope].scores(question.query))
        for question in questions
    ]


def by_vector(items: Sequence[Item], questions: Sequence[Question]) -> list[list[str]]:
    """The best turns for each question by the cosine of the encoder that ships with hindsight."""
    scopes = by_scope(items)
    asked = {question.scope for question in questions}

    async def embedded() -> tuple[dict[str, Values], Values]:
        model = UseMultilingual()
        try:
            turns = {scope: await model.embed([item.text for item in scopes[scope]]) for scope in asked}
            return {scope: rows.astype(np.float64) for scope, rows in turns.items()}, (
                await model.embed([question.query for question in questions])
            ).astype(np.float64)
        finally:
            await model.aclose()

    turns, queries = asyncio.run(embedded())
    return [
        _best(question, scopes[question.scope], turns[question.scope] @ query)
        for question, query in zip(questions, queries, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Postings:
    """Where each term stands: numbers of items, and what it adds to the score of each."""

    items: Sequence[Item]
    found: dict[str, tuple[NDArray[np.intp], Values]]

    @classmethod
    def of(cls, items: Sequence[Item]) -> _Postings:
        counts = [Counter(index_terms(f"{item.speaker or ''} {item.text}")) for item in items]
        lengths = np.array([sum(count.values()) for count in counts], np.float64)
        norms = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        rows: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for term, times in count.items():
                rows[term].append((place, times))
        found = {}
        for term, held in rows.items():
            places = np.array([place for place, _ in held], np.intp)
            often = np.array([times for _, times in held], np.float64)
            idf = math.log(1 + (len(items) - len(held) + 0.5) / (len(held) + 0.5))
            found[term] = (places, idf * often * (K1 + 1) / (often + norms[places]))
        return cls(items, found)

    def scores(self, query: str) -> Values:
        scores = np.zeros(len(self.items))
        for term in set(query_terms(query)):
            if term in self.found:
                held, gains = self.found[term]
                scores[held] += gains
        return scores


def _best(question: Question, items: Sequence[Item], scores: Values) -> list[str]:
    """The items that may be searched, best first; of equals the one that was said first."""
    ranked: list[str] = []
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    for place in order:
        if len(ranked) == DEPTH:
            break
        if _may_answer(question, items[place]):
            ranked.append(items[place].id)
    return ranked


def _may_answer(question: Question, item: Item) -> bool:
    """As `bench.recall` asks: from the middle of a history, only what was earlier, and not from its own session."""
    if item.session_id is not None and item.session_id in question.exclude_sessions:
        return False
    earliest = datetime.min.replace(tzinfo=UTC)
    return not question.midway or question.asked_at is None or (item.occurred_at or earliest) < question.asked_at

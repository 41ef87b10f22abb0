"""Candidates of all routes made into one ranking: signals, the four parts of the score, one hit per thing said."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from hindsight.domain import ranking
from hindsight.domain.entry import Entry
from hindsight.domain.memory import Kind
from hindsight.domain.page import Use
from hindsight.domain.query import Weights
from hindsight.domain.ranking import DENSE, LEXICAL, SPEAKER, Parts
from hindsight.language.fold import fold
from hindsight.language.segment import query_terms
from hindsight.ports import Store
from hindsight.search.routes import Recalled
from hindsight.search.understand import Question

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Entries are read for so many of the best candidates. On LoCoMo a pool of 60 gives the recall@10 of ranking all.
POOL = 60
POOL_PER_HIT = 3
# A fact stands for the episode it came from if it fits at least this well beside it; else the episode's other words
# are what was asked for, and it is found as itself.
STANDS_FOR = 0.6
DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate with everything its place rests on. `stands_for`: ids of episodes it is the hit of."""

    entry: Entry
    signals: Mapping[str, float]
    parts: Parts
    score: float
    stands_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """All ranked candidates, best first. `confident`: the best fits well on an absolute scale."""

    ranked: tuple[Ranked, ...]
    confident: bool
    outside_pool: int = 0


async def rank(store: Store, namespace: str, question: Question, recalled: Recalled, weights: Weights) -> Ranking:
    """Score the candidates. Reads entries, use counts and missing vectors of the best `POOL` in one round."""
    signals = _signals(recalled)
    pool = _pool(signals, max(POOL, POOL_PER_HIT * question.most))
    entries, uses, cosines = await asyncio.gather(
        store.entries(namespace, pool),
        _uses(store, namespace, pool, weights),
        _missing_cosines(store, namespace, pool, recalled),
    )
    for found, cosine in cosines.items():
        signals[found][DENSE] = _dense(cosine, recalled)
    # The store has the last word: an index may not have seen yet that an entry went or changed.
    current = [entries[found] for found in pool if found in entries and question.filters.matches(entries[found])]
    ranked = _facts_for_episodes(_scored(current, signals, uses, question, recalled, weights))
    return Ranking(tuple(ranked), confident=_confident(ranked, recalled), outside_pool=len(signals) - len(pool))


class Distinct:
    """Tells what repeats something seen before, word for word once folded; one at a time, as folding takes time."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def is_new(self, ranked: Ranked) -> bool:
        """Whether nothing seen so far says the same; from now on it counts as seen."""
        # Two experiences may answer the same situation in different ways: both are told.
        apart = ranked.entry.id if ranked.entry.kind is Kind.EXPERIENCE else ""
        key = (fold(ranked.entry.content).strip(), apart)
        new = key not in self._seen
        self._seen.add(key)
        return new


def _signals(recalled: Recalled) -> dict[str, dict[str, float]]:
    """Signals by name of every candidate."""
    signals: dict[str, dict[str, float]] = {}
    if recalled.words is not None and recalled.words.hits:
        best, ceiling = recalled.words.hits[0].score, recalled.words.ceiling
        for hit in recalled.words.hits:
            signals[hit.id] = {LEXICAL: ranking.lexical_signal(hit.score, best=best, ceiling=ceiling)}
    if recalled.meaning is not None:
        calibration = ranking.calibration_of(recalled.meaning.model)
        for hit in recalled.meaning.hits:
            signals.setdefault(hit.id, {})[DENSE] = ranking.dense_signal(hit.score, calibration)
    return signals


def _pool(signals: Mapping[str, Mapping[str, float]], size: int) -> list[str]:
    """The candidates that fit best by what their routes say."""
    lexical, dense = ranking.SIGNAL_WEIGHTS[LEXICAL], ranking.SIGNAL_WEIGHTS[DENSE]
    rough = [
        (-lexical * found.get(LEXICAL, 0.0) - dense * found.get(DENSE, 0.0), entry_id)
        for entry_id, found in signals.items()
    ]
    rough.sort()
    return [entry_id for _, entry_id in rough[:size]]


def _in_play(recalled: Recalled) -> list[str]:
    answered = {LEXICAL: recalled.words, DENSE: recalled.meaning}
    return [name for name, found in answered.items() if found is not None]


async def _uses(store: Store, namespace: str, ids: Sequence[str], weights: Weights) -> Mapping[str, Use]:
    return await store.uses(namespace, ids) if weights.use else {}


async def _missing_cosines(
    store: Store, namespace: str, pool: Sequence[str], recalled: Recalled
) -> Mapping[str, float]:
    """Cosines of what only words found: without them a route's limit would decide, not the meaning."""
    if recalled.meaning is None:
        return {}
    known = {hit.id for hit in recalled.meaning.hits}
    missing = [found for found in pool if found not in known]
    if not missing:
        return {}
    vectors: Mapping[str, NDArray[np.float32]] = await store.vectors(namespace, missing, model=recalled.meaning.model)
    return {found: float(vector @ recalled.meaning.query) for found, vector in vectors.items()}


def _dense(cosine: float, recalled: Recalled) -> float:
    assert recalled.meaning is not None  # cosines come from its vector
    return ranking.dense_signal(cosine, ranking.calibration_of(recalled.meaning.model))


def _scored(
    entries: Sequence[Entry],
    signals: dict[str, dict[str, float]],
    uses: Mapping[str, Use],
    question: Question,
    recalled: Recalled,
    weights: Weights,
) -> list[Ranked]:
    asked = frozenset(question.terms)
    named = {entry.id for entry in entries if entry.speaker and _names(entry.speaker, asked)}
    for found in named:
        signals[found][SPEAKER] = 1.0
    scale = ranking.relevance_scale([*_in_play(recalled), *((SPEAKER,) if named else ())])
    now = (question.filters.as_of or question.asked_at).timestamp()
    ranked = []
    for entry in entries:
        used = uses.get(entry.id)
        parts = Parts(
            relevance=ranking.relevance(signals[entry.id], scale=scale),
            freshness=ranking.freshness((now - entry.occurred_at.timestamp()) / DAY_SECONDS),
            importance=entry.importance,
            use=0.0 if used is None else ranking.use(used.count),
        )
        ranked.append(Ranked(entry, signals[entry.id], parts, parts.score(weights)))
    return sorted(ranked, key=_place)


def _place(ranked: Ranked) -> tuple[float, str]:
    return -ranked.score, ranked.entry.id


def _names(speaker: str, asked: frozenset[str]) -> bool:
    """Whether the question names a speaker: any word of a name in letters, all pieces of a Chinese one."""
    words, pieces = _name_terms(speaker)
    return not words.isdisjoint(asked) or bool(pieces and pieces <= asked)


@lru_cache(maxsize=4096)
def _name_terms(speaker: str) -> tuple[frozenset[str], frozenset[str]]:
    terms = query_terms(speaker)
    words = frozenset(term for term in terms if term.isascii())
    return words, frozenset(terms) - words


def _facts_for_episodes(ranked: Sequence[Ranked]) -> list[Ranked]:
    """An episode and a fact that came of it are one hit: the fact, with the better score of the two.

    The episode stays where its facts fit clearly worse: then it was found by words that no fact has.
    """
    episodes = {one.entry.id: one for one in ranked if one.entry.kind is None}
    lifted: dict[str, Ranked] = {}
    stood_for: set[str] = set()
    for one in ranked:  # best first: an episode goes to the best of its facts
        for episode_id in one.entry.episode_ids if one.entry.kind is not None else ():
            episode = episodes.get(episode_id)
            if episode is None or episode_id in stood_for:
                continue
            if one.parts.relevance >= STANDS_FOR * episode.parts.relevance:
                stood_for.add(episode_id)
                now = lifted.get(one.entry.id, one)
                lifted[one.entry.id] = replace(
                    now, score=max(now.score, episode.score), stands_for=(*now.stands_for, episode_id)
                )
    kept = [lifted.get(one.entry.id, one) for one in ranked if one.entry.id not in stood_for]
    return sorted(kept, key=_place)


def _confident(ranked: Sequence[Ranked], recalled: Recalled) -> bool:
    if not ranked:
        return False
    coverage = None
    if recalled.words is not None:
        scores = {hit.id: hit.score for hit in recalled.words.hits}
        best = max(scores.get(found, 0.0) for found in (ranked[0].entry.id, *ranked[0].stands_for))
        coverage = best / recalled.words.ceiling if recalled.words.ceiling > 0 else 0.0
    closeness = None if recalled.meaning is None else ranked[0].signals.get(DENSE, 0.0)
    return ranking.fits(coverage, closeness)

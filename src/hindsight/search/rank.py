"""Candidates of all routes made into one ranking: signals, the four parts of the score, one hit per thing said."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from heapq import heappop, heappush

from hindsight.domain import ranking
from hindsight.domain.entry import Entry
from hindsight.domain.memory import Kind
from hindsight.domain.query import Weights
from hindsight.domain.ranking import BREADTH, DENSE, SPEAKER, Parts
from hindsight.domain.shelf_life import importance_at
from hindsight.language.fold import fold
from hindsight.language.segment import query_terms
from hindsight.ports import Store
from hindsight.search.candidates import Candidates
from hindsight.search.frozen import Frozen, as_they_were
from hindsight.search.routes import Recalled
from hindsight.search.understand import Question

# Entries are read for so many of the best candidates, who spoke being known only then. On LoCoMo a pool of 100 gives
# the recall@10 of ranking all, one of 60 loses 0.1.
POOL = 100
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
    """All ranked candidates, best first. `confident`: the best fits well on an absolute scale.

    `scale`: what relevance was divided by; `lift`: the share of their weight that the parts next to it had. `uses`: the
    counts that went into it. `candidates`: all that were found, from which the pool was taken.
    """

    ranked: tuple[Ranked, ...]
    confident: bool
    outside_pool: int = 0
    scale: float = 0.0
    lift: float = 1.0
    uses: Mapping[str, int] = field(default_factory=dict)
    candidates: Candidates | None = None


NOW = Frozen()


async def rank(
    store: Store, namespace: str, question: Question, recalled: Recalled, weights: Weights, frozen: Frozen = NOW
) -> Ranking:
    """Score the candidates. Reads entries and use counts of the best `POOL` in one round."""
    candidates = Candidates.of(recalled, question.windows)
    pool = candidates.best(max(POOL, POOL_PER_HIT * question.most))
    signals = candidates.signals_of(pool)
    entries, uses = await asyncio.gather(
        store.entries(namespace, list(signals)), _uses(store, namespace, list(signals), weights, frozen)
    )
    if frozen.past is not None:
        entries = await as_they_were(store, namespace, entries, frozen.past)
    # The store has the last word: an index may not have seen yet that an entry went or changed.
    current = [entries[found] for found in signals if found in entries and question.filters.matches(entries[found])]
    scale, ranked = _scored(current, signals, uses, question, candidates.in_play())
    best = max(ranked, key=lambda one: one.parts.relevance, default=None)
    answered = best is not None and _fits(best, candidates, recalled)
    lift = ranking.lift_of(weights, best.parts.relevance if best else 0.0, answered=answered)
    ranked = sorted((replace(one, score=one.parts.score(weights, lift)) for one in ranked), key=_place)
    ranked = _broad(_facts_for_episodes(ranked), candidates, weights.relevance / scale if scale else 0.0)
    outside = len(candidates.ids) - len(signals)
    confident = bool(ranked) and _fits(ranked[0], candidates, recalled)
    return Ranking(tuple(ranked), confident, outside, scale, lift, uses, candidates)


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


async def _uses(
    store: Store, namespace: str, ids: Sequence[str], weights: Weights, frozen: Frozen
) -> Mapping[str, int]:
    if frozen.uses is not None:
        return {found: frozen.uses[found] for found in ids if found in frozen.uses}
    uses = await store.uses(namespace, ids) if weights.use else {}
    return {found: use.count for found, use in uses.items()}


def _scored(
    entries: Sequence[Entry],
    signals: dict[str, dict[str, float]],
    uses: Mapping[str, int],
    question: Question,
    in_play: Sequence[str],
) -> tuple[float, list[Ranked]]:
    """The scale of relevance, and the entries with their parts, not weighed yet."""
    asked = frozenset(question.terms)
    named = {entry.id for entry in entries if entry.speaker and _names(entry.speaker, asked)}
    for found in named:
        signals[found][SPEAKER] = 1.0
    scale = ranking.relevance_scale([*in_play, *((SPEAKER,) if named else ())])
    moment = question.filters.as_of or question.asked_at
    now = moment.timestamp()
    ranked = []
    for entry in entries:
        parts = Parts(
            relevance=ranking.relevance(signals[entry.id], scale=scale),
            freshness=ranking.freshness((now - entry.occurred_at.timestamp()) / DAY_SECONDS),
            importance=importance_at(entry.importance, entry.valid_to, moment),
            use=ranking.use(uses.get(entry.id, 0)),
        )
        ranked.append(Ranked(entry, signals[entry.id], parts, 0.0))
    return scale, ranked


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


def _broad(ranked: Sequence[Ranked], candidates: Candidates, unit: float) -> list[Ranked]:
    """The same hits so that no transcript fills the answer, and no turn: a hit costs the others of its own a step.

    `unit`: what one unit of a signal is worth in the score.
    """
    given: Counter[int] = Counter()
    told: Counter[str] = Counter()
    # Best first is a heap. Behind a place: what it has lost so far, and itself.
    waiting = [(*_place(one), 0.0, one) for one in ranked]
    broad: list[Ranked] = []
    while waiting:
        behind, entry_id, lost, one = heappop(waiting)
        session, step = candidates.session_and_step(entry_id)
        episodes = one.entry.episode_ids
        again = min((told[episode] for episode in episodes), default=0)  # what rests on more has more to say
        loss = step * given[session] + ranking.TOLD_AGAIN * again
        if loss > lost:
            heappush(waiting, (behind + unit * (loss - lost), entry_id, loss, one))
            continue
        given[session] += 1
        told.update(episodes)
        broad.append(replace(one, signals={**one.signals, BREADTH: -lost}, score=-behind) if lost else one)
    return broad


def _fits(best: Ranked, candidates: Candidates, recalled: Recalled) -> bool:
    coverage = None
    if recalled.words is not None:
        bm25 = max(candidates.bm25(found) for found in (best.entry.id, *best.stands_for))
        coverage = bm25 / recalled.words.ceiling if recalled.words.ceiling > 0 else 0.0
    closeness = None if recalled.meaning is None else best.signals.get(DENSE, 0.0)
    return ranking.fits(coverage, closeness)

"""Experiences in a ranking, put in the order in which their triggers fit the situation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hindsight.domain.experience import Experience
from hindsight.domain.memory import Kind
from hindsight.domain.query import Weights
from hindsight.domain.ranking import DENSE, SITUATION
from hindsight.observe.trace import Trace
from hindsight.ports import Store
from hindsight.search.rank import DAY_SECONDS, Ranked, Ranking
from hindsight.search.trigger import CONTRADICTED, Fit, fits
from hindsight.search.understand import Question

FIT = "fit"
OTHER = "other_"  # and what is another one: a signal of the value 1
# Of experiences that fit alike, the more trusted goes first, then the newer one: full distrust costs so much of a fit,
# and an age without bound the other. What fits clearly better is never overtaken.
TRUST, AGE, HALF_AGE_DAYS = 0.1, 0.05, 180.0


async def matched(
    store: Store, namespace: str, question: Question, ranking: Ranking, weights: Weights, trace: Trace
) -> Ranking:
    """The ranking with its experiences by situation.

    Where nothing but experiences was found, how well they fit is their relevance, and the answer is confident if the
    first one matches. Among other memories they keep the places that they have together, the one that fits best in the
    first of them, and those made for another situation fall behind.
    """
    told = [one for one in ranking.ranked if one.entry.kind is Kind.EXPERIENCE]
    if not told or not question.terms:  # asked for whatever there is, not for a situation
        return ranking
    with trace.span("situations") as span:
        memories = await store.memories(namespace, [one.entry.id for one in told])
        found = {name: held.body for name, held in memories.items() if isinstance(held.body, Experience)}
        told = [one for one in told if one.entry.id in found]
        bodies = [found[one.entry.id] for one in told]
        near = [one.signals.get(DENSE, 0.0) for one in told]
        judged = {one.entry.id: fit for one, fit in zip(told, fits(question.text, bodies, near), strict=True)}
        span.count(read=len(told), matching=sum(fit.matches for fit in judged.values()))
    alone = len(judged) == len(ranking.ranked)
    ordered = _alone(ranking, judged, question, weights) if alone else _among(ranking.ranked, told, judged)
    ranked = tuple(sorted(ordered, key=lambda one: (-one.score, one.entry.id)))
    first = judged.get(ranked[0].entry.id)
    if first is None:
        return replace(ranking, ranked=ranked)
    return replace(ranking, ranked=ranked, confident=first.matches, fit=first.value)


def differing(ranked: Ranked) -> list[str]:
    """What makes the situation of an experience another one than the present."""
    return [name.removeprefix(OTHER) for name in ranked.signals if name.startswith(OTHER)]


def _alone(ranking: Ranking, judged: Mapping[str, Fit], question: Question, weights: Weights) -> list[Ranked]:
    now = (question.filters.as_of or question.asked_at).timestamp()
    ordered = []
    for one in ranking.ranked:
        fit = judged[one.entry.id]
        days = max(0.0, now - one.entry.occurred_at.timestamp()) / DAY_SECONDS
        faded = 1.0 - 0.5 ** (days / HALF_AGE_DAYS)
        worth = fit.value * (1.0 - TRUST * (1.0 - one.entry.confidence)) * (1.0 - AGE * faded)
        gained = (worth - one.parts.relevance) * ranking.scale
        parts = replace(one.parts, relevance=worth)
        score = parts.score(weights, ranking.lift)
        ordered.append(replace(one, signals=_told(one, fit, gained), parts=parts, score=score))
    return ordered


def _among(ranked: Sequence[Ranked], told: Sequence[Ranked], judged: Mapping[str, Fit]) -> list[Ranked]:
    best_first = sorted(told, key=lambda one: (-judged[one.entry.id].value, -one.score, one.entry.id))
    places = iter(sorted((one.score for one in told), reverse=True))
    scores = {one.entry.id: next(places) for one in best_first}
    ordered = []
    for one in ranked:
        fit = judged.get(one.entry.id)
        if fit is None:
            ordered.append(one)
            continue
        left = CONTRADICTED if fit.differs else 1.0
        parts = replace(one.parts, relevance=one.parts.relevance * left)
        ordered.append(replace(one, signals=_told(one, fit), parts=parts, score=scores[one.entry.id] * left))
    return ordered


def _told(one: Ranked, fit: Fit, gained: float = 0.0) -> dict[str, float]:
    """The signals with how well it fits, what is another one in it, and what that changed in the score."""
    signals = {**one.signals, FIT: fit.value, **{f"{OTHER}{what}": 1.0 for what in fit.differs}}
    return signals | {SITUATION: gained} if gained else signals

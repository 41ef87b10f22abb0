"""Rankings of several questions made into one: parts each get room, other wordings add what they find."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hindsight.search.rank import Ranked, Ranking

ROOM = 2  # places among the first that each part of a question has for its own best hits
FITS_A_PART = 0.6  # of the part's best
REWORDED = 0.9  # what another wording finds counts so much beside what the question itself finds


def with_parts(whole: Ranking, parts: Sequence[Ranking]) -> Ranking:
    """Each part's best hits first, then all others as they fit the whole or one of its parts."""
    best = _best_of([whole, *parts])
    first: dict[str, Ranked] = {}
    for place in range(ROOM):
        for part in parts:
            if len(part.ranked) > place and part.ranked[place].score >= FITS_A_PART * part.ranked[0].score:
                one = part.ranked[place]
                first[one.entry.id] = best[one.entry.id]
    behind = [one for one in _in_order(best.values()) if one.entry.id not in first]
    return _joined(whole, parts, [*_in_order(first.values()), *behind])


def with_rewordings(whole: Ranking, others: Sequence[Ranking]) -> Ranking:
    """What other wordings found beside what the question itself did, by score."""
    lowered = [
        replace(other, ranked=tuple(replace(one, score=REWORDED * one.score) for one in other.ranked))
        for other in others
    ]
    return _joined(whole, others, _in_order(_best_of([whole, *lowered]).values()))


def _best_of(rankings: Iterable[Ranking]) -> dict[str, Ranked]:
    """Every hit once, as it fits best."""
    best: dict[str, Ranked] = {}
    for ranking in rankings:
        for one in ranking.ranked:
            known = best.get(one.entry.id)
            if known is None or known.score < one.score:
                stands_for = dict.fromkeys((*(known.stands_for if known else ()), *one.stands_for))
                best[one.entry.id] = replace(one, stands_for=tuple(stands_for))
    return best


def _in_order(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda one: (-one.score, one.entry.id))


def _joined(whole: Ranking, others: Sequence[Ranking], ranked: Sequence[Ranked]) -> Ranking:
    """A ranking whose scores fall from place to place, without a turn that one of its facts stands for."""
    behind = {episode_id for one in ranked for episode_id in one.stands_for}
    kept: list[Ranked] = []
    for one in ranked:
        if one.entry.id not in behind:
            score = min(one.score, kept[-1].score) if kept else max(other.score for other in ranked)
            kept.append(one if score == one.score else replace(one, score=score))
    return replace(
        whole,
        ranked=tuple(kept),
        confident=whole.confident or any(other.confident for other in others),
        fit=max(one.fit for one in (whole, *others)),
        uses={entry_id: count for one in (*others, whole) for entry_id, count in one.uses.items()},
    )

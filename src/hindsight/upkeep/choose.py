"""Choosing the few sentences that tell the most: central to the whole, important, and each about something new.

    value = (central + important) · √new

`central`: the cosine of a sentence's terms, weighed by idf, with the sum over all others, as a share of the best (the
centroid of Radev et al., 2004, MEAD). `new`: the share of its weight that no chosen sentence has covered yet; its root,
as what is central shares words with the rest.
Terms are those of search, so Chinese and English count alike. Every sentence stands as it was said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt

from hindsight.domain.digest import Passage, Sentence
from hindsight.language.segment import index_terms, query_terms
from hindsight.search.wording import wording

LONGEST = 280  # characters of a passage that is kept whole; a longer one is chosen from sentence by sentence
SHORTEST_TERMS = 2  # what has fewer says nothing
LEAST_NEW = 0.34  # of a sentence's weight; what brings less is said already
REMARK = 0.3  # importance below which a passage greets or asks, and is told only where there is nothing else
MISSES = 12  # sentences too long for what room is left, after which the rest is not tried
ASKED = 2.0  # how much sharing the terms of a question counts beside the rest

_SENTENCE = re.compile(r"[^.!?。！？；;\n]+(?:[.!?。！？；;\n]+|$)|[.!?。！？；;\n]+")


@dataclass(frozen=True, slots=True)
class _Piece:
    place: int
    sentence: Sentence
    weights: Mapping[str, float]
    worth: float


def choose(
    passages: Sequence[Passage], *, fits: Callable[[Sequence[Sentence]], bool], most: int, asked: str = ""
) -> list[Sentence]:
    """Up to `most` sentences in the order of the passages, as long as what is chosen `fits`.

    `asked`: a question whose terms count first.
    """
    pieces = _pieces(_worth_telling(passages), frozenset(query_terms(asked)) if asked else frozenset())
    chosen: list[_Piece] = []
    covered: set[str] = set()
    misses = 0
    while len(chosen) < most and misses < MISSES:
        valued = [(one, _new(one, covered)) for one in pieces]
        open_ones = [(one, new) for one, new in valued if new >= LEAST_NEW]
        if not open_ones:
            break
        best, _ = max(open_ones, key=lambda pair: (pair[0].worth * sqrt(pair[1]), -pair[0].place))
        pieces = [one for one, _ in open_ones if one is not best]
        if fits([one.sentence for one in _ordered([*chosen, best])]):
            chosen.append(best)
            covered |= best.weights.keys()
        else:
            misses += 1
    return [one.sentence for one in _ordered(chosen)]


def _ordered(pieces: Sequence[_Piece]) -> list[_Piece]:
    return sorted(pieces, key=lambda one: one.place)


def _worth_telling(passages: Sequence[Passage]) -> Sequence[Passage]:
    telling = [one for one in passages if one.importance >= REMARK]
    return telling or passages


def sentences_of(passage: Passage) -> list[str]:
    """The parts of a passage that can stand alone: itself, or its sentences where it is long."""
    text = " ".join(passage.text.split())
    if len(text) <= LONGEST:
        return [text]
    return [part[:LONGEST] for one in _SENTENCE.findall(text) if (part := one.strip())]


def _pieces(passages: Sequence[Passage], asked: frozenset[str]) -> list[_Piece]:
    told = [(passage, text, Counter(index_terms(text))) for passage in passages for text in sentences_of(passage)]
    told = [one for one in told if len(one[2]) >= SHORTEST_TERMS] or told
    spread = Counter(term for _, _, terms in told for term in terms)
    weighed = [{term: log(1 + len(told) / spread[term]) for term in terms} for _, _, terms in told]
    whole: dict[str, float] = {}
    for weights in weighed:
        length = _length(weights)
        for term, weight in weights.items():
            whole[term] = whole.get(term, 0.0) + weight / length
    central = [
        max(0.0, sum(weight * whole[term] for term, weight in weights.items()) / _length(weights) - 1.0)
        for weights in weighed
    ]
    highest = max(central, default=1.0) or 1.0
    return [
        _Piece(
            place,
            Sentence(_said(passage, text), (passage.id,), passage.at, passage.timezone),
            weights,
            share / highest + passage.importance + ASKED * _shared(weights, asked),
        )
        for place, ((passage, text, _), weights, share) in enumerate(zip(told, weighed, central, strict=True))
    ]


def _said(passage: Passage, text: str) -> str:
    if not passage.speaker:
        return text
    return f"{passage.speaker}{wording(text).between}{text}"


def _length(weights: Mapping[str, float]) -> float:
    return sqrt(sum(weight * weight for weight in weights.values())) or 1.0


def _shared(weights: Mapping[str, float], asked: frozenset[str]) -> float:
    """The share of the question's terms that a sentence has."""
    return len(asked & weights.keys()) / len(asked) if asked else 0.0


def _new(piece: _Piece, covered: set[str]) -> float:
    total = sum(piece.weights.values())
    return sum(weight for term, weight in piece.weights.items() if term not in covered) / total if total else 0.0

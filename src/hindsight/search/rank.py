"""Candidates of all routes made into one ranking: signals, the four parts of the score, one hit per thing said."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heapreplace

import numpy as np
from numpy.typing import NDArray

from hindsight.domain import ranking
from hindsight.domain.entry import Entry
from hindsight.domain.memory import Kind
from hindsight.domain.query import Weights
from hindsight.domain.ranking import AROUND, ASKS, BREADTH, DENSE, LEXICAL, SIGNAL_WEIGHTS, SPEAKER, Parts
from hindsight.domain.shelf_life import importance_at
from hindsight.errors import Unavailable
from hindsight.language.fold import fold
from hindsight.language.segment import query_terms
from hindsight.ports import Store
from hindsight.projection import Projection
from hindsight.search.candidates import Candidates, leading
from hindsight.search.context import BEST_OF_SESSION, Values
from hindsight.search.frozen import Frozen, as_they_were
from hindsight.search.routes import Recalled
from hindsight.search.understand import Question
from hindsight.search.wording import is_chinese

# Entries are read for so many of the best candidates, who spoke being known only then. On LoCoMo a pool of 100 gives
# the recall@10 of ranking all, one of 60 loses 0.1.
POOL = 100
POOL_PER_HIT = 3
# A fact stands for the episode it came from if it fits at least this well beside it; else the episode's other words
# are what was asked for, and it is found as itself.
STANDS_FOR = 0.6
DAY_SECONDS = 86_400.0
COUNTING = 0.5  # seconds to read use counts
_ENDS = " \n.,!;:。，！；：…~～"  # what does not make a statement another; a question mark does
_BEHIND_A_MARK = " \n\"'”’」』)）"
# Whoever asks what was asked wants the question.
_ABOUT_ASKING = re.compile(r"\b(?:ask(?:s|ed|ing)?|questions?)\b|问", re.IGNORECASE)

_log = logging.getLogger(__name__)


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
    """All ranked candidates, best first. `confident`: the best fits well on an absolute scale, as `fit` tells.

    `scale`: what relevance was divided by; `lift`: the share of their weight that the parts next to it had. `uses`: the
    counts that went into it. `candidates`: all that were found, from which the pool was taken.
    """

    ranked: tuple[Ranked, ...]
    confident: bool
    fit: float = 0.0
    outside_pool: int = 0
    scale: float = 0.0
    lift: float = 1.0
    uses: Mapping[str, int] = field(default_factory=dict)
    candidates: Candidates | None = None


NOW = Frozen()


async def rank(
    store: Store,
    projection: Projection,
    namespace: str,
    question: Question,
    recalled: Recalled,
    weights: Weights,
    *,
    head: int,
    frozen: Frozen = NOW,
) -> Ranking:
    """Score the candidates. Looks at entries and use counts of the best `POOL`, as they were at `head` or later."""
    candidates = Candidates.of(recalled, question.windows)
    weighed = candidates.weighed()
    pool = leading(weighed, max(POOL, POOL_PER_HIT * question.most))
    ids = [candidates.ids[place] for place in pool]
    entries, uses = await asyncio.gather(
        projection.entries(namespace, ids, head=head), _uses(store, namespace, ids, weights, frozen)
    )
    if frozen.past is not None:
        entries = await as_they_were(store, namespace, entries, frozen.past)
    # The store has the last word: an index may not have seen yet that an entry went or changed.
    matches = question.filters.matches
    places = [place for place, found in zip(pool, ids, strict=True) if found in entries and matches(entries[found])]
    current = [entries[candidates.ids[place]] for place in places]
    named = _naming(current, question)
    at = np.array(places, np.intp)
    lost = _lost_by_asking(current, at, candidates, question)
    judge = _judge(question, recalled, candidates, named, weighed[at] - lost)
    scale = ranking.relevance_scale(judge.in_play)
    parts = _parts(current, named, weighed[at] - lost, uses, question, scale)
    sessions, steps = candidates.around.sessions[at].tolist(), candidates.steps[at].tolist()
    rows = [*map(_Row, places, current, parts, named, sessions, steps, lost.tolist())]
    best = max(rows, key=lambda row: row.parts.relevance, default=None)
    answered = best is not None and judge.fit(best) >= judge.bar
    lift = ranking.lift_of(weights, best.parts.relevance if best is not None else 0.0, answered=answered)
    for row in rows:
        row.score = row.parts.score(weights, lift)
    rows = _broad(_facts_for_episodes(rows), weights.relevance / scale if scale else 0.0)
    fit = judge.fit(rows[0]) if rows else 0.0
    ranked = tuple(_ranked(rows, candidates))
    outside = len(candidates.ids) - len(pool)
    return Ranking(ranked, fit >= judge.bar, fit, outside, scale, lift, uses, candidates)


class Distinct:
    """Tells what repeats something seen before, word for word once folded; one at a time, as folding takes time."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()

    def is_new(self, ranked: Ranked) -> bool:
        """Whether nothing seen so far says the same; from now on it counts as seen."""
        # Two experiences may answer the same situation in different ways: both are told.
        apart = ranked.entry.id if ranked.entry.kind is Kind.EXPERIENCE else ""
        key = (fold(ranked.entry.content).strip(_ENDS), apart)
        new = key not in self._seen
        self._seen.add(key)
        return new


async def _uses(
    store: Store, namespace: str, ids: Sequence[str], weights: Weights, frozen: Frozen
) -> Mapping[str, int]:
    if frozen.uses is not None:
        return {found: frozen.uses[found] for found in ids if found in frozen.uses}
    if not weights.use:
        return {}
    try:
        async with asyncio.timeout(COUNTING):
            uses = await store.uses(namespace, ids)
    except (TimeoutError, Unavailable) as error:  # the least part of a score: nothing is held up for it
        _log.warning("uses of memories count nothing in a search: %s", str(error) or "out of time")
        return {}
    return {found: use.count for found, use in uses.items()}


@dataclass(slots=True)
class _Row:
    """A candidate on its way to its place. `step`: what it loses for each hit of its session that is given before it.

    `asks`: what it lost as it only asks, `lost`: what breadth has taken from it; all in units of the signals' sum.
    """

    place: int
    entry: Entry
    parts: Parts
    named: bool
    session: int
    step: float
    asks: float = 0.0
    score: float = 0.0
    lost: float = 0.0
    stands_for: tuple[str, ...] = ()


def _parts(
    entries: Sequence[Entry], named: Sequence[bool], weighed: Values, uses: Mapping[str, int], question: Question,
    scale: float,
) -> list[Parts]:  # fmt: skip
    """The four parts of each entry."""
    moment = question.filters.as_of or question.asked_at
    now = moment.timestamp()
    fitting = np.where(named, weighed + SIGNAL_WEIGHTS[SPEAKER], weighed)
    relevance = np.clip(fitting / scale, 0.0, 1.0) if scale > 0 else np.zeros(len(entries))
    return [
        Parts(
            fits,
            ranking.freshness((now - entry.occurred_at.timestamp()) / DAY_SECONDS),
            importance_at(entry.importance, entry.valid_to, moment),
            ranking.use(uses.get(entry.id, 0)),
        )
        for entry, fits in zip(entries, relevance.tolist(), strict=True)
    ]


def _ranked(rows: Sequence[_Row], candidates: Candidates) -> Iterator[Ranked]:
    """The rows with their signals."""
    for one, signals in zip(rows, candidates.signals_at([row.place for row in rows]), strict=True):
        if one.named:
            signals[SPEAKER] = 1.0
        if one.asks:
            signals[ASKS] = -one.asks
        if one.lost:
            signals[BREADTH] = -one.lost
        yield Ranked(one.entry, signals, one.parts, one.score, one.stands_for)


def _naming(entries: Sequence[Entry], question: Question) -> list[bool]:
    """Whether the question names who spoke, for each entry."""
    asked = frozenset(question.terms)
    named = {speaker for speaker in {entry.speaker for entry in entries} if speaker and _names(speaker, asked)}
    return [entry.speaker in named for entry in entries]


def _lost_by_asking(
    entries: Sequence[Entry], at: NDArray[np.intp], candidates: Candidates, question: Question
) -> Values:
    """What each entry loses as it ends in a question. An assistant's often do, behind what they say."""
    own = np.zeros(len(at))
    if _ABOUT_ASKING.search(question.text):
        return own
    for name in (LEXICAL, DENSE):
        if name in candidates.signals:
            own += candidates.signals[name][at]
    asks = [not one.reply and one.kind is not Kind.EXPERIENCE and _ends_asking(one.content) for one in entries]
    return ranking.ASKS_LOSES * np.where(asks, own, 0.0)


def _ends_asking(text: str) -> bool:
    return text[-8:].rstrip(_BEHIND_A_MARK).endswith(("?", "？"))


def _names(speaker: str, asked: frozenset[str]) -> bool:
    """Whether the question names a speaker: any word of a name in letters, all pieces of a Chinese one."""
    words, pieces = _name_terms(speaker)
    return not words.isdisjoint(asked) or bool(pieces and pieces <= asked)


@lru_cache(maxsize=4096)
def _name_terms(speaker: str) -> tuple[frozenset[str], frozenset[str]]:
    terms = query_terms(speaker)
    words = frozenset(term for term in terms if term.isascii())
    return words, frozenset(terms) - words


def _facts_for_episodes(rows: Sequence[_Row]) -> list[_Row]:
    """An episode and a fact that came of it are one hit: the fact, with the better score of the two.

    The episode stays where its facts fit clearly worse: then it was found by words that no fact has.
    """
    episodes = {one.entry.id: one for one in rows if one.entry.kind is None}
    stood_for: set[str] = set()
    lifted: list[tuple[_Row, float]] = []
    # Best first: an episode goes to the best of its facts.
    for one in sorted(rows, key=lambda one: (-one.score, one.entry.id)):
        if one.entry.kind is None:
            continue
        for episode_id in one.entry.episode_ids:
            episode = episodes.get(episode_id)
            if episode is None or episode_id in stood_for:
                continue
            if one.parts.relevance >= STANDS_FOR * episode.parts.relevance:
                stood_for.add(episode_id)
                one.stands_for = (*one.stands_for, episode_id)
                lifted.append((one, episode.score))
    for one, score in lifted:
        one.score = max(one.score, score)
    return [one for one in rows if one.entry.id not in stood_for]


def _broad(rows: Iterable[_Row], unit: float) -> list[_Row]:
    """The same hits so that no transcript fills the answer, and no turn: a hit costs the others of its own a step.

    `unit`: what one unit of a signal is worth in the score.
    """
    given: dict[int, int] = {}  # hits by session
    told: dict[str, int] = {}  # hits by episode
    waiting = sorted((-one.score, one.entry.id, one) for one in rows)  # best first is a heap
    broad: list[_Row] = []
    while waiting:
        behind, entry_id, one = waiting[0]
        episodes = one.entry.episode_ids
        again = min([told.get(episode, 0) for episode in episodes], default=0)  # what rests on more has more to say
        loss = one.step * given.get(one.session, 0) + ranking.TOLD_AGAIN * again
        if loss > one.lost:
            heapreplace(waiting, (behind + unit * (loss - one.lost), entry_id, one))
            one.lost = loss
            continue
        heappop(waiting)
        given[one.session] = given.get(one.session, 0) + 1
        for episode in episodes:
            told[episode] = told.get(episode, 0) + 1
        one.score = -behind
        broad.append(one)
    return broad


@dataclass(frozen=True, slots=True)
class _Judge:
    """Tells how well a hit fits. `others`: by how much what others said fits better than what the one named said."""

    question: Question
    candidates: Candidates
    in_play: Sequence[str]
    bar: float
    others: float

    def fit(self, row: _Row) -> float:
        """The fit of a row, or of the best of what it stands for."""
        same = is_chinese(self.question.text) == is_chinese(row.entry.content)
        tell = ranking.telling(len(set(self.question.terms)), same_language=same)
        in_play = [name for name in self.in_play if name not in AROUND] if self._alone(row) else self.in_play
        places = [row.place, *(self.candidates.places[found] for found in row.stands_for)]
        told = [signals | {SPEAKER: float(row.named)} for signals in self.candidates.signals_at(places)]
        counted = [{name: value for name, value in one.items() if name in in_play} for one in told]
        return max(ranking.fit(signals, in_play, tell=tell, asks=row.asks, others=self.others) for signals in counted)

    def _alone(self, row: _Row) -> bool:
        """Whether a session is too short for what stands around to tell more than the row itself does."""
        return int((self.candidates.around.sessions == row.session).sum()) <= BEST_OF_SESSION


def _judge(
    question: Question, recalled: Recalled, candidates: Candidates, named: Sequence[bool], weighed: Values
) -> _Judge:
    in_play = [*candidates.in_play(), *((SPEAKER,) if any(named) else ())]
    by_named = np.array(named, np.bool_)
    others = 0.0
    if by_named.any() and not by_named.all():
        others = float(weighed[~by_named].max() - weighed[by_named].max())
    bar = ranking.FITS_BY_WORDS if recalled.meaning is None else ranking.FITS
    return _Judge(question, candidates, in_play, bar, others)

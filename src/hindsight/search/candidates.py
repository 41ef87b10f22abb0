"""All that was found and what stands around it, with signals in arrays; the best of them go on to be ranked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import filterfalse, repeat

import numpy as np

from hindsight.domain import ranking
from hindsight.domain.ranking import (
    AROUND,
    DATE_INSIDE,
    DATE_NEAR,
    GRAPH,
    NEXT,
    PREVIOUS,
    SAME_TIME,
    SESSION,
    SIGNAL_WEIGHTS,
    STRETCH,
    STRUCTURED,
)
from hindsight.domain.surroundings import Surroundings
from hindsight.search.context import Turns, Values, signals_around
from hindsight.search.dates import Window, nearness
from hindsight.search.routes import ByMeaning, ByWords, Recalled
from hindsight.search.together import same_time, stretch_words


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Entries with one value a signal for each; `places` says where an id stands.

    `steps`: what an entry loses for each hit of its session that is given before it.
    """

    around: Surroundings
    places: Mapping[str, int]
    signals: Mapping[str, Values]
    steps: Values

    @classmethod
    def of(cls, recalled: Recalled, windows: Sequence[Window] = ()) -> Candidates:
        """The entries found, and those of their sessions."""
        found = [hit.id for route in (recalled.words, recalled.meaning) if route is not None for hit in route.hits]
        found += [entry_id for brought in recalled.aside.values() for entry_id in brought]
        around, places = _with_all(recalled.around, found)
        turns = Turns.of(around)
        if recalled.words is not None:
            around = _as_found(recalled.words, around, places)
        lexical = None if recalled.words is None else _lexical(recalled.words, around)
        dense = None if recalled.meaning is None else _dense(recalled, recalled.meaning, places)
        signals = signals_around(turns, lexical, dense)
        if windows:
            signals[DATE_NEAR], signals[DATE_INSIDE] = nearness(windows, around.times)
        signals |= {
            name: _brought(recalled.aside[name], places) for name in (GRAPH, STRUCTURED) if name in recalled.aside
        }
        if recalled.words is not None:
            signals |= _together(recalled.words, around, turns, signals)
        return cls(around, places, signals, _steps(turns, around))

    @property
    def ids(self) -> Sequence[str]:
        """Their ids."""
        return self.around.ids

    def weighed(self) -> Values:
        """How well each fits by the signals known so far."""
        return _weighed(self.signals, len(self.ids))

    def signals_at(self, places: Sequence[int]) -> Iterator[dict[str, float]]:
        """Signals by name of those at these places, in this order."""
        at = np.array(places, np.intp)
        columns = [values[at].tolist() for values in self.signals.values()]
        rows = zip(*columns, strict=True) if columns else repeat((), len(places))
        return (dict(zip(self.signals, row, strict=True)) for row in rows)

    def in_play(self) -> list[str]:
        """The signals that could have been there."""
        told = bool((self.around.sessions >= 0).any())
        return [name for name in self.signals if told or name not in AROUND]

    def bm25(self, entry_id: str) -> float:
        """Its score by words."""
        return float(self.around.scores[self.places[entry_id]])


def _weighed(signals: Mapping[str, Values], count: int) -> Values:
    return sum((SIGNAL_WEIGHTS[name] * values for name, values in signals.items()), np.zeros(count))


def leading(weighed: Values, size: int) -> list[int]:
    """The places of those that fit best, best first; of equals, the one that was said first."""
    first = np.argpartition(-weighed, size)[:size] if len(weighed) > size else np.arange(len(weighed))
    first.sort()
    places: list[int] = first[np.argsort(-weighed[first], kind="stable")].tolist()
    return places


def _with_all(around: Surroundings | None, ids: Iterable[str]) -> tuple[Surroundings, dict[str, int]]:
    """The surroundings, behind them the entries that are not in them, each standing alone; and the place of each id."""
    held = around.ids if around is not None else ()
    places = dict(zip(held, range(len(held)), strict=True))
    beyond = list(dict.fromkeys(filterfalse(places.__contains__, ids)))
    if around is not None and not beyond:
        return around, places
    places.update(zip(beyond, range(len(held), len(held) + len(beyond)), strict=True))
    count = len(beyond)
    alone = Surroundings(
        beyond,
        np.full(count, -1, np.int32),
        np.full(count, -1, np.int64),
        np.zeros(count, np.bool_),
        np.full(count, np.nan),
        np.zeros(count),
    )
    if around is None:
        return alone, places
    joined = Surroundings(
        [*held, *beyond],
        np.concatenate([around.sessions, alone.sessions]),
        np.concatenate([around.positions, alone.positions]),
        np.concatenate([around.replies, alone.replies]),
        np.concatenate([around.times, alone.times]),
        np.concatenate([around.scores, alone.scores]),
        None if around.gains is None else np.pad(around.gains, ((0, count), (0, 0))),
    )
    return joined, places


def _as_found(words: ByWords, around: Surroundings, places: Mapping[str, int]) -> Surroundings:
    """What was found counts with the score it was found with, also where nothing is known around."""
    scores = around.scores.copy()
    scores[[places[hit.id] for hit in words.hits]] = [hit.score for hit in words.hits]
    return replace(around, scores=scores)


def _lexical(words: ByWords, around: Surroundings) -> Values:
    """BM25 on its scale."""
    scores = around.scores
    full = max(words.hits[0].score if words.hits else 0.0, words.floor * words.ceiling)
    return scores / full if full > 0 else np.zeros_like(scores)


def _together(words: ByWords, around: Surroundings, turns: Turns, signals: Mapping[str, Values]) -> dict[str, Values]:
    """What stands together with a turn, as far as the question's words are found at all."""
    best = words.hits[0].score if words.hits else 0.0
    strength = ranking.strength(best, ceiling=words.ceiling, floor=words.floor)
    share = min(1.0, strength / ranking.STRONG)
    beside = {name: share * signals[name] for name in (PREVIOUS, NEXT, SESSION)}
    stretch = np.zeros(len(around.ids))
    if around.gains is not None and strength:
        of_turn = stretch_words(turns, around.gains)
        full = max(float(of_turn.max(initial=0.0)), words.floor * words.ceiling)
        stretch = np.where(turns.sessions < 0, 0.0, strength * of_turn / full)[turns.of_entry]
    found = beside | {STRETCH: stretch}
    near = strength**2 * same_time(turns, around.times, _weighed({**signals, **found}, len(around.ids)))
    return found | {SAME_TIME: near} if near.any() else found


def _dense(recalled: Recalled, meaning: ByMeaning, places: Mapping[str, int]) -> Values:
    """Cosines on their scale; 0 where none is known."""
    cosines = np.full(len(places), -1.0)
    if recalled.cosines is not None:
        cosines[: len(recalled.cosines)] = recalled.cosines
    cosines[[places[hit.id] for hit in meaning.hits]] = [hit.score for hit in meaning.hits]
    calibration = ranking.calibration_of(meaning.model)
    scaled: Values = np.nan_to_num((cosines - calibration.floor) / calibration.span).clip(0.0, ranking.DENSE_MOST)
    return scaled


def _brought(values: Mapping[str, float], places: Mapping[str, int]) -> Values:
    """What a route said of the entries it brought; 0 for all others."""
    signal = np.zeros(len(places))
    signal[[places[entry_id] for entry_id in values]] = list(values.values())
    return signal


def _steps(turns: Turns, around: Surroundings) -> Values:
    """Only in transcripts, where an assistant's long answers make many turns of a session look alike."""
    if not len(around.ids):
        return np.zeros(0)
    transcript = np.zeros(int(around.sessions.max()) + 2, np.bool_)  # the last place is that of -1
    transcript[around.sessions[around.replies]] = True
    transcript[-1] = False
    sizes = np.where(transcript[turns.sessions], turns.sizes(), np.inf)
    steps: Values = np.minimum(ranking.BREADTH_MOST, ranking.BREADTH_TURNS / np.maximum(sizes, 1.0))
    return steps[turns.of_entry]

"""How well experiences fit a situation: their triggers against it, in wording, meaning, tools and what contradicts.

Nearness alone mistakes a look-alike for the same: «cancel the order» and «change the order» share all but the point.
So a trigger is compared with the situation as a whole and both ways round: what the one says and the other does not
counts against the match (`language.situation`); what fills the frame (names, numbers, ids) hardly counts. Meaning
stands in where the words differ. The tools that the situation calls for (`search.expected`) are held against those that
were used; and another format, system, tool or an opposite goal makes it another situation, however alike it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hindsight.domain.experience import Experience
from hindsight.language.fold import fold
from hindsight.language.situation import differences, is_light, read
from hindsight.search.expected import Tools, Values

# From here on an experience is for this situation; what fits less is shown as the nearest there is.
MATCHES = 0.44
# What is left of a fit where format, system, tool or goal contradict: less than a match, whatever else agrees.
CONTRADICTED = 0.4

OPERATIONS = 0.5  # an operation counts so much beside a word or a pair of words
LIGHT = 0.4  # a function word beside one of its own meaning
PAIRS = 0.7  # a pair beside a word, where tools are foretold
KEYWORDS = 0.3  # of what is missing to a full likeness, where the situation has all keywords of a trigger
NAMES = 0.05  # share of the same names in the likeness of wording
# The dense signal (0: unrelated, 1: a good match) from which meaning speaks for a match, and how much more is all of
# it.
NEAR, NEAR_TO_SAME = 0.5, 0.83

_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class Fit:
    """How well one experience fits, 0 to 1, and what that rests on. `differs`: what makes it another situation.

    `hollow`: the texts share function words alone («how do I … a …»), so that their wording is no ground for a match.
    """

    value: float
    wording: float
    meaning: float
    tools: float
    differs: tuple[str, ...] = ()
    hollow: bool = False

    @property
    def matches(self) -> bool:
        """Whether it is for this situation."""
        return self.value >= MATCHES and not (self.hollow and self.meaning < self.wording)


def fits(situation: str, kept: Sequence[Experience], closeness: Sequence[float]) -> list[Fit]:
    """How well each experience fits a situation. `closeness`: the dense signals of their triggers, 0 where unknown.

    They are judged beside each other: which tools a situation calls for is learnt from the experiences given.
    """
    if not kept:
        return []
    asked = read(situation)
    triggers = [read(one.trigger.context) for one in kept]
    said = _Said.by([situation, *(one.trigger.context for one in kept)])
    wording = said.likeness()
    named = np.array([_shared(asked.names, one.names) for one in triggers])
    wording = np.where(named < 0, wording, (1 - NAMES) * wording + NAMES * named)
    meaning = ((np.array(closeness, np.float64) - NEAR) / NEAR_TO_SAME).clip(0.0, 1.0)
    keywords = np.array([_found(one.trigger.keywords, situation) for one in kept])
    wording += KEYWORDS * (1.0 - wording) * keywords
    vectors = said.vectors()
    tools = Tools.of([frozenset(one.action.tools_used) for one in kept]).agreement(vectors[1:], vectors[0])
    values = np.maximum(wording, meaning) * tools
    found = []
    for place, trigger in enumerate(triggers):
        differs = differences(asked, trigger)
        value = values.item(place) * (CONTRADICTED if differs else 1.0)
        hollow = not keywords[place] and (asked.telling | asked.names).isdisjoint(trigger.telling | trigger.names)
        found.append(Fit(value, wording.item(place), meaning.item(place), tools.item(place), differs, hollow))
    return found


def _found(keywords: Sequence[str], situation: str) -> float:
    """The share of keywords that stand in the situation."""
    text = fold(situation)
    return sum(fold(one) in text for one in keywords) / len(keywords) if keywords else 0.0


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of names that both have, -1 where neither has any."""
    both = one | other
    return len(one & other) / len(both) if both else -1.0


@lru_cache(maxsize=_KEPT)
def _hashes(text: str) -> tuple[NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32]]:
    """What a description says as numbers; what each weighs in the likeness of wording; and where tools are foretold."""
    told = read(text)
    said = [(one, _weight(one)) for one in sorted(told.frame)] + [
        (f"\x00{one}", OPERATIONS) for one in sorted(told.operations)
    ]
    return (
        np.array([crc32(one.encode("utf-8", "surrogatepass")) for one, _ in said], np.uint32),
        np.array([weight for _, weight in said], np.float32),
        np.array([PAIRS if " " in one else 1.0 for one, _ in said], np.float32),
    )


def _weight(said: str) -> float:
    """What a word or pair weighs: the mean of its words."""
    words = said.split(" ")
    return sum(LIGHT if is_light(word) else 1.0 for word in words) / len(words)


@dataclass(frozen=True, slots=True, eq=False)
class _Said:
    """What several descriptions say: for each saying the row it is of, its number and weights. Row 0 is asked about.

    `holders`: by number, how many rows say it.
    """

    count: int
    rows: NDArray[np.intp]
    numbers: NDArray[np.intp]
    holders: NDArray[np.intp]
    weights: NDArray[np.float32]
    telling: NDArray[np.float32]

    @classmethod
    def by(cls, texts: Sequence[str]) -> _Said:
        """What these texts say."""
        parts = [_hashes(text) for text in texts]
        _, numbers, holders = np.unique(
            np.concatenate([sayings for sayings, _, _ in parts]), return_inverse=True, return_counts=True
        )
        return cls(
            len(texts),
            np.repeat(np.arange(len(texts)), [len(sayings) for sayings, _, _ in parts]),
            numbers,
            holders,
            np.concatenate([weights for _, weights, _ in parts]),
            np.concatenate([telling for _, _, telling in parts]),
        )

    def likeness(self) -> Values:
        """Of each row but the first with it: what both say, twice, over what each says (Dice)."""
        asked = np.zeros(len(self.holders), np.bool_)
        asked[self.numbers[self.rows == 0]] = True
        both = np.bincount(self.rows, self.weights * asked[self.numbers], self.count)
        all_of = np.bincount(self.rows, self.weights, self.count)
        alike: Values = 2 * both[1:] / np.maximum(all_of[0] + all_of[1:], 1e-9)
        return alike

    def vectors(self) -> Values:
        """A row of unit length for each description, of what at least two but not all of the others say."""
        kept_by = np.bincount(self.numbers[self.rows > 0], minlength=len(self.holders))
        common = (kept_by > 1) & (kept_by < self.count - 1)
        column = np.cumsum(common) - 1
        here = common[self.numbers]
        rows = np.zeros((self.count, int(common.sum())))
        rows[self.rows[here], column[self.numbers[here]]] = self.telling[here]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Values = rows / np.maximum(lengths, 1e-9)
        return unit

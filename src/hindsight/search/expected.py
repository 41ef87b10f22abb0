"""Which tools a situation calls for, as the kept experiences themselves tell it.

In a library where «cancel» goes with one tool and «exchange» with another, a situation that says both calls for both,
though the experience of either alone reads more like it. Ridge regression of the tools used on the words of the
triggers (Hoerl & Kennard 1970, in its dual form) foretells them. How strong the ridge is, and how far each tool can be
foretold at all, is measured by leaving every experience out in turn (the closed form of Allen's PRESS), so that tools
without a pattern don't count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

# How much a rule is held back, of which the library chooses the one by which its experiences foretell each other best:
# where tools go with words plainly a little is enough, where words mislead it takes more.
RIDGES = (0.03, 0.1, 0.3)
FEWEST = 4  # experiences; of fewer nothing is learnt
UNLIKELY = 0.05  # no tool is more or less likely than this: what was seen a few times is never sure
# A whole set of tools is judged beside the likeliest one, whose own doubt is given back to this share: where little can
# be foretold, all sets look unlikely, and that alone says little against one.
DOUBT = 0.65


@dataclass(frozen=True, slots=True, eq=False)
class Tools:
    """The tools that some but not all of the experiences used: one row an experience, 1 where it used the tool."""

    used: Values

    @classmethod
    def of(cls, used: Sequence[Set[str]]) -> Tools:
        """Those used at least twice, as of others nothing can be learnt."""
        counts = Counter(tool for tools in used for tool in tools)
        names = sorted(tool for tool, times in counts.items() if 1 < times < len(used))
        return cls(np.array([[name in tools for name in names] for tools in used], np.float64).reshape(len(used), -1))

    def agreement(self, triggers: Values, situation: Values) -> Values:
        """How well each experience's tools are those that the situation calls for, 0 to 1; 1 where nothing is known.

        `triggers`: a row of unit length for each experience; `situation`: the same of the situation.
        """
        count = len(self.used)
        if count < FEWEST or not self.used.shape[1]:
            return np.ones(count)
        usual = self.used.mean(axis=0)
        rule, missed = self._rule(triggers @ triggers.T, usual)
        likely = (usual + (triggers @ situation) @ rule).clip(UNLIKELY, 1 - UNLIKELY)
        foretold = self._foretold(missed, usual)
        best = np.log(np.maximum(likely, 1 - likely)) @ foretold
        given = (self.used * np.log(likely) + (1 - self.used) * np.log(1 - likely)) @ foretold
        agreed: Values = np.exp(given - DOUBT * best)
        return agreed

    def _rule(self, alike: Values, usual: Values) -> tuple[Values, Values]:
        """What each experience adds to a tool's likelihood, and by how much it is missed where it is left out itself.

        The ridge is that under which what was left out is likeliest.
        """
        found = []
        for ridge in RIDGES:
            inverse = np.linalg.inv(alike + ridge * np.eye(len(alike)))
            rule = inverse @ (self.used - usual)
            missed = rule / np.diag(inverse)[:, None]
            told = (self.used - missed).clip(UNLIKELY, 1 - UNLIKELY)
            right = np.where(self.used > 0, told, 1 - told)
            found.append((float(np.log(right).sum()), rule, missed))
        _, rule, missed = max(found, key=itemgetter(0))
        return rule, missed

    def _foretold(self, missed: Values, usual: Values) -> Values:
        """For each tool the share of its variance that the other experiences foretell. `missed`: by how much."""
        count = len(self.used)
        varied = ((self.used - usual) ** 2).sum(axis=0) * (count / (count - 1)) ** 2
        share: Values = (1 - (missed**2).sum(axis=0) / varied).clip(0, 1)
        return share

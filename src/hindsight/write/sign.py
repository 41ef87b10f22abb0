"""Words that tell something of a text, looked for where their first letters stand at all.

Python tries every branch of a pattern at every character; whether a plain text stands in another, it finds out in a
fiftieth of the time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


def lowered(text: str) -> str:
    """A text as `re.IGNORECASE` sees it: case-folded, and no letter with a dot apart from the one without."""
    low = text.casefold()
    return low if low.isascii() else low.replace("\u0131", "i").replace("\u0307", "")


@dataclass(frozen=True, slots=True)
class Sign:
    """A pattern that fits nothing without one of `hints`, which are written in lower case."""

    form: re.Pattern[str]
    hints: tuple[str, ...]

    def hinted(self, low: str) -> bool:
        """Whether the pattern may fit at all; `low` is the text `lowered`."""
        return any(map(low.__contains__, self.hints))

    def stands_in(self, text: str, low: str) -> bool:
        """Whether the pattern fits somewhere in a text; `low` is the text `lowered`."""
        return self.hinted(low) and self.form.search(text) is not None


def sign(form: str, hints: str) -> Sign:
    """A sign without regard to case. `hints`: one of these, parted by `|`, stands in all that `form` fits."""
    return Sign(re.compile(form, re.IGNORECASE), tuple(hints.split("|")))

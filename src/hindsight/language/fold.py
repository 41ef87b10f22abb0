"""One form for all spellings of a text, so that comparing and searching see through typography.

`fold` is for matching, never for display: full width becomes half width, upper case lower, traditional Chinese
simplified, and invisible characters go. The length may change.
"""

import re
import unicodedata
from functools import cache
from importlib.resources import files

# Characters that look like nothing: a soft hyphen or a zero-width space inside a word would hide it from search.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]")

# What NFKC makes of the marks in any Chinese text. A text that has no others is found to be normal already, which takes
# a tenth of the time.
_FULL_WIDTH = tuple((mark, unicodedata.normalize("NFKC", mark)) for mark in "，？！：；（）…")
_BEYOND = re.compile("[\U00010000-\U0010ffff]")

# Variants that the dictionary keeps apart because they are also words of their own; for matching they are one.
_ALSO = {"著": "着", "妳": "你", "牠": "它", "祂": "他"}


@cache
def _simplified() -> dict[int, str]:
    text = files(__package__).joinpath("simplified.txt").read_text(encoding="utf-8")
    traditional, simplified = (line for line in text.splitlines() if not line.startswith("#"))
    return {ord(a): b for a, b in zip(traditional, simplified, strict=True)} | {ord(a): b for a, b in _ALSO.items()}


@cache
def _traditional() -> re.Pattern[str]:
    # Characters above U+FFFF stand apart: with them in the class, searching it takes twenty times as long.
    return re.compile(f"[{''.join(chr(code) for code in _simplified() if code <= 0xFFFF)}]")


def _settle(text: str, *, case: bool) -> str:
    """Apply the foldings until nothing changes: each can bring about work for another (removed joiners, ß, ΐ)."""
    while True:
        after = text
        for full, plain in _FULL_WIDTH:
            after = after.replace(full, plain)
        after = _INVISIBLE.sub("", unicodedata.normalize("NFKC", after))
        after = after.casefold() if case else after
        if _traditional().search(after) or _BEYOND.search(after):  # translating looks up every character
            after = after.translate(_simplified())
        if after == text:
            return text
        text = after


def fold(text: str) -> str:
    """Return `text` compatibility-normalised (NFKC), case-folded, in simplified Chinese, without invisible characters.

    Idempotent: `fold(fold(x)) == fold(x)`.
    """
    return text.lower() if text.isascii() else _settle(text, case=True)


def fold_keeping_case(text: str) -> str:
    """Return `text` folded in all but case, for callers that split `CamelCase` words before they fold them."""
    return text if text.isascii() else _settle(text, case=False)


def fold_in_place(text: str) -> str:
    """Return `text` in half width and simplified Chinese, case kept, every character in its place."""
    return text if text.isascii() else text.translate(_in_place())


@cache
def _in_place() -> dict[int, str]:
    half_width = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
    return {code: new for code, new in (_simplified() | half_width).items() if len(new) == 1}

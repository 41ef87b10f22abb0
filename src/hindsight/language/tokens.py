"""How many tokens a text will cost a language model: an estimate, or exact where a tokenizer is at hand."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

# Tokens per item, fitted on Chinese and English text (characters / 4 errs 68 % on Chinese). Against o200k the sum is
# 4 to 6 % high. Other vocabularies differ: 15 % more covers the newer ones, but cl100k takes half as much again for
# Chinese.
_HAN = 0.71
_CJK_PUNCTUATION = 1.54
_WORD = 0.98
_LETTER_PAST_SEVENTH = 0.16
_DIGIT_TRIPLE = 1.28
_ASCII_SYMBOL = 0.81
_OTHER = 1.17

_WORDS = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_DIGITS = re.compile(r"[0-9]{1,3}")  # from the left, so a run of n gives ceil(n / 3)
_HANS = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_PUNCTUATION = re.compile(
    r"[\u2014\u2018-\u201d\u2026\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)
_OTHERS = re.compile(
    r"[^\s!-~\u00c0-\u024f\u2014\u2018-\u201d\u2026\u3000-\u303f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\U00020000-\U0003ffff]+"
)


_LETTER, _DIGIT, _SYMBOL, _SPACE, _CONTROL = b"a0! ?"
_KINDS = bytes(
    _LETTER if chr(code).isalpha()
    else _DIGIT if chr(code).isdigit()
    else _SPACE if chr(code).isspace()
    else _SYMBOL if chr(code).isprintable()
    else _CONTROL
    for code in range(128)
) + bytes(128)  # fmt: skip
_SHORT = 7  # letters
_LONG = re.compile(rb"a{%d,}" % (_SHORT + 1))
_SPACED = bytes(code if code == _LETTER else _SPACE for code in range(256))


def estimate_tokens(text: str) -> int:
    """Return the estimated number of tokens of `text`, rounded up; 0 only for text of nothing but space."""
    return whole_tokens(token_cost(text))


def whole_tokens(cost: float) -> int:
    """A cost rounded up. Costs are hundredths, so what is less than a billionth above a whole number is that number."""
    return math.ceil(cost - 1e-9)


def token_cost(text: str) -> float:
    """The estimate before it is rounded: the costs of lines add up to that of the lines joined."""
    # A byte for each character, those outside ASCII as question marks: bytes are counted ten times as fast as text.
    kinds = text.encode("ascii", "replace").translate(_KINDS)
    symbols, others = kinds.count(_SYMBOL), kinds.count(_CONTROL)
    hans = punctuation = 0
    spaced = kinds.translate(_SPACED)
    words, past = len(spaced.split()), 0
    for word in _LONG.findall(spaced):
        past += len(word) - _SHORT
    if not text.isascii():
        foreign = len(text) - len(text.encode("ascii", "ignore"))
        symbols -= foreign
        hans, punctuation = _length(_HANS, text), _length(_PUNCTUATION, text)
        if hans + punctuation < foreign:  # letters with accents, other scripts, pictures
            found, others = _WORDS.findall(text), _length(_OTHERS, text)
            words, past = len(found), sum(len(word) - _SHORT for word in found if len(word) > _SHORT)
    return (
        _WORD * words
        + _LETTER_PAST_SEVENTH * past
        + _DIGIT_TRIPLE * (len(_DIGITS.findall(text)) if _DIGIT in kinds else 0)
        + _ASCII_SYMBOL * symbols
        + _OTHER * others
        + _HAN * hans
        + _CJK_PUNCTUATION * punctuation
    )


def _length(of: re.Pattern[str], text: str) -> int:
    # One pass in C for each class of character costs half of looking at each item in Python.
    return sum(map(len, of.findall(text)))


@dataclass(frozen=True, slots=True)
class Ruler:
    """Measures text in tokens. `cost`: of a text, before it is rounded; `margin`: what is added for safety.

    Costs of lines, and `joint` for each break between two, add up to at least the cost of the lines joined.
    """

    cost: Callable[[str], float]
    margin: float = 1.0
    joint: float = 0.0

    def whole(self, cost: float) -> int:
        """Tokens of a cost."""
        return math.ceil(whole_tokens(cost) * self.margin)

    def tokens(self, text: str) -> int:
        """Tokens of a text."""
        return self.whole(self.cost(text))


# In any model's vocabulary, rather too many than too few: the estimate was fitted on two vocabularies, and others run
# up to 15 % longer.
ESTIMATE = Ruler(token_cost, margin=1.15)


def exact(count: Callable[[str], int]) -> Ruler:
    """The ruler of one model's own tokenizer."""
    return Ruler(count, joint=1.0)

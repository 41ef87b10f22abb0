"""What sets two nearly equal statements apart, where a similarity can't tell.

Over pairs of statements cosine ranks contradictions *closer* than paraphrases; what does tell them apart is a negation
on one side, another number, or one span put in place of another («我喜欢猫», «我喜欢狗»).
"""

import re
from difflib import SequenceMatcher
from enum import StrEnum

from hindsight.language.fold import fold
from hindsight.language.numbers import numbers
from hindsight.language.polarity import negated
from hindsight.language.stem import stem
from hindsight.language.stopwords import CHINESE_FUNCTION_CHARACTERS, ENGLISH

_TOKEN = re.compile(r"[a-z0-9]+|[^\W_]")


class Difference(StrEnum):
    """Why two statements must not be taken for one."""

    NEGATION = "negation"
    NUMBER = "number"
    SPAN = "span"


def difference(a: str, b: str) -> Difference | None:
    """Return what makes `a` and `b` two statements, or None where one only says more than the other, or the same.

    Meant for pairs that are already known to be near: of two texts on different things it says `SPAN`. Errs towards a
    difference, since a refused merge keeps a memory and a wrong one loses it.
    """
    if negated(a) != negated(b):
        return Difference.NEGATION
    if sorted(numbers(a)) != sorted(numbers(b)) or reordered(a, b):
        return Difference.NUMBER
    return Difference.SPAN if _replaced(_tokens(a), _tokens(b)) else None


def reordered(a: str, b: str) -> bool:
    """Whether numbers of `a` stand in another order in `b`: «Room 12 has 3 chairs», «Room 3 has 12 chairs».

    One text may have numbers that the other lacks. Errs towards yes: a paraphrase may put its numbers elsewhere too.
    """
    fewer, more = sorted((numbers(a), numbers(b)), key=len)
    rest = iter(more)
    return not all(number in rest for number in fewer)


def _tokens(text: str) -> list[str]:
    return [stem(token) for token in _TOKEN.findall(fold(text))]


def _replaced(a: list[str], b: list[str]) -> bool:
    """Whether one span stands in `a` where another stands in `b`, and either has content."""
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return any(
        tag == "replace" and _has_content(a[a_from:a_to] + b[b_from:b_to])
        for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes()
    )


def _has_content(tokens: list[str]) -> bool:
    """Numbers are no content here: they have been compared, and «3» for "three" is no difference."""
    return any(
        token not in ENGLISH and token not in CHINESE_FUNCTION_CHARACTERS and not numbers(token) for token in tokens
    )

"""Questions that ask several things at once, taken apart: «小王住在哪，他吃什么» asks two.

A text is taken apart only where every piece is a question by itself. What a later piece leaves out, the one it speaks
of, it takes from the first.
"""

from __future__ import annotations

import re
from itertools import pairwise

from hindsight.language.names import COMMON
from hindsight.language.segment import query_terms

LONGEST = 200  # characters; a longer text tells a story around its question
MOST_PARTS = 4

_WH = "what|where|when|who|whom|whose|which|why|how"
_DOES = "is|are|was|were|does|do|did|has|have|had"
# «When Dave was a child, what …» tells when; «When was Dave a child» asks.
_ASKS_EN = re.compile(
    r"(?:(?:in|on|at|from|to|for|with|about|by|into) )?(?:what|where|who|whom|whose|which|why|how)\b"
    rf"|when (?:{_DOES})\b|(?:{_DOES}) (?!\w+(?:ed|ing)\b)\w+ \w",
    re.IGNORECASE,
)
_ASKS_ZH = re.compile(
    "什么|哪|谁|多少|多大|多久|多高|几(?=[岁点号月口次级楼位])|怎么|怎样|如何|为什么|为何|何时|何地|是否|有没有|是不是|会不会|吗|啥"
)
_BORDER = re.compile(
    r"(?<=[?？；;])\s*"
    r"|\s*[，,、]?\s*(?:以及|还有|另外|并且|而且|同时|此外)\s*|\s*[，,、]\s*(?=[\u4e00-\u9fff])"
    rf"|,?\s+(?:and|or)\s+(?:also\s+)?(?=(?:{_WH}|{_DOES})\b)"
    # A relative clause asks nothing: «…, which brought a smile to her face».
    rf"|,\s+(?=(?:what|how|why|(?:{_WH}) (?:{_DOES}))\b)",
    re.IGNORECASE,
)
_PRONOUN_EN = re.compile(r"\b(?:she|he|her|his|him)\b", re.IGNORECASE)
_OWNED = ("her", "his")
_PRONOUN_ZH = re.compile("她们|他们|它们|她|他|它")
_VERBS_ZH = (
    "住|在|是|喜欢|爱|有|的|叫|做|去|吃|喝|用|养|讨厌|过敏|对|想|要|会|能|几|多|什么|哪|谁|怎|为|何|工作|上班|上学|买"
    "|读|看|玩|学"
)
# A Chinese question speaks of what stands before its verb.
_SUBJECT_ZH = re.compile(
    rf"(?:请问|告诉我|那么?|你知道)?(?P<who>(?!{_VERBS_ZH})[^，,。？?]{{1,10}}?)"
    rf"(?=(?:现在|目前|今年|都|又|也|平时|通常|最)?(?:{_VERBS_ZH}))"
)
_LARGE = re.compile(r"\b[A-Z][\w'’-]*(?:\s[A-Z][\w'’-]*)*")
_ME_EN = re.compile(r"\b(?:i|my|me|the user)\b", re.IGNORECASE)
_MINE_EN = re.compile(r"\b(?:my|our|the user['’]s) [a-z]+", re.IGNORECASE)


def parts_of(text: str) -> tuple[str, ...]:
    """The questions in a text, each whole; empty where it asks one thing."""
    if len(text) > LONGEST or "\n" in text:
        return ()
    ends = [0, *(at for match in _BORDER.finditer(text) for at in match.span()), len(text)]
    pieces = [piece for begin, end in list(pairwise(ends))[::2] if (piece := text[begin:end].strip(" ?？，,；;。."))]
    if not 1 < len(pieces) <= MOST_PARTS or not all(map(_asks, pieces)):
        return ()
    chinese = not text.isascii()
    whole = [pieces[0], *((_whole_zh if chinese else _whole_en)(piece, pieces[0]) for piece in pieces[1:])]
    return tuple(whole) if all(map(query_terms, whole)) else ()


def _asks(piece: str) -> bool:
    return (_ASKS_EN.match(piece) if piece.isascii() else _ASKS_ZH.search(piece)) is not None


def _whole_en(piece: str, first: str) -> str:
    """A piece with the name from the first in place of its pronoun, or behind it where it has neither."""
    large = (_without_asking(match[0]) for match in _LARGE.finditer(first) if match.start())
    names = [*filter(None, large), *_MINE_EN.findall(first)]
    if not names:
        return piece
    name, found = names[0], _PRONOUN_EN.search(piece)
    if found is not None:
        owned = f"{name}'s" if found[0].lower() in _OWNED else name
        return piece[: found.start()] + owned + piece[found.end() :]
    own = any(map(_without_asking, _LARGE.findall(piece))) or _ME_EN.search(piece)
    return piece if own or len(query_terms(piece)) > 1 else f"{piece} {name}"


def _without_asking(name: str) -> str:
    words = name.split()
    while words and words[0] in COMMON:
        words.pop(0)
    return " ".join(words).removesuffix("'s").removesuffix("’s")


def _whole_zh(piece: str, first: str) -> str:
    """A piece with what the first speaks of in place of its pronoun, or before it where it speaks of nothing."""
    match = _SUBJECT_ZH.match(first)
    if match is None:
        return piece
    who = match["who"]
    if found := _PRONOUN_ZH.search(piece):
        return piece[: found.start()] + who + piece[found.end() :]
    own = _SUBJECT_ZH.match(piece)
    return piece if own is not None or who in piece else who + piece

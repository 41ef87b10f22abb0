"""A long text cut to the part that was asked about, never inside a word, a number, an id or a character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from hindsight.language.segment import index_terms
from hindsight.language.tokens import ESTIMATE, Ruler

LONGEST_EXCERPTED = 20_000  # characters; writing splits what is longer, so this only bounds the time
LONGEST_KEPT = 300  # characters of a piece whose terms are kept
PIECE = 60  # characters of a piece of an endless sentence
LONGEST_WORD = 40  # characters; what goes on longer is no word and may be cut
CUT = "…"

_SENTENCE = re.compile(r"[^.!?。！？；;\n]+[.!?。！？；;\n]*\s*|[.!?。！？；;\n]+\s*")
_WORD = re.compile(r"[A-Za-z0-9_#\u00c0-\u0dff-]")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")  # between or behind the parts of one picture
_SKIN = range(0x1F3FB, 0x1F400)
_FLAG = range(0x1F1E6, 0x1F200)


def excerpt(text: str, tokens: int, asked: frozenset[str], ruler: Ruler = ESTIMATE) -> str:
    """The part of a long text around the piece that shares most with the question, within `tokens`.

    `…` stands where something is left out; alone, where there is no room for anything.
    """
    measured = list(_pieces(text[:LONGEST_EXCERPTED], tokens, ruler))
    if not measured:
        return CUT
    pieces, lengths = zip(*measured, strict=True)
    room = tokens - 2 * ruler.tokens(CUT)
    shared = [len(asked.intersection(_terms_of(piece))) for piece in pieces] if asked else [0]
    first = last = shared.index(max(shared))
    left = room - lengths[first]
    while True:
        # Onwards first: what follows explains more often than what went before.
        if last + 1 < len(pieces) and lengths[last + 1] <= left:
            last, left = last + 1, left - lengths[last + 1]
        elif first > 0 and lengths[first - 1] <= left:
            first, left = first - 1, left - lengths[first - 1]
        else:
            break
    kept = cut("".join(pieces[first : last + 1]).strip(), room, ruler)
    more = last < len(pieces) - 1 or len(text) > LONGEST_EXCERPTED
    head = CUT if first > 0 and not kept.startswith(CUT) else ""
    return f"{head}{kept}{CUT if more and not kept.endswith(CUT) else ''}"


def _terms_of(piece: str) -> Iterable[str]:
    return _kept_terms(piece) if len(piece) <= LONGEST_KEPT else index_terms(piece)


@lru_cache(maxsize=2048)
def _kept_terms(piece: str) -> frozenset[str]:
    """The same memories come up again and again; some 4 MB when full."""
    return frozenset(index_terms(piece))


def cut(text: str, tokens: int, ruler: Ruler = ESTIMATE) -> str:
    """The beginning of a text within `tokens`, beside the `…` that stands for the rest."""
    if ruler.tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ruler.tokens(text[:middle]) <= tokens else (low, middle - 1)
    return f"{text[: whole_end(text, low)].rstrip()}{CUT}"


def shortened(text: str, most: int) -> str:
    """A text of at most `most` characters, the last of them `…` where it was longer."""
    return text if len(text) <= most else f"{text[: whole_end(text, most - 1)].rstrip()}{CUT}"


def whole_end(text: str, end: int) -> int:
    """The place nearest before `end` where a text may be cut."""
    if end <= 0 or end >= len(text):
        return max(0, min(end, len(text)))
    for place in range(end, max(0, end - LONGEST_WORD), -1):
        if not _one_character(text, place) and not _one_word(text, place):
            return place
    if end <= LONGEST_WORD:
        return 0
    for place in range(end, 0, -1):
        if not _one_character(text, place):
            return place
    return 0


def _one_character(text: str, place: int) -> bool:
    """Whether what stands before and after a place is seen as one character."""
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii():
        return False
    if after in _JOINERS or before == "\u200d" or unicodedata.category(after).startswith("M") or ord(after) in _SKIN:
        return True
    if ord(after) not in _FLAG:
        return False
    begin = place
    while begin > 0 and ord(text[begin - 1]) in _FLAG:
        begin -= 1
    return (place - begin) % 2 == 1


def _one_word(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if _WORD.match(before) and _WORD.match(after):
        return True
    if after in ".," and before.isdigit():  # 1,200.50
        return place + 1 < len(text) and text[place + 1].isdigit()
    return before in ".," and after.isdigit() and place > 1 and text[place - 2].isdigit()


def _pieces(text: str, tokens: int, ruler: Ruler) -> Iterator[tuple[str, int]]:
    """Sentences with their tokens; one that takes more than half of the room, in short pieces."""
    for sentence in _SENTENCE.findall(text):
        length = ruler.tokens(sentence)
        if 2 * length <= tokens:
            yield sentence, length
            continue
        begin = 0
        while begin < len(sentence):
            end = begin + whole_end(sentence[begin:], PIECE)
            end = end if end > begin else min(begin + PIECE, len(sentence))
            yield sentence[begin:end], ruler.tokens(sentence[begin:end])
            begin = end

"""A long text in pieces, cut where its own structure allows: paragraph, line, sentence, clause, word."""

from __future__ import annotations

import re
import unicodedata

CHUNK = 1_500  # characters; about what one question can be about, and what an encoder reads without dilution

# Best border first; the text is cut after the match.
_BORDERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n\s*\n",
        r"\n",
        r"[。！？…][”’」』）】]*|[.!?][\"')\]]*(?=\s)\s",
        r"[；;，、：]|[,:](?=\s)\s",
        r"\s",
    )
)
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def split(text: str, limit: int = CHUNK) -> list[str]:
    """Return `text` in pieces of at most `limit` characters, none of them blank; joined they are `text`.

    A run of blanks longer than `limit` stays with the piece before it, which may then be longer.
    """
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= limit else _cut(text, start, limit)
        piece = text[start:end]
        if piece.strip() or not pieces:
            pieces.append(piece)
        else:
            pieces[-1] += piece
        start = end
    if len(pieces) > 1 and not pieces[0].strip():
        pieces[:2] = [pieces[0] + pieces[1]]
    return pieces


def _cut(text: str, start: int, limit: int) -> int:
    """The best place to cut in the second half of the next `limit` characters."""
    window = text[start : start + limit]
    for border in _BORDERS:
        last = None
        for match in border.finditer(window, limit // 2):
            last = match
        if last is not None:
            return start + last.end()
    return start + _between_characters(text, start, limit)


def _between_characters(text: str, start: int, limit: int) -> int:
    """A place that tears no letter from its accent and no emoji from its modifier, a few characters back at most."""
    for length in range(limit, max(1, limit - 16), -1):
        after, before = text[start + length], text[start + length - 1]
        joined = unicodedata.combining(after) or after in _JOINERS or before == "\u200d" or "🏻" <= after <= "🏿"
        if not joined:
            return length
    return limit

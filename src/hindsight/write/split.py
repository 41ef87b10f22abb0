"""A long text in pieces, cut where its own structure allows: heading, paragraph, line, sentence, clause, word.

A document that has headings is cut at them first, so that a piece is about one thing, and knows the headings it stands
under. Blocks of code and lists stay whole where they fit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

CHUNK = 1_500  # characters; about what one question can be about, and what an encoder reads without dilution
SHORT = 300  # characters; a section shorter than this shares a piece with the next one under the same heading

# Best border first; the text is cut after the match.
_BORDERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n(?=```)|(?<=```)\n",
        r"\n\s*\n",
        r"\n(?=\s{0,3}(?:[-*+•]|\d+[.)、]|[一二三四五六七八九十]+、)\s?)",
        r"\n",
        r"[。！？…][”’」』）】]*|[.!?][\"')\]]*(?=\s)\s",
        r"[；;，、：]|[,:](?=\s)\s",
        r"\s",
    )
)
_HEADING = re.compile(
    r"^(?:(?P<marks>#{1,6})[ \t]+(?P<title>[^\n]{1,120})"
    r"|(?P<chinese>第[一二三四五六七八九十百\d]+[章节篇部][^\n]{0,40}|"
    r"[一二三四五六七八九十]{1,3}、[^\n。；]{1,30}))[ \t]*$",
    re.MULTILINE,
)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text and the headings it stands under, outermost first."""

    text: str
    path: tuple[str, ...] = ()


def pieces(text: str, limit: int = CHUNK) -> list[Piece]:
    """Return `text` in pieces of at most `limit` characters; joined they are `text`. None is blank."""
    if len(text) <= limit:
        return [Piece(text)]
    found = [Piece(part, path) for section, path in _sections(text, limit) for part in split(section, limit)]
    joined: list[Piece] = []
    for piece in found:
        if joined and not piece.text.strip():
            joined[-1] = Piece(joined[-1].text + piece.text, joined[-1].path)
        elif joined and not joined[-1].text.strip():
            joined[-1] = Piece(joined[-1].text + piece.text, piece.path)
        else:
            joined.append(piece)
    return joined


def split(text: str, limit: int = CHUNK) -> list[str]:
    """Return `text` in pieces of at most `limit` characters, none of them blank; joined they are `text`.

    A run of blanks longer than `limit` stays with the piece before it, which may then be longer.
    """
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = len(text) if len(text) - start <= limit else _cut(text, start, limit)
        piece = text[start:end]
        if piece.strip() or not parts:
            parts.append(piece)
        else:
            parts[-1] += piece
        start = end
    if len(parts) > 1 and not parts[0].strip():
        parts[:2] = [parts[0] + parts[1]]
    return parts


def _sections(text: str, limit: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The text cut at its headings, each part with its path; a short one is joined with the next."""
    marks = list(_marks(text))
    if not marks:
        yield text, ()
        return
    if marks[0][0] > 0:
        yield text[: marks[0][0]], ()
    open_start, open_path = marks[0][0], marks[0][1]
    for (start, path), end in zip(marks, [mark[0] for mark in marks[1:]] + [len(text)], strict=True):
        small = start > open_start and start - open_start < SHORT and end - open_start <= limit
        if start > open_start and not small:
            yield text[open_start:start], open_path
            open_start, open_path = start, path
        elif small:
            open_path = path if path[: len(open_path)] == open_path else _shared(open_path, path)
    yield text[open_start:], open_path


def _shared(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    """The beginning that two paths have in common."""
    length = next((place for place, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a[:length]


def _marks(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Where headings stand, with the path of headings each opens. A `#` within a block of code is a comment."""
    code = [match.span() for match in _FENCE.finditer(text)] if "```" in text or "~~~" in text else []
    path: list[tuple[int, str]] = []
    block = 0
    for match in _HEADING.finditer(text):
        while block < len(code) and code[block][1] <= match.start():
            block += 1
        if block < len(code) and code[block][0] <= match.start():
            continue
        level = len(match["marks"]) if match["marks"] else (1 if match["chinese"].startswith("第") else 2)
        title = (match["title"] or match["chinese"]).strip(" \t#")
        path = [*((depth, name) for depth, name in path if depth < level), (level, title)]
        yield match.start(), tuple(name for _, name in path)


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

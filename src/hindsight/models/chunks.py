"""Long text for an encoder that reads short ones: cut at sentence ends, vectors pooled.

Encoders either cut silently (ONNX models after 256 or 512 pieces) or average so many words that none counts (the
default one has no limit; its memory grows with the text instead). So text beyond a limit is encoded in chunks, and its
vector is the mean of theirs, weighted by length: a text's end always counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

CHUNK_WIDTH: Final = 800
"""Width of a chunk: about 190 English words' pieces, or 266 Chinese characters."""

_WIDE_FROM: Final = 0x2E80  # first CJK block; about one piece a character, against four Latin letters a piece
_WIDE: Final = 3
_SENTENCE_END: Final = re.compile(r"(?<=[。！？；…\n])|(?<=[.!?;])(?=\s)")
_SPACE: Final = re.compile(r"(?<=\s)(?=\S)")


def width(text: str) -> int:
    """Length in Latin letters: a CJK character counts three."""
    if text.isascii():
        return len(text)
    return sum(_WIDE if ord(character) >= _WIDE_FROM else 1 for character in text)


@dataclass(frozen=True, slots=True)
class Chunked:
    """Texts as chunks: `pieces` in order, and for each text where its pieces start and how wide each is."""

    pieces: Sequence[str]
    starts: Sequence[int]
    widths: Sequence[int]

    @classmethod
    def of(cls, texts: Sequence[str], limit: int = CHUNK_WIDTH) -> Chunked:
        """Cut every text that is wider than `limit`."""
        pieces: list[str] = []
        starts: list[int] = []
        for text in texts:
            starts.append(len(pieces))
            pieces.extend(split(text, limit))
        return cls(pieces, starts, [max(1, width(piece)) for piece in pieces])

    def pool(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """One unit vector a text from one unit vector a piece."""
        if len(self.starts) == len(self.pieces):
            return vectors
        weighted = vectors * np.asarray(self.widths, dtype=np.float32)[:, None]
        return unit(np.add.reduceat(weighted, np.asarray(self.starts), axis=0))


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows scaled to length 1; a row of zeros stays one."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def split(text: str, limit: int) -> list[str]:
    """Chunks of at most `limit` width, cut after sentences, else before words, else anywhere; they join to the text."""
    if len(text) * _WIDE <= limit or width(text) <= limit:
        return [text]
    chunks: list[str] = []
    held: list[str] = []
    room = limit
    for part in _parts(text, limit):
        needed = width(part)
        if needed > room and held:
            chunks.append("".join(held))
            held, room = [], limit
        held.append(part)
        room -= needed
    chunks.append("".join(held))
    return chunks


def _parts(text: str, limit: int) -> Iterator[str]:
    """The text in sentences; one that is too wide in words, and a word that is too wide in pieces."""
    for sentence in _SENTENCE_END.split(text):
        if width(sentence) <= limit:
            yield sentence
            continue
        for word in _SPACE.split(sentence):
            yield from _hard(word, limit)


def _hard(word: str, limit: int) -> Iterator[str]:
    if width(word) <= limit:
        yield word
        return
    start, used = 0, 0
    for position, total in enumerate(accumulate(width(character) for character in word)):
        if total - used > limit and position > start:
            yield word[start:position]
            start, used = position, total - width(word[position])
    yield word[start:]

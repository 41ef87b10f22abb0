"""The vector of a question, begun before the question is understood: the encoder works while the rest is read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight.ports import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Ahead:
    """An `Embedder` that has begun with one text; any other it passes on. `stop` when the search is over."""

    def __init__(self, embedder: Embedder, text: str) -> None:
        self._embedder = embedder
        self._text = text
        self._begun = asyncio.ensure_future(embedder.embed_query(text))
        self._begun.add_done_callback(_heard)

    def stop(self) -> None:
        """Nobody waits any more."""
        self._begun.cancel()

    @property
    def model(self) -> str:
        """See `Embedder.model`."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """See `Embedder.dimensions`."""
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Embedder.embed`."""
        return await self._embedder.embed(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """See `Embedder.embed_query`. Who is late stops waiting; another wording of the same may still wait."""
        return await (asyncio.shield(self._begun) if text == self._text else self._embedder.embed_query(text))

    async def warm(self) -> None:
        """See `Embedder.warm`."""
        await self._embedder.warm()

    async def aclose(self) -> None:
        """The embedder is not closed: it is another's."""
        self.stop()


def _heard(task: asyncio.Future[NDArray[np.float32]]) -> None:
    """A failure that no route waited for is nobody's."""
    if not task.cancelled():
        task.exception()

"""Models that are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from hindsight.domain.completion import Completion
from hindsight.domain.episode import JsonValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns text into vectors."""

    @property
    def model(self) -> str:
        """Name with version, stored beside each vector."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, shape `(len(texts), dimensions)`; long text is chunked and pooled. `ModelUnavailable`."""
        ...

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """One unit vector, shape `(dimensions,)`, ahead of any batch in the queue. `ModelUnavailable`."""
        ...

    async def warm(self) -> None:
        """Load now what would otherwise load at the first call."""
        ...

    async def aclose(self) -> None:
        """Let go of threads and connections."""
        ...


class Reranker(Protocol):
    """Judges how well texts answer a query by reading both together: slower and closer than comparing vectors."""

    @property
    def model(self) -> str:
        """Name for traces and messages."""
        ...

    async def score(self, query: str, texts: Sequence[str], *, within: float) -> Sequence[float]:
        """The relevance of each text, in their order, on one scale for all queries: 0 does not answer, 1 answers.

        Each text is judged by itself: what stands beside it changes nothing. Long text may be cut. `ModelUnavailable`
        for whatever goes wrong, and when `within` seconds have passed; never fewer numbers, or one outside the scale.
        """
        ...

    async def warm(self) -> None:
        """Load now what would otherwise load at the first call."""
        ...

    async def aclose(self) -> None:
        """Let go of threads and connections; a second call does nothing."""
        ...


class LanguageModel(Protocol):
    """Answers a request in words. What it says is a proposal: callers check it and never take it for true."""

    @property
    def model(self) -> str:
        """Name as its provider knows it."""
        ...

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, JsonValue] | None = None, max_tokens: int
    ) -> Completion:
        """One answer to `user` under the rules of `system`.

        With a JSON `schema` (its `title` names it) the model is asked for such an object; the text may still be
        anything, and is cut off at `max_tokens`. `ModelUnavailable`: no answer, too many failures lately, or the
        day's tokens are used up.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...

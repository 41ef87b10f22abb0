"""A reranker behind an HTTP endpoint."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from hindsight.errors import InvalidInput
from hindsight.models.breaker import Breaker
from hindsight.models.endpoint import Endpoint
from hindsight.models.guard import Guard, sigmoid
from hindsight.models.rerank_wire import RerankWire

log = logging.getLogger(__name__)

_LONGEST: Final = 8_000  # characters of a text that go out; most models read 512 pieces, few more than 8,000


class HttpReranker:
    """Owns its endpoint and closes it. For use within one event loop.

    Most servers answer with probabilities, some (llama.cpp for most models) with logits. One number outside 0 to 1
    tells: from then on all of this endpoint's are taken for logits and put through the logistic function.
    """

    def __init__(self, endpoint: Endpoint, wire: RerankWire, *, breaker: Breaker | None = None) -> None:
        self._endpoint = endpoint
        self._wire = wire
        self._guard = Guard(wire.name, breaker)
        self._logits = False

    @property
    def model(self) -> str:
        """The model's name where the endpoint wants one."""
        return self._wire.name

    async def score(self, query: str, texts: Sequence[str], *, within: float) -> Sequence[float]:
        """Relevance from 0 to 1. The first 8,000 characters of a text count. `ModelUnavailable`."""
        for text in (query, *texts):
            refuse_surrogates(text)
        if not texts:
            return []
        return await self._guard.call(lambda: self._scores(query, texts), count=len(texts), within=within)

    async def warm(self) -> None:
        """Nothing to load here, and a request would cost money."""

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    async def _scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        # Several servers refuse an empty text; a space says as little.
        sent = [text[:_LONGEST] or " " for text in texts]
        batches = [sent[start : start + self._wire.most] for start in range(0, len(sent), self._wire.most)]
        answers = await asyncio.gather(*(self._request(query[:_LONGEST] or " ", batch) for batch in batches))
        found = [score for answer in answers for score in answer]
        if not self._logits and any(not 0.0 <= score <= 1.0 for score in found):
            log.info("%s answers with logits; they are put through the logistic function", self.model)
            self._logits = True
        return [sigmoid(score) for score in found] if self._logits else found

    async def _request(self, query: str, batch: Sequence[str]) -> list[float]:
        answer = await self._endpoint.post("/rerank", self._wire.body(query, batch))
        return self._wire.read(answer, len(batch))


def refuse_surrogates(text: str) -> None:
    """A lone surrogate can't be sent, and no tokenizer reads it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("text", text, "text without lone surrogates") from error

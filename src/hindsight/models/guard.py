"""What holds for every reranker: it answers in time, with sound numbers, or is left alone for a while."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence

from hindsight.errors import ModelUnavailable
from hindsight.models.breaker import Breaker


class Guard:
    """A deadline, a check of the answer and a breaker around calls of one model. For use within one event loop.

    Late counts as failed: a model that is too slow for its deadline would otherwise cost every search that time.
    """

    def __init__(self, model: str, breaker: Breaker | None = None) -> None:
        self._model = model
        self._breaker = breaker or Breaker()

    async def call(
        self, scores: Callable[[], Awaitable[Sequence[float]]], *, count: int, within: float
    ) -> Sequence[float]:
        """What `scores` gives: `count` numbers from 0 to 1, after at most `within` seconds. `ModelUnavailable`."""
        wait = self._breaker.wait()
        if wait:
            raise ModelUnavailable(
                f"{self._model} has failed several times in a row and is left alone for another {wait:.0f} s.",
                hint="It is tried again by itself.",
            )
        self._breaker.enter()
        try:
            found = await self._in_time(scores, within)
            self._check(found, count)
        except ModelUnavailable:
            self._breaker.failed()
            raise
        except BaseException:
            self._breaker.left()
            raise
        self._breaker.succeeded()
        return found

    async def _in_time(self, scores: Callable[[], Awaitable[Sequence[float]]], within: float) -> Sequence[float]:
        try:
            async with asyncio.timeout(within):
                return await scores()
        except TimeoutError as error:
            raise ModelUnavailable(
                f"{self._model} did not answer within {within:g} s.",
                hint="Raise HINDSIGHT_RERANKER_DEADLINE, or lower HINDSIGHT_RERANKER_CANDIDATES.",
            ) from error

    def _check(self, found: Sequence[float], count: int) -> None:
        if len(found) != count:
            raise ModelUnavailable(f"{self._model} returned {len(found)} scores for {count} texts.")
        if not all(math.isfinite(score) and 0.0 <= score <= 1.0 for score in found):
            raise ModelUnavailable(f"{self._model} returned a score that is not a number from 0 to 1.")


def sigmoid(logit: float) -> float:
    """A logit as a probability; the usual reading of a cross-encoder's single output."""
    # Beyond 40 a double can't tell the result from 0 or 1, and exp would overflow at 710.
    return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, logit))))

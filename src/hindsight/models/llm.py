"""A language model behind an HTTP endpoint: careful with the provider's time, the caller's time, and the money.

Calls at once are limited; a provider that keeps failing is left alone for a while; tokens are counted, those of failed
calls too, and a day's cap holds across restarts. An answer that was cut off is given back as it is: asking the same
again would be cut off again, so callers ask for less.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from hindsight.domain.completion import Completion
from hindsight.domain.episode import JsonValue
from hindsight.errors import ModelUnavailable
from hindsight.language.tokens import estimate_tokens
from hindsight.models.breaker import Breaker
from hindsight.models.endpoint import Endpoint, Refused
from hindsight.models.ledger import Ledger
from hindsight.models.wire import Wire
from hindsight.observe.metrics import Metrics
from hindsight.ports import Clock

log = logging.getLogger(__name__)

_MOST_FORMS: Final = 4  # of one request, as a server refuses one field after the other
_OVERHEAD: Final = 12  # tokens of a request beyond its text


@dataclass(frozen=True, slots=True)
class LlmPolicy:
    """`concurrency`: calls at once. `daily_tokens`: in and out together, per UTC day; 0 for no cap."""

    concurrency: int = 4
    daily_tokens: int = 2_000_000


class ChatModel:
    """Owns its endpoint and closes it. For use within one event loop."""

    def __init__(
        self,
        endpoint: Endpoint,
        wire: Wire,
        model: str,
        clock: Clock,
        *,
        ledger: Ledger | None = None,
        breaker: Breaker | None = None,
        policy: LlmPolicy | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self.model: Final = model
        self._endpoint = endpoint
        self._wire = wire
        self._clock = clock
        self._ledger = ledger or Ledger()
        self._breaker = breaker or Breaker()
        self._policy = policy or LlmPolicy()
        self._metrics = metrics or Metrics()
        self._free = asyncio.Semaphore(self._policy.concurrency)

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, JsonValue] | None = None, max_tokens: int
    ) -> Completion:
        """One answer. `ModelUnavailable`, at once where the breaker is open or the day's tokens are used up."""
        async with self._free:
            self._may_call()
            estimate = estimate_tokens(system) + estimate_tokens(user) + _OVERHEAD
            await self._within_cap(estimate)
            self._breaker.enter()
            try:
                completion = await self._asked(system, user, schema, max_tokens, estimate)
            except ModelUnavailable as error:
                self._breaker.failed()
                self._metrics.llm(error.code)
                raise
            except BaseException:
                self._breaker.left()
                raise
            self._breaker.succeeded()
            self._metrics.llm("answered", completion.tokens_in, completion.tokens_out)
            return completion

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    async def _asked(
        self, system: str, user: str, schema: Mapping[str, JsonValue] | None, max_tokens: int, estimate: int
    ) -> Completion:
        """The answer, in the first form of the request that the server takes; every attempt is entered."""
        attempts = 0
        answered: Completion | None = None

        def sent() -> None:
            nonlocal attempts
            attempts += 1

        try:
            answer = await self._posted(system, user, schema, max_tokens, sent)
            found = self._wire.read(answer)
            answered = replace(
                found,
                tokens_in=found.tokens_in or estimate,
                tokens_out=found.tokens_out or estimate_tokens(found.text),
            )
        finally:
            # A provider may charge for what it read in an attempt that failed, and nobody says so afterwards.
            unanswered = attempts if answered is None else attempts - 1
            tokens_in = unanswered * estimate + (answered.tokens_in if answered is not None else 0)
            if attempts:
                await self._enter(tokens_in, answered.tokens_out if answered is not None else 0)
        return replace(answered, tokens_in=tokens_in)

    async def _posted(
        self,
        system: str,
        user: str,
        schema: Mapping[str, JsonValue] | None,
        max_tokens: int,
        sent: Callable[[], None],
    ) -> object:
        for _ in range(_MOST_FORMS):
            body = self._wire.body(self.model, system, user, schema, max_tokens)
            try:
                return await self._endpoint.post(self._wire.path, body, sent=sent)
            except Refused as refusal:
                if not self._wire.learn(refusal, schema):
                    raise
                log.info("%s: %s The request is put in another form.", self.model, refusal)
        raise ModelUnavailable(f"{self.model} took no form of the request.")

    def _may_call(self) -> None:
        wait = self._breaker.wait()
        if wait:
            raise ModelUnavailable(
                f"{self.model} has failed several times in a row and is left alone for another {wait:.0f} s.",
                hint="It is tried again by itself.",
            )

    async def _within_cap(self, estimate: int) -> None:
        cap = self._policy.daily_tokens
        if not cap:
            return
        day = self._clock.now().date()
        spent = (await asyncio.to_thread(self._ledger.spent, day)).total
        if spent + estimate > cap:
            raise ModelUnavailable(
                f"{spent} of the {cap} tokens a day are used up.",
                hint="It goes on tomorrow (UTC); HINDSIGHT_LLM_DAILY_TOKENS sets the cap.",
            )

    async def _enter(self, tokens_in: int, tokens_out: int) -> None:
        await asyncio.to_thread(self._ledger.add, self._clock.now().date(), tokens_in, tokens_out)

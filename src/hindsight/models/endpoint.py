"""JSON over HTTP to an OpenAI-compatible endpoint: deadlines, few retries, and one error for whatever goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hindsight.errors import ConfigError, ModelUnavailable, shorten

if TYPE_CHECKING:
    import httpx2

_BUSY: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""Answers after which the same request may succeed. 529 is "overloaded" at some providers."""

_HINTS: Final = {
    401: "Check the API key.",
    403: "Check the API key and what it may use.",
    404: "Check the base URL and the model's name.",
    429: "The provider limits the rate or the budget is used up; try later.",
}
_LONGEST_ANSWER: Final = 64 * 1024 * 1024
_QUOTED_ANSWER: Final = 2_000  # characters of a refusal that a caller may look at
NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class Refused(ModelUnavailable):
    """The server understood and would not. `answer` is what it said, for programs: it may quote the request."""

    def __init__(self, message: str, *, hint: str, status: int, answer: str) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.answer = answer


class Endpoint:
    """One base URL with its key. Safe from several tasks of one event loop; connections are kept open."""

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
        timeout: float = 20.0,
        retries: int = 2,
        longest_wait: float = 10.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`timeout`: seconds for one attempt, connecting included. `ConfigError` for a URL that is not http(s).

        `key` goes out as a bearer token; a provider that wants it elsewhere gets it in `headers`.

        `longest_wait`: seconds before a retry; a server that asks for more (`Retry-After`) is not asked again now.
        """
        if not base_url.startswith(("http://", "https://")):
            raise ConfigError(f"base URL: {shorten(base_url)} is not accepted; allowed: a URL with http or https")
        self._base_url = base_url.rstrip("/")
        self._headers = {**headers, **({"Authorization": f"Bearer {key}"} if key else {})}
        self._timeout = timeout
        self._retries = retries
        self._longest_wait = longest_wait
        self._sleep = sleep
        self._client: httpx2.AsyncClient | None = None

    async def post(self, path: str, body: Mapping[str, object], *, sent: Callable[[], None] | None = None) -> object:
        """The decoded answer. `ModelUnavailable` after the last attempt, or at once where a retry can't help.

        `sent` is called after each attempt that reached the server, whatever came of it.

        Tried again: refused or broken connections, and answers that say the server is busy. Not tried again: a request
        that ran into the timeout (it would cost its caller as long once more), and any other refusal.
        """
        for attempt in range(self._retries + 1):
            outcome = await self._attempt(path, body, sent)
            if not isinstance(outcome, _Busy):
                return outcome.value
            wait = self._wait(attempt, outcome.wait)
            if attempt == self._retries or wait is None:
                raise outcome.error
            await self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _wait(self, attempt: int, asked: float | None) -> float | None:
        wait = 0.5 * 2**attempt if asked is None else asked
        return wait if wait <= self._longest_wait else None

    async def _attempt(self, path: str, body: Mapping[str, object], sent: Callable[[], None] | None) -> _Answer | _Busy:
        import httpx2  # noqa: PLC0415 - needed only by those who use an endpoint

        if self._client is None:
            self._client = httpx2.AsyncClient(headers=self._headers, timeout=self._timeout)
        reached = True
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._client.post(self._base_url + path, json=body)
        except (TimeoutError, httpx2.TimeoutException) as error:
            reached = not isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            raise ModelUnavailable(
                f"{self._base_url} did not answer within {self._timeout:g} s.", hint="Try later, or raise the timeout."
            ) from error
        except httpx2.TransportError as error:
            reached = not isinstance(error, httpx2.ConnectError)
            failure = ModelUnavailable(
                f"{self._base_url} can't be reached: {type(error).__name__}.",
                hint="Check the base URL and whether the server runs.",
            )
            failure.__cause__ = error
            return _Busy(failure, None)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ModelUnavailable(f"{self._base_url} gave no usable answer: {type(error).__name__}.") from error
        finally:
            if reached and sent is not None:
                sent()
        return self._read(response)

    def _read(self, response: httpx2.Response) -> _Answer | _Busy:
        status = response.status_code
        if status != 200:
            # The body is left out of the message: providers quote the request in it, and this may be logged.
            error = Refused(
                f"{self._base_url} answered with status {status}.",
                hint=_HINTS.get(status, ""),
                status=status,
                answer=response.text[:_QUOTED_ANSWER],
            )
            if status in _BUSY:
                return _Busy(error, _retry_after(response))
            raise error
        if len(response.content) > _LONGEST_ANSWER:
            raise ModelUnavailable(f"{self._base_url} answered with {len(response.content)} bytes, too many to read.")
        try:
            return _Answer(response.json())
        except (ValueError, RecursionError) as error:
            raise ModelUnavailable(
                f"{self._base_url} answered with something else than JSON.", hint="Check the base URL."
            ) from error


class _Answer:
    """A decoded answer."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class _Busy:
    """A failure that may pass, and the seconds the server asked to wait."""

    __slots__ = ("error", "wait")

    def __init__(self, error: ModelUnavailable, wait: float | None) -> None:
        self.error = error
        self.wait = wait


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds from `Retry-After`, which is a number or a date; a date counts from the server's own clock."""
    asked = response.headers.get("retry-after")
    if asked is None:
        return None
    try:
        return max(0.0, float(asked))
    except ValueError:
        pass  # then it is a date
    try:
        then, now = parsedate_to_datetime(asked), parsedate_to_datetime(response.headers.get("date", ""))
        return max(0.0, (then - now).total_seconds())
    except (ValueError, TypeError):
        return None

"""JSON over HTTP to a hindsight server: the key, the namespace, and the server's errors as the ones they were."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias
from urllib.parse import quote

import httpx2

from hindsight import errors
from hindsight.errors import ConfigError, HindsightError, InvalidInput, NotFound, Unavailable, shorten

Parameter: TypeAlias = str | int | float | bool | Sequence[str | int | float | bool | None] | None
NAMESPACE_HEADER: Final = "X-Hindsight-Namespace"
ATTEMPTS: Final = 3  # of a call that reached nobody, or that a busy server asked to send again
FIRST_WAIT: Final = 0.2  # seconds before the second attempt; twice as long before each further one
BUSY: Final = frozenset({429, 502, 503, 504})


class ServerError(HindsightError):
    """The server answered with something that is none of the errors above: a fault of its own, or no hindsight."""

    code = "server_error"


class Wire:
    """One server. Safe from several tasks of one loop; connections are kept open until `aclose`."""

    def __init__(self, base_url: str, *, key: str | None, timeout: float) -> None:
        """`timeout`: seconds for one attempt. `ConfigError` for a URL that is not http(s)."""
        if not base_url.startswith(("http://", "https://")):
            raise ConfigError(f"base_url: {shorten(base_url)} is not accepted; allowed: a URL with http or https")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx2.AsyncClient(base_url=base_url.rstrip("/"), headers=headers, timeout=timeout)

    async def call(
        self,
        method: str,
        path: str,
        *,
        namespace: str | None,
        body: Mapping[str, object] | None = None,
        parameters: Mapping[str, Parameter] | None = None,
        again: bool = True,
    ) -> object:
        """The decoded answer, or the server's error. `Unavailable` where it can't be reached.

        Tried again: a call that reached nobody. With `again`, which says that a second one does no more than the
        first, also one whose answer was lost or that a busy server refused.
        """
        headers = {} if namespace is None else {NAMESPACE_HEADER: quote(namespace)}
        wait = FIRST_WAIT
        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS
            try:
                response = await self._client.request(method, path, json=body, params=parameters, headers=headers)
            except httpx2.TransportError as error:
                reached = not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
                if last or (reached and not again):
                    raise Unavailable(
                        f"{self._client.base_url} can't be reached: {type(error).__name__}.",
                        hint="Check the address and whether the server runs.",
                    ) from error
            else:
                if last or not again or response.status_code not in BUSY:
                    return _read(response)
            await asyncio.sleep(wait)
            wait *= 2
        raise AssertionError("the last attempt returns or raises")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _read(response: httpx2.Response) -> object:
    try:
        answer = response.json()
    except ValueError as error:
        raise ServerError(
            f"status {response.status_code} with something else than JSON.", hint="Is this address a hindsight server?"
        ) from error
    if response.is_success:
        return answer
    told = answer.get("error") if isinstance(answer, dict) else None
    raise _error(response.status_code, told if isinstance(told, dict) else {})


def _error(status: int, told: Mapping[str, object]) -> HindsightError:
    """The error that the server raised, of its own class, with its words."""
    code, hint = str(told.get("code", "")), str(told.get("hint", ""))
    message = str(told.get("message") or f"The server answered with status {status}.")
    kind = _BY_CODE.get(code, ServerError)
    made = kind.__new__(kind)
    HindsightError.__init__(made, message, hint=hint)
    if isinstance(made, InvalidInput | NotFound):
        made.field, made.value = str(told.get("field", "")), str(told.get("value", ""))
    if isinstance(made, InvalidInput):
        made.allowed = str(told.get("allowed", ""))
    return made


_BY_CODE: Final[Mapping[str, type[HindsightError]]] = {
    kind.code: kind
    for kind in (
        errors.InvalidInput,
        errors.NotFound,
        errors.Ambiguous,
        errors.Conflict,
        errors.Forbidden,
        errors.Unsupported,
        errors.Unavailable,
        errors.StorageUnavailable,
        errors.StorageFull,
        errors.ModelUnavailable,
        errors.DeadlineExceeded,
        errors.StorageCorrupt,
        errors.SchemaMismatch,
        errors.Unauthenticated,
        errors.TooLarge,
        errors.RateLimited,
    )
}

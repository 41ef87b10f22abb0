"""A server seen from a namespace."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Self, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from hindsight.client.wire import Parameter, ServerError, Wire

T = TypeVar("T")
NONE: Mapping[str, object] = MappingProxyType({})

DEFAULT_URL = "http://127.0.0.1:8080"
TIMEOUT = 30.0  # seconds; the server answers a search in 3 and a write in 5, the rest is for long work and slow lines


class Opened:
    """Connects at the first call; `aclose` closes the connections."""

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        *,
        api_key: str | None = None,
        namespace: str | None = None,
        timeout: float = TIMEOUT,
    ) -> None:
        self._wire = Wire(base_url, key=api_key, timeout=timeout)
        self._namespace = namespace
        self._is_view = False

    def namespace(self, name: str) -> Self:
        """The same server seen from another namespace; closing it closes nothing."""
        view = object.__new__(type(self))
        view._wire, view._namespace, view._is_view = self._wire, name, True
        return view

    @property
    def is_view(self) -> bool:
        """Whether this is another's namespace view."""
        return self._is_view

    async def aclose(self) -> None:
        """Close the connections."""
        if not self._is_view:
            await self._wire.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _call(
        self,
        kind: TypeAdapter[T],
        method: str,
        path: str,
        namespace: str | None,
        body: Mapping[str, object] | None = None,
        *,
        parameters: Mapping[str, object] = NONE,
        again: bool = False,
    ) -> T:
        """One call, its answer read as `kind`. What is `None` or empty is left out of body and parameters."""
        answer = await self._wire.call(
            method,
            path,
            namespace=self._namespace if namespace is None else namespace,
            body=None if body is None else {name: value for name, value in body.items() if value is not None},
            parameters={name: cast(Parameter, value) for name, value in parameters.items() if value not in (None, ())},
            again=again or method == "GET",
        )
        try:
            return kind.validate_python(answer)
        except ValidationError as error:
            raise ServerError(
                f"{path}: the answer is not of the form that this client knows: {error.errors()[0]['msg']}",
                hint="Client and server are of different releases.",
            ) from error

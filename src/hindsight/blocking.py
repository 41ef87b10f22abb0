"""The one way from `async` methods to a program without an event loop: they run on a loop in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

from hindsight.errors import Unavailable

A = TypeVar("A", bound="Opening")
A_co = TypeVar("A_co", bound="Opening", covariant=True)
P = ParamSpec("P")
T = TypeVar("T")


class LoopThread:
    """An event loop in a thread of its own; it ends with the program or with `close`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hindsight", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether `close` has been called."""
        return self._loop.is_closed()

    def run(self, work: Coroutine[object, object, T]) -> T:
        """What the work gives, once it is done. `Unavailable` after `close`."""
        if self.closed:
            work.close()
            raise Unavailable("this object is closed", hint="Open a new one.")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """Stop the loop and wait for its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Opening(Protocol):
    """What is opened and closed, and seen from a namespace."""

    @property
    def is_view(self) -> bool:
        """Whether this is another's namespace view."""
        ...

    def namespace(self, name: str) -> Self:
        """The same, seen from another namespace."""
        ...

    async def aclose(self) -> None:
        """Finish what is queued and close."""
        ...

    async def __aenter__(self) -> Self: ...


class Blocking(Generic[A_co]):
    """Something `async` and the loop that it lives on. A context manager; `close` finishes what is queued."""

    _inner: A_co
    _loop: LoopThread

    def namespace(self, name: str) -> Self:
        """The same memory seen from another namespace; closing it closes nothing."""
        view = object.__new__(type(self))
        view._inner = self._inner.namespace(name)
        view._loop = self._loop
        return view

    def close(self) -> None:
        """Finish what is queued and close; a second call does nothing."""
        if self._inner.is_view or self._loop.closed:
            return
        self._loop.run(self._inner.aclose())
        self._loop.close()

    def __enter__(self) -> Self:
        self._loop.run(self._inner.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def blocking(
    method: Callable[Concatenate[A, P], Coroutine[object, object, T]],
) -> Callable[Concatenate[Blocking[A], P], T]:
    """The same method for programs without a loop: one implementation, called across."""

    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.run(method(self._inner, *args, **kwargs))

    call.__name__ = method.__name__
    call.__qualname__ = method.__qualname__
    call.__doc__ = method.__doc__
    return call

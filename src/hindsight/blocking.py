"""The one way from `async` methods to a program without an event loop: they run on a loop in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Concatenate, Generic, ParamSpec, TypeVar

from hindsight.errors import Unavailable

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
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


class Blocking(Generic[A_co]):
    """Something `async` and the loop that it lives on."""

    _inner: A_co
    _loop: LoopThread


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

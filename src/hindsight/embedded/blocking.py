"""`Hindsight`: the same methods for programs without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from os import PathLike
from types import TracebackType
from typing import Concatenate, ParamSpec, Self, TypeVar

from hindsight.config import Settings
from hindsight.embedded.asynchronous import AsyncHindsight
from hindsight.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    method: Callable[Concatenate[AsyncHindsight, P], Coroutine[object, object, T]],
) -> Callable[Concatenate[Hindsight, P], T]:
    """The same method for programs without a loop: one implementation, called across."""

    def call(self: Hindsight, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.run(method(self._inner, *args, **kwargs))

    call.__name__ = method.__name__
    call.__qualname__ = f"Hindsight.{method.__name__}"
    call.__doc__ = method.__doc__
    return call


class _LoopThread:
    """An event loop in a thread of its own; it ends with the program or with `close`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hindsight", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        return self._loop.is_closed()

    def run(self, work: Coroutine[object, object, T]) -> T:
        if self.closed:
            work.close()
            raise Unavailable("this Hindsight is closed", hint="Open a new one on the same folder.")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Hindsight:
    """Memory on a data folder. A context manager; `close` finishes what is queued.

    Safe from several threads. Every method is `AsyncHindsight`'s, waited for.
    """

    def __init__(
        self,
        data_dir: str | PathLike[str] | None = None,
        *,
        namespace: str | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._inner = AsyncHindsight(data_dir, namespace=namespace, settings=settings)
        self._loop = _LoopThread()

    def namespace(self, name: str) -> Hindsight:
        """The same memory seen from another namespace; closing it closes nothing."""
        view = object.__new__(Hindsight)
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

    write = _blocking(AsyncHindsight.write)
    write_many = _blocking(AsyncHindsight.write_many)
    write_experience = _blocking(AsyncHindsight.write_experience)
    merge_experiences = _blocking(AsyncHindsight.merge_experiences)
    search = _blocking(AsyncHindsight.search)
    trace = _blocking(AsyncHindsight.trace)
    replay = _blocking(AsyncHindsight.replay)
    explain = _blocking(AsyncHindsight.explain)
    evaluate = _blocking(AsyncHindsight.evaluate)
    get = _blocking(AsyncHindsight.get)
    list = _blocking(AsyncHindsight.list)
    history = _blocking(AsyncHindsight.history)
    update = _blocking(AsyncHindsight.update)
    pin = _blocking(AsyncHindsight.pin)
    forget = _blocking(AsyncHindsight.forget)
    undo = _blocking(AsyncHindsight.undo)
    working = _blocking(AsyncHindsight.working)
    end_session = _blocking(AsyncHindsight.end_session)
    sessions = _blocking(AsyncHindsight.sessions)
    reviews = _blocking(AsyncHindsight.reviews)
    resolve_review = _blocking(AsyncHindsight.resolve_review)
    feedback = _blocking(AsyncHindsight.feedback)
    prune = _blocking(AsyncHindsight.prune)
    summarize = _blocking(AsyncHindsight.summarize)
    answer = _blocking(AsyncHindsight.answer)
    warm = _blocking(AsyncHindsight.warm)
    stats = _blocking(AsyncHindsight.stats)

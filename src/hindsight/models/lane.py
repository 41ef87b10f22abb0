"""One thread that encodes for many callers: what waits is gathered into one batch, taken from everybody in turn."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hindsight.errors import HindsightError, ModelUnavailable

Floats: TypeAlias = NDArray[np.float32]

_PATIENCE: Final = 5.0


class _Request:
    """Texts of one caller, and how far they are."""

    __slots__ = ("done", "future", "next", "texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.next = 0
        self.done: list[Floats] = []
        self.future: Future[Floats] = Future()

    def take(self, count: int) -> Sequence[str]:
        taken = self.texts[self.next : self.next + count]
        self.next += len(taken)
        return taken

    def finish(self) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_result(self.done[0] if len(self.done) == 1 else np.concatenate(self.done))

    def fail(self, error: HindsightError) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class Lane:
    """Runs `encode` in a thread of its own, at most `slice_size` texts at a time.

    A slice takes an equal share from each waiting caller, so that one who brings a thousand texts does not keep out one
    who brings a single text. A caller who is cancelled is skipped. Works for several event loops at once.
    """

    def __init__(self, name: str, encode: Callable[[Sequence[str]], Floats], *, slice_size: int, hint: str) -> None:
        self._name = name
        self._encode = encode
        self._slice_size = slice_size
        self._hint = hint
        self._waiting: deque[_Request] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, texts: Sequence[str]) -> Floats:
        """Vectors of one or more texts. `ModelUnavailable` if the encoder fails or the lane is closed."""
        request = _Request(texts)
        with self._changed:
            if self._closed:
                raise self._closed_error()
            if self._thread is None:
                # A daemon: a program that forgets to close must still be able to end.
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._waiting.append(request)
            self._changed.notify()
        return await asyncio.wrap_future(request.future)

    async def aclose(self) -> None:
        """Fail what waits, finish the slice at work and end the thread.

        One that is still busy after 5 s (a download that hangs) is left behind; it ends by itself or with the process.
        """
        with self._changed:
            self._closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            self._changed.notify()
        for request in waiting:
            request.fail(self._closed_error())
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, _PATIENCE)

    def _closed_error(self) -> ModelUnavailable:
        return ModelUnavailable(f"{self._name} is closed.", hint="Open the memory again before embedding.")

    def _work(self) -> None:
        while shares := self._next_slice():
            texts = [text for _, share in shares for text in share]
            try:
                vectors = self._encode(texts)
            except HindsightError as error:
                self._fail([request for request, _ in shares], error)
                continue
            except Exception as error:  # noqa: BLE001 - the thread's boundary: every caller must get an answer
                failure = ModelUnavailable(f"{self._name} failed: {type(error).__name__}: {error}", hint=self._hint)
                failure.__cause__ = error
                self._fail([request for request, _ in shares], failure)
                continue
            self._hand_out(shares, vectors)

    def _next_slice(self) -> list[tuple[_Request, Sequence[str]]]:
        """Wait for work; empty when the lane is closed."""
        with self._changed:
            while True:
                self._drop_cancelled()
                if self._waiting or self._closed:
                    break
                self._changed.wait()
            room = 0 if self._closed else self._slice_size
            callers = min(room, len(self._waiting))
            shares: list[tuple[_Request, Sequence[str]]] = []
            for left in range(callers, 0, -1):
                request = self._waiting.popleft()
                share = request.take(-(-room // left))
                room -= len(share)
                shares.append((request, share))
            # Whoever is not done goes to the end of the queue: under the same lock, so that closing sees it.
            self._waiting.extend(request for request, _ in shares if request.next < len(request.texts))
            return shares

    def _drop_cancelled(self) -> None:
        if any(request.future.cancelled() for request in self._waiting):
            self._waiting = deque(request for request in self._waiting if not request.future.cancelled())

    def _fail(self, requests: Sequence[_Request], error: HindsightError) -> None:
        with self._changed:
            self._waiting = deque(request for request in self._waiting if request not in requests)
        for request in requests:
            if not request.future.done():
                request.fail(error)

    def _hand_out(self, shares: Sequence[tuple[_Request, Sequence[str]]], vectors: Floats) -> None:
        start = 0
        for request, share in shares:
            request.done.append(vectors[start : start + len(share)])
            start += len(share)
            if request.next >= len(request.texts) and not request.future.done():
                request.finish()

"""Threads that encode for many callers: what waits is gathered into batches, taken from everybody in turn."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hindsight.errors import HindsightError, ModelUnavailable

Floats: TypeAlias = NDArray[np.float32]

_PATIENCE: Final = 5.0
_REST: Final = 0.1  # seconds until a thread asks again whether there is something to spare for it
_LEAST: Final = 8  # texts of a slice where several threads share the work: fewer cost more a text


class _Request:
    """Texts of one caller, and how far they are. `done` has the vectors of each slice by where it begins."""

    __slots__ = ("done", "future", "left", "next", "texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.next = 0
        self.left = len(texts)
        self.done: dict[int, Floats] = {}
        self.future: Future[Floats] = Future()

    def take(self, count: int) -> _Share:
        start = self.next
        self.next = min(start + count, len(self.texts))
        return _Share(self, start, self.texts[start : self.next])

    def put(self, start: int, vectors: Floats) -> bool:
        """Keep a slice's vectors; whether they were the last."""
        self.done[start] = vectors
        self.left -= len(vectors)
        return self.left == 0

    def finish(self) -> None:
        if self.future.set_running_or_notify_cancel():
            parts = [self.done[start] for start in sorted(self.done)]
            self.future.set_result(parts[0] if len(parts) == 1 else np.concatenate(parts))

    def fail(self, error: HindsightError) -> None:
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


@dataclass(frozen=True, slots=True)
class _Share:
    """What one slice takes of a request."""

    request: _Request
    start: int
    texts: Sequence[str]


class Lane:
    """Runs `encode` in threads of its own, at most `slice_size` texts at a time.

    A slice takes an equal share from each waiting caller, so that one who brings a thousand texts does not keep out one
    who brings a single text. A caller who is cancelled is skipped. Works for several event loops at once.
    """

    def __init__(
        self,
        name: str,
        encode: Callable[[Sequence[str]], Floats],
        *,
        slice_size: int,
        hint: str,
        threads: int = 1,
        spare: Callable[[], bool] = lambda: True,
    ) -> None:
        """`encode` must bear being called by `threads` threads at once.

        All but the first start when there is work for them, and take a slice only if `spare` says that the processor
        has nothing better to do.
        """
        self._name = name
        self._encode = encode
        self._slice_size = slice_size
        self._hint = hint
        self._waiting: deque[_Request] = deque()
        self._changed = threading.Condition()
        self._limit = threads
        self._spare = spare
        self._threads: list[threading.Thread] = []
        self._closed = False

    async def run(self, texts: Sequence[str]) -> Floats:
        """Vectors of one or more texts. `ModelUnavailable` if the encoder fails or the lane is closed."""
        request = _Request(texts)
        with self._changed:
            if self._closed:
                raise self._closed_error()
            self._waiting.append(request)
            self._staff(len(texts))
            self._changed.notify_all()
        return await asyncio.wrap_future(request.future)

    async def aclose(self) -> None:
        """Fail what waits, finish the slice at work and end the thread.

        One that is still busy after 5 s (a download that hangs) is left behind; it ends by itself or with the process.
        """
        with self._changed:
            self._closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        for request in waiting:
            request.fail(self._closed_error())
        for thread in self._threads:
            await asyncio.to_thread(thread.join, _PATIENCE)

    def _staff(self, count: int) -> None:
        """One thread for any work, the others for what is worth sharing: a thread keeps memory of its own."""
        wanted = self._limit if count > _LEAST else 1
        while len(self._threads) < wanted:
            # A daemon: a program that forgets to close must still be able to end.
            thread = threading.Thread(target=self._work, args=(not self._threads,), name=self._name, daemon=True)
            self._threads.append(thread)
            thread.start()

    def _closed_error(self) -> ModelUnavailable:
        return ModelUnavailable(f"{self._name} is closed.", hint="Open the memory again before embedding.")

    def _work(self, first: bool) -> None:
        while shares := self._next_slice(first):
            texts = [text for share in shares for text in share.texts]
            try:
                vectors = self._encode(texts)
            except HindsightError as error:
                self._fail([share.request for share in shares], error)
                continue
            except Exception as error:  # noqa: BLE001 - the thread's boundary: every caller must get an answer
                failure = ModelUnavailable(f"{self._name} failed: {type(error).__name__}: {error}", hint=self._hint)
                failure.__cause__ = error
                self._fail([share.request for share in shares], failure)
                continue
            self._hand_out(shares, vectors)

    def _next_slice(self, first: bool) -> list[_Share]:
        """Wait for work; empty when the lane is closed."""
        with self._changed:
            while True:
                self._drop_cancelled()
                if self._closed or (self._waiting and (first or self._spare())):
                    break
                self._changed.wait(_REST if self._waiting else None)
            room = 0 if self._closed else self._room()
            callers = min(room, len(self._waiting))
            shares: list[_Share] = []
            for left in range(callers, 0, -1):
                share = self._waiting.popleft().take(-(-room // left))
                room -= len(share.texts)
                shares.append(share)
            # Whoever is not done goes to the end of the queue: under the same lock, so that closing sees it.
            unfinished = (share.request for share in shares)
            self._waiting.extend(request for request in unfinished if request.next < len(request.texts))
            return shares

    def _room(self) -> int:
        """Texts of the next slice: of what waits a part for each thread, so that all end at about the same time."""
        waiting = sum(len(request.texts) - request.next for request in self._waiting)
        return min(self._slice_size, max(_LEAST, -(-waiting // len(self._threads))))

    def _drop_cancelled(self) -> None:
        if any(request.future.cancelled() for request in self._waiting):
            self._waiting = deque(request for request in self._waiting if not request.future.cancelled())

    def _fail(self, requests: Sequence[_Request], error: HindsightError) -> None:
        with self._changed:
            self._waiting = deque(request for request in self._waiting if request not in requests)
            unanswered = [request for request in requests if not request.future.done()]
            for request in unanswered:
                request.fail(error)

    def _hand_out(self, shares: Sequence[_Share], vectors: Floats) -> None:
        finished: list[_Request] = []
        start = 0
        with self._changed:
            for share in shares:
                if share.request.put(share.start, vectors[start : start + len(share.texts)]):
                    finished.append(share.request)
                start += len(share.texts)
        for request in finished:
            if not request.future.done():
                request.finish()

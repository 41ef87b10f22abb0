"""Where an index keeps its namespaces, and the one thread that may touch them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from hindsight.errors import StorageUnavailable

Held = TypeVar("Held")
Answer = TypeVar("Answer")


QUICK = 20_000
"""Entries up to which a look-up is done at once: it takes under 2 ms there, and two changes of thread cost 0.2 ms."""


class Keeper(Generic[Held]):
    """Namespaces by name, each opened when first asked for, all worked on in one thread.

    The thread keeps long work off the event loop. What is short is done at once, unless the thread is at work.
    """

    def __init__(self, name: str, open_: Callable[[str], Held]) -> None:
        self._name = name
        self._open = open_
        self._held: dict[str, Held] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"hindsight-{name}")
        self._turn = threading.Lock()  # whose turn it is: held by whoever works on a namespace
        self._closed = False

    async def call(self, namespace: str, work: Callable[[Held], Answer]) -> Answer:
        """Run `work` on a namespace in the thread."""
        if self._closed:
            raise StorageUnavailable(f"The {self._name} index is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._work, namespace, work)

    async def look(self, namespace: str, work: Callable[[Held], Answer], *, size: Callable[[Held], int]) -> Answer:
        """Run `work`, which changes nothing, at once where a namespace of up to `QUICK` entries is open and free."""
        held = self._held.get(namespace)
        if held is None or self._closed or size(held) > QUICK or not self._turn.acquire(blocking=False):
            return await self.call(namespace, work)
        try:
            return work(held)
        finally:
            self._turn.release()

    async def glance(self, namespace: str, read: Callable[[Held], Answer]) -> Answer:
        """Read one value. It needs no turn in the thread once the namespace is open: attributes are set whole."""
        held = self._held.get(namespace)
        return await self.call(namespace, read) if held is None else read(held)

    async def aclose(self, last: Callable[[Held], None]) -> None:
        """Run `last` on every namespace that was opened, and end the thread; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._leave, last)
        finally:
            self._thread.shutdown(wait=False)

    def _work(self, namespace: str, work: Callable[[Held], Answer]) -> Answer:
        with self._turn:
            return work(self._get(namespace))

    def _leave(self, last: Callable[[Held], None]) -> None:
        with self._turn:
            for held in self._held.values():
                last(held)
            self._held.clear()

    def _get(self, namespace: str) -> Held:
        held = self._held.get(namespace)
        if held is None:
            held = self._held[namespace] = self._open(namespace)
        return held

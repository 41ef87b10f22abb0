"""Where an index keeps its namespaces, and the one thread that may touch them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from hindsight.errors import StorageUnavailable

Held = TypeVar("Held")
Answer = TypeVar("Answer")


class Keeper(Generic[Held]):
    """Namespaces by name, each opened when first asked for, all worked on in one thread.

    The thread makes locks needless, and keeps scans of milliseconds off the event loop.
    """

    def __init__(self, name: str, open_: Callable[[str], Held]) -> None:
        self._name = name
        self._open = open_
        self._held: dict[str, Held] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"hindsight-{name}")
        self._closed = False

    async def call(self, namespace: str, work: Callable[[Held], Answer]) -> Answer:
        """Run `work` on a namespace in the thread."""
        if self._closed:
            raise StorageUnavailable(f"The {self._name} index is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(self._get(namespace)))

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

    def _leave(self, last: Callable[[Held], None]) -> None:
        for held in self._held.values():
            last(held)
        self._held.clear()

    def _get(self, namespace: str) -> Held:
        held = self._held.get(namespace)
        if held is None:
            held = self._held[namespace] = self._open(namespace)
        return held

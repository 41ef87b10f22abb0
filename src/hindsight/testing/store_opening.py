"""How contract tests get a store of the backend under test."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from hindsight.ports import Store


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can be asked for. Tests of what it has not are skipped by name.

    `reopens`: `make` on the same place gives the same contents. `faults`: it calls `watch` before every statement, and
    an error raised there fails the statement. `statements`: the most statements one read method may take.
    """

    reopens: bool = True
    faults: bool = True
    statements: int = 5


class OpensStores:
    """What a backend's test class provides: `make`, and `capabilities` where they differ."""

    capabilities = Capabilities()

    async def make(self, place: Path, *, watch: Callable[[str], None] | None = None) -> Store:
        """A store over what lies at `place`, a folder of this test's own."""
        raise NotImplementedError

    def need(self, capability: str) -> None:
        """Skip the test where the backend has not declared this."""
        if not getattr(self.capabilities, capability):
            pytest.skip(f"not run: the backend does not declare {capability}")

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[Store]:
        """A store of its own for one example of a generated test."""
        with tempfile.TemporaryDirectory(prefix="hindsight-contract-") as place:
            store = await self.make(Path(place))
            try:
                yield store
            finally:
                await store.aclose()

    @pytest.fixture
    def place(self, tmp_path: Path) -> Path:
        """Where this test's store lies."""
        return tmp_path

    @pytest.fixture
    async def store(self, place: Path) -> AsyncIterator[Store]:
        """An empty store, closed afterwards."""
        store = await self.make(place)
        yield store
        await store.aclose()

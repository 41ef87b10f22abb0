"""A loopback server that answers as a language model does, and what writes with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.models.chat_server import knowing
from tests.models.openai_server import EmbeddingServer, running
from tests.write.kiln import ROW, Kiln, Make


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        started.answer = knowing(ROW)
        yield started


@pytest.fixture
async def make(server: EmbeddingServer) -> AsyncIterator[Make]:
    """Makes kilns and closes them."""
    made: list[Kiln] = []

    def make(**options: Any) -> Kiln:
        made.append(Kiln(server, **options))
        return made[-1]

    yield make
    for kiln in made:
        await kiln.model.aclose()

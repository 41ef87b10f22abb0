"""A loopback server that answers as a language model does."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.models.openai_server import EmbeddingServer, running


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        yield started

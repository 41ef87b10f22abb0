"""The composition of a reranker: none by default, what the settings name, and a search through the whole engine."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindsight import config
from hindsight.app import make_reranker, open_engine
from hindsight.domain.episode import Message
from hindsight.domain.query import Query
from hindsight.errors import ConfigError
from hindsight.models.cross_encoder import CrossEncoder
from hindsight.write.request import WriteRequest
from tests.models import rerank_server
from tests.models.openai_server import EmbeddingServer, Reply, running
from tests.models.tiny_onnx import write_folder


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        started.answer = rerank_server.scored
        yield started


def test_there_is_none_by_default_and_a_model_alone_is_told_to_do_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert make_reranker(config.load()) is None
    assert caplog.text == ""
    with caplog.at_level(logging.WARNING):
        assert make_reranker(config.load(reranker_model="m")) is None
    assert "HINDSIGHT_RERANKER_URL is not set" in caplog.text


def test_an_endpoint_and_a_folder_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="one of the two"):
        make_reranker(config.load(reranker_url="http://127.0.0.1:1", reranker_path=tmp_path))


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="http or https"):
        make_reranker(config.load(reranker_url="localhost:8080"))


@pytest.mark.needs("module:onnxruntime", "module:tokenizers")
async def test_a_folder_is_a_cross_encoder(tmp_path: Path) -> None:
    made = make_reranker(config.load(reranker_path=write_folder(tmp_path)))
    assert isinstance(made, CrossEncoder)
    await made.aclose()


@pytest.mark.parametrize("ending", ["", "/", "/rerank"])
async def test_the_address_may_end_with_the_route_or_not(server: EmbeddingServer, ending: str) -> None:
    made = make_reranker(config.load(reranker_url=server.url + ending, reranker_model="m", reranker_key="k"))
    assert made is not None
    assert list(await made.score("a b", ["a"], within=60.0)) == [0.5]
    await made.aclose()
    assert server.asked[0].path == "/v1/rerank"
    assert server.asked[0].headers["authorization"] == "Bearer k"


async def test_without_a_models_name_the_other_form_is_used(server: EmbeddingServer) -> None:
    server.answer = rerank_server.scored_by_tei
    made = make_reranker(config.load(reranker_url=server.url))
    assert made is not None
    assert list(await made.score("a b", ["a"], within=60.0)) == [0.5]
    await made.aclose()


async def test_a_search_through_the_engine_reads_again_and_does_without(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    settings = config.load(
        data_dir=tmp_path, embedding_model="none", answer_cache=False, reranker_url=server.url, reranker_model="m",
        reranker_deadline=2.5, reranker_candidates=9,
    )  # fmt: skip
    engine = await open_engine(settings)
    try:
        await engine.warm("n")
        await engine.write("n", WriteRequest((Message("I keep bees in Bremen."),)))
        query = Query("bees Bremen", datetime.now(UTC))
        found = await engine.search("n", query)
        assert found.hits[0].scores["rerank"] > 0
        assert found.degraded == ()
        server.script = [Reply(400, b"no")]
        again = await engine.search("n", query)
        assert [hit.content for hit in again.hits] == [hit.content for hit in found.hits]
        assert again.degraded == ("rerank",)
    finally:
        await engine.aclose()
    assert server.asked[0].body["top_n"] <= 9

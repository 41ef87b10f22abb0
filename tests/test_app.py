"""The composition of a language model: none without a name, an error that says what is missing, and its own form."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hindsight import config
from hindsight.app import SystemClock, make_extractor, make_language_model, open_engine
from hindsight.domain.episode import Message
from hindsight.errors import ConfigError
from hindsight.ops.doctor import State, check_language_model
from hindsight.write.request import WriteRequest
from tests.models.chat_server import chat, knowing, messages
from tests.models.openai_server import EmbeddingServer, Reply, running


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        started.answer = lambda asked: chat("OK")
        yield started


def test_without_a_name_there_is_no_model_and_a_key_alone_is_told_to_do_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert make_language_model(config.load(), SystemClock()) is None
    assert caplog.text == ""
    monkeypatch.setenv("LLM_API_KEY", "k")
    with caplog.at_level(logging.WARNING):
        assert make_language_model(config.load(), SystemClock()) is None
    assert "LLM_MODEL is not set" in caplog.text


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_model_of_a_provider_without_a_key_is_refused(monkeypatch: pytest.MonkeyPatch, provider: str) -> None:
    monkeypatch.setenv("LLM_MODEL", "m")
    monkeypatch.setenv("HINDSIGHT_LLM_PROVIDER", provider)
    with pytest.raises(ConfigError, match=f"LLM_API_KEY: missing, and https://api.{provider}.com/v1"):
        make_language_model(config.load(), SystemClock())


async def test_each_provider_gets_its_key_where_it_wants_it(server: EmbeddingServer) -> None:
    for provider, answer in (("openai", chat("OK")), ("anthropic", messages("OK"))):
        server.answer = lambda asked, answer=answer: answer  # type: ignore[misc]  # mypy can't infer such a lambda
        settings = config.load(llm_model="m", llm_base_url=server.url, llm_api_key="k", llm_provider=provider)
        model = make_language_model(settings, SystemClock())
        assert model is not None
        assert (await model.complete("rules", "words", max_tokens=9)).text == "OK"
        await model.aclose()
    first, second = server.asked
    assert first.headers["authorization"] == "Bearer k"
    assert (second.headers["x-api-key"], second.headers["anthropic-version"]) == ("k", "2023-06-01")
    assert second.headers["authorization"] is None


async def test_a_write_through_the_engine_reads_with_the_model(server: EmbeddingServer, tmp_path: Path) -> None:
    server.answer = knowing({"quote": "蓝窑烧到九号锥", "statement": "蓝窑烧到九号锥", "kind": "fact"})
    settings = config.load(
        data_dir=tmp_path, embedding_model="none", llm_model="m", llm_base_url=server.url, llm_extraction="joined"
    )
    engine = await open_engine(settings)
    try:
        receipt = await engine.write("n", WriteRequest((Message("我住在北京。蓝窑烧到九号锥。"),)))
    finally:
        await engine.aclose()
    assert (receipt.facts, receipt.pending, receipt.degraded) == (2, False, ())
    (account,) = (tmp_path / "usage").iterdir()
    assert account.read_text() == "100 20\n"


async def test_the_longest_answer_is_a_setting(server: EmbeddingServer) -> None:
    settings = config.load(llm_model="m", llm_base_url=server.url, llm_answer_tokens=77)
    model = make_language_model(settings, SystemClock())
    assert model is not None
    assert make_extractor(settings, model)._policy.answer_tokens == (77, 77)
    await model.aclose()


async def test_the_doctor_asks_the_model_for_a_word(server: EmbeddingServer, tmp_path: Path) -> None:
    assert (await check_language_model(config.load())).state is State.SKIP
    settings = config.load(data_dir=tmp_path, llm_model="m", llm_base_url=server.url)
    assert (await check_language_model(settings)).state is State.OK
    server.script = [Reply(401, b"")]
    found = await check_language_model(settings)
    assert found.state is State.WARN
    assert "401" in found.found
    assert "key" in found.remedy
    assert (await check_language_model(config.load(llm_model="m"))).state is State.FAIL

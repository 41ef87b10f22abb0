"""A language model over real sockets: forms of requests, tokens, the cap, the breaker, calls at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindsight.domain.episode import JsonValue
from hindsight.errors import ModelUnavailable
from hindsight.models.breaker import Breaker
from hindsight.models.endpoint import Endpoint
from hindsight.models.ledger import Ledger
from hindsight.models.llm import ChatModel, LlmPolicy
from hindsight.models.wire import AnthropicMessages, OpenAIChat, Wire
from hindsight.observe.metrics import Level, Metrics
from tests.models.chat_server import chat, messages
from tests.models.openai_server import Asked, CutOff, Drip, EmbeddingServer, Hang, Reply, running

SCHEMA: dict[str, JsonValue] = {"title": "facts", "type": "object", "properties": {"items": {"type": "array"}}}


@dataclass
class Clock:
    moment: datetime = datetime(2024, 1, 15, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


@dataclass
class Desk:
    """A server that answers everything with «fine», and a model that asks it."""

    server: EmbeddingServer
    wire: Wire = field(default_factory=OpenAIChat)
    clock: Clock = field(default_factory=Clock)
    ledger: Ledger = field(default_factory=Ledger)
    breaker: Breaker = field(default_factory=Breaker)
    policy: LlmPolicy = field(default_factory=LlmPolicy)
    timeout: float = 5.0
    metrics: Metrics = field(default_factory=Metrics)

    @asynccontextmanager
    async def model(self) -> AsyncIterator[ChatModel]:
        async def at_once(seconds: float) -> None:
            return None

        endpoint = Endpoint(self.server.url, key="k", timeout=self.timeout, sleep=at_once)
        model = ChatModel(
            endpoint,
            self.wire,
            "m",
            self.clock,
            ledger=self.ledger,
            breaker=self.breaker,
            policy=self.policy,
            metrics=self.metrics,
        )
        yield model
        await model.aclose()

    def spent(self) -> int:
        return self.ledger.spent(self.clock.moment.date()).total


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        started.answer = lambda asked: chat("fine")
        yield started


async def test_a_request_asks_for_the_schema_and_the_answer_has_its_tokens(server: EmbeddingServer) -> None:
    desk = Desk(server)
    async with desk.model() as model:
        completion = await model.complete("rules", "words", schema=SCHEMA, max_tokens=9)
    assert (completion.text, completion.truncated) == ("fine", False)
    assert (completion.tokens_in, completion.tokens_out) == (100, 20)
    assert desk.spent() == 120
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body["messages"] == [{"role": "system", "content": "rules"}, {"role": "user", "content": "words"}]
    assert asked.body["response_format"]["json_schema"]["name"] == "facts"
    assert asked.body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (asked.body["max_tokens"], asked.body["temperature"]) == (9, 0)


async def test_calls_and_their_tokens_are_counted_for_operators(server: EmbeddingServer) -> None:
    desk = Desk(server)
    async with desk.model() as model:
        await model.complete("rules", "words", max_tokens=9)
        server.answer = lambda asked: Reply(400, b"{}")
        with pytest.raises(ModelUnavailable):
            await model.complete("rules", "words", max_tokens=9)
    page = desk.metrics.page(Level({}, 0, 0, 0)).decode()
    assert 'hindsight_llm_calls_total{outcome="answered"} 1.0' in page
    assert 'hindsight_llm_calls_total{outcome="model_unavailable"} 1.0' in page
    assert 'hindsight_llm_tokens_total{direction="in"} 100.0' in page


async def test_a_server_without_schemas_gets_it_in_words_and_is_not_offered_it_again(server: EmbeddingServer) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(400, b"response_format is unavailable") if "response_format" in asked.body else chat("fine")

    server.answer = answer
    async with Desk(server).model() as model:
        for _ in range(2):
            assert (await model.complete("rules", "words", schema=SCHEMA, max_tokens=9)).text == "fine"
    assert len(server.asked) == 3
    assert '"title": "facts"' in server.asked[-1].body["messages"][0]["content"]


async def test_a_refusal_for_another_reason_does_not_lose_the_schema(server: EmbeddingServer) -> None:
    server.script = [Reply(400, b"no"), Reply(400, b"no")]
    async with Desk(server).model() as model:
        with pytest.raises(ModelUnavailable, match="400"):
            await model.complete("rules", "words", schema=SCHEMA, max_tokens=9)
        await model.complete("rules", "words", schema=SCHEMA, max_tokens=9)
    assert "response_format" in server.asked[-1].body


async def test_reasoning_models_get_the_names_they_want(server: EmbeddingServer) -> None:
    def answer(asked: Asked) -> Reply:
        if "max_tokens" in asked.body:
            return Reply(400, b"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return Reply(400, b"'temperature' does not support 0") if "temperature" in asked.body else chat("fine")

    server.answer = answer
    async with Desk(server).model() as model:
        assert (await model.complete("rules", "words", schema=SCHEMA, max_tokens=9)).text == "fine"
    assert server.asked[-1].body["max_completion_tokens"] == 9
    assert "response_format" in server.asked[-1].body


@pytest.mark.parametrize("finish", ["length", "stop"])
async def test_an_answer_that_was_cut_off_is_marked_and_not_asked_for_again(
    server: EmbeddingServer, finish: str
) -> None:
    server.answer = lambda asked: chat("half a", finish=finish)
    async with Desk(server).model() as model:
        completion = await model.complete("rules", "words", max_tokens=9)
    assert completion.truncated is (finish == "length")
    assert len(server.asked) == 1


async def test_anthropics_messages_are_spoken_too(server: EmbeddingServer) -> None:
    server.answer = lambda asked: messages("fine", stop="max_tokens")
    async with Desk(server, wire=AnthropicMessages()).model() as model:
        completion = await model.complete("rules", "words", schema=SCHEMA, max_tokens=9)
    assert (completion.text, completion.truncated, completion.tokens_in, completion.tokens_out) == ("fine", True, 70, 7)
    (asked,) = server.asked
    assert asked.path == "/v1/messages"
    assert asked.body["messages"] == [{"role": "user", "content": "words"}]
    assert asked.body["system"].startswith("rules")
    assert '"title": "facts"' in asked.body["system"]


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b"null",
        b'{"choices": []}',
        b'{"choices": [{"message": {"content": null}}]}',
        b'{"choices": {"0": 1}}',
        b'{"choices": [{"message": "text"}]}',
        b"<html>",
        b'{"choices": [{"message": {"content": "\xff\xfe"}}]}',
        b"",
    ],
)
async def test_an_answer_of_another_form_is_unavailable(server: EmbeddingServer, body: bytes) -> None:
    server.script = [Reply(200, body)]
    async with Desk(server).model() as model:
        with pytest.raises(ModelUnavailable):
            await model.complete("rules", "words", max_tokens=9)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("fault", "attempts"), [(Reply(500, b""), 3), (Reply(429, b""), 3), (Reply(401, b""), 1), (CutOff, 3), (Hang, 1)]
)
async def test_attempts_that_failed_are_counted(
    server: EmbeddingServer, fault: Reply | type[Exception], attempts: int
) -> None:
    desk = Desk(server, timeout=0.1 if fault is Hang else 5.0)
    server.script = [fault] * attempts
    async with desk.model() as model:
        with pytest.raises(ModelUnavailable):
            await model.complete("rules", "eight words of which each is counted once", max_tokens=9)
    assert len(server.asked) == attempts
    assert desk.spent() >= attempts * 8


async def test_a_server_that_is_not_there_costs_nothing(server: EmbeddingServer) -> None:
    desk = Desk(server)
    desk.server = EmbeddingServer(url="http://127.0.0.1:9/v1")
    async with desk.model() as model:
        with pytest.raises(ModelUnavailable, match="can't be reached"):
            await model.complete("rules", "words", max_tokens=9)
    assert desk.spent() == 0


async def test_a_retry_that_helped_counts_the_first_attempt_too(server: EmbeddingServer) -> None:
    desk = Desk(server)
    server.script = [Reply(500, b"")]
    async with desk.model() as model:
        completion = await model.complete("rules", "words", max_tokens=9)
    assert completion.tokens_in > 100
    assert desk.spent() == completion.tokens_in + completion.tokens_out


async def test_a_slow_drip_ends_with_the_timeout(server: EmbeddingServer) -> None:
    server.script = [Drip]
    async with Desk(server, timeout=0.1).model() as model:
        with pytest.raises(ModelUnavailable, match=r"within 0\.1 s"):
            await model.complete("rules", "words", max_tokens=9)


async def test_the_days_cap_holds_across_a_restart_and_ends_with_the_day(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    first = Desk(server, ledger=Ledger(tmp_path), policy=LlmPolicy(daily_tokens=150))
    async with first.model() as model:
        await model.complete("rules", "words", max_tokens=9)
    again = Desk(server, ledger=Ledger(tmp_path), policy=LlmPolicy(daily_tokens=125))
    async with again.model() as model:
        with pytest.raises(ModelUnavailable, match="120 of the 125 tokens"):
            await model.complete("rules", "words", max_tokens=9)
        assert len(server.asked) == 1
        again.clock.moment += timedelta(days=1)
        await model.complete("rules", "words", max_tokens=9)


async def test_after_failures_in_a_row_the_server_is_left_alone_and_then_tried_once(server: EmbeddingServer) -> None:
    seconds = [0.0]
    desk = Desk(server, breaker=Breaker(failures=2, rest=30, now=lambda: seconds[0]))
    server.script = [Reply(401, b"")] * 3
    async with desk.model() as model:
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match="401"):
                await model.complete("rules", "words", max_tokens=9)
        with pytest.raises(ModelUnavailable, match="left alone for another 30 s"):
            await model.complete("rules", "words", max_tokens=9)
        assert len(server.asked) == 2
        seconds[0] = 31.0
        with pytest.raises(ModelUnavailable, match="401"):
            await model.complete("rules", "words", max_tokens=9)
        seconds[0] = 95.0
        assert (await model.complete("rules", "words", max_tokens=9)).text == "fine"


async def test_no_more_calls_go_out_at_once_than_are_allowed(server: EmbeddingServer) -> None:
    at_once = most = 0
    two, go_on = asyncio.Event(), asyncio.Event()
    serve = server.serve

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        if most == 2:
            two.set()
        await go_on.wait()
        await serve(reader, writer)
        at_once -= 1

    listening = await asyncio.start_server(counted, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    async with listening, Desk(server, policy=LlmPolicy(concurrency=2)).model() as model:
        calls = [asyncio.create_task(model.complete("rules", "words", max_tokens=9)) for _ in range(8)]
        await two.wait()
        go_on.set()
        assert len(await asyncio.gather(*calls)) == 8
    assert most == 2

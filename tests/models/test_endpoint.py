"""The HTTP side of models: what is tried again, how long is waited, and what an error says."""

from collections.abc import AsyncIterator

import pytest

from hindsight.errors import ConfigError, ModelUnavailable
from hindsight.models.endpoint import Endpoint
from tests.models.openai_server import CutOff, EmbeddingServer, Hang, Reply, running

BODY = {"model": "m", "input": ["a"]}


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        yield started


class Waits(list[float]):
    """Stands in for `asyncio.sleep`: remembers how long was asked for and goes on at once."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)


async def asked_with(server: EmbeddingServer, waits: Waits, **options: float) -> object:
    endpoint = Endpoint(server.url, key="secret-key", sleep=waits.sleep, timeout=options.get("timeout", 20.0))
    try:
        return await endpoint.post("/embeddings", BODY)
    finally:
        await endpoint.aclose()


async def test_a_request_carries_key_and_body(server: EmbeddingServer) -> None:
    await asked_with(server, Waits())
    [asked] = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == "Bearer secret-key"
    assert asked.body == BODY


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
async def test_a_busy_server_is_asked_again(server: EmbeddingServer, status: int) -> None:
    server.script = [Reply(status, b"busy"), Reply(status, b"busy")]
    waits = Waits()
    assert await asked_with(server, waits)
    assert waits == [0.5, 1.0]
    assert len(server.asked) == 3


async def test_a_server_that_stays_busy_is_given_up_after_three_attempts(server: EmbeddingServer) -> None:
    server.script = [Reply(500, b"our secrets")] * 9
    with pytest.raises(ModelUnavailable, match="status 500") as caught:
        await asked_with(server, Waits())
    assert len(server.asked) == 3
    assert "our secrets" not in str(caught.value)


async def test_retry_after_in_seconds_is_waited(server: EmbeddingServer) -> None:
    server.script = [Reply(429, b"", (("Retry-After", "7"),))]
    waits = Waits()
    await asked_with(server, waits)
    assert waits == [7.0]


async def test_retry_after_as_a_date_counts_from_the_servers_clock(server: EmbeddingServer) -> None:
    dates = (("Date", "Wed, 21 Oct 2015 07:28:00 GMT"), ("Retry-After", "Wed, 21 Oct 2015 07:28:03 GMT"))
    server.script = [Reply(503, b"", dates)]
    waits = Waits()
    await asked_with(server, waits)
    assert waits == [3.0]


@pytest.mark.parametrize("asked", ["soon", "", "Wed, 21 Oct 2015 07:28:03 GMT"])
async def test_retry_after_that_says_nothing_is_ignored(server: EmbeddingServer, asked: str) -> None:
    server.script = [Reply(503, b"", (("Retry-After", asked),))]
    waits = Waits()
    await asked_with(server, waits)
    assert waits == [0.5]


@pytest.mark.parametrize("asked", ["3600", "inf"])
async def test_a_server_that_asks_for_a_long_wait_is_not_waited_for(server: EmbeddingServer, asked: str) -> None:
    server.script = [Reply(429, b"", (("Retry-After", asked),))]
    with pytest.raises(ModelUnavailable, match="429"):
        await asked_with(server, Waits())
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
async def test_a_refusal_is_not_repeated(server: EmbeddingServer, status: int) -> None:
    server.script = [Reply(status, b"{}")]
    with pytest.raises(ModelUnavailable, match=str(status)):
        await asked_with(server, Waits())
    assert len(server.asked) == 1


async def test_a_wrong_key_is_told_by_the_hint_and_the_key_is_not(server: EmbeddingServer) -> None:
    server.script = [Reply(401, b"wrong key: secret-key")]
    with pytest.raises(ModelUnavailable) as caught:
        await asked_with(server, Waits())
    assert "key" in caught.value.hint
    assert "secret-key" not in str(caught.value) + caught.value.hint


async def test_a_server_that_hangs_is_left_after_the_timeout_and_not_asked_again(server: EmbeddingServer) -> None:
    server.script = [Hang]
    with pytest.raises(ModelUnavailable, match=r"within 0\.05 s"):
        await asked_with(server, Waits(), timeout=0.05)
    assert len(server.asked) == 1


async def test_a_closed_connection_is_tried_again(server: EmbeddingServer) -> None:
    server.script = [CutOff]
    assert await asked_with(server, Waits())
    assert len(server.asked) == 2


async def test_a_server_that_is_not_there_is_unavailable(server: EmbeddingServer) -> None:
    waits = Waits()
    endpoint = Endpoint("http://127.0.0.1:9/v1", sleep=waits.sleep)
    with pytest.raises(ModelUnavailable, match="can't be reached"):
        await endpoint.post("/embeddings", BODY)
    await endpoint.aclose()
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"data": [', b"\xff\xfe\x00", b"[" * 100_000])
async def test_an_answer_that_is_no_json_is_unavailable(server: EmbeddingServer, body: bytes) -> None:
    server.script = [Reply(200, body)]
    with pytest.raises(ModelUnavailable, match="JSON"):
        await asked_with(server, Waits())


async def test_a_base_url_without_http_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"api\.example\.com"):
        Endpoint("api.example.com/v1")

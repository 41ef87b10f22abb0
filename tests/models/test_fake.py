"""The embedder for tests of faults."""

import asyncio

import numpy as np
import pytest

from hindsight.errors import ModelUnavailable
from hindsight.models.fake import FakeEmbedder


async def test_the_same_text_has_the_same_unit_vector_and_a_similar_one_is_near() -> None:
    embedder = FakeEmbedder(dimensions=64)
    cat, cats, plane = await embedder.embed(["I have a cat", "I have cats", "UA123 出发"])
    assert np.array_equal(cat, await embedder.embed_query("I have a cat"))
    assert np.linalg.norm(cat) == pytest.approx(1)
    assert cat @ cats > cat @ plane
    assert (await embedder.embed([])).shape == (0, 64)


async def test_it_fails_as_long_as_it_is_told_to() -> None:
    embedder = FakeEmbedder()
    embedder.error = ModelUnavailable("down")
    with pytest.raises(ModelUnavailable):
        await embedder.embed(["a"])
    embedder.error = None
    assert (await embedder.embed(["a"])).shape == (1, 32)
    assert embedder.calls == [("a",), ("a",)]


async def test_it_hangs_while_its_gate_is_shut() -> None:
    embedder = FakeEmbedder()
    embedder.gate.clear()
    task = asyncio.create_task(embedder.embed_query("a"))
    await asyncio.sleep(0)
    assert not task.done()
    embedder.gate.set()
    assert (await task).shape == (32,)
    await embedder.aclose()
    assert embedder.closed

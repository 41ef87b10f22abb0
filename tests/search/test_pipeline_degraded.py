"""Searching while a route, the embedder or the store is away: the others answer, and it is said what was missing."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from hindsight.domain.query import Filters, Scored
from hindsight.errors import ModelUnavailable, StorageUnavailable
from hindsight.index.exact import ExactVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.models.fake import FakeEmbedder
from hindsight.search.pipeline import SearchSettings
from hindsight.search.routes import KEYWORD, VECTOR, Routes
from hindsight.storage.oracle import OracleStore
from tests.search.made import World, contents, memory

SOON = {VECTOR: 0.01, KEYWORD: 0.01}
PATIENT = {VECTOR: 60.0, KEYWORD: 60.0}


class HangingVectors(ExactVectorIndex):
    """Takes everything in and never answers."""

    async def search(
        self, namespace: str, vector: NDArray[np.float32], filters: Filters, *, limit: int
    ) -> Sequence[Scored]:
        return await asyncio.Future()


class HangingWords(EmbeddedLexicalIndex):
    """Takes everything in and never answers."""

    async def search(self, namespace: str, terms: Sequence[str], filters: Filters, *, limit: int) -> Sequence[Scored]:
        return await asyncio.Future()


class DownStore(OracleStore):
    """Nothing can be read of it while it is down."""

    down = False

    async def head(self, namespace: str) -> int:
        if self.down:
            raise StorageUnavailable("the store is down")
        return await super().head(namespace)


@pytest.mark.parametrize(
    ("vector", "lexical", "missing"),
    [(HangingVectors(), None, VECTOR), (None, HangingWords(), KEYWORD)],
    ids=["vector hangs", "keyword hangs"],
)
async def test_when_one_route_hangs_the_other_answers_and_the_answer_says_so(
    vector: ExactVectorIndex | None, lexical: EmbeddedLexicalIndex | None, missing: str
) -> None:
    routes = Routes(deadlines={**PATIENT, missing: 0.01})
    world = World(vector=vector, lexical=lexical, settings=SearchSettings(routes=routes, deadline=60))
    await world.holds(memory(1, "用户对花生过敏"), memory(2, "周五开会"))
    found = await world.search("花生过敏")
    assert contents(found)[0] == "用户对花生过敏"
    assert found.degraded == (missing,)
    assert missing in str(world.trace.notes["missing_routes"])


async def test_when_all_routes_hang_the_answer_is_empty_and_says_so() -> None:
    settings = SearchSettings(routes=Routes(deadlines=SOON))
    world = World(vector=HangingVectors(), lexical=HangingWords(), settings=settings)
    await world.holds(memory(1, "用户对花生过敏"))
    found = await world.search("花生过敏")
    assert found.hits == ()
    assert found.degraded == (KEYWORD, VECTOR)
    assert not found.confident


async def test_without_a_working_embedder_words_still_find() -> None:
    embedder = FakeEmbedder()
    world = World(embedder=embedder)
    await world.holds(memory(1, "用户对花生过敏"))
    embedder.error = ModelUnavailable("the model is gone")
    found = await world.search("花生")
    assert contents(found) == ["用户对花生过敏"]
    assert found.degraded == (VECTOR,)


async def test_a_store_that_is_down_gives_an_empty_answer_that_says_so() -> None:
    store = DownStore()
    world = World(store=store)
    await world.holds(memory(1, "用户对花生过敏"))
    store.down = True
    found = await world.search("花生")
    assert found.hits == ()
    assert set(found.degraded) & {"store", KEYWORD}
    assert "没有找到" in found.context


async def test_a_route_that_is_switched_off_is_not_missed() -> None:
    world = World(settings=SearchSettings(routes=Routes(on=frozenset({KEYWORD}), deadlines=PATIENT)))
    await world.holds(memory(1, "用户对花生过敏"))
    found = await world.search("花生")
    assert contents(found) == ["用户对花生过敏"]
    assert found.degraded == ()
    assert "dense" not in found.hits[0].scores

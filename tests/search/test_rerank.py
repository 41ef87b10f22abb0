"""A model reads the best hits again: their order follows it, and stays as it was when the model fails or is late."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from hindsight.errors import ModelUnavailable
from hindsight.search.pipeline import Searcher
from hindsight.search.rerank import RERANK, Reranking
from tests.search.made import PATIENT, StoppedClock, World, contents, memory

NEAR, FAR, OTHER = "cats and dogs and cats", "a cat slept", "the dog and the cat sat down"
QUESTION = "cats and dogs"


@dataclass
class Judge:
    """Scores the texts it was told of, others 0."""

    says: dict[str, float] = field(default_factory=dict)
    error: ModelUnavailable | None = None
    hangs: bool = False
    read: list[Sequence[str]] = field(default_factory=list)
    model: str = "judge"

    async def score(self, query: str, texts: Sequence[str], *, within: float) -> Sequence[float]:
        self.read.append(texts)
        if self.hangs:
            await asyncio.Future()
        if self.error is not None:
            raise self.error
        return [self.says.get(text, 0.0) for text in texts]

    async def warm(self) -> None:
        """Nothing to load."""

    async def aclose(self) -> None:
        """Nothing to close."""


async def world_with(judge: Judge, **options: float) -> World:
    world = World()
    reranking = Reranking(judge, **options)  # type: ignore[arg-type]  # fields of it, as tests write them
    world.searcher = Searcher(world.store, world.projection, world.embedder, StoppedClock(), PATIENT, reranking)
    await world.holds(*(memory(number, text) for number, text in enumerate((NEAR, FAR, OTHER), 1)))
    return world


async def plain_order() -> list[str]:
    return await (await world_with(Judge(), weight=0.0)).finds(QUESTION, top_k=3)


async def test_the_order_follows_the_model() -> None:
    world = await world_with(Judge({FAR: 1.0, OTHER: 0.5}), weight=0.9)
    assert (await plain_order())[0] == NEAR
    assert await world.finds(QUESTION, top_k=3) == [FAR, OTHER, NEAR]


async def test_score_and_relevance_are_fused_and_stand_in_the_hit_and_the_trace() -> None:
    before = await (await world_with(Judge(), weight=0.0)).search(QUESTION)
    world = await world_with(Judge({NEAR: 0.8}), weight=0.25)
    found = await world.search(QUESTION)
    assert found.hits[0].score == pytest.approx(0.75 * before.hits[0].score + 0.25 * 0.8)
    assert found.hits[0].scores["relevance"] == pytest.approx(0.75 * before.hits[0].scores["relevance"] + 0.25 * 0.8)
    assert found.hits[0].scores[RERANK] == 0.8
    assert world.trace.notes[RERANK] == {"model": "judge", "weight": 0.25, "read": 3, "moved": 0}
    assert '"rerank": 0.8' in str(world.trace.notes["ranking"]).replace("'", '"')
    assert found.degraded == ()


async def test_only_the_best_are_read_and_the_rest_stays_behind_them() -> None:
    first, second, third = await plain_order()
    judge = Judge({second: 1.0, third: 1.0})
    world = await world_with(judge, candidates=2, weight=0.9)
    assert await world.finds(QUESTION, top_k=3) == [second, first, third]
    assert [len(texts) for texts in judge.read] == [2]


async def test_the_model_is_told_who_spoke() -> None:
    judge = Judge()
    world = await world_with(judge)
    await world.holds(memory(4, "Bob likes cats and dogs", speaker="Bob"))
    await world.search(QUESTION)
    assert "Bob: likes cats and dogs" in judge.read[0]


@pytest.mark.parametrize(
    "judge", [Judge(error=ModelUnavailable("the reranker is gone")), Judge(hangs=True)], ids=["fails", "hangs"]
)
async def test_without_the_model_the_first_order_stays_and_the_answer_says_so(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindsight.search.rerank.GRACE", 0.0)
    world = await world_with(judge, deadline=0.01)
    found = await world.search(QUESTION)
    assert contents(found) == (await plain_order())[: len(found.hits)]
    assert found.degraded == (RERANK,)
    assert found.confident
    assert "missing" in str(world.trace.notes[RERANK])


async def test_nothing_found_asks_nothing() -> None:
    judge = Judge()
    world = await world_with(judge)
    assert (await world.search("anything", namespace="nobody")).degraded == ()
    assert judge.read == []

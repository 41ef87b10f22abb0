"""The vector indexes under their contract."""

from pathlib import Path

import numpy as np

from hindsight.domain.query import Filters
from hindsight.index.embedded import EmbeddedVectorIndex
from hindsight.index.exact import ExactVectorIndex
from hindsight.testing.index_contract import VectorIndexContract
from hindsight.testing.index_samples import SPACE, entry, unit_vectors


class TestEmbeddedVectorIndex(VectorIndexContract):
    def make(self, folder: Path) -> EmbeddedVectorIndex:
        return EmbeddedVectorIndex()


class TestExactVectorIndex(VectorIndexContract):
    recall = 1.0

    def make(self, folder: Path) -> ExactVectorIndex:
        return ExactVectorIndex()


async def test_vectors_without_leading_directions_are_scanned_whole() -> None:
    random = np.random.default_rng(3)
    vectors = random.normal(size=(4_000, 512)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index, exact = EmbeddedVectorIndex(), ExactVectorIndex()
    pairs = [(entry(f"e{number:04}"), vector) for number, vector in enumerate(vectors)]
    for each in (index, exact):
        await each.apply(SPACE, pairs, [], cursor=1)
    for vector in vectors[::500]:
        right = [hit.id for hit in await exact.search(SPACE, -vector, Filters(), limit=10)]
        assert [hit.id for hit in await index.search(SPACE, -vector, Filters(), limit=10)] == right
    await index.aclose()
    await exact.aclose()


async def test_many_changes_of_few_entries_stay_small_and_right() -> None:
    index = EmbeddedVectorIndex()
    vectors = unit_vectors(3_000, 256)
    for turn in range(4):
        pairs = [(entry(f"e{number:04}"), vectors[number - turn]) for number in range(3_000)]
        await index.apply(SPACE, pairs, [], cursor=turn + 1)
    assert await index.count(SPACE) == 3_000
    hits = await index.search(SPACE, vectors[100], Filters(), limit=1)
    assert [hit.id for hit in hits] == ["e0103"]
    await index.aclose()

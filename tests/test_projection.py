"""Indexes brought level by the change log."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from hindsight import projection
from hindsight.domain.change import Touched
from hindsight.domain.entry import Entry
from hindsight.domain.query import Filters
from hindsight.index.embedded import EmbeddedVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.projection import Projection
from hindsight.testing.index_samples import DAY as NOON
from hindsight.testing.index_samples import SPACE, entry, unit_vectors


class Log:
    """What a projection reads of a store: entries, vectors and one step of the log per call of `write`."""

    def __init__(self) -> None:
        self.held: dict[str, Entry] = {}
        self.steps: list[Touched] = []
        self.seconds = count()

    def write(self, *ids: str, gone: Sequence[str] = ()) -> None:
        self.held.update((name, entry(name)) for name in ids)
        for name in gone:
            self.held.pop(name, None)
        self.steps.append(Touched(len(self.steps) + 1, (*ids, *gone), NOON + timedelta(seconds=next(self.seconds))))

    async def head(self, namespace: str) -> int:
        return len(self.steps)

    async def touched(self, namespace: str, *, after: int, limit: int) -> Sequence[Touched]:
        return self.steps[after : after + limit]

    async def entries(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Entry]:
        return {name: self.held[name] for name in ids if name in self.held}

    async def vectors(self, namespace: str, ids: Sequence[str], *, model: str) -> Mapping[str, NDArray[np.float32]]:
        return {name: unit_vectors(1, 8)[0] for name in ids if not name.startswith("bare")}


async def found(level: Projection) -> tuple[set[str], set[str]]:
    by_words, _ = await level.by_words(SPACE, ["cat"], Filters(), limit=100)
    nearest = await level.nearest(SPACE, unit_vectors(1, 8)[0], Filters(), limit=100)
    return {hit.id for hit in by_words}, {hit.id for hit in nearest}


@pytest.mark.parametrize("size", [1, 2, 500])
async def test_what_was_written_is_found_however_it_is_sliced(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "SLICE", size)
    log = Log()
    level = Projection(log, EmbeddedLexicalIndex(), EmbeddedVectorIndex(), model="m")  # type: ignore[arg-type]  # only what it reads
    assert await found(level) == (set(), set())
    log.write("a", "b", "c")
    log.write("bare")
    assert await found(level) == ({"a", "b", "c", "bare"}, {"a", "b", "c"})
    log.write("d", gone=["a", "b"])
    log.write()
    assert await found(level) == ({"c", "d", "bare"}, {"c", "d"})
    assert await level.lag(SPACE) == {"lexical": 0, "vector": 0}


async def test_a_store_that_went_back_is_followed_anew() -> None:
    log = Log()
    level = Projection(log, EmbeddedLexicalIndex(), EmbeddedVectorIndex(), model="m")  # type: ignore[arg-type]  # only what it reads
    log.write("a")
    log.write("b")
    assert await found(level) == ({"a", "b"}, {"a", "b"})
    log.steps.pop()
    del log.held["b"]
    assert await found(level) == ({"a"}, {"a"})


@pytest.mark.parametrize("later", [0, 1, 2, 3])
async def test_a_snapshot_of_before_a_restore_is_not_taken_for_the_store(tmp_path: Path, later: int) -> None:
    log = Log()
    log.write("a")
    restored = Log()
    restored.held, restored.steps, restored.seconds = dict(log.held), list(log.steps), count(100)
    log.write("lost")
    log.write("lost too")
    lexical = EmbeddedLexicalIndex(tmp_path)
    assert await found(Projection(log, lexical, EmbeddedVectorIndex(), model="m")) == (  # type: ignore[arg-type]  # only what it reads
        {"a", "lost", "lost too"},
        {"a", "lost", "lost too"},
    )
    await lexical.aclose()
    written = {f"new {number}" for number in range(later)}
    for name in sorted(written):
        restored.write(name)
    again = EmbeddedLexicalIndex(tmp_path)
    assert await found(Projection(restored, again, EmbeddedVectorIndex(), model="m")) == (  # type: ignore[arg-type]  # only what it reads
        {"a", *written},
        {"a", *written},
    )
    await again.aclose()


async def test_a_snapshot_of_this_store_is_read_and_not_made_anew(tmp_path: Path) -> None:
    log = Log()
    log.write("a")
    log.write("b")
    first = EmbeddedLexicalIndex(tmp_path)
    await found(Projection(log, first, EmbeddedVectorIndex(), model="m"))  # type: ignore[arg-type]  # only what it reads
    await first.aclose()
    second = EmbeddedLexicalIndex(tmp_path)
    level = Projection(log, second, EmbeddedVectorIndex(), model="m")  # type: ignore[arg-type]  # only what it reads
    held = dict(log.held)
    log.held.clear()  # nothing more can be read of what was there before
    by_words, _ = await level.by_words(SPACE, ["cat"], Filters(), limit=10)
    assert {hit.id for hit in by_words} == set(held)
    await second.aclose()


class Reading(Log):
    """Notes what entries are read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    async def entries(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Entry]:
        self.read += ids
        return await super().entries(namespace, ids)


def over(log: Log) -> Projection:
    return Projection(log, EmbeddedLexicalIndex(), EmbeddedVectorIndex(), model="m")  # type: ignore[arg-type]  # only what it reads


async def test_entries_that_have_not_changed_are_not_read_again() -> None:
    log = Reading()
    log.write("a", "b")
    level = over(log)
    assert set(await level.entries(SPACE, ["a", "b", "none"], head=1)) == {"a", "b"}
    log.read.clear()
    assert await level.entries(SPACE, ["b", "a"], head=1) == log.held
    assert log.read == []


async def test_an_entry_that_changed_is_given_as_it_is_and_one_that_went_is_not_given() -> None:
    log = Reading()
    log.write("a", "b", "c")
    level = over(log)
    await found(level)
    await level.entries(SPACE, ["a", "b", "c"], head=1)
    log.held["a"] = replace(log.held["a"], content="another text")
    log.steps.append(Touched(2, ("a",), NOON))
    log.write(gone=["b"])
    assert dict(await level.entries(SPACE, ["a", "b", "c"], head=3)) == log.held  # the indexes are still behind
    await found(level)
    log.read.clear()
    assert dict(await level.entries(SPACE, ["a", "c"], head=3)) == log.held
    assert log.read == []
    assert await level.entries(SPACE, ["b"], head=3) == {}


async def test_what_was_read_while_it_changed_is_not_kept() -> None:
    log = Reading()
    log.write("a")
    level = over(log)
    before = dict(log.held)

    class Slow(Reading):
        async def entries(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Entry]:
            log.held["a"] = replace(log.held["a"], content="another text")
            log.steps.append(Touched(2, ("a",), NOON))
            level._store = log  # type: ignore[assignment]  # the change is followed while this read is under way
            await found(level)
            return before

    await found(level)
    level._entries.clear(SPACE)
    level._store = Slow()  # type: ignore[assignment]  # only what it reads
    assert dict(await level.entries(SPACE, ["a"], head=1)) == before
    assert dict(await level.entries(SPACE, ["a"], head=2)) == log.held


async def test_entries_of_a_store_that_went_back_are_read_anew() -> None:
    log = Reading()
    log.write("a")
    log.write("b")
    level = over(log)
    await found(level)
    log.steps.pop()
    del log.held["b"]
    await found(level)
    assert set(await level.entries(SPACE, ["a", "b"], head=1)) == {"a"}


@pytest.mark.parametrize(("bound", "most"), [("MOST_ENTRIES", 2), ("MOST_CHARACTERS", 2 * len(entry("a").content))])
async def test_of_many_entries_those_used_last_are_kept(bound: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, bound, most)
    log = Reading()
    log.write("a", "b", "c")
    level = over(log)
    await level.entries(SPACE, ["a", "b"], head=1)
    await level.entries(SPACE, ["a"], head=1)
    await level.entries(SPACE, ["c"], head=1)
    log.read.clear()
    await level.entries(SPACE, ["a", "c", "b"], head=1)
    assert log.read == ["b"]

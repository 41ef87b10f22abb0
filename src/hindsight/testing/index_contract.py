"""What every index must do, as classes of tests. A backend's test file inherits one and says how it is made:

    class TestMyIndex(VectorIndexContract):
        def make(self, folder: Path) -> VectorIndex:
            return MyIndex(folder)

`folder` is empty at first; an index made on the same folder again is the same index, opened anew.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hindsight.domain.entry import Entry
from hindsight.domain.query import Filters, Scored
from hindsight.errors import HindsightError, InvalidInput
from hindsight.index.exact import ExactVectorIndex
from hindsight.language.segment import index_terms, query_terms
from hindsight.ports import LexicalIndex, VectorIndex
from hindsight.testing.index_samples import SPACE, TEXTS, entries, entry, filters, unit_vectors

OTHER = "someone else"
ALL = Filters(statuses=())
MANY = 10_000


def run(work: Callable[[Path], Coroutine[Any, Any, None]]) -> None:
    """Run one example of a generated test, in a folder and an event loop of its own."""
    with TemporaryDirectory() as folder:
        asyncio.run(work(Path(folder)))


class IndexContract:
    """What holds for both kinds of index. Subclasses feed and ask; `ask` finds every entry that matches."""

    examples: ClassVar[int] = 60  # per generated test; a backend over a network may ask for fewer

    def make(self, folder: Path) -> Any:
        raise NotImplementedError

    async def feed(
        self,
        index: Any,
        upserts: Sequence[Entry],
        deletes: Sequence[str] = (),
        *,
        cursor: int = 1,
        mark: str = "",
        space: str = SPACE,
    ) -> None:
        raise NotImplementedError

    async def ask(
        self, index: Any, wanted: Filters = ALL, *, limit: int = MANY, space: str = SPACE
    ) -> Sequence[Scored]:
        raise NotImplementedError

    async def found(self, index: Any, wanted: Filters = ALL, *, space: str = SPACE) -> set[str]:
        return {hit.id for hit in await self.ask(index, wanted, space=space)}

    @pytest.fixture
    async def index(self, tmp_path: Path) -> Any:
        index = self.make(tmp_path)
        yield index
        await index.aclose()

    async def test_an_empty_index_has_followed_nothing_and_finds_nothing(self, index: Any) -> None:
        assert await index.cursor(SPACE) == 0
        assert await index.count(SPACE) == 0
        assert list(await self.ask(index)) == []

    async def test_the_mark_is_that_of_the_change_at_the_cursor(self, index: Any) -> None:
        assert await index.mark(SPACE) == ""
        await self.feed(index, [entry("one")], cursor=7, mark="seven")
        assert await index.mark(SPACE) == "seven"
        await index.drop(SPACE)
        assert await index.mark(SPACE) == ""

    async def test_what_was_taken_in_is_found_and_the_cursor_moves(self, index: Any) -> None:
        await self.feed(index, [entry("one"), entry("two")], cursor=7)
        assert await self.found(index) == {"one", "two"}
        assert await index.cursor(SPACE) == 7
        assert await index.count(SPACE) == 2

    async def test_taking_the_same_in_twice_changes_nothing(self, index: Any) -> None:
        await self.feed(index, [entry("one"), entry("two")], ["three"], cursor=3)
        before = list(await self.ask(index))
        await self.feed(index, [entry("one"), entry("two")], ["three"], cursor=3)
        assert list(await self.ask(index)) == before
        assert await index.count(SPACE) == 2

    async def test_an_entry_that_changed_is_held_once_as_it_is_now(self, index: Any) -> None:
        await self.feed(index, [entry("one", session_id="old", tags=("a",))])
        await self.feed(index, [entry("one", session_id="new", tags=("b",))], cursor=2)
        assert await self.found(index, Filters(session_ids=("old",))) == set()
        assert await self.found(index, Filters(tags=("a",))) == set()
        assert await self.found(index, Filters(session_ids=("new",), tags=("b",))) == {"one"}
        assert await index.count(SPACE) == 1

    async def test_what_was_let_go_is_not_found(self, index: Any) -> None:
        await self.feed(index, [entry("one"), entry("two")])
        await self.feed(index, [], ["one", "never there"], cursor=2)
        assert await self.found(index) == {"two"}
        assert await index.count(SPACE) == 1

    async def test_namespaces_are_walls_for_every_method(self, index: Any) -> None:
        await self.feed(index, [entry("mine")], cursor=4)
        await self.feed(index, [entry("theirs", namespace=OTHER)], cursor=9, space=OTHER)
        assert await self.found(index) == {"mine"}
        assert await self.found(index, space=OTHER) == {"theirs"}
        await self.feed(index, [], ["theirs"], cursor=5)
        assert await self.found(index, space=OTHER) == {"theirs"}
        await index.drop(SPACE)
        assert (await index.cursor(SPACE), await index.count(SPACE)) == (0, 0)
        assert await self.found(index) == set()
        assert (await index.cursor(OTHER), await index.count(OTHER)) == (9, 1)

    def test_every_method_that_touches_data_takes_its_namespace_first(self, tmp_path: Path) -> None:
        port = VectorIndex if isinstance(self, VectorIndexContract) else LexicalIndex
        names = [name for name, _ in inspect.getmembers(port, inspect.isfunction) if not name.startswith("_")]
        for name in set(names) - {"aclose"}:
            parameters = list(inspect.signature(getattr(type(self.make(tmp_path)), name)).parameters)
            assert parameters[:2] == ["self", "namespace"], name

    async def test_a_filter_applies_inside_the_search(self, index: Any) -> None:
        await self.feed(index, [entry(f"other{n:04}", session_id="loud") for n in range(2_500)])
        await self.feed(index, [entry(f"own{n}", session_id="mine") for n in range(3)], cursor=2)
        hits = await self.ask(index, Filters(session_ids=("mine",)), limit=3)
        assert {hit.id for hit in hits} == {"own0", "own1", "own2"}

    async def test_equals_are_ordered_by_id_wherever_they_lie(self, index: Any) -> None:
        await self.feed(index, [entry(name) for name in ("d", "b", "e")])
        await self.feed(index, [entry(name) for name in ("c", "a")], cursor=2)
        assert [hit.id for hit in await self.ask(index)] == ["a", "b", "c", "d", "e"]
        assert [hit.id for hit in await self.ask(index, limit=2)] == ["a", "b"]

    @pytest.mark.parametrize("limit", [0, -1])
    async def test_a_limit_below_one_finds_nothing(self, index: Any, limit: int) -> None:
        await self.feed(index, [entry("one")])
        assert list(await self.ask(index, limit=limit)) == []

    async def test_a_second_opening_knows_all_or_asks_for_all(self, tmp_path: Path) -> None:
        first = self.make(tmp_path)
        await self.feed(first, [entry("one", tags=("a",)), entry("two", session_id="s")], cursor=5)
        await self.feed(first, [entry("three")], ["one"], cursor=6, mark="six")
        before = list(await self.ask(first))
        await first.aclose()
        second = self.make(tmp_path)
        if await second.cursor(SPACE) == 0:
            assert await second.count(SPACE) == 0
        else:
            assert (await second.cursor(SPACE), await second.mark(SPACE)) == (6, "six")
            assert list(await self.ask(second)) == before
            assert await self.found(second, Filters(session_ids=("s",))) == {"two"}
        await second.aclose()

    async def test_a_closed_index_says_so_with_an_error_of_ours(self, tmp_path: Path) -> None:
        index = self.make(tmp_path)
        await self.feed(index, [entry("one")])
        await index.aclose()
        await index.aclose()
        calls: list[Awaitable[object]] = [index.cursor(SPACE), self.ask(index), self.feed(index, [entry("two")])]
        for call in calls:
            with pytest.raises(HindsightError):
                await call

    async def test_calls_at_the_same_time_do_not_disturb_each_other(self, index: Any) -> None:
        steps = [self.feed(index, [entry(f"e{n:02}")], cursor=n + 1) for n in range(30)]
        await asyncio.gather(*(work for step in steps for work in (step, self.ask(index))))
        assert await self.found(index) == {f"e{n:02}" for n in range(30)}

    def test_generated_filters_find_what_the_reference_finds(self) -> None:
        @settings(max_examples=self.examples)
        @given(entries(), st.lists(filters(), min_size=1, max_size=4), st.integers(1, 4))
        def check(held: list[Entry], asked: list[Filters], limit: int) -> None:
            async def example(folder: Path) -> None:
                index = self.make(folder)
                await self.feed(index, held)
                reachable = await self.found(index)
                for wanted in asked:
                    right = {one.id for one in held if wanted.matches(one)} & reachable
                    assert await self.found(index, wanted) == right
                    assert len(await self.ask(index, wanted, limit=limit)) == min(limit, len(right))
                await index.aclose()

            run(example)

        check()

    def test_any_history_ends_where_a_fresh_index_would(self) -> None:
        step = st.tuples(entries(max_size=6), st.lists(st.sampled_from([f"e{n:02}" for n in range(6)]), max_size=2))

        @settings(max_examples=self.examples)
        @given(st.lists(step, max_size=6), st.booleans())
        def check(history: list[tuple[list[Entry], list[str]]], reopen: bool) -> None:
            async def example(folder: Path) -> None:
                index = self.make(folder)
                final: dict[str, Entry] = {}
                for number, (upserts, deletes) in enumerate(history, start=1):
                    await self.feed(index, upserts, deletes, cursor=number)
                    final.update((one.id, one) for one in upserts)
                    final = {name: one for name, one in final.items() if name not in deletes}
                if reopen:
                    await index.aclose()
                    index = self.make(folder)
                    if await index.cursor(SPACE) != len(history):
                        await self.feed(index, list(final.values()), cursor=len(history))
                fresh = self.make(folder / "fresh")
                await self.feed(fresh, list(final.values()))
                assert await index.count(SPACE) == len(final)
                assert list(await self.ask(index)) == list(await self.ask(fresh))
                await index.aclose()
                await fresh.aclose()

            run(example)

        check()


class VectorIndexContract(IndexContract):
    """What a `VectorIndex` must do. `recall` is the least share of the true ten nearest it may find."""

    dimensions: ClassVar[int] = 256
    recall: ClassVar[float] = 0.99

    def make(self, folder: Path) -> VectorIndex:
        raise NotImplementedError

    def vector_of(self, text: str) -> NDArray[np.float32]:
        """One vector per text."""
        vector: NDArray[np.float32] = unit_vectors(len(TEXTS), self.dimensions)[TEXTS.index(text)]
        return vector

    async def feed(
        self,
        index: Any,
        upserts: Sequence[Entry],
        deletes: Sequence[str] = (),
        *,
        cursor: int = 1,
        mark: str = "",
        space: str = SPACE,
    ) -> None:
        pairs = [(one, self.vector_of(one.content)) for one in upserts]
        await index.apply(space, pairs, deletes, cursor=cursor, mark=mark)

    async def ask(
        self, index: Any, wanted: Filters = ALL, *, limit: int = MANY, space: str = SPACE
    ) -> Sequence[Scored]:
        hits: Sequence[Scored] = await index.search(space, self.vector_of(TEXTS[0]), wanted, limit=limit)
        return hits

    async def test_scores_are_cosines_best_first(self, index: VectorIndex) -> None:
        await self.feed(index, [entry(text, text) for text in TEXTS])
        asked = self.vector_of(TEXTS[3])
        hits = await index.search(SPACE, asked, Filters(), limit=len(TEXTS))
        right = {text: float(self.vector_of(text) @ asked) for text in TEXTS}
        assert [hit.id for hit in hits] == sorted(right, key=lambda text: -right[text])
        assert [hit.score for hit in hits] == pytest.approx([right[hit.id] for hit in hits], abs=2e-3)

    async def test_the_cosine_of_each_entry_is_told_in_order(self, index: VectorIndex) -> None:
        await self.feed(index, [entry(text, text) for text in TEXTS[:4]])
        asked = self.vector_of(TEXTS[3])
        cosines = await index.cosines(SPACE, asked, [TEXTS[2], "unknown", TEXTS[3], TEXTS[2]])
        right = float(self.vector_of(TEXTS[2]) @ asked)
        assert cosines == pytest.approx([right, np.nan, 1.0, right], abs=2e-3, nan_ok=True)
        assert len(await index.cosines(SPACE, asked, [])) == 0
        assert np.isnan(await index.cosines(OTHER, asked, [TEXTS[0]])).all()

    @pytest.mark.parametrize("share", [1.0, 0.1, 0.002])
    async def test_it_finds_the_neighbours_that_the_exact_scan_finds(self, index: VectorIndex, share: float) -> None:
        count = 6_000
        vectors = unit_vectors(count + 40, self.dimensions)
        few = int(count * share)
        held = [entry(f"e{n:05}", session_id="in" if n < few else "out") for n in range(count)]
        exact = ExactVectorIndex()
        for start in range(0, count, 1_500):
            part = list(zip(held, vectors[:count], strict=True))[start : start + 1_500]
            await index.apply(SPACE, part, [], cursor=start + 1)
            await exact.apply(SPACE, part, [], cursor=start + 1)
        wanted = Filters(session_ids=("in",))
        same = 0
        for vector in vectors[count:]:
            right = {hit.id for hit in await exact.search(SPACE, vector, wanted, limit=10)}
            same += len(right & {hit.id for hit in await index.search(SPACE, vector, wanted, limit=10)})
        await exact.aclose()
        assert same / (40 * min(10, few)) >= self.recall

    async def test_vectors_of_another_length_are_refused_and_leave_nothing(self, index: VectorIndex) -> None:
        await self.feed(index, [entry("one")])
        odd = unit_vectors(1, self.dimensions + 1)[0]
        with pytest.raises(InvalidInput):
            await index.apply(SPACE, [(entry("odd"), odd)], [], cursor=2)
        with pytest.raises(InvalidInput):
            await index.apply(SPACE, [(entry("a"), odd), (entry("b"), self.vector_of(TEXTS[0]))], [], cursor=2)
        with pytest.raises(InvalidInput):
            await index.search(SPACE, odd, Filters(), limit=1)
        assert (await index.cursor(SPACE), await index.count(SPACE)) == (1, 1)


class LexicalIndexContract(IndexContract):
    """What a `LexicalIndex` must do. All score alike: Okapi BM25 with these settings, idf as Lucene has it."""

    k1: ClassVar[float] = 1.2
    b: ClassVar[float] = 0.75

    def make(self, folder: Path) -> LexicalIndex:
        raise NotImplementedError

    async def feed(
        self,
        index: Any,
        upserts: Sequence[Entry],
        deletes: Sequence[str] = (),
        *,
        cursor: int = 1,
        mark: str = "",
        space: str = SPACE,
    ) -> None:
        await index.apply(space, upserts, deletes, cursor=cursor, mark=mark)

    async def ask(
        self, index: Any, wanted: Filters = ALL, *, limit: int = MANY, space: str = SPACE
    ) -> Sequence[Scored]:
        terms = [term for text in TEXTS for term in index_terms(text)]
        hits: Sequence[Scored] = await index.search(space, terms, wanted, limit=limit)
        return hits

    @pytest.mark.parametrize(
        ("question", "text"),
        [
            ("汇率", "支持外币汇率换算"),
            ("外币", "支持外币汇率换算"),
            ("怎么换算汇率", "支持外币汇率换算"),
            ("itgc", "重跑gen-itgc后检查rerank精排"),
            ("rerank", "重跑gen-itgc后检查rerank精排"),
            ("精排", "重跑gen-itgc后检查rerank精排"),
            ("猫", "家里有只猫叫咪咪"),
            ("what did she move?", "She moved the sofa"),
            ("匯率", "汇率"),
        ],
    )
    async def test_a_text_is_found_by_its_words(self, index: LexicalIndex, question: str, text: str) -> None:
        await self.feed(index, [entry("right", text), entry("wrong", "ein ganz anderer Satz")])
        hits = await index.search(SPACE, query_terms(question), Filters(), limit=5)
        assert [hit.id for hit in hits] == ["right"]

    async def test_entries_that_share_no_term_are_not_found(self, index: LexicalIndex) -> None:
        await self.feed(index, [entry("one", "cats sleep")])
        assert list(await index.search(SPACE, ["elephant"], Filters(), limit=5)) == []
        assert list(await index.search(SPACE, [], Filters(), limit=5)) == []

    async def test_the_rest_of_a_session_is_told_around_what_was_found(self, index: LexicalIndex) -> None:
        day = entry().occurred_at
        await self.feed(
            index,
            [
                entry("b3", "dogs bark", session_id="b", position=3, reply=True),
                entry("a1", "cats sleep", session_id="a", position=1, occurred_at=day + timedelta(days=1)),
                entry("b1", "cats purr", session_id="b", position=1),
                entry("c1", "cats run", session_id="c", position=1),
                entry("lone", "cats eat"),
                entry("other", "cats hide"),
                entry("b2", "bees hum", session_id="b", position=2),
            ],
        )
        await self.feed(index, [entry("theirs", namespace=OTHER, session_id="b")], space=OTHER)
        terms = query_terms("cats")
        told = await index.around(SPACE, terms, Filters(), ["a1", "b3", "lone", "unknown"])
        assert [name for name in told.ids if name[0] != "b"] == ["lone", "a1"]
        assert [name for name in told.ids if name[0] == "b"] == ["b1", "b2", "b3"]
        place = {name: told.ids.index(name) for name in told.ids}
        assert told.sessions[place["lone"]] == -1
        assert len({int(told.sessions[place[name]]) for name in ("b1", "b2", "b3")}) == 1
        assert told.sessions[place["a1"]] not in (-1, told.sessions[place["b1"]])
        assert [int(told.positions[place[name]]) for name in ("b1", "b2", "b3")] == [1, 2, 3]
        assert [name for name in told.ids if told.replies[place[name]]] == ["b3"]
        assert told.times[place["a1"]] - told.times[place["b1"]] == 86_400
        right = {hit.id: hit.score for hit in await index.search(SPACE, terms, Filters(), limit=MANY)}
        assert {name: told.scores[place[name]] for name in told.ids} == pytest.approx(
            {name: right.get(name, 0.0) for name in told.ids}
        )

    async def test_an_index_that_tells_what_each_term_adds_tells_it_for_every_entry(self, index: LexicalIndex) -> None:
        held = [
            entry("one", "cats sleep", session_id="a", position=1),
            entry("two", "dogs and cats", session_id="a", position=2),
            entry("three", "bees hum", session_id="a", position=3),
        ]
        await self.feed(index, held)
        told = await index.around(SPACE, query_terms("cats dogs"), Filters(), ["one"])
        if told.gains is not None:
            assert told.gains.sum(axis=1) == pytest.approx(told.scores)
            assert told.only(told.positions > 1).gains == pytest.approx(told.gains[1:])

    async def test_a_session_is_told_in_order_of_time_and_each_turn_with_what_came_of_it(
        self, index: LexicalIndex
    ) -> None:
        noon = entry().occurred_at
        await self.feed(
            index,
            [
                entry("call", "cats", session_id="day", position=1, occurred_at=noon + timedelta(hours=3)),
                entry("note", "cats", session_id="day", position=2, occurred_at=noon + timedelta(hours=1)),
                entry("long-ago", "cats", session_id="day", position=1, occurred_at=noon - timedelta(days=900)),
            ],
        )
        told = await index.around(SPACE, query_terms("cats"), Filters(), ["note"])
        assert list(told.ids) == ["note", "call", "long-ago"]

    def test_around_is_the_matching_part_of_the_sessions_whatever_is_held(self) -> None:
        @settings(max_examples=self.examples)
        @given(entries(), filters(), st.lists(st.sampled_from([f"e{n:02}" for n in range(12)]), max_size=3))
        def check(held: list[Entry], wanted: Filters, asked: list[str]) -> None:
            async def example(folder: Path) -> None:
                index = self.make(folder)
                await self.feed(index, held[:6])
                await self.feed(index, held[3:], cursor=2)
                told = await index.around(SPACE, ["cat"], wanted, asked)
                sessions = {one.session_id for one in held if one.id in asked} - {None}
                right = {one.id for one in held if one.id in asked or one.session_id in sessions}
                assert set(told.ids) == right & {one.id for one in held if wanted.matches(one)}
                assert list(told.sessions) == sorted(told.sessions)
                await index.aclose()

            run(example)

        check()

    def test_scores_are_bm25_whatever_is_held(self) -> None:
        asked = st.lists(st.sampled_from(["cat", "dog", "猫", "rerank", "ua123", "elephant"]), max_size=5)

        @settings(max_examples=self.examples)
        @given(entries(), asked)
        def check(held: list[Entry], terms: list[str]) -> None:
            async def example(folder: Path) -> None:
                index = self.make(folder)
                await self.feed(index, held)
                hits = await index.search(SPACE, terms, ALL, limit=MANY)
                right = self._bm25(held, terms)
                assert {hit.id: hit.score for hit in hits} == pytest.approx(right, rel=1e-4)
                ceiling = sum(self._idf(held, term) for term in terms)
                assert await index.ceiling(SPACE, terms) == pytest.approx(ceiling, rel=1e-4)
                await index.aclose()

            run(example)

        check()

    def _idf(self, held: Sequence[Entry], term: str) -> float:
        having = sum(term in index_terms(one.content) for one in held)
        return math.log(1 + (len(held) - having + 0.5) / (having + 0.5))

    def _bm25(self, held: Sequence[Entry], terms: Sequence[str]) -> dict[str, float]:
        counts = {one.id: Counter(index_terms(one.content)) for one in held}
        mean = max(1.0, sum(count.total() for count in counts.values()) / max(1, len(held)))
        scores: dict[str, float] = {}
        for name, count in counts.items():
            norm = self.k1 * (1 - self.b + self.b * count.total() / mean)
            for term in terms:
                if times := count[term]:
                    gain = self._idf(held, term) * times * (self.k1 + 1) / (times + norm)
                    scores[name] = scores.get(name, 0.0) + gain
        return scores

"""Memory inside a Python program, with the built-in encoder and a real file."""

from __future__ import annotations

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hindsight import AsyncHindsight, Hindsight, Message, config
from hindsight.domain.change import Contradiction
from hindsight.errors import Ambiguous, InvalidInput, NotFound, Unavailable

pytestmark = pytest.mark.usefixtures("weights")


@pytest.mark.parametrize(
    ("said", "asked", "found"),
    [
        ("用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏", "吃什么要小心", "花生"),
        ("用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏", "what food must I avoid", "花生"),
        ("I moved to Lisbon and my dog is called Rex.", "我的狗叫什么", "Rex"),
        ("支持外币汇率换算", "怎么换算汇率", "外币汇率"),
    ],
)
def test_what_is_written_is_found_in_either_language(tmp_path: Path, said: str, asked: str, found: str) -> None:
    with Hindsight(tmp_path) as memory:
        memory.write(said)
        assert found in memory.search(asked).context


def test_memory_outlives_the_program_that_wrote_it(tmp_path: Path) -> None:
    with Hindsight(tmp_path) as memory:
        memory.write("The backup runs at 03:15")
    with Hindsight(tmp_path) as again:
        assert "03:15" in again.search("When does the backup run?").context


def test_two_on_one_folder_see_each_other_at_once(tmp_path: Path) -> None:
    with Hindsight(tmp_path) as first, Hindsight(tmp_path) as second:
        first.search("warm both indexes")
        second.search("warm both indexes")
        first.write("The garage door code is 8812")
        assert "8812" in second.search("garage door code").context


def test_a_namespace_is_a_wall_for_every_method(tmp_path: Path) -> None:
    with Hindsight(tmp_path) as memory:
        mine = memory.namespace("mine")
        written = mine.write("The vault code is 4711").outcomes[0].memory_id
        assert written is not None
        other = memory.namespace("other")
        assert other.search("vault code").hits == ()
        assert other.list().items == ()
        assert other.stats().episodes == 0
        for attempt in (
            lambda: other.get(written),
            lambda: other.history(written),
            lambda: other.update(written, importance=0.1),
            lambda: other.pin(written),
            lambda: other.forget(written),
            lambda: other.feedback(written, "success"),
        ):
            with pytest.raises(NotFound):
                attempt()
        assert mine.get(written).content == "The vault code is 4711"


def test_the_short_id_is_accepted_by_every_method_that_takes_an_id(tmp_path: Path) -> None:
    with Hindsight(tmp_path) as memory:
        memory.write("对芒果过敏")
        short = memory.search("芒果").hits[0].short_id
        assert len(short) <= 8
        assert memory.get(f"#{short}").short_id == short
        memory.pin(short)
        memory.update(short, importance=0.9)
        undo = memory.forget(short).undo
        assert undo is not None
        assert "芒果" not in memory.search("芒果").context
        memory.undo(undo)
        assert "芒果" in memory.search("芒果").context


def test_every_async_method_has_its_waiting_twin() -> None:
    own = {"aclose", "engine", "is_view", "namespace"}
    for name, method in inspect.getmembers(AsyncHindsight, inspect.iscoroutinefunction):
        if name.startswith("_") or name in own:
            continue
        assert inspect.signature(getattr(Hindsight, name)).parameters.keys() or method.__doc__
        assert getattr(Hindsight, name).__doc__ == method.__doc__


def test_threads_may_share_one_memory(tmp_path: Path) -> None:
    with Hindsight(tmp_path) as memory, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: memory.write(f"Box {number} holds {number * 3} screws"), range(40)))
        assert memory.stats().episodes == 40
        assert "Box 17" in memory.search("What is in box 17?").context
    assert threading.active_count() < 50


def test_a_closed_memory_says_so(tmp_path: Path) -> None:
    memory = Hindsight(tmp_path)
    memory.write("something")
    memory.close()
    memory.close()
    with pytest.raises(Unavailable, match="closed"):
        memory.search("something")


def test_without_an_embedder_words_still_find(tmp_path: Path) -> None:
    with Hindsight(settings=config.load(data_dir=tmp_path, embedding_model="none")) as memory:
        memory.write("重跑gen-itgc后检查rerank精排")
        for asked in ("itgc", "rerank", "精排"):
            assert "精排" in memory.search(asked).context


def test_a_store_of_another_model_is_not_mixed_with_this_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Hindsight(tmp_path) as memory:
        memory.write("The backup runs at 03:15")
    other = config.load(data_dir=tmp_path, embedding_model="openai:text-embedding-3-small", embedding_dimensions=8)
    with Hindsight(settings=other) as memory:
        memory.write("The backup goes to the cellar")
        assert "03:15" in memory.search("backup").context
    assert "text-embedding-3-small" in caplog.text


def test_the_same_idempotency_key_gives_the_first_answer(tmp_path: Path) -> None:
    with Hindsight(tmp_path) as memory:
        first = memory.write("The fee is 12 euros", idempotency_key="k1")
        again = memory.write("The fee is 12 euros", idempotency_key="k1")
        assert again == first
        assert memory.stats().episodes == 1


def test_a_contradiction_is_listed_and_decided(tmp_path: Path) -> None:
    with Hindsight(settings=config.load(data_dir=tmp_path, embedding_model="none")) as memory:
        memory.write("我住在北京")
        memory.write("用户搬到上海了", role="document")
        (review,) = memory.reviews().items
        assert isinstance(review, Contradiction)
        assert (review.new.content, [one.content for one in review.old]) == ("用户搬到上海了", ["用户住在北京"])
        receipt = memory.resolve_review(review.new.short_id, "old")
        assert memory.reviews().items == ()
        assert memory.reviews(state="closed").items[0].new.id == review.new.id  # type: ignore[union-attr]  # no proposal
        memory.undo(receipt.undo or "")
        assert memory.reviews().items[0].new.id == review.new.id  # type: ignore[union-attr]  # no proposal


def test_messages_are_taken_as_values_or_mappings(tmp_path: Path) -> None:
    with Hindsight(tmp_path) as memory:
        memory.write([Message("My name is Ann.", speaker="Ann"), {"content": "Hello Ann!", "role": "assistant"}])
        assert memory.stats().episodes == 2


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda memory: memory.write(""), "content"),
        (lambda memory: memory.write(5), "content"),
        (lambda memory: memory.write([{"text": "x"}]), "content"),
        (lambda memory: memory.write("x", tags="a"), "tags"),
        (lambda memory: memory.search("x", top_k=0), "top_k"),
        (lambda memory: memory.search("x", top_k=True), "top_k"),
        (lambda memory: memory.search("x", filters={"colour": "red"}), "filters"),
        (lambda memory: memory.search("x", filters=["red"]), "filters"),
        (lambda memory: memory.search("x", as_of="then"), "as_of"),
        (lambda memory: memory.list(order="random"), "order"),
        (lambda memory: memory.list(limit=0), "limit"),
        (lambda memory: memory.reviews(limit=True), "limit"),
        (lambda memory: memory.reviews(state="done"), "state"),
        (lambda memory: memory.reviews(after="x"), "after"),
        (lambda memory: memory.reviews(after=5), "after"),
        (lambda memory: memory.resolve_review("x", "maybe"), "choice"),
        (lambda memory: memory.get(""), "memory_id"),
        (lambda memory: memory.forget("abc", decay_factor=2), "decay_factor"),
        (lambda memory: memory.namespace("").stats(), "namespace"),
        (lambda memory: memory.namespace("n" * 300).stats(), "namespace"),
        (lambda memory: memory.undo(" "), "token"),
    ],
)
def test_bad_input_is_refused_by_field_and_changes_nothing(tmp_path: Path, call: object, field: str) -> None:
    assert callable(call)
    with Hindsight(tmp_path) as memory:
        with pytest.raises((InvalidInput, NotFound)) as caught:
            call(memory)
        assert not isinstance(caught.value, Ambiguous)
        assert getattr(caught.value, "field", field).startswith(field) or field == "decay_factor"
        assert memory.stats().change == 0

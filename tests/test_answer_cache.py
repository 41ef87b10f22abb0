"""The cache of answers in a whole program: writes of anybody end it, and a setting turns it off."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight import Hindsight, config
from hindsight.interfaces.shapes import result_shape


def opened(folder: Path, **settings: object) -> Hindsight:
    return Hindsight(settings=config.load(data_dir=folder, embedding_model="none", **settings))


def test_the_same_question_soon_again_is_answered_from_the_cache(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.write("用户对花生过敏", kind="fact")
        first, again = memory.search("花生"), memory.search("花生")
    assert (result_shape(first)["cached"], result_shape(again)["cached"]) == (False, True)
    assert [hit.memory_id for hit in first.hits] == [hit.memory_id for hit in again.hits]
    assert (first.context, first.trace_id != again.trace_id) == (again.context, True)


def test_what_another_program_writes_is_in_the_next_answer(tmp_path: Path) -> None:
    with opened(tmp_path) as mine, opened(tmp_path) as other:
        mine.write("用户对花生过敏", kind="fact")
        assert "花生酱" not in mine.search("花生").context
        added = other.write("花生酱在柜子里", kind="fact")
        assert "花生酱" in mine.search("花生").context
        other.forget(str(added.outcomes[0].memory_id))
        assert "花生酱" not in mine.search("花生").context


@pytest.mark.parametrize("change", ["update", "forget", "undo", "pin"])
def test_every_change_ends_it(tmp_path: Path, change: str) -> None:
    with opened(tmp_path) as memory:
        receipt = memory.write("用户对花生过敏", kind="fact")
        memory_id = str(receipt.outcomes[0].memory_id)
        memory.search("花生")
        if change == "update":
            memory.update(memory_id, "用户对花生不过敏")
        elif change == "forget":
            memory.forget(memory_id)
        elif change == "pin":
            memory.pin(memory_id)
        else:
            memory.undo(str(receipt.undo))
        assert not memory.search("花生").cached


def test_a_setting_turns_it_off(tmp_path: Path) -> None:
    with opened(tmp_path, answer_cache=False) as memory:
        memory.write("用户对花生过敏", kind="fact")
        assert [memory.search("花生").cached for _ in range(2)] == [False, False]


def test_namespaces_do_not_share_answers(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.namespace("ann").write("用户对花生过敏", kind="fact")
        assert memory.namespace("ann").search("花生").hits
        found = memory.namespace("bob").search("花生")
        assert (found.hits, found.cached) == ((), False)

"""What is forgotten is in no answer any more, whichever way it is asked for; undo brings all of it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from hindsight import Hindsight
from hindsight.domain.change import OutcomeAction
from hindsight.errors import Conflict, InvalidInput

SAID = "用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏"
QUESTIONS = (
    "花生", "对花生过敏", "吃什么要小心", "推荐点零食", "咪咪", "北京",
    "peanut allergy", "what food must I avoid", "tell me about the user",
)  # fmt: skip
WAYS: tuple[dict[str, object], ...] = (
    {},
    {"session_id": "s1"},
    {"session_id": "s2"},
    {"top_k": 100},
    {"as_of": "2099-01-01"},
    {"filters": {"layers": ["episodic"]}},
    {"filters": {"types": ["constraint"]}},
    {"time_range": "2000-01-01/"},
)


@dataclass(frozen=True)
class Told:
    memory: Hindsight
    allergy: str


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, weights: None) -> Iterator[Hindsight]:
    with Hindsight(tmp_path_factory.mktemp("forgetting")) as memory:
        yield memory


@pytest.fixture
def told(opened: Hindsight, request: pytest.FixtureRequest) -> Told:
    memory = opened.namespace(request.node.name)
    receipt = memory.write(SAID, session_id="s1")
    memory.write("I prefer tea in the morning.", session_id="s2")
    (allergy,) = (one.memory_id for one in receipt.outcomes if "花生" in one.content)
    assert allergy is not None
    return Told(memory, allergy)


def answers(memory: Hindsight) -> str:
    """Everything that searches and lists give back, whole."""
    results = [memory.search(question, **way) for question in QUESTIONS for way in WAYS]  # type: ignore[arg-type]  # mixed
    return repr([*results, memory.list()])


def test_one_of_three_facts_of_a_sentence_is_forgotten_wherever_it_stood(told: Told) -> None:
    assert "花生" in answers(told.memory)
    told.memory.forget(f"#{told.allergy[-8:]}", reason="asked to")
    after = answers(told.memory)
    assert "花生" not in after
    assert "北京" in after
    assert "咪咪" in after


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Hm, the cellar key hangs behind the blue door. What do you think?", "cellar key"),
        ("钥匙挂在地下室蓝门后面吧？我住在北京朝阳区，家里有只猫叫咪咪", "钥匙"),
    ],
    ids=("en", "zh"),
)
def test_a_turn_that_a_search_gives_is_forgotten_by_its_short_id(told: Told, said: str, words: str) -> None:
    memory = told.memory
    written = memory.write(said, session_id="s3")
    turn = f"#{written.episode_ids[0][-8:]}"
    before = [one.id for one in memory.list(limit=500).items]
    ways: tuple[dict[str, object], ...] = (*WAYS, {"as_of": memory.get(told.allergy).created_at})

    def found() -> str:
        return repr([memory.search(words, **way) for way in ways])  # type: ignore[arg-type]  # mixed

    assert words in found()
    receipt = memory.forget(turn, reason="asked to")
    assert receipt.episode_ids == written.episode_ids
    assert receipt.outcomes[0].action is OutcomeAction.FORGOTTEN
    assert {one.memory_id for one in receipt.outcomes} >= {
        written.episode_ids[0],
        *(one.memory_id for one in written.outcomes if one.action is OutcomeAction.ADDED),
    }
    assert words not in found()
    assert memory.forget(turn).outcomes[0].action is OutcomeAction.IGNORED
    assert receipt.undo is not None
    memory.undo(receipt.undo)
    assert words in found()
    assert [one.id for one in memory.list(limit=500).items] == before


def test_what_is_said_of_a_turn_that_can_only_be_forgotten(told: Told) -> None:
    turn = told.memory.get(told.allergy).sources[0].episode_id
    calls: tuple[Callable[[str], object], ...] = (
        told.memory.get,
        told.memory.history,
        told.memory.pin,
        lambda name: told.memory.update(name, "new words"),
        lambda name: told.memory.feedback(name, "success"),
        lambda name: told.memory.resolve_review(name, "new"),
    )
    for call in calls:
        for name in (turn, turn[-8:], f"#{turn[-8:]}"):
            with pytest.raises(InvalidInput, match=r"memory_id.*turn of a conversation.*only be forgotten"):
                call(name)
    with pytest.raises(InvalidInput, match=r"decay_factor.*0\.5.*does not fade"):
        told.memory.forget(turn, decay_factor=0.5)


def test_forgetting_one_fact_says_which_turn_is_hidden_with_it_and_its_other_facts_stay(told: Told) -> None:
    others = {one.id for one in told.memory.list().items if "茶" not in one.content and "tea" not in one.content}
    receipt = told.memory.forget(told.allergy)
    fact, turn = receipt.outcomes
    assert fact.memory_id == told.allergy
    assert turn.memory_id == told.memory.get(told.allergy).sources[0].episode_id
    assert set(turn.other_ids) == others - {told.allergy}
    assert "hidden as a whole; 2 other" in turn.reason
    then = told.memory.get(told.allergy).created_at
    assert "花生" not in repr([told.memory.search(question, as_of=then) for question in QUESTIONS])


def test_facts_of_one_turn_are_taken_back_in_any_order_and_the_turn_with_the_last(told: Told) -> None:
    cat = next(one for one in told.memory.list().items if "咪咪" in one.content)
    first = told.memory.forget(told.allergy).undo
    second = told.memory.forget(cat.id).undo
    assert first is not None
    assert second is not None
    told.memory.undo(first)
    after = answers(told.memory)
    assert "花生" in after
    assert "咪咪" not in after.replace("'咪咪'", "")
    told.memory.undo(second)
    turn = told.memory.get(cat.id).sources[0].episode_id
    assert told.memory.forget(turn).outcomes[0].action is OutcomeAction.FORGOTTEN


def test_undo_brings_all_of_it_back(told: Told) -> None:
    before = told.memory.get(told.allergy)
    token = told.memory.forget(told.allergy).undo
    assert token is not None
    told.memory.undo(token)
    result = told.memory.search("推荐点零食")
    assert [hit.content for hit in result.standing] == [before.content]
    assert [source.text for hit in result.standing for source in hit.sources] == ["对花生过敏"]
    assert told.allergy in [hit.memory_id for hit in told.memory.search("吃什么要小心").hits[:3]]
    assert told.memory.get(told.allergy).sources == before.sources


def test_forgetting_twice_changes_nothing_and_undoing_twice_gives_the_first_answer(told: Told) -> None:
    token = told.memory.forget(told.allergy).undo
    assert token is not None
    again = told.memory.forget(told.allergy)
    assert (again.outcomes[0].action, again.undo) == (OutcomeAction.IGNORED, None)
    first = told.memory.undo(token)
    changes = told.memory.stats().change
    assert told.memory.undo(token) == first
    assert told.memory.stats().change == changes


def test_undoing_after_a_later_change_is_a_conflict(told: Told) -> None:
    token = told.memory.update(told.allergy, importance=0.5).undo
    assert token is not None
    told.memory.pin(told.allergy)
    with pytest.raises(Conflict, match="changed since"):
        told.memory.undo(token)
    assert told.memory.get(told.allergy).importance == 0.5


def test_a_forgotten_memory_is_neither_pinned_nor_updated(told: Told) -> None:
    told.memory.forget(told.allergy)
    with pytest.raises(InvalidInput, match="forgotten"):
        told.memory.pin(told.allergy)
    with pytest.raises(InvalidInput, match="forgotten"):
        told.memory.update(told.allergy, importance=1)

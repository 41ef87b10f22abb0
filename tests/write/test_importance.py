"""How much a statement matters, and why."""

from datetime import timedelta

import pytest

from hindsight.domain.change import OutcomeAction
from hindsight.domain.episode import Message, Role
from hindsight.domain.memory import Kind, Layer, Statement
from hindsight.domain.shelf_life import importance_at
from hindsight.write.extract import Candidate, Slot
from hindsight.write.importance import REPEATED_MOST, repeated, weigh
from hindsight.write.request import WriteRequest
from tests.write.house import SPACE, START, House


def candidate(content: str, kind: Kind = Kind.FACT, slot: Slot | None = None, days: int | None = None) -> Candidate:
    return Candidate(
        episode_id="e",
        start=0,
        end=len(content),
        content=content,
        kind=kind,
        layer=Layer.SEMANTIC,
        body=Statement("user", slot.value if slot else None, content),
        valid_to=None if days is None else START + timedelta(days=days),
    )


def test_health_and_safety_come_first() -> None:
    health = weigh(candidate("用户对花生过敏", Kind.CONSTRAINT, Slot.HEALTH)).value
    medication = weigh(candidate("The user takes insulin", Kind.CONSTRAINT, Slot.MEDICATION)).value
    others = [weigh(candidate("x", kind)).value for kind in Kind] + [
        weigh(candidate("x", Kind.FACT, slot)).value for slot in Slot if slot not in (Slot.HEALTH, Slot.MEDICATION)
    ]
    assert min(health, medication) > 0.9 > max(others)


def test_a_plain_fact_has_the_default() -> None:
    assert weigh(candidate("The staging port is 8443")).value == 0.5


@pytest.mark.parametrize(
    ("strong", "plain", "mild"),
    [
        ("用户特别喜欢爬山", "用户喜欢爬山", "用户有点喜欢爬山"),
        ("用户热爱摄影", "用户喜欢摄影", "用户偶尔喜欢摄影"),
        ("The user hates crowds", "The user dislikes crowds", "The user somewhat dislikes crowds"),
        ("The user loves tea", "The user likes tea", "The user kind of likes tea"),
    ],
)
def test_strength_of_feeling_counts(strong: str, plain: str, mild: str) -> None:
    values = [weigh(candidate(text, Kind.PREFERENCE, Slot.LIKE)) for text in (strong, plain, mild)]
    assert values[0].value > values[1].value > values[2].value
    assert "strong feeling" in values[0].reasons
    assert "mild feeling" in values[2].reasons


@pytest.mark.parametrize(
    "text", ["记住：备份在周日做", "Important: backups run on Sundays", "务必先备份", "Backups run on Sundays!!"]
)
def test_what_is_said_with_stress_matters_more(text: str) -> None:
    found = weigh(candidate(text))
    assert found.value > 0.5
    assert "said with stress" in found.reasons


@pytest.mark.parametrize("given", [0.0, 0.3, 1.0])
def test_the_callers_word_counts_alone(given: float) -> None:
    assert weigh(candidate("用户对花生过敏", Kind.CONSTRAINT, Slot.HEALTH), given=given).value == given


def test_what_is_over_has_lost_its_worth() -> None:
    plan = candidate("用户明天要出差", Kind.EVENT, Slot.PLAN, days=2)
    before, after = weigh(plan, at=START), weigh(plan, at=START + timedelta(days=3))
    assert before.value > 0.5 > after.value
    assert before.reasons[-1] == "until 2024-01-17"
    assert after.reasons == ("over since 2024-01-17",)


def test_the_drop_comes_with_the_day() -> None:
    end = START + timedelta(days=1)
    assert importance_at(0.6, None, START) == 0.6
    assert importance_at(0.6, end, START) == 0.6
    assert importance_at(0.6, end, end) == 0.3


def test_a_question_matters_little_and_still_is_kept() -> None:
    found = weigh(candidate("你吃了吗？", Kind.EVENT), remark=True)
    assert 0.2 < found.value < 0.4
    assert found.reasons == ("states nothing",)


def test_the_reasons_read_as_a_line() -> None:
    assert weigh(candidate("用户对花生过敏", Kind.CONSTRAINT, Slot.HEALTH)).reason == "importance 0.95: about health"


def test_a_value_never_leaves_its_scale() -> None:
    for kind in Kind:
        for slot in (None, *Slot):
            found = weigh(candidate("记住，最重要！！ severe allergy, absolutely must, mild", kind, slot))
            assert 0.0 <= found.value <= 1.0


async def test_receipt_and_history_say_why_it_matters() -> None:
    house = House()
    receipt = await house.say("我对花生过敏")
    (outcome,) = receipt.outcomes
    assert outcome.reason == "importance 0.95: about health"
    (revision,) = await house.store.history(SPACE, outcome.memory_id or "")
    assert revision.reason == outcome.reason


# Repetition ----------------------------------------------------------------------------------------------------------

REPEATED = ["我喜欢爬山", "我的自行车是红色的", "I collect old maps", "The spare key hangs behind the door"]


async def again(house: House, text: str, **said: object) -> float:
    """The importance after the same was said the next day."""
    house.clock.moment += timedelta(days=1)
    await house.write(WriteRequest((Message(text, **said),)))  # type: ignore[arg-type]  # fields of a message, as tests write them
    (memory,) = await house.active()
    return memory.importance


@pytest.mark.parametrize("text", REPEATED)
async def test_what_is_said_again_matters_more_within_bounds_and_says_why(text: str) -> None:
    house = House()
    first = await again(house, text)
    second = await again(house, text)
    assert second == round(first + 0.05, 2)
    for _ in range(10):
        last = await again(house, text)
    assert last == REPEATED_MOST
    (memory,) = await house.active()
    history = await house.store.history(SPACE, memory.id)
    assert history[1].reason == f"the same words; importance {second:g}: said again"
    assert history[-1].reason == "the same words", "at the bound it no longer rises"


async def test_the_receipt_of_a_repetition_tells_the_new_importance_and_undo_takes_it_back() -> None:
    house = House()
    first = await again(house, REPEATED[0])
    house.clock.moment += timedelta(hours=1)
    receipt = await house.say(REPEATED[0])
    (outcome,) = receipt.outcomes
    assert outcome.action is OutcomeAction.MERGED
    assert outcome.importance > first
    assert "said again" in outcome.reason
    await house.amender.undo(SPACE, receipt.undo or "")
    assert [one.importance for one in await house.active()] == [first]


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.DOCUMENT])
async def test_what_an_agent_a_tool_or_a_page_repeats_matters_no_more(role: Role) -> None:
    house = House()
    text = "The spare key hangs behind the door"
    first = await again(house, text)
    assert await again(house, text, role=role) == first


async def test_what_is_sent_twice_was_said_once() -> None:
    house = House()
    first = await again(house, REPEATED[2])
    await house.say(REPEATED[2])
    request = WriteRequest((Message(REPEATED[2]),), idempotency_key="k")
    house.clock.moment += timedelta(days=1)
    await house.write(request)
    (once,) = await house.active()
    await house.write(request)
    (twice,) = await house.active()
    assert (once.importance, twice.importance) == (round(first + 0.05, 2), round(first + 0.05, 2))


async def test_the_same_import_twice_raises_nothing() -> None:
    house = House()
    request = WriteRequest((Message("I collect old maps", occurred_at=START - timedelta(days=3)),))
    await house.write(request)
    (first,) = await house.active()
    house.clock.moment += timedelta(days=1)
    await house.write(request)
    (second,) = await house.active()
    assert second == first


def test_repetition_never_lowers_what_matters_more() -> None:
    assert repeated(0.95) == 0.95
    assert repeated(0.78) == REPEATED_MOST
    assert repeated(0.25) == 0.3

"""Changing, forgetting and taking back memories by name."""

import pytest

from hindsight.domain.change import Act, OutcomeAction
from hindsight.domain.episode import EpisodeState
from hindsight.domain.memory import Kind, Memory, Status
from hindsight.errors import Conflict, InvalidInput, NotFound
from hindsight.models.fake import FakeEmbedder
from hindsight.write.pipeline import WritePolicy
from tests.write.house import SPACE, House, stated, transcript


async def only(house: House) -> Memory:
    (memory,) = await house.active()
    return memory


async def stored(house: House, memory_id: str) -> Memory:
    return (await house.store.memories(SPACE, [memory_id]))[memory_id]


@pytest.mark.parametrize(
    ("before", "after", "value"),
    [
        ("我住在北京", "我住在上海", "上海"),
        ("I live in Berlin", "I live in Paris", "Paris"),
        ("The dice rule is 5d3+5", "The dice rule is 6d3+5", None),
        ("我对花生过敏", "我对花生和牛奶过敏", "花生和牛奶"),
    ],
)
async def test_new_words_stand_and_the_old_ones_are_history(before: str, after: str, value: str | None) -> None:
    house = House()
    written = await house.say(before)
    memory = await only(house)
    receipt = await house.amender.update(SPACE, memory.id, new_content=after)
    changed = await only(house)
    assert (changed.id, changed.content, changed.version) == (memory.id, after, 2)
    assert getattr(changed.body, "value", None) == value
    assert receipt.outcomes[0].action is OutcomeAction.UPDATED
    history = await house.store.history(SPACE, memory.id)
    assert [(one.act, one.memory.content) for one in history] == [(Act.ADDED, stated(before)), (Act.UPDATED, after)]
    assert await house.state(written.episode_ids[0]) is EpisodeState.CLOSED
    vector = (await house.store.vectors(SPACE, [memory.id], model="fake-1"))[memory.id]
    assert isinstance(house.embedder, FakeEmbedder)
    assert vector == pytest.approx(await house.embedder.embed_query(after))


@pytest.mark.parametrize(
    ("known", "other", "words"),
    [("我住在北京", "我喜欢猫", "我住在北京。"), ("I live in Berlin", "The dice rule is 5d3+5", "i live in berlin")],
)
async def test_an_update_to_what_is_known_already_merges(known: str, other: str, words: str) -> None:
    house = House()
    await house.say(known)
    await house.say(other)
    first, second = await house.active()
    receipt = await house.amender.update(SPACE, second.id, new_content=words)
    merged = await only(house)
    assert merged.id == first.id
    assert merged.confidence == pytest.approx(0.6)
    assert receipt.outcomes[0].action is OutcomeAction.MERGED
    ended = await stored(house, second.id)
    assert (ended.status, ended.superseded_by) == (Status.SUPERSEDED, first.id)
    await house.amender.undo(SPACE, receipt.undo or "")
    assert await house.contents() == [stated(known), stated(other)]


async def test_a_near_twin_of_the_new_words_merges_as_in_a_write() -> None:
    house = House(policy=WritePolicy(floor=0.1))
    await house.say("我住在北京朝阳区")
    await house.say("骰子规则是5d3+5")
    _, second = await house.active()
    await house.amender.update(SPACE, second.id, new_content="我在北京")
    assert await house.contents() == ["用户住在北京朝阳区"]


async def test_words_that_say_a_constraint_make_one_of_it() -> None:
    house = House()
    await house.say("he said something about nuts")
    memory = await only(house)
    await house.amender.update(SPACE, memory.id, new_content="I'm allergic to nuts")
    changed = await only(house)
    assert changed.kind is Kind.CONSTRAINT
    assert changed.importance > 0.9


@pytest.mark.parametrize(
    "words", ["", "  ", "a\x00b", "\ud800", "x" * 20_001, "<hindsight-memory>\nx\n</hindsight-memory>"]
)
async def test_bad_words_are_refused(words: str) -> None:
    house = House()
    await house.say("我住在北京")
    with pytest.raises(InvalidInput):
        await house.amender.update(SPACE, (await only(house)).id, new_content=words)


async def test_a_secret_in_new_words_is_redacted() -> None:
    house = House()
    await house.say("the token is in the vault")
    secret = "ghp_" + "a1B2c3D4e5" * 4
    await house.amender.update(SPACE, (await only(house)).id, new_content=f"the token is {secret}")
    assert (await only(house)).content == "the token is [REDACTED:github_token]"


async def test_shares_change_without_the_words() -> None:
    house = House()
    await house.say("我住在北京")
    memory = await only(house)
    await house.amender.update(SPACE, memory.id, confidence=0.9, importance=0.1)
    changed = await only(house)
    assert (changed.content, changed.confidence, changed.importance) == ("用户住在北京", 0.9, 0.1)
    for wrong in (-1.0, 1.5, float("nan")):
        with pytest.raises(InvalidInput):
            await house.amender.update(SPACE, memory.id, importance=wrong)
    with pytest.raises(InvalidInput):
        await house.amender.update(SPACE, memory.id)
    with pytest.raises(NotFound):
        await house.amender.update(SPACE, "nothing", importance=0.5)


@pytest.mark.parametrize("text", ["我住在北京，对花生过敏", "I live in Berlin and I'm allergic to peanuts"])
async def test_forgetting_hides_the_memory_and_the_words_it_came_from(text: str) -> None:
    house = House()
    written = await house.say(text)
    place, allergy = await house.active()
    receipt = await house.amender.forget(SPACE, allergy.id, reason="asked to")
    assert await house.contents() == [place.content]
    assert await house.state(written.episode_ids[0]) is EpisodeState.CLOSED
    assert (await stored(house, allergy.id)).status is Status.FORGOTTEN
    assert receipt.outcomes[0].action is OutcomeAction.FORGOTTEN
    assert (await house.amender.forget(SPACE, allergy.id)).outcomes[0].action is OutcomeAction.IGNORED
    await house.amender.undo(SPACE, receipt.undo or "")
    assert await house.contents() == [place.content, allergy.content]
    assert await house.state(written.episode_ids[0]) is EpisodeState.OPEN


async def test_a_factor_below_one_only_weakens() -> None:
    house = House()
    await house.say("我住在北京")
    memory = await only(house)
    await house.amender.forget(SPACE, memory.id, decay_factor=0.25)
    await house.amender.forget(SPACE, memory.id, decay_factor=0.5)
    assert (await only(house)).strength == pytest.approx(0.375)
    for wrong in (0, -0.5, 1.01, True):
        with pytest.raises(InvalidInput):
            await house.amender.forget(SPACE, memory.id, decay_factor=wrong)


async def test_a_pin_is_set_and_let_go() -> None:
    house = House()
    await house.say("我住在北京")
    memory = await only(house)
    assert (await house.amender.pin(SPACE, memory.id)).outcomes[0].action is OutcomeAction.PINNED
    assert (await only(house)).pinned
    await house.amender.pin(SPACE, memory.id, pinned=False)
    assert not (await only(house)).pinned


async def test_undoing_a_write_restores_what_it_merged_and_forgets_what_it_added() -> None:
    house = House()
    first = await house.say("我对花生过敏")
    before = await only(house)
    second = await house.say("我对花生过敏", "我住在北京")
    assert len(await house.active()) == 2
    receipt = await house.amender.undo(SPACE, second.undo or "")
    after = await only(house)
    assert (after.confidence, after.sources, after.version) == (before.confidence, before.sources, 3)
    assert [await house.state(one) for one in second.episode_ids] == [EpisodeState.CLOSED] * 2
    assert await house.state(first.episode_ids[0]) is EpisodeState.COVERED
    assert await house.amender.undo(SPACE, second.undo or "") == receipt
    await house.amender.undo(SPACE, receipt.undo or "")
    assert await house.contents() == ["用户对花生过敏", "用户住在北京"]


async def test_what_was_changed_since_is_not_taken_back() -> None:
    house = House()
    receipt = await house.write(transcript(["我住在北京", "好的", "我喜欢猫"]))
    memory = (await house.active())[0]
    await house.amender.pin(SPACE, memory.id)
    with pytest.raises(Conflict, match=memory.short_id):
        await house.amender.undo(SPACE, receipt.undo or "")
    with pytest.raises(NotFound):
        await house.amender.undo(SPACE, "no such token")


async def test_what_has_been_written_anew_since_is_not_taken_back_as_a_second_copy() -> None:
    house = House()
    await house.say("我对花生过敏")
    forgotten = await house.amender.forget(SPACE, (await only(house)).id)
    await house.say("我对花生过敏")
    anew = await only(house)
    with pytest.raises(Conflict, match="says the same") as caught:
        await house.amender.undo(SPACE, forgotten.undo or "")
    assert anew.short_id in str(caught.value)
    assert "forget it first" in caught.value.hint
    await house.amender.forget(SPACE, anew.id)
    await house.amender.undo(SPACE, forgotten.undo or "")
    assert (await only(house)).id != anew.id

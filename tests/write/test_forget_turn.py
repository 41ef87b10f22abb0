"""Forgetting a turn: what rests on it alone goes with it, what rests on others stays, undo restores all."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest

from hindsight.domain.change import Act, OutcomeAction
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.memory import Status
from hindsight.errors import InvalidInput, NotFound
from hindsight.write.extract import Extraction
from hindsight.write.extract.rules import RuleExtractor
from tests.write.house import SPACE, House
from tests.write.test_amend import stored

SAID = [
    ("我住在北京，对花生过敏", "我对花生过敏"),
    ("I live in Berlin and I'm allergic to peanuts", "I'm allergic to peanuts"),
]


@pytest.mark.parametrize(("both", "again"), SAID)
async def test_what_rests_on_it_alone_goes_and_what_others_say_too_stays(both: str, again: str) -> None:
    house = House()
    first = await house.say(both)
    await house.say(again)
    place, allergy = await house.active()
    assert len(allergy.sources) == 2
    receipt = await house.amender.forget(SPACE, first.episode_ids[0], reason="asked to")
    turn, *rest = receipt.outcomes
    assert (turn.action, turn.memory_id, turn.content) == (OutcomeAction.FORGOTTEN, first.episode_ids[0], both)
    assert {one.memory_id: one.action for one in rest} == {
        place.id: OutcomeAction.FORGOTTEN,
        allergy.id: OutcomeAction.UPDATED,
    }
    assert await house.contents() == [allergy.content]
    left = await stored(house, allergy.id)
    assert first.episode_ids[0] not in {source.episode_id for source in left.sources}
    entry = (await house.store.entries(SPACE, [first.episode_ids[0]]))[first.episode_ids[0]]
    assert entry.status is Status.FORGOTTEN

    await house.amender.undo(SPACE, receipt.undo or "")
    assert await house.contents() == [place.content, allergy.content]
    assert (await stored(house, allergy.id)).sources == allergy.sources
    assert await house.state(first.episode_ids[0]) is EpisodeState.OPEN
    history = await house.store.history(SPACE, place.id)
    assert [one.act for one in history] == [Act.ADDED, Act.FORGOTTEN, Act.UNDONE]


async def test_a_superseded_memory_of_the_turn_goes_too() -> None:
    house = House()
    written = await house.say("I live in Berlin")
    old = (await house.active())[0]
    await house.say("I moved to Paris")
    assert (await stored(house, old.id)).status is Status.SUPERSEDED
    receipt = await house.amender.forget(SPACE, written.episode_ids[0])
    assert (await stored(house, old.id)).status is Status.FORGOTTEN
    assert len(await house.active()) == 1
    await house.amender.undo(SPACE, receipt.undo or "")
    assert (await stored(house, old.id)).status is Status.SUPERSEDED


async def test_a_turn_is_forgotten_once_and_does_not_fade() -> None:
    house = House()
    written = await house.say("我住在北京，对花生过敏")
    (turn,) = written.episode_ids
    with pytest.raises(InvalidInput, match="decay_factor"):
        await house.amender.forget(SPACE, turn, decay_factor=0.5)
    first = await house.amender.forget(SPACE, turn)
    again = await house.amender.forget(SPACE, turn)
    assert (again.outcomes[0].action, again.undo) == (OutcomeAction.IGNORED, None)
    with pytest.raises(NotFound):
        await house.amender.forget(SPACE, "nothing")
    assert await house.amender.undo(SPACE, first.undo or "") == await house.amender.undo(SPACE, first.undo or "")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_two_facts_taken_back_in_any_order_bring_the_turn_with_the_last(order: tuple[int, int]) -> None:
    house = House()
    written = await house.say("我住在北京，对花生过敏")
    tokens = [(await house.amender.forget(SPACE, one.id)).undo or "" for one in await house.active()]
    await house.amender.undo(SPACE, tokens[order[0]])
    assert await house.state(written.episode_ids[0]) is EpisodeState.CLOSED
    await house.amender.undo(SPACE, tokens[order[1]])
    assert await house.state(written.episode_ids[0]) is EpisodeState.OPEN


async def test_new_words_for_the_last_fact_do_not_show_a_forgotten_turn_then() -> None:
    house = House()
    written = await house.say("我住在北京，对花生过敏")
    place, allergy = await house.active()
    await house.amender.forget(SPACE, allergy.id)
    await house.amender.update(SPACE, place.id, new_content="我住在上海")
    entry = (await house.store.entries(SPACE, [written.episode_ids[0]]))[written.episode_ids[0]]
    assert entry.status is Status.FORGOTTEN


@dataclass
class Meanwhile:
    """Reads like the rules, but slowly enough for the user to change their mind."""

    act: Callable[[str], Awaitable[object]]
    quick: bool = False
    rules: RuleExtractor = field(default_factory=RuleExtractor)

    async def extract(self, episodes: Sequence[Episode]) -> Extraction:
        for episode in episodes:
            await self.act(episode.id)
        return await self.rules.extract(episodes)


@pytest.mark.parametrize(
    "said", ["我住在北京，对花生过敏", "我对花生过敏", "I'm allergic to peanuts", "骰子规则是5d3+5"]
)
async def test_what_is_forgotten_while_a_model_reads_it_does_not_come_back_as_a_fact(said: str) -> None:
    house = House(extractor=Meanwhile(lambda name: house.amender.forget(SPACE, name)))
    written = await house.say(said)
    assert await house.contents() == []
    assert not await house.store.jobs(SPACE)
    entries = await house.store.entries(SPACE, written.episode_ids)
    assert [one.status for one in entries.values()] == [Status.FORGOTTEN]

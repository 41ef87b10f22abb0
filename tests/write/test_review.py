"""Reviews: what a page contradicts waits for the user, and holds or goes as they say."""

from __future__ import annotations

import pytest

from hindsight.domain.episode import Message, Origin, Role
from hindsight.domain.memory import Status
from hindsight.errors import NotFound
from hindsight.write.request import WriteRequest
from hindsight.write.review import Choice, decide, open_reviews
from tests.write.house import SPACE, House

SAID, READ = "The user lives in Florence", "The user now lives in Rome"


async def asked(house: House) -> str:
    """The id of the memory that a page brought."""
    await house.say(SAID)
    await house.write(WriteRequest((Message(READ, role=Role.DOCUMENT),)))
    ((review, memory, others),) = await open_reviews(house.store, SPACE)
    assert (memory.content, [one.content for one in others]) == (READ, [SAID])
    assert review.reason
    return memory.id


@pytest.mark.parametrize(("choice", "left"), [(Choice.NEW, [READ]), (Choice.OLD, [SAID]), (Choice.BOTH, [SAID, READ])])
async def test_the_user_decides_and_is_not_asked_again(choice: Choice, left: list[str]) -> None:
    house = House()
    memory_id = await asked(house)
    receipt = await decide(house.store, house.clock, house.ids, SPACE, memory_id, choice)
    assert await house.contents() == left
    assert not await open_reviews(house.store, SPACE)
    assert receipt.outcomes[0].reason
    with pytest.raises(NotFound):
        await decide(house.store, house.clock, house.ids, SPACE, memory_id, choice)


async def test_what_the_user_confirmed_is_trusted_like_their_own_word() -> None:
    house = House()
    memory_id = await asked(house)
    await decide(house.store, house.clock, house.ids, SPACE, memory_id, Choice.NEW)
    assert (await house.store.memories(SPACE, [memory_id]))[memory_id].origin is Origin.USER


async def test_a_decision_can_be_taken_back() -> None:
    house = House()
    memory_id = await asked(house)
    receipt = await decide(house.store, house.clock, house.ids, SPACE, memory_id, Choice.OLD)
    assert receipt.undo is not None
    await house.amender.undo(SPACE, receipt.undo)
    assert (await house.store.memories(SPACE, [memory_id]))[memory_id].status is Status.ACTIVE


async def test_a_question_goes_when_one_side_is_forgotten() -> None:
    house = House()
    memory_id = await asked(house)
    await house.amender.forget(SPACE, memory_id)
    assert not await open_reviews(house.store, SPACE)

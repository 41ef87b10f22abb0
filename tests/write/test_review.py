"""Reviews: what a page contradicts waits for the user, and holds or goes as they say."""

from __future__ import annotations

import asyncio

import pytest

from hindsight.domain.change import Act, Contradiction, Receipt, ReviewChoice, ReviewState
from hindsight.domain.episode import EpisodeState, Message, Origin, Role
from hindsight.domain.memory import Status
from hindsight.errors import Conflict, InvalidInput, NotFound
from hindsight.write.request import WriteRequest
from hindsight.write.review import AlreadyDecided, decide, reviews_of
from tests.write.house import SPACE, House

SAID, READ = "The user lives in Florence", "The user now lives in Rome"
NEW, OLD, BOTH = ReviewChoice.NEW, ReviewChoice.OLD, ReviewChoice.BOTH
PAIRS = [
    (SAID, READ),
    ("我住在北京", "用户搬到上海了"),
    ("I work at Acme", "The user works at Globex"),
    ("用户叫李国玉", "用户叫李国松"),
]


async def waiting(house: House, state: ReviewState = ReviewState.OPEN) -> list[Contradiction]:
    return list((await reviews_of(house.store, SPACE, state=state, limit=50, after=None)).items)


async def asked(house: House, said: str = SAID, read: str = READ) -> str:
    """The id of the memory that a page brought."""
    await house.say(said)
    receipt = await house.write(WriteRequest((Message(read, role=Role.DOCUMENT),)))
    (review,) = await waiting(house)
    assert [outcome.review for outcome in receipt.outcomes] == [True]
    assert receipt.outcomes[0].other_ids == tuple(one.id for one in review.old)
    assert review.reason
    return review.new.id


async def decided(house: House, memory_id: str, choice: ReviewChoice) -> Receipt:
    return await decide(house.store, house.clock, house.ids, SPACE, memory_id, choice)


@pytest.mark.parametrize(("choice", "left"), [(NEW, [READ]), (OLD, [SAID]), (BOTH, [SAID, READ])])
async def test_the_user_decides_and_is_not_asked_again(choice: ReviewChoice, left: list[str]) -> None:
    house = House()
    memory_id = await asked(house)
    receipt = await decided(house, memory_id, choice)
    assert await house.contents() == left
    assert not await waiting(house)
    assert [one.new.id for one in await waiting(house, ReviewState.CLOSED)] == [memory_id]
    assert receipt.outcomes[0].reason
    with pytest.raises(AlreadyDecided, match=memory_id):
        await decided(house, memory_id, choice)


@pytest.mark.parametrize(("said", "read"), PAIRS)
async def test_what_a_page_contradicts_waits_in_both_languages(said: str, read: str) -> None:
    house = House()
    memory_id = await asked(house, said, read)
    (review,) = await waiting(house)
    assert (len(review.old), review.state) == (1, ReviewState.OPEN)
    await decided(house, memory_id, NEW)
    assert await house.contents() == [review.new.content]


async def test_what_the_user_confirmed_is_trusted_like_their_own_word() -> None:
    house = House()
    memory_id = await asked(house)
    await decided(house, memory_id, NEW)
    assert (await house.store.memories(SPACE, [memory_id]))[memory_id].origin is Origin.USER


async def test_the_turn_that_says_only_what_no_longer_holds_is_closed_and_opened_again() -> None:
    house = House()
    written = await house.say("I live in Florence, and what a view it has!")
    page = await house.write(WriteRequest((Message(READ, role=Role.DOCUMENT),)))
    (episode_id,), memory_id = written.episode_ids, page.outcomes[0].memory_id
    assert memory_id is not None
    before = await house.state(episode_id)
    receipt = await decided(house, memory_id, NEW)
    assert await house.state(episode_id) is not EpisodeState.OPEN
    await house.amender.undo(SPACE, receipt.undo or "")
    assert await house.state(episode_id) is before


@pytest.mark.parametrize("choice", ReviewChoice)
async def test_a_decision_can_be_taken_back_and_the_review_waits_again(choice: ReviewChoice) -> None:
    house = House()
    memory_id = await asked(house)
    (before,) = await waiting(house)
    receipt = await decided(house, memory_id, choice)
    back = await house.amender.undo(SPACE, receipt.undo or "")
    assert await house.contents() == [SAID, READ]
    (again,) = await waiting(house)
    assert (again.new.id, again.at, again.new.origin) == (memory_id, before.at, Origin.DOCUMENT)
    assert again.new.status is Status.ACTIVE

    await house.amender.undo(SPACE, back.undo or "")
    assert not await waiting(house)
    history = await house.store.history(SPACE, memory_id)
    assert [one.act for one in history][-2:] == [Act.UNDONE, Act.UNDONE]

    await house.amender.undo(SPACE, f"undo:{back.undo}")
    assert [one.new.id for one in await waiting(house)] == [memory_id]
    await decided(house, memory_id, OLD)
    assert await house.contents() == [SAID]


@pytest.mark.parametrize(("first", "second"), [(one, other) for one in ReviewChoice for other in ReviewChoice])
async def test_of_two_who_decide_at_once_one_wins_and_the_other_is_told(
    first: ReviewChoice, second: ReviewChoice
) -> None:
    house = House()
    memory_id = await asked(house)
    answers = await asyncio.gather(
        decided(house, memory_id, first), decided(house, memory_id, second), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in answers) == ["AlreadyDecided", "Receipt"]
    (error,) = (one for one in answers if isinstance(one, AlreadyDecided))
    assert isinstance(error, Conflict)
    assert not error.retryable
    assert "decided already" in str(error)
    won = first if isinstance(answers[0], Receipt) else second
    assert await house.contents() == {NEW: [READ], OLD: [SAID], BOTH: [SAID, READ]}[won]


async def test_what_was_never_asked_is_not_found_with_a_way_on() -> None:
    house = House()
    await asked(house)
    plain = (await house.active())[0].id
    for wrong in (plain, "nothere1"):
        with pytest.raises(NotFound, match=wrong) as caught:
            await decided(house, wrong, NEW)
        assert "open reviews" in caught.value.hint


async def test_a_question_goes_when_one_side_is_forgotten_and_comes_back_with_it() -> None:
    house = House()
    memory_id = await asked(house)
    receipt = await house.amender.forget(SPACE, memory_id)
    assert not await waiting(house)
    with pytest.raises(AlreadyDecided, match="ended"):
        await decided(house, memory_id, NEW)
    await house.amender.undo(SPACE, receipt.undo or "")
    assert [one.new.id for one in await waiting(house)] == [memory_id]


async def test_reviews_come_in_pages_that_stay_whole_while_some_are_decided() -> None:
    house = House()
    cities = [("Ann", "Oslo", "Bergen"), ("Bob", "Lyon", "Nice"), ("Cid", "Bonn", "Ulm"), ("Dan", "Turin", "Bari")]
    for name, old, new in cities:
        await house.say(f"{name} lives in {old}")
        await house.write(WriteRequest((Message(f"{name} lives in {new}", role=Role.DOCUMENT),)))
    every = await waiting(house)
    assert len(every) == len(cities)
    first = await reviews_of(house.store, SPACE, state=ReviewState.OPEN, limit=2, after=None)
    assert first.next is not None
    await decided(house, first.items[-1].new.id, OLD)
    rest = await reviews_of(house.store, SPACE, state=ReviewState.OPEN, limit=2, after=first.next)
    assert [*first.items, *rest.items] == every
    assert rest.next is None
    for wrong in ("", "x", "12", "-", "9" * 18 + "-m", "昨天"):
        with pytest.raises(InvalidInput, match="after"):
            await reviews_of(house.store, SPACE, state=ReviewState.OPEN, limit=2, after=wrong)

"""Forgetting and summaries: no sentence outlives what it rests on, and undo brings both back."""

from __future__ import annotations

import pytest

from hindsight.domain.episode import EpisodeState
from hindsight.domain.memory import Memory, Status
from hindsight.domain.summary import originals_of, told_in
from hindsight.upkeep.cleanup import Cleaning
from tests.upkeep.house import Home
from tests.write.house import SPACE

EVENTS = ("Ann planted apple trees.", "Bob sold his blue boat.", "Carol broke the window.")


@pytest.fixture
async def told() -> tuple[Home, list[Memory], Memory]:
    """Three events of one session, told in a summary that has a sentence for each of two."""
    home = Home()
    originals = [await home.happened(one, session_id="s1") for one in EVENTS]
    home.clock.passes(days=200)
    (summary,) = (await home.cleaner().clean(SPACE, Cleaning(dry_run=False))).added
    return home, originals, summary


def sentence_of(summary: Memory, originals: list[Memory]) -> Memory:
    """An original that a sentence of the summary rests on."""
    first = told_in(summary)[0].ids[0]
    return next(one for one in originals if one.id == first)


@pytest.mark.parametrize("by_turn", [False, True], ids=["by memory", "by turn"])
async def test_a_sentence_goes_with_the_original_it_rests_on_and_comes_back(
    told: tuple[Home, list[Memory], Memory], by_turn: bool
) -> None:
    home, originals, summary = told
    gone = sentence_of(summary, originals)
    name = gone.sources[0].episode_id if by_turn else gone.id

    receipt = await home.amender.forget(SPACE, name)

    left = await home.now(summary)
    assert left.status is Status.ACTIVE
    assert gone.content not in left.content
    assert gone.id not in originals_of(left)
    assert gone.sources[0].episode_id not in {source.episode_id for source in left.sources}
    assert len(told_in(left)) == len(told_in(summary)) - 1
    assert summary.id in {one.memory_id for one in receipt.outcomes}
    assert receipt.undo is not None
    await home.amender.undo(SPACE, receipt.undo)
    assert (await home.now(summary)).content == summary.content
    assert await home.status(gone) is Status.ARCHIVED


async def test_a_summary_that_has_no_sentence_left_is_forgotten(told: tuple[Home, list[Memory], Memory]) -> None:
    home, originals, summary = told

    for original in originals:
        await home.amender.forget(SPACE, original.id)

    assert await home.status(summary) is Status.FORGOTTEN


async def test_forgetting_a_summary_forgets_all_that_it_tells(told: tuple[Home, list[Memory], Memory]) -> None:
    home, originals, summary = told

    receipt = await home.amender.forget(SPACE, summary.id)

    assert {await home.status(one) for one in originals} == {Status.FORGOTTEN}
    then = originals[0].created_at
    found = (await home.searcher.search(SPACE, home.query("apple trees", as_of=then), home.trace())).hits
    assert [hit.content for hit in found] == []
    assert receipt.undo is not None
    await home.amender.undo(SPACE, receipt.undo)
    assert {await home.status(one) for one in originals} == {Status.ARCHIVED}
    assert await home.status(summary) is Status.ACTIVE
    assert await home.state(originals[0].sources[0].episode_id) is EpisodeState.CLOSED


async def test_letting_a_summary_fade_leaves_its_originals_alone(told: tuple[Home, list[Memory], Memory]) -> None:
    home, originals, summary = told

    await home.amender.forget(SPACE, summary.id, decay_factor=0.5)

    assert {await home.status(one) for one in originals} == {Status.ARCHIVED}

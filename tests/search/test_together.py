"""Turns read as one stretch, and records of about the same time."""

import numpy as np
import pytest

from hindsight.domain.surroundings import Surroundings
from hindsight.search.context import Turns
from hindsight.search.together import same_time, stretch_words
from tests.search.made import World, episode

HOUR = 3600.0


def turns_of(*sessions: int) -> Turns:
    """A turn for each of these sessions, one after the other."""
    count = len(sessions)
    held = Surroundings(
        [f"e{number}" for number in range(count)],
        np.array(sessions, np.int32),
        np.arange(count, dtype=np.int64),
        np.zeros(count, np.bool_),
        np.zeros(count),
        np.zeros(count),
    )
    return Turns.of(held)


def gains(*rows: tuple[float, ...]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """A row for each entry."""
    return np.array(rows, np.float32)


def test_a_stretch_has_each_word_once_where_it_fits_best() -> None:
    words = stretch_words(turns_of(0, 0, 0), gains((3, 0), (1, 0), (0, 2)))
    assert words.tolist() == [5, 5, 5]


def test_a_stretch_ends_two_turns_away_and_with_its_session() -> None:
    alone = gains((0,), (0,), (0,), (4,), (0,), (0,))
    assert stretch_words(turns_of(0, 0, 0, 0, 0, 1), alone).tolist() == [0, 4, 4, 4, 4, 0]


def test_what_has_no_session_is_a_stretch_by_itself() -> None:
    assert stretch_words(turns_of(-1, -1, 0), gains((1,), (2,), (4,))).tolist() == [1, 2, 4]
    assert stretch_words(turns_of(0, 0), np.zeros((2, 0), np.float32)).tolist() == [0, 0]


def test_records_near_the_best_in_time_are_near_and_the_best_is_not_near_to_itself() -> None:
    times = np.array([0.0, 1.0, 2.0, 48.0]) * HOUR
    near = same_time(turns_of(0, 0, 0, 0), times, np.array([3.0, 0.0, 0.0, 0.0]))
    assert near[0] == 0.0
    assert near[1:] == pytest.approx(np.exp(-times[1:] / (24 * HOUR)))


def test_a_conversation_is_no_day_of_records() -> None:
    quick = np.array([0.0, 10.0, 20.0, 30.0])
    assert same_time(turns_of(0, 0, 0, 0), quick, np.ones(4)).tolist() == [0, 0, 0, 0]
    assert same_time(turns_of(-1, -1, 0), np.array([0.0, HOUR, 2 * HOUR]), np.ones(3)).tolist() == [0, 0, 0]
    unknown = same_time(turns_of(0, 0, 0), np.array([0.0, np.nan, HOUR]), np.array([1.0, 0.0, 0.0]))
    assert not np.isnan(unknown).any()


async def test_an_answer_two_turns_behind_the_words_of_the_question_is_found() -> None:
    world = World()
    said = ["We went hiking near the lake", "Nice!", "Seven hours in all.", "Really?", "Then a swim."]
    other = ["Hiking is fun", "True", "Bye now.", "See you", "Hiking is healthy"]
    for session, texts in enumerate((other, said)):
        await world.holds(
            *(episode(10 * session + n, text, session_id=f"s{session}", position=n) for n, text in enumerate(texts))
        )
    found = await world.search("what of the hiking at the lake?", top_k=10)
    stretch = {hit.content: hit.scores["stretch"] for hit in found.hits}
    assert stretch["Seven hours in all."] == stretch["We went hiking near the lake"] > 0.3
    assert stretch["Bye now."] < stretch["Seven hours in all."]


async def test_a_turn_that_only_asks_comes_behind_one_that_tells() -> None:
    world = World()
    await world.holds(
        episode(1, "Where do you keep the garden tools?", session_id="a"),
        episode(2, "The garden tools I keep down in the old shed", session_id="b"),
        episode(3, "花园的工具放在哪里？", session_id="c"),
        episode(4, "花园的工具都放在旧棚子里", session_id="d"),
    )
    found = await world.search("where are the garden tools kept?", top_k=2)
    assert found.hits[0].content.startswith("The garden tools")
    assert found.hits[1].scores["asks"] < 0
    assert (await world.finds("花园的工具"))[0] == "花园的工具都放在旧棚子里"


async def test_whoever_asks_what_was_asked_gets_the_question() -> None:
    world = World()
    await world.holds(episode(1, "Where do you keep the garden tools?", session_id="a"))
    found = await world.search("what did I ask about the garden tools?", top_k=1)
    assert "asks" not in found.hits[0].scores

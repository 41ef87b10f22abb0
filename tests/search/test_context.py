"""Turns, what stands beside them, and the best of their session."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.ranking import DENSE, DENSE_NEXT, DENSE_SESSION, LEXICAL, NEXT, PREVIOUS, SESSION
from hindsight.domain.surroundings import Surroundings
from hindsight.search.context import Turns, signals_around


def around(*places: tuple[int, int]) -> Surroundings:
    """Surroundings of these pairs of session and position."""
    count = len(places)
    return Surroundings(
        [f"e{number}" for number in range(count)],
        np.array([session for session, _ in places], np.int32),
        np.array([position for _, position in places], np.int64),
        np.zeros(count, np.bool_),
        np.zeros(count),
        np.zeros(count),
    )


def test_a_turn_knows_the_turns_beside_it_in_its_own_session_only() -> None:
    turns = Turns.of(around((0, 1), (0, 2), (1, 7), (1, 9)))
    assert turns.before(np.array([0.1, 0.2, 0.3, 0.4])).tolist() == [0.0, 0.1, 0.0, 0.3]
    assert turns.after(np.array([0.1, 0.2, 0.3, 0.4])).tolist() == [0.2, 0.0, 0.4, 0.0]


def test_an_episode_and_its_facts_are_one_turn_that_fits_as_the_best_of_them() -> None:
    signals = signals_around(Turns.of(around((0, 1), (0, 1), (0, 2))), np.array([0.2, 0.8, 0.1]), None)
    assert signals[LEXICAL].tolist() == [0.2, 0.8, 0.1]
    assert signals[PREVIOUS].tolist() == [0.0, 0.0, 0.8]
    assert signals[NEXT].tolist() == [0.1, 0.1, 0.0]


def test_a_session_fits_as_the_mean_of_its_best_three_turns() -> None:
    turns = Turns.of(around((0, 1), (0, 2), (0, 3), (0, 4), (1, 1)))
    assert turns.session(np.array([0.1, 0.9, 0.6, 0.3, 0.5])) == pytest.approx([0.6, 0.6, 0.6, 0.6, 0.5])
    assert turns.sizes().tolist() == [4, 4, 4, 4, 1]


def test_what_has_no_session_or_place_has_nothing_beside_it() -> None:
    alone = signals_around(Turns.of(around((-1, -1), (-1, -1))), np.array([0.5, 0.9]), np.array([1.0, 0.2]))
    for name in (PREVIOUS, NEXT, SESSION, DENSE_NEXT, DENSE_SESSION):
        assert alone[name].tolist() == [0.0, 0.0]
    assert alone[DENSE].tolist() == [1.0, 0.2]
    unplaced = Turns.of(around((0, -1), (0, -1)))
    assert len(unplaced.starts) == 2


def test_nothing_around_is_no_error() -> None:
    signals = signals_around(Turns.of(around()), np.zeros(0), np.zeros(0))
    assert {len(values) for values in signals.values()} == {0}


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3), st.floats(0, 1)), max_size=14))
def test_arrays_say_what_a_plain_loop_says(rows: list[tuple[int, int, float]]) -> None:
    rows.sort(key=lambda row: row[:2])
    values = np.array([value for *_, value in rows])
    turns: list[tuple[int, list[float]]] = []
    for number, (session, position, value) in enumerate(rows):
        same = number > 0 and rows[number - 1][:2] == (session, position) and session >= 0 and position >= 0
        if same:
            turns[-1][1].append(value)
        else:
            turns.append((session, [value]))
    best = [max(held) for _, held in turns]
    found = Turns.of(around(*(row[:2] for row in rows)))
    assert found.best(values).tolist() == best
    for place, (session, _) in enumerate(turns):
        of_session = sorted((best[n] for n, (other, _) in enumerate(turns) if other == session), reverse=True)[:3]
        right = 0.0 if session < 0 else sum(of_session) / len(of_session)
        assert found.session(np.array(best))[place] == pytest.approx(right)
        goes_on = session >= 0 and place + 1 < len(turns) and turns[place + 1][0] == session
        assert found.after(np.array(best))[place] == (best[place + 1] if goes_on else 0.0)

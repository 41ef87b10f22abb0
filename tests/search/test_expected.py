"""Which tools a situation calls for, learnt from the experiences themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from hindsight.search.expected import FEWEST, RIDGES, Tools


def unit(rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    held = np.array(rows, np.float64)
    scaled: NDArray[np.float64] = held / np.linalg.norm(held, axis=1, keepdims=True)
    return scaled


# Two words, each of which goes with a tool of its own.
TRIGGERS = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]]
USED = [{"a"}, {"a"}, {"b"}, {"b"}, {"a", "b"}, {"a", "b"}]


@pytest.mark.parametrize(("said", "best"), [([1.0, 0.0], {0, 1}), ([0.0, 1.0], {2, 3}), ([2**-0.5, 2**-0.5], {4, 5})])
def test_the_tools_that_the_words_call_for_agree_best(said: list[float], best: set[int]) -> None:
    agreement = Tools.of([frozenset(tools) for tools in USED]).agreement(unit(TRIGGERS), np.array(said))
    assert set(np.flatnonzero(agreement > agreement.max() - 1e-9).tolist()) == best


def test_tools_that_nothing_foretells_count_for_nothing() -> None:
    used = [frozenset({"a"}), frozenset(), frozenset({"a"}), frozenset()]
    same = unit([[1, 0], [1, 0], [1, 0], [1, 0]])
    assert Tools.of(used).agreement(same, same[0]) == pytest.approx(np.ones(4), abs=0.02)


@pytest.mark.parametrize(
    "used",
    [
        [frozenset({"a"})] * 6,  # one that all have
        [frozenset({str(number)}) for number in range(6)],  # ones that only one has
        [frozenset()] * 6,
    ],
)
def test_without_anything_to_tell_apart_all_agree(used: list[frozenset[str]]) -> None:
    assert Tools.of(used).agreement(unit(TRIGGERS), unit(TRIGGERS)[0]) == pytest.approx(np.ones(6))


def test_too_few_experiences_teach_nothing() -> None:
    few = FEWEST - 1
    used = [frozenset({"a"}), frozenset({"a"}), frozenset({"b"})][:few]
    assert Tools.of(used).agreement(unit(TRIGGERS)[:few], unit(TRIGGERS)[0]) == pytest.approx(np.ones(few))


def test_agreement_stays_within_its_bounds() -> None:
    random = np.random.default_rng(5)
    triggers = unit(random.random((30, 12)).tolist())
    used = [frozenset(np.array(list("abcdef"))[random.random(6) > 0.5].tolist()) for _ in range(30)]
    agreement = Tools.of(used).agreement(triggers, triggers[3])
    assert ((agreement > 0) & (agreement <= 1)).all()


def test_the_ridge_is_the_one_by_which_what_is_left_out_is_likeliest() -> None:
    random = np.random.default_rng(7)
    plain = unit(np.repeat(np.eye(4), 6, axis=0).tolist())
    called = np.repeat(np.eye(4), 6, axis=0)
    noise = unit(random.random((24, 12)).tolist())
    left_out = []
    for triggers in (plain, noise):
        tools = Tools(called)
        usual = called.mean(axis=0)
        _, missed = tools._rule(triggers @ triggers.T, usual)
        each = []
        for ridge in RIDGES:
            inverse = np.linalg.inv(triggers @ triggers.T + ridge * np.eye(24))
            each.append((inverse @ (called - usual)) / np.diag(inverse)[:, None])
        left_out.append([np.allclose(missed, one) for one in each].index(True))
    assert left_out == [0, len(RIDGES) - 1], "words that tell it need little, words that don't need more"

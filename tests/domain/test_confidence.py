"""Trust moves in whole hundredths; what a record proves is told beside it."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.confidence import FLOOR, HIGH, LOW, NORMAL, after_feedback, expected, proven, record, risk_of
from hindsight.domain.experience import Outcome, OutcomeStatus

NOON = datetime(2024, 1, 15, 12, tzinfo=UTC)


def after(*reports: bool, start: Outcome | None = None, risk: object = NORMAL) -> Outcome:
    outcome = start or Outcome()
    for worked in reports:
        outcome = after_feedback(outcome, worked=worked, risk=risk, at=NOON)  # type: ignore[arg-type]  # its values are of Risk
    return outcome


def test_one_failure_of_a_new_one_leaves_it_at_the_floor_and_a_second_makes_it_a_warning() -> None:
    assert after(False) == Outcome(OutcomeStatus.SUCCESS, FLOOR, 0, 1, NOON)
    assert after(False, False) == Outcome(OutcomeStatus.FAILURE, 10, 0, 2, NOON)


def test_a_warning_rises_where_it_is_followed_and_stays_a_warning() -> None:
    lesson = Outcome(OutcomeStatus.FAILURE)
    assert after(True, True, start=lesson) == Outcome(OutcomeStatus.FAILURE, 70, 2, 0, NOON)
    turned = after(False, False)
    assert after(True, True, True, start=turned).status is OutcomeStatus.FAILURE


@pytest.mark.parametrize(
    ("tags", "risk"),
    [
        ((), NORMAL),
        (("deploy",), NORMAL),
        (("High-Risk",), HIGH),
        (("支付", "高风险"), HIGH),
        (("low-risk",), LOW),
        (("risk:low", "risk:high"), HIGH),
    ],
)
def test_tags_name_the_risk_and_the_highest_counts(tags: tuple[str, ...], risk: object) -> None:
    assert risk_of(tags) is risk


def test_one_failure_takes_a_trusted_high_risk_entry_to_the_floor_at_once() -> None:
    trusted = Outcome(confidence=100, successes=9)
    assert after(False, start=trusted, risk=HIGH).confidence == FLOOR
    assert after(False, start=trusted).confidence == 80
    assert after(False, start=trusted, risk=LOW).confidence == 90
    assert after(False, False, start=trusted, risk=HIGH).status is OutcomeStatus.FAILURE


def test_nineteen_of_twenty_beat_one_of_one_and_what_fails_comes_behind_what_was_never_tried() -> None:
    often, once, never, failed = (
        Outcome(successes=19, failures=1),
        Outcome(successes=1),
        Outcome(),
        Outcome(failures=1),
    )
    assert [*sorted((never, failed, once, often), key=record, reverse=True)] == [often, once, never, failed]


@pytest.mark.parametrize(
    ("successes", "failures", "lower", "mean"),
    # The quantiles of Beta(1, 1), Beta(2, 1), Beta(1, 2) have closed forms: q, sqrt q, 1 - sqrt(1 - q).
    [(0, 0, 0.05, 0.5), (1, 0, 0.05**0.5, 2 / 3), (0, 1, 1 - 0.95**0.5, 1 / 3), (9, 0, 0.05**0.1, 10 / 11)],
)
def test_what_is_proven_is_the_quantile_of_the_posterior(
    successes: int, failures: int, lower: float, mean: float
) -> None:
    outcome = Outcome(successes=successes, failures=failures)
    assert isclose(proven(outcome), lower, abs_tol=1e-6)
    assert isclose(expected(outcome), mean)


@given(st.lists(st.booleans(), max_size=40), st.sampled_from((NORMAL, LOW, HIGH)), st.integers(0, 100))
def test_trust_stays_within_its_bounds_and_every_report_is_counted(
    reports: list[bool], risk: object, start: int
) -> None:
    outcome = after(*reports, start=Outcome(confidence=start), risk=risk)
    assert 0 <= outcome.confidence <= 100
    assert (outcome.successes, outcome.failures) == (sum(reports), len(reports) - sum(reports))


@given(st.integers(0, 60), st.integers(0, 60))
def test_what_is_proven_rises_with_success_falls_with_failure_and_is_below_the_mean(one: int, other: int) -> None:
    lower = proven(Outcome(successes=one, failures=other))
    assert lower <= expected(Outcome(successes=one, failures=other))
    assert (
        proven(Outcome(successes=one + 1, failures=other)) > lower > proven(Outcome(successes=one, failures=other + 1))
    )


def test_a_long_record_is_told_as_closely_as_a_short_one() -> None:
    summed, normal = Outcome(successes=1_900, failures=100), Outcome(successes=1_901, failures=100)
    assert abs(proven(summed) - proven(normal)) < 0.001

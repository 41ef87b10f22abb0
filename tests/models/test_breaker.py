"""The circuit breaker opens after failures in a row, rests, and tries with one call."""

from __future__ import annotations

from hindsight.models.breaker import Breaker


class Time:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def failing(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.enter()
        breaker.failed()


def test_it_opens_after_failures_in_a_row_and_not_before() -> None:
    breaker = Breaker(failures=3, rest=30, now=Time())
    failing(breaker, 2)
    assert breaker.wait() == 0
    breaker.enter()
    breaker.succeeded()
    failing(breaker, 2)
    assert breaker.wait() == 0
    failing(breaker, 1)
    assert breaker.wait() == 30


def test_after_its_rest_one_call_is_let_through_and_closes_it() -> None:
    time = Time()
    breaker = Breaker(failures=1, rest=30, now=time)
    failing(breaker, 1)
    time.seconds = 29
    assert breaker.wait() == 1
    time.seconds = 31
    assert breaker.wait() == 0
    breaker.enter()
    assert breaker.wait() > 0, "only one probe at a time"
    breaker.succeeded()
    assert breaker.wait() == 0
    failing(breaker, 1)
    assert breaker.wait() == 30


def test_each_probe_that_fails_doubles_the_rest_up_to_a_limit() -> None:
    time = Time()
    breaker = Breaker(failures=1, rest=30, longest_rest=100, now=time)
    waits = []
    for _ in range(4):
        failing(breaker, 1)
        waits.append(breaker.wait())
        time.seconds += waits[-1]
    assert waits == [30, 60, 100, 100]


def test_a_probe_that_its_caller_gave_up_says_nothing() -> None:
    time = Time()
    breaker = Breaker(failures=1, rest=30, now=time)
    failing(breaker, 1)
    time.seconds = 30
    breaker.enter()
    breaker.left()
    assert breaker.wait() == 0


def test_calls_that_were_on_their_way_when_it_opened_do_not_prolong_the_rest() -> None:
    breaker = Breaker(failures=1, rest=30, now=Time())
    for _ in range(4):
        breaker.enter()
    for _ in range(4):
        breaker.failed()
    assert breaker.wait() == 30

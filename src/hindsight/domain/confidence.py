"""How trust in an experience moves with its record, and how much a record proves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from math import exp, inf, lgamma, log, sqrt
from types import MappingProxyType

from hindsight.domain.experience import Outcome, OutcomeStatus

FLOOR = 30  # in hundredths; returned at the floor, hidden below it
DOUBT = 0.05  # one in twenty true rates lies below `proven`
_NORMAL_BELOW = 1.6449  # the 5 % quantile of the normal distribution, its sign turned
_EXACT = 2_000  # reports up to which the posterior is summed; beyond it is normal to three digits
_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Risk:
    """How far one report moves trust, in hundredths. `floors`: a failure takes it to the floor at once, or below."""

    name: str
    success: int = 10
    failure: int = 20
    floors: bool = False


NORMAL = Risk("normal")
LOW = Risk("low", failure=10)
HIGH = Risk("high", floors=True)

RISK_OF_TAG: Mapping[str, Risk] = MappingProxyType(
    {
        **dict.fromkeys(("high-risk", "risk:high", "高风险", "高危"), HIGH),
        **dict.fromkeys(("low-risk", "risk:low", "低风险"), LOW),
    }
)
"""The profile that a tag stands for, folded; without one of these it is `NORMAL`. The highest counts."""


def risk_of(tags: Iterable[str]) -> Risk:
    """The profile of an experience by its tags."""
    found = {RISK_OF_TAG[tag] for tag in (one.casefold() for one in tags) if tag in RISK_OF_TAG}
    return HIGH if HIGH in found else LOW if LOW in found else NORMAL


def after_feedback(outcome: Outcome, *, worked: bool, risk: Risk = NORMAL, at: datetime | None = None) -> Outcome:
    """The outcome after one more use: +10 on success, -20 on failure, within 0 to 100 (SPEC §5).

    A workflow that falls below the floor is a warning from then on, and stays one: what works again is written anew.
    """
    used = outcome.last_used if at is None else at
    if worked:
        confidence = min(100, outcome.confidence + risk.success)
        return replace(outcome, confidence=confidence, successes=outcome.successes + 1, last_used=used)
    confidence = max(0, outcome.confidence - risk.failure)
    if risk.floors:
        confidence = min(confidence, FLOOR)
    status = OutcomeStatus.FAILURE if confidence < FLOOR else outcome.status
    return replace(outcome, status=status, confidence=confidence, failures=outcome.failures + 1, last_used=used)


def expected(outcome: Outcome) -> float:
    """The mean of the posterior of the rate of success under a uniform prior: (s + 1) / (n + 2).

    Laplace's rule of succession; Gelman et al., Bayesian Data Analysis, 3rd ed., §2.4. Without a report it is 0.5,
    where the simple confidence begins too.
    """
    return (outcome.successes + 1) / (outcome.call_count + 2)


def proven(outcome: Outcome) -> float:
    """The rate of success that the record proves: 95 % of the posterior Beta(s + 1, f + 1) lies above it.

    0.05 without a report, 0.22 after 1 of 1, 0.79 after 19 of 20. What has been tried often counts for more than what
    went well once; what is better known to fail counts for less than what was never tried.
    """
    return _lower(outcome.successes, outcome.failures)


def record(outcome: Outcome) -> tuple[float, float, int]:
    """By what alternatives are ordered, the best first when reversed: what is proven, what is likely, plain trust."""
    return proven(outcome), expected(outcome), outcome.confidence


@lru_cache(maxsize=4096)
def _lower(successes: int, failures: int) -> float:
    total = successes + failures
    if total > _EXACT:
        a, b = successes + 1, failures + 1
        mean = a / (a + b)
        return max(0.0, mean - _NORMAL_BELOW * sqrt(mean * (1 - mean) / (a + b + 1)))
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, successes, total) < DOUBT else (low, middle)
    return low


def _below(rate: float, successes: int, total: int) -> float:
    """The posterior probability of a rate below this one: more than `successes` of `total + 1` draws (DLMF 8.17.5)."""
    draws = total + 1
    hit, miss = (log(rate) if rate else -inf), (log(1 - rate) if rate < 1 else -inf)
    return sum(
        exp(lgamma(draws + 1) - lgamma(k + 1) - lgamma(draws - k + 1) + _times(k, hit) + _times(draws - k, miss))
        for k in range(successes + 1, draws + 1)
    )


def _times(count: int, logarithm: float) -> float:
    return count * logarithm if count else 0.0


def after_merge(confidence: float) -> float:
    """Confidence of a statement that was said once more: +0.1 up to 1 (SPEC §3)."""
    return min(1.0, round(confidence + 0.1, 4))

"""How trust in an experience moves with its record."""

from __future__ import annotations

from dataclasses import replace

from hindsight.domain.experience import Outcome

SUCCESS_STEP = 10
FAILURE_STEP = 20
FLOOR = 30  # in hundredths; returned at the floor, hidden below it


def after_feedback(outcome: Outcome, *, worked: bool) -> Outcome:
    """The outcome after one more use: +10 on success, -20 on failure, within 0 to 100 (SPEC §5)."""
    if worked:
        return replace(outcome, confidence=min(100, outcome.confidence + SUCCESS_STEP), successes=outcome.successes + 1)
    return replace(outcome, confidence=max(0, outcome.confidence - FAILURE_STEP), failures=outcome.failures + 1)


def after_merge(confidence: float) -> float:
    """Confidence of a statement that was said once more: +0.1 up to 1 (SPEC §3)."""
    return min(1.0, round(confidence + 0.1, 4))

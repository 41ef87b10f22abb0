"""What another bar for confidence would give: the share of questions answered with confidence, by whether they can be.

Beside the questions of a set that nothing answers stand foreign ones: questions over one person's records, put to
another's. Some of these have an answer there too, so that 0 is neither possible nor wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bench import metrics
from bench.data import Corpus, Question
from bench.report import rounded
from hindsight.domain.ranking import FITS

MOST_FOREIGN = 100  # questions of a set that are put to other records
BARS = (0.10, 0.14, 0.18, FITS, 0.26, 0.30, 0.35, 0.40, 0.50)
CURVE = "abstain@"  # and the bar: the rows of one set's curve stand under `SET/abstain@BAR`


def foreign(corpus: Corpus, questions: Sequence[Question]) -> list[Question]:
    """Questions evenly spread over those that are answered, each put to the next scope; none where there is one."""
    scopes = sorted({item.scope for item in corpus.items})
    if len(scopes) < 2:
        return []
    answered = [question for question in questions if not question.abstain]
    count = min(MOST_FOREIGN, len(answered))
    picked = [answered[number * len(answered) // count] for number in range(count)]
    following = dict(zip(scopes, [*scopes[1:], scopes[0]], strict=True))
    return [
        replace(
            one, scope=following[one.scope], gold=frozenset(), gold_sessions=frozenset(), exclude_sessions=(),
            midway=False,
        )
        for one in picked
    ]  # fmt: skip


def curve(
    key: str, kept: Sequence[float], unanswerable: Sequence[float], others: Sequence[float]
) -> dict[str, dict[str, float]]:
    """The fits of answerable, unanswerable and foreign questions as rows: areas under the curve, and each bar."""
    against = {"abstain": unanswerable, "foreign": others}
    areas = {f"{name}_auc": area(kept, fits) for name, fits in against.items() if kept and fits}
    rows = {key: rounded(areas.items())}
    for bar in BARS:
        row = {f"{name}_confident": _above(fits, bar) for name, fits in against.items() if fits}
        row |= {"answerable_kept": _above(kept, bar)} if kept else {}
        rows[f"{key}/{CURVE}{bar:.2f}"] = rounded(row.items())
    return rows


def area(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The share of pairs in which the one that can be answered fits better; ties count for half."""
    return metrics.mean([float(one > other) + 0.5 * (one == other) for one in right for other in wrong])


def _above(fits: Sequence[float], bar: float) -> float:
    return metrics.mean([float(fit >= bar) for fit in fits])

"""How well a person's own questions are answered, under two settings side by side."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hindsight.domain.query import Weights


@dataclass(frozen=True, slots=True)
class Setting:
    """What of a search is compared. `routes`: names of those that are on; `rerank`: whether the reranker is asked."""

    weights: Weights
    routes: frozenset[str]
    rerank: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A question, and the whole ids of memories or turns that answer it: none where nothing does."""

    query: str
    relevant: frozenset[str]
    asked_at: datetime | None = None
    trace_id: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One setting's figures. Ranks are hits; means over the questions that something answers, tokens over all.

    `kept`: share of them answered with confidence; `confident_wrong`: share of those that nothing answers, `None`
    where there are none.
    """

    setting: Setting
    recall_5: float
    recall_10: float
    recall_20: float
    mrr: float
    ndcg_10: float
    tokens: float
    kept: float
    confident_wrong: float | None = None
    degraded: int = 0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Two settings over the same questions. Without `sides` there was too little to go by, and `reason` says so.

    `differ`: questions whose first ten hits are others or stand in another order. `traces`: those that were looked at
    for feedback, 0 where the questions came from a file.
    """

    answerable: int
    unanswerable: int
    traces: int
    sides: tuple[Measured, ...] = ()
    differ: int = 0
    reason: str = ""

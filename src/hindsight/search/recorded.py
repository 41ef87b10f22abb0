"""A search as its trace tells it: the query whole, the settings of then, and what each place rested on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from hindsight.domain.episode import JsonValue
from hindsight.domain.query import Filters, Query, TimeRange, Weights
from hindsight.domain.ranking import ASKS, BREADTH, SIGNAL_WEIGHTS, SITUATION
from hindsight.errors import Unsupported
from hindsight.ports import Store
from hindsight.search.frozen import Frozen, Past
from hindsight.search.rank import Ranking
from hindsight.search.record import MEMBERS, STORE, Found, parts_of
from hindsight.search.rerank import RERANK

FOUR = ("relevance", "freshness", "importance", "use")
REST = "rest"  # what no part tells: a fact has the score of the turn that it stands for


@dataclass(frozen=True, slots=True)
class Scoring:
    """What a score was made with. `scale`: what relevance was divided by; `rerank`: the share of a reranker.

    `lift`: the share of their weight that freshness, importance and use had.
    """

    weights: Weights
    signals: Mapping[str, float]
    scale: float
    rerank: float = 0.0
    lift: float = 1.0

    @classmethod
    def of(cls, weights: Weights, ranking: Ranking, rerank: float) -> Scoring:
        """With the signals' weights of this release."""
        return cls(weights, SIGNAL_WEIGHTS, round(ranking.scale, 6), rerank, round(ranking.lift, 6))

    def weight_of(self, part: str) -> float:
        """What one unit of a part or signal adds to the score."""
        if part == RERANK:
            return self.rerank
        if part == REST:
            return 1.0
        own = 1.0 - self.rerank
        if part in FOUR:
            lift = 1.0 if part == "relevance" else self.lift
            return own * lift * cast("float", getattr(self.weights, part))
        of_signal = 1.0 if part in (ASKS, BREADTH, SITUATION) else self.signals.get(part, 0.0)
        return own * self.weights.relevance * of_signal / self.scale if self.scale else 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One place of a ranking: the four parts and the signals by name."""

    id: str
    score: float
    values: Mapping[str, float]

    def parts(self, scoring: Scoring) -> dict[str, float]:
        """The values that add up to the score once weighed: relevance is told by its signals."""
        parts = {name: value for name, value in self.values.items() if name != "relevance"}
        told = sum(scoring.weight_of(name) * value for name, value in parts.items())
        return parts | {REST: self.score - told}


@dataclass(frozen=True, slots=True)
class Recorded:
    """A search read back from its trace. `change` is `None` where it did not reach the store."""

    trace_id: str
    query: Query
    at: datetime
    change: int | None
    scoring: Scoring
    rows: tuple[Row, ...]
    given: tuple[str, ...]
    standing: tuple[str, ...]
    cut: Mapping[str, str]
    uses: Mapping[str, int] | None
    missing: tuple[str, ...]

    async def past(self, store: Store, namespace: str) -> Past | None:
        """The moment of the search; `None` where it did not reach the store."""
        return None if self.change is None else await Past.of_change(store, namespace, self.change, self.at)

    def frozen(self, past: Past | None) -> Frozen:
        """What a replay holds still. Only a trace with a ranking has use counts."""
        return Frozen(self.uses if self.rows else None, past)

    @classmethod
    def of(cls, body: Mapping[str, JsonValue]) -> Recorded:
        """Raises `Unsupported` for a trace that is no search's, or has not what a replay needs."""
        if body.get("operation") != "search" or "request" not in body:
            raise Unsupported("this trace can't be replayed", hint="Only searches of this release or later can be.")
        held = cast("Mapping[str, Any]", body)
        weights = Weights(**held["weights"]) if "weights" in held else Weights(0.0, 0.0, 0.0, 0.0)
        signals = held.get("signals", {"weights": dict(SIGNAL_WEIGHTS), "scale": 0.0})
        reranking = held.get(RERANK, {})
        return cls(
            trace_id=held["trace_id"],
            query=_query(held),
            at=datetime.fromisoformat(held["at"]),
            change=held.get("change"),
            scoring=Scoring(
                weights,
                signals["weights"],
                signals["scale"],
                reranking.get("weight", 0.0),
                held.get("lift", 1.0),
            ),
            rows=tuple(_row(row) for row in held.get("ranking", ())),
            given=tuple(held.get("given", ())),
            standing=tuple(held.get("standing", ())),
            cut=held.get("cut", {}),
            uses=held.get("uses"),
            missing=_missing(held),
        )


def rows_of(found: Found) -> list[Row]:
    """The whole ranking of a search, rounded as a trace has it."""
    return [
        Row(one.entry.id, round(one.score, 4), {name: round(value, 4) for name, value in parts_of(one).items()})
        for one in found.ranking.ranked
    ]


def _row(held: Mapping[str, Any]) -> Row:
    values = {name: value for name, value in held.items() if name not in ("id", "score")}
    return Row(held["id"], held["score"], values)


def _missing(held: Mapping[str, Any]) -> tuple[str, ...]:
    late = (STORE,) if "unfinished" in held else ()
    unread = (RERANK,) if "missing" in held.get(RERANK, {}) else ()
    return (*late, *sorted(held.get("missing_routes", {})), *unread)


def _query(held: Mapping[str, Any]) -> Query:
    request = held["request"]
    return Query(
        text=held["query"],
        asked_at=datetime.fromisoformat(held["asked_at"]),
        top_k=request.get("top_k"),
        filters=_filters(request.get("filters", {})),
        max_tokens=request.get("max_tokens"),
        timezone=request.get("timezone"),
        session_id=request.get("session_id"),
    )


def _filters(held: Mapping[str, Any]) -> Filters:
    given: dict[str, Any] = dict(held)
    for name, member in MEMBERS.items():
        if name in given:
            given[name] = tuple(member(one) for one in given[name])
    if "as_of" in given:
        given["as_of"] = datetime.fromisoformat(given["as_of"])
    if "time_range" in given:
        given["time_range"] = TimeRange(*map(_moment, cast("Sequence[str | None]", given["time_range"])))
    return Filters(**given)


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)

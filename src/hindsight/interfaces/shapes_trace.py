"""The shapes of replays and explanations as JSON values."""

from __future__ import annotations

from dataclasses import asdict

from hindsight.domain.memory import short_id
from hindsight.domain.replay import Cause, Explanation, Move, Place, Replay
from hindsight.interfaces.shapes import Shape


def replay_shape(replay: Replay) -> Shape:
    """A search run again, beside what its trace says."""
    then, now = replay.weights
    return {
        "trace_id": replay.trace_id,
        "query": replay.query,
        "asked_at": replay.asked_at.isoformat(),
        "as_of_then": replay.as_of_then,
        "same": replay.same,
        "weights": {"before": asdict(then), "after": asdict(now)},
        "changes": replay.changes,
        "depth": replay.depth,
        "before": list(replay.before),
        "after": list(replay.after),
        "moves": [_move_shape(move) for move in replay.moves],
        "degraded": list(replay.degraded),
    }


def explanation_shape(explanation: Explanation) -> Shape:
    """What became of one memory in one search."""
    return {
        "trace_id": explanation.trace_id,
        "memory_id": explanation.memory_id,
        "short_id": short_id(explanation.memory_id),
        "content": explanation.content,
        "returned": explanation.returned,
        "stage": explanation.stage.value,
        "reason": explanation.reason,
        "facts": {name: list(fact) if isinstance(fact, list) else fact for name, fact in explanation.facts.items()},
        "recomputed": explanation.recomputed,
    }


def _move_shape(move: Move) -> Shape:
    return {
        "memory_id": move.memory_id,
        "short_id": short_id(move.memory_id),
        "content": move.content,
        "before": _place_shape(move.before),
        "after": _place_shape(move.after),
        "reason": move.reason,
        "stage": move.stage.value if move.stage is not None else None,
        "passed": move.passed,
        "causes": [_cause_shape(cause) for cause in move.causes],
    }


def _place_shape(place: Place | None) -> Shape | None:
    return None if place is None else {"place": place.place, "score": place.score, "given": place.given}


def _cause_shape(cause: Cause) -> Shape:
    return {
        "part": cause.part,
        "effect": round(cause.effect, 4),
        "by_weight": round(cause.by_weight, 4),
        "weight": [round(weight, 4) for weight in cause.weight],
        "value": [round(value, 4) for value in cause.value],
        "against": [round(value, 4) for value in cause.against],
    }

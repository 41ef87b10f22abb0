"""Domain values as JSON text and back, exactly: bodies, sources, snapshots of whole memories, receipts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hindsight.domain.change import OutcomeAction, Receipt, WriteOutcome
from hindsight.domain.episode import Origin
from hindsight.domain.experience import Action, Credit, Experience, Outcome, OutcomeStatus, Trigger, Way
from hindsight.domain.memory import Body, Kind, Source, Statement

JSON_COLUMNS = frozenset({"body", "tags", "entities", "sources", "metadata"})


def dumps(value: Any) -> str:
    """Compact JSON that keeps Chinese readable. `ValueError` for what JSON does not have (NaN)."""
    return _encoder.encode(value)


def loads(stored: str) -> Any:
    """The inverse of `dumps`, for what we have written ourselves."""
    return _decoder.raw_decode(stored)[0]


_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_decoder = json.JSONDecoder()


def origin_of_text(text: str) -> Origin:
    """An origin by its stored word."""
    return _ORIGINS[text]


_ORIGINS = {origin.value: origin for origin in Origin}
_EMPTY_STATEMENT = Statement()
_EMPTY_BODY = '{"subject":null,"slot":null,"value":null,"negated":false}'


def body_json(body: Body) -> str:
    """A statement or an experience; an experience has `trigger`."""
    if isinstance(body, Statement):
        said = {"subject": body.subject, "slot": body.slot, "value": body.value, "negated": body.negated}
        return dumps({**said, "topics": body.topics} if body.topics else said)
    told = {
        "trigger": {"context": body.trigger.context, "keywords": body.trigger.keywords},
        "action": _action_value(body.action),
        "outcome": _outcome_value(body.outcome),
    }
    more = {
        "ways": [
            {"id": way.id, "action": _action_value(way.action), "outcome": _outcome_value(way.outcome)}
            for way in body.ways
        ],
        "originals": body.originals,
        "credits": [[one.agent, one.successes, one.failures] for one in body.credits],
    }
    return dumps({**told, **{name: value for name, value in more.items() if value}})


def _action_value(action: Action) -> dict[str, Any]:
    return {"steps": action.steps, "tools_used": action.tools_used}


def _outcome_value(outcome: Outcome) -> dict[str, Any]:
    value = {
        "status": outcome.status,
        "confidence": outcome.confidence,
        "successes": outcome.successes,
        "failures": outcome.failures,
    }
    return value if outcome.last_used is None else {**value, "last_used": outcome.last_used.isoformat()}


def body_of(stored: str) -> Body:
    """The inverse of `body_json`."""
    if stored == _EMPTY_BODY:
        return _EMPTY_STATEMENT
    value = loads(stored)
    if "trigger" not in value:
        topics = tuple(value.get("topics", ()))
        return Statement(value["subject"], value["slot"], value["value"], value["negated"], topics)
    trigger = value["trigger"]
    return Experience(
        Trigger(trigger["context"], tuple(trigger["keywords"])),
        _action_of(value["action"]),
        _experienced(value["outcome"]),
        tuple(Way(way["id"], _action_of(way["action"]), _experienced(way["outcome"])) for way in value.get("ways", ())),
        tuple(value.get("originals", ())),
        tuple(Credit(*credit) for credit in value.get("credits", ())),
    )


def _action_of(value: Mapping[str, Any]) -> Action:
    return Action(tuple(value["steps"]), tuple(value["tools_used"]))


def _experienced(value: Mapping[str, Any]) -> Outcome:
    used = value.get("last_used")
    return Outcome(
        OutcomeStatus(value["status"]),
        value["confidence"],
        value["successes"],
        value["failures"],
        None if used is None else datetime.fromisoformat(used).astimezone(UTC),
    )


def sources_json(sources: Sequence[Source]) -> str:
    """`[[episode id, start, end], ...]`, in order."""
    return dumps([[source.episode_id, source.start, source.end] for source in sources])


def sources_of(stored: str) -> tuple[Source, ...]:
    """The inverse of `sources_json`."""
    return () if stored == "[]" else tuple(Source(*source) for source in loads(stored))


def snapshot_json(columns: Sequence[str], row: Sequence[Any]) -> str:
    """A row by column name, its JSON columns as values of their own."""
    parts = (
        f'"{name}":{value if name in JSON_COLUMNS else dumps(value)}' for name, value in zip(columns, row, strict=True)
    )
    return "{" + ",".join(parts) + "}"


def snapshot_row(columns: Sequence[str], stored: str) -> tuple[Any, ...]:
    """The inverse of `snapshot_json`."""
    value = loads(stored)
    return tuple(dumps(value[name]) if name in JSON_COLUMNS else value[name] for name in columns)


def receipt_json(receipt: Receipt) -> str:
    """A receipt by field."""
    return dumps(
        {
            "outcomes": [
                {
                    "action": outcome.action,
                    "memory_id": outcome.memory_id,
                    "content": outcome.content,
                    "kind": outcome.kind,
                    "importance": outcome.importance,
                    "other_ids": outcome.other_ids,
                    "reason": outcome.reason,
                    **({"review": True} if outcome.review else {}),
                }
                for outcome in receipt.outcomes
            ],
            "episode_ids": receipt.episode_ids,
            "facts": receipt.facts,
            "verbatim": receipt.verbatim,
            "pending": receipt.pending,
            "degraded": receipt.degraded,
            "undo": receipt.undo,
        }
    )


def receipt_of(stored: str) -> Receipt:
    """The inverse of `receipt_json`."""
    value = loads(stored)
    return Receipt(
        outcomes=tuple(_outcome(outcome) for outcome in value["outcomes"]),
        episode_ids=tuple(value["episode_ids"]),
        facts=value["facts"],
        verbatim=value["verbatim"],
        pending=value["pending"],
        degraded=tuple(value["degraded"]),
        undo=value["undo"],
    )


def _outcome(value: Mapping[str, Any]) -> WriteOutcome:
    return WriteOutcome(
        action=OutcomeAction(value["action"]),
        memory_id=value["memory_id"],
        content=value["content"],
        kind=Kind(value["kind"]),
        importance=value["importance"],
        other_ids=tuple(value["other_ids"]),
        reason=value["reason"],
        review=value.get("review", False),
    )

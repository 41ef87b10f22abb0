"""Forgetting as it crosses the wire: what a purge took, what was meant by «everything about», what is left."""

from __future__ import annotations

from hindsight.domain.episode import JsonValue
from hindsight.domain.forgotten import Forgetting, Proof
from hindsight.domain.memory import short_id
from hindsight.domain.purge import Purged
from hindsight.interfaces.shapes import Shape


def purged_shape(purged: Purged) -> Shape:
    """What was taken out for good, and where."""
    return {
        "ids": list(purged.ids),
        "changed": list(purged.changed),
        "episodes": list(purged.episodes),
        "removed": dict(purged.removed),
        "scrubbed": purged.scrubbed,
    }


def forgetting_shape(report: Forgetting) -> Shape:
    """What was, or would be, forgotten at once."""
    examples: list[JsonValue] = [
        {
            "memory_id": one.memory_id,
            "short_id": short_id(one.memory_id or ""),
            "content": one.content,
            "kind": one.kind.value,
        }
        for one in report.examples
    ]
    return {
        "dry_run": report.dry_run,
        "memories": report.memories,
        "turns": report.turns,
        "touched": report.touched,
        "examples": examples,
        "undo": report.undo,
        "purge_after": None if report.purge_after is None else report.purge_after.isoformat(),
        "purged": None if report.purged is None else purged_shape(report.purged),
    }


def proof_shape(proof: Proof) -> Shape:
    """What is left of something that was purged."""
    return {
        "memory_id": proof.id,
        "gone": proof.gone,
        "purged_at": None if proof.stone is None else proof.stone.at.isoformat(),
        "removed": {} if proof.stone is None else dict(proof.stone.removed),
        "looked": list(proof.looked),
        "left": dict(proof.left),
    }

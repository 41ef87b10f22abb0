"""The shapes of SPEC §8 as JSON values: the same names over MCP, REST and `--json`."""

from __future__ import annotations

from datetime import datetime

from hindsight.domain.change import Contradiction, Receipt, Revision
from hindsight.domain.confidence import expected, proven
from hindsight.domain.episode import JsonValue
from hindsight.domain.experience import Experience, Outcome, Way
from hindsight.domain.forgetting import last_verified
from hindsight.domain.hit import Hit, MemoryHit, SourceText
from hindsight.domain.memory import Memory
from hindsight.domain.page import Stats
from hindsight.domain.query import SearchResult

Shape = dict[str, JsonValue]


def receipt_shape(receipt: Receipt) -> Shape:
    """What a write, update, feedback or forget did."""
    return {
        "outcomes": [
            {
                "action": outcome.action.value,
                "memory_id": outcome.memory_id,
                "content": outcome.content,
                "kind": outcome.kind.value,
                "importance": _rounded(outcome.importance),
                "other_ids": list(outcome.other_ids),
                "reason": outcome.reason,
                "review": outcome.review,
            }
            for outcome in receipt.outcomes
        ],
        "episode_ids": list(receipt.episode_ids),
        "facts": receipt.facts,
        "verbatim": receipt.verbatim,
        "pending": receipt.pending,
        "degraded": list(receipt.degraded),
        "undo": receipt.undo,
    }


def result_shape(result: SearchResult, *, words: bool = True) -> Shape:
    """What a search found. Without `words` the text of memories stands in `context` alone, inside its fence."""
    return {
        "hits": [hit_shape(hit, words=words) for hit in result.hits],
        "standing": [hit_shape(hit, words=words) for hit in result.standing],
        "context": result.context,
        "confident": result.confident,
        "tokens": result.tokens,
        "trace_id": result.trace_id,
        "degraded": list(result.degraded),
        "cached": result.cached,
    }


def hit_shape(hit: Hit, *, words: bool = True) -> Shape:
    """One hit; an experience has its trigger, steps, tools and outcome as well."""
    shape: Shape = {
        "memory_id": hit.memory_id,
        "short_id": hit.short_id,
        "layer": hit.layer.value,
        "kind": hit.kind.value,
        "score": _rounded(hit.score),
        "scores": {name: _rounded(score) for name, score in hit.scores.items()},
        "importance": _rounded(hit.importance),
        "confidence": _rounded(hit.confidence),
        "occurred_at": _moment(hit.occurred_at),
        "valid_from": _moment(hit.valid_from),
        "valid_to": _moment(hit.valid_to),
        "session_id": hit.session_id,
        "tags": list(hit.tags),
        "sources": [_source_shape(source, words=words) for source in hit.sources],
        "warning": hit.warning,
    }
    if words:
        shape["content"] = hit.content
    if isinstance(hit, MemoryHit):
        shape |= _experience_shape(hit.memory, words=words)
    return shape


def memory_shape(memory: Memory) -> Shape:
    """One memory as it stands."""
    return {
        "memory_id": memory.id,
        "short_id": memory.short_id,
        "content": memory.content,
        "layer": memory.layer.value,
        "kind": memory.kind.value,
        "status": memory.status.value,
        "importance": _rounded(memory.importance),
        "confidence": _rounded(_confidence(memory)),
        "strength": _rounded(memory.strength),
        "pinned": memory.pinned,
        "verbatim": memory.verbatim,
        "origin": memory.origin.value,
        "occurred_at": _moment(memory.occurred_at),
        "timezone": memory.timezone,
        "created_at": _moment(memory.created_at),
        "updated_at": _moment(memory.updated_at),
        "last_verified": _moment(last_verified(memory)),
        "valid_from": _moment(memory.valid_from),
        "valid_to": _moment(memory.valid_to),
        "superseded_by": memory.superseded_by,
        "session_id": memory.session_id,
        "speaker": memory.speaker,
        "agent": memory.agent,
        "tags": list(memory.tags),
        "entities": list(memory.entities),
        "episode_ids": list(dict.fromkeys(source.episode_id for source in memory.sources)),
        "metadata": dict(memory.metadata),
        "version": memory.version,
        **_experience_shape(memory, words=True),
    }


def revision_shape(revision: Revision) -> Shape:
    """One state of a memory in its history."""
    return {
        "change": revision.change,
        "at": _moment(revision.at),
        "act": revision.act.value,
        "reason": revision.reason,
        "other_ids": list(revision.other_ids),
        "actor": revision.actor,
        "memory": memory_shape(revision.memory),
    }


def review_shape(review: Contradiction) -> Shape:
    """What waits for the user's decision: the id is that of the new memory; alone, it was not confirmed for long."""
    return {
        "kind": "contradiction" if review.old else "unconfirmed",
        "memory_id": review.new.id,
        "short_id": review.new.short_id,
        "state": review.state.value,
        "reason": review.reason,
        "at": _moment(review.at),
        "new": memory_shape(review.new),
        "old": [memory_shape(memory) for memory in review.old],
    }


def stats_shape(stats: Stats) -> Shape:
    """Counts of one namespace."""
    return {
        "episodes": stats.episodes,
        "sessions": stats.sessions,
        "memories_by_status": dict(stats.memories_by_status),
        "memories_by_kind": dict(stats.memories_by_kind),
        "memories_by_layer": dict(stats.memories_by_layer),
        "change": stats.change,
    }


def _source_shape(source: SourceText, *, words: bool) -> Shape:
    shape: Shape = {
        "episode_id": source.episode_id,
        "session_id": source.session_id,
        "speaker": source.speaker,
        "agent": source.agent,
        "occurred_at": _moment(source.occurred_at),
    }
    if words:
        shape |= {"text": source.text, "metadata": dict(source.metadata)}
    return shape


def _experience_shape(memory: Memory, *, words: bool) -> Shape:
    experience = memory.body
    if not isinstance(experience, Experience):
        return {}
    shape: Shape = {
        "outcome": _outcome_shape(experience.outcome),
        "source": memory.metadata.get("source") or ("text" if memory.sources else "call"),
        "contributors": _contributors(memory.agent, experience),
        "originals": list(experience.originals),
    }
    if words:
        shape |= {
            "trigger": {"context": experience.trigger.context, "keywords": list(experience.trigger.keywords)},
            "steps": list(experience.action.steps),
            "tools": list(experience.action.tools_used),
            "alternatives": [_way_shape(way) for way in experience.ways[1:]],
        }
    return shape


def _way_shape(way: Way) -> Shape:
    """What to do if the steps before it fail; feedback under its own id counts for it."""
    return {
        "memory_id": way.id,
        "steps": list(way.action.steps),
        "tools": list(way.action.tools_used),
        "outcome": _outcome_shape(way.outcome),
    }


def _contributors(writer: str | None, experience: Experience) -> list[JsonValue]:
    """Who wrote it and who has reported on it since."""
    credits = {one.agent: one for one in experience.credits}
    names = [writer, *credits] if writer and writer not in credits else list(credits)
    return [
        {
            "agent": name,
            "wrote": name == writer,
            "successes": credits[name].successes if name in credits else 0,
            "failures": credits[name].failures if name in credits else 0,
        }
        for name in names
    ]


def _confidence(memory: Memory) -> float:
    """Trust in 0 to 1; an experience's is that of its record."""
    return memory.body.outcome.confidence / 100 if isinstance(memory.body, Experience) else memory.confidence


def _outcome_shape(outcome: Outcome) -> Shape:
    return {
        "status": outcome.status.value,
        "confidence": outcome.confidence / 100,
        "call_count": outcome.call_count,
        "successes": outcome.successes,
        "failures": outcome.failures,
        "last_used": _moment(outcome.last_used),
        "expected": _rounded(expected(outcome)),
        "proven": _rounded(proven(outcome)),
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _rounded(number: float) -> float:
    return round(number, 4)

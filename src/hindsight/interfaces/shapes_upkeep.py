"""Digests, answers, clean-up and profiles: the same names over MCP, REST and `--json`."""

from __future__ import annotations

from hindsight.domain.cleaning import CleanEntry, CleanReport
from hindsight.domain.digest import CitedAnswer, Digest, Sentence
from hindsight.domain.profile import SECTIONS, Observation, Profile
from hindsight.interfaces.shapes import Shape, memory_shape


def digest_shape(digest: Digest, *, words: bool = True) -> Shape:
    """A digest. Without `words` its sentences stand in `context` alone, inside its fence."""
    return {
        "sentences": [sentence_shape(one, words=words) for one in digest.sentences],
        "method": digest.method.value,
        "context": digest.context,
        "tokens": digest.tokens,
        "examined": digest.examined,
        "written_by": digest.written_by,
        "degraded": list(digest.degraded),
        **({"summary": digest.text} if words else {}),
    }


def answer_shape(answer: CitedAnswer, *, words: bool = True) -> Shape:
    """An answer with its citations. Without `words` its sentences stand in `context` alone, inside its fence."""
    return {
        "sentences": [sentence_shape(one, words=words) for one in answer.sentences],
        "answered": answer.answered,
        "confident": answer.confident,
        "citations": list(answer.cited),
        "method": answer.method.value,
        "context": answer.context,
        "tokens": answer.tokens,
        "trace_id": answer.trace_id,
        "written_by": answer.written_by,
        "degraded": list(answer.degraded),
        **({"answer": answer.text} if words else {}),
    }


def sentence_shape(sentence: Sentence, *, words: bool) -> Shape:
    """A sentence and what it rests on."""
    shape: Shape = {
        "memory_ids": list(sentence.ids),
        "short_ids": list(sentence.short_ids),
        "occurred_at": sentence.at.isoformat(),
    }
    return {"text": sentence.text, **shape} if words else shape


def clean_shape(report: CleanReport) -> Shape:
    """What was cleaned, or would be."""
    rules = report.rules
    return {
        "dry_run": report.dry_run,
        "rules": {
            "importance": rules.importance,
            "unused_days": rules.unused_days,
            "alike": rules.alike,
            "episode_days": rules.episode_days,
            "stale_days": rules.stale_days,
            "reviews": rules.reviews,
        },
        "examined": report.examined,
        "entries": [_entry_shape(entry) for entry in report.entries],
        "added": [memory_shape(one) for one in report.added],
        "undo": report.undo,
        "pending": report.pending,
        "degraded": list(report.degraded),
    }


def profile_shape(profile: Profile) -> Shape:
    """What is known of a subject."""
    return {
        "subject": profile.subject,
        **{name: [_observation_shape(one) for one in profile.section(name)] for name, _ in SECTIONS},
        "left_out": profile.left_out,
        "context": profile.context,
        "tokens": profile.tokens,
    }


def _entry_shape(entry: CleanEntry) -> Shape:
    memory = entry.memory
    return {
        "memory_id": memory.id,
        "short_id": memory.short_id,
        "content": memory.content,
        "kind": memory.kind.value,
        "rule": entry.rule.value,
        "action": entry.action.value,
        "reason": entry.reason,
        "importance": round(memory.importance, 4),
        "strength": round(entry.strength, 4),
        "other_ids": list(entry.other_ids),
    }


def _observation_shape(one: Observation) -> Shape:
    memory = one.memory
    return {
        "memory_id": memory.id,
        "short_id": memory.short_id,
        "content": memory.content,
        "kind": memory.kind.value,
        "importance": round(memory.importance, 4),
        "confidence": round(memory.confidence, 4),
        "strength": round(one.strength, 4),
        "pinned": memory.pinned,
        "proofs": one.proofs,
        "sessions": one.sessions,
        "last_verified": one.last_verified.isoformat(),
        "stale": one.stale,
    }

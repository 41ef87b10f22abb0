"""What pruning answers: the same names over MCP, REST and `--json`, and as text for an LLM."""

from __future__ import annotations

from collections.abc import Iterator

from hindsight.domain.experience import Experience
from hindsight.domain.pruning import PruneEntry, PruneReport
from hindsight.errors import shorten
from hindsight.experience.prune import MAX_DAYS, MAX_USES, why
from hindsight.interfaces.shapes import Shape
from hindsight.language.markers import FENCE_CLOSE, FENCE_OPEN

__all__ = ["MAX_DAYS", "MAX_USES", "prune_shape", "prune_text", "why"]

SHOWN = 120  # characters of a trigger in the text
MOST_SHOWN = 50  # entries named in the text; the structured answer names all
_BRACKETS = str.maketrans("<>\uff1c\uff1e", "\u2039\u203a\u2039\u203a")  # nothing inside may look like the fence


def prune_shape(report: PruneReport, *, words: bool = True) -> Shape:
    """The report. Without `words` the triggers stand in the text alone, inside its fence."""
    return {
        "dry_run": report.dry_run,
        "rules": {
            "min_confidence": report.rules.min_confidence / 100,
            "max_age_days": report.rules.max_age_days,
            "min_uses": report.rules.min_uses,
        },
        "examined": report.examined,
        "pruned": [_entry_shape(entry, report, words=words) for entry in report.pruned],
        "spared": [_entry_shape(entry, report, words=words) for entry in report.spared],
        "undo": report.undo,
    }


def prune_text(report: PruneReport) -> str:
    """The report for an LLM: what goes by which rule, the triggers quoted inside a fence."""
    count = len(report.pruned)
    if not count and not report.spared:
        return f"Nothing to prune among {report.examined} experiences."
    done = "would be archived" if report.dry_run else "archived"
    lines = [f"{count} of {report.examined} experiences {done}."]
    shown = [*_lines(report.pruned, report), *_lines(report.spared, report)]
    lines += [f'{FENCE_OPEN} type="data">', *shown[:MOST_SHOWN], FENCE_CLOSE]
    if len(shown) > MOST_SHOWN:
        lines.append(f"{len(shown) - MOST_SHOWN} more are named in the structured answer.")
    if report.dry_run and count:
        lines.append("Nothing was changed. Call again with dry_run false once the user agrees.")
    if report.undo:
        lines.append(f"Undo token: {report.undo}. They may be purged 30 days from now.")
    return "\n".join(lines)


def _lines(entries: tuple[PruneEntry, ...], report: PruneReport) -> Iterator[str]:
    for entry in entries:
        kept = f"; kept, as it is {entry.spared.value}" if entry.spared else ""
        trigger = shorten(_trigger(entry), SHOWN).translate(_BRACKETS)
        yield f"#{entry.memory.short_id} {trigger}: {why(entry, report.rules)}{kept}"


def _entry_shape(entry: PruneEntry, report: PruneReport, *, words: bool) -> Shape:
    memory = entry.memory
    assert isinstance(memory.body, Experience)
    shape: Shape = {
        "memory_id": memory.id,
        "short_id": memory.short_id,
        "rule": entry.rule.value,
        "reason": why(entry, report.rules),
        "confidence": memory.body.outcome.confidence / 100,
        "call_count": memory.body.outcome.call_count,
        "age_days": entry.age_days,
        "outcome": memory.body.outcome.status.value,
        "spared": entry.spared.value if entry.spared else None,
        "purge_after": entry.purge_after.isoformat() if entry.purge_after else None,
    }
    return {**shape, "trigger": _trigger(entry)} if words else shape


def _trigger(entry: PruneEntry) -> str:
    return entry.memory.body.trigger.context if isinstance(entry.memory.body, Experience) else entry.memory.content

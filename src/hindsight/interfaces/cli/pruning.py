"""What pruning did or would do, as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator

from hindsight.domain.experience import Experience
from hindsight.domain.pruning import PruneEntry, PruneReport
from hindsight.interfaces.shapes_prune import why

INDENT = "    "


def prune_lines(report: PruneReport) -> Iterator[str]:
    """Every entry that a rule names, with the rule, and the token that takes it back."""
    for entry in report.pruned:
        yield from _lines("would go" if report.dry_run else "archived", entry, report)
    for entry in report.spared:
        yield from _lines(f"kept ({entry.spared})", entry, report)
    if report.undo:
        yield f"undo  {report.undo}"


def prune_notes(report: PruneReport) -> Iterator[str]:
    """How many were looked at, and how to go on."""
    yield f"{len(report.pruned)} of {report.examined} experiences"
    if report.dry_run and report.pruned:
        yield "nothing was changed; archive them with: hindsight prune --apply"


def _lines(head: str, entry: PruneEntry, report: PruneReport) -> Iterator[str]:
    body = entry.memory.body
    assert isinstance(body, Experience)
    yield f"{head}  {entry.memory.short_id}  {' '.join(body.trigger.context.split())}"
    yield f"{INDENT}({why(entry, report.rules)})"

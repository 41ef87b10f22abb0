"""What every bench prints and writes: a table for a person, `{"key": {"metric": number}}` for a program."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

Rows: TypeAlias = Mapping[str, Mapping[str, float]]


def columns(rows: Rows, order: Sequence[str] = ()) -> list[str]:
    """The metrics that occur, those in `order` first, the others as they come."""
    found = dict.fromkeys(metric for row in rows.values() for metric in row)
    return [*(name for name in order if name in found), *(name for name in found if name not in order)]


def shown(value: float | None) -> str:
    """A number as a table has it: counts as they are, others in about four digits; empty where there is none."""
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    digits = 3 if abs(value) < 10 else 2 if abs(value) < 100 else 1 if abs(value) < 1000 else 0
    return f"{value:.{digits}f}"


def markdown(rows: Rows, order: Sequence[str] = (), *, head: str = "set") -> str:
    """The rows as a Markdown table."""
    metrics = columns(rows, order)
    lines = [[head, *metrics], ["---", *("---:" for _ in metrics)]]
    lines += [[key, *(shown(row.get(metric)) for metric in metrics)] for key, row in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(rows: Rows, order: Sequence[str] = (), *, head: str = "set") -> str:
    """The rows in aligned columns."""
    metrics = columns(rows, order)
    lines = [[head, *metrics], *([key, *(shown(row.get(metric)) for metric in metrics)] for key, row in rows.items())]
    widths = [max(len(line[column]) for line in lines) for column in range(len(metrics) + 1)]
    return "\n".join(_aligned(line, widths) for line in lines)


def write_json(path: Path, rows: Rows) -> None:
    """Write the rows at full length; a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    os.replace(partial, path)


def progress(text: str, *, done: bool = False) -> None:
    """Say on stderr how far it is: one line that is overwritten on a terminal, only the last one elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="\n" if done else "", file=sys.stderr, flush=True)
    elif done:
        print(text, file=sys.stderr, flush=True)


def rounded(metrics: Iterable[tuple[str, float]], digits: int = 5) -> dict[str, float]:
    """Metrics as they are written: five digits are more than any run repeats."""
    return {name: round(value, digits) for name, value in metrics}


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = cells
    return "  ".join(
        [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
    ).rstrip()

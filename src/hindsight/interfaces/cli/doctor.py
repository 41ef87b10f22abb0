"""`hindsight doctor`: the report as two tables, or as JSON."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hindsight.interfaces.cli.errors import FAILED, OK, visible
from hindsight.interfaces.shapes import Shape
from hindsight.ops.doctor import Report, State, examine
from hindsight.ops.repair import repair

if TYPE_CHECKING:
    from hindsight.interfaces.cli.call import Call

STYLES = {State.OK: "green", State.WARN: "yellow", State.FAIL: "bold red", State.SKIP: "dim"}
PIPED_WIDTH = 160  # columns where there is no terminal to ask


def run(call: Call, *, fix: bool = False) -> int:
    """Examine and show, after putting right what is safe where that is wanted; 1 if a check fails."""
    done = asyncio.run(repair(call.given)) if fix else ()
    report = asyncio.run(examine(call.given))
    if call.json:
        call.answer({**report_shape(report), "fixed": list(done)}, ())
    else:
        call.note(f"fixed: {one}" for one in done)
        show(report, Console(width=None if sys.stdout.isatty() else PIPED_WIDTH))
    return OK if report.healthy else FAILED


def report_shape(report: Report) -> Shape:
    """The report as JSON."""
    return {
        "healthy": report.healthy,
        "checks": [
            {"name": check.name, "state": check.state.value, "found": check.found, "remedy": check.remedy}
            for check in report.checks
        ],
        "settings": [
            {"name": one.name, "value": one.value, "source": one.source, "description": one.description}
            for one in report.settings
        ],
    }


def show(report: Report, console: Console) -> None:
    """Both tables."""
    checks = _table("check", "state", "found", "what to do")
    for check in report.checks:
        checks.add_row(check.name, Text(check.state.value, STYLES[check.state]), *_cells(check.found, check.remedy))
    console.print(checks)
    if report.settings:
        settings = _table("setting", "value", "source", "meaning")
        for one in report.settings:
            settings.add_row(one.name, *_cells(one.value, one.source, one.description))
        console.print(settings)


def _table(*columns: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _cells(*texts: str) -> list[Text]:
    """Paths and messages are shown as they are: no markup in them counts."""
    return [Text(visible(text)) for text in texts]

"""The dashboard and the page of documentation know the figures there are, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path

from hindsight.observe.metrics import Level, Metrics

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"hindsight_[a-z_]+")
FAMILY = re.compile(r"_(bucket|count|sum|created)$")


def families() -> set[str]:
    page = Metrics().page(Level({}, 0, 0, 0)).decode()
    named = {line.split()[2] for line in page.splitlines() if line.startswith("# TYPE")}
    return {name for name in named if not name.endswith("_created")}


def test_every_panel_asks_for_a_figure_that_there_is() -> None:
    dashboard = json.loads((ROOT / "docker/grafana-dashboard.json").read_text(encoding="utf-8"))
    asked = {
        FAMILY.sub("", name)
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in NAME.findall(target["expr"])
    }
    assert asked == families()


def test_every_figure_has_its_line_in_the_documentation() -> None:
    page = (ROOT / "docs/observing.md").read_text(encoding="utf-8")
    table = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    assert set(NAME.findall(table)) == families()

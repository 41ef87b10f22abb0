"""Where the time of a search goes: `python -m bench.stages --data DIR [--n 10000] [--json FILE]`.

A real server, filled with n memories, is asked by one client over HTTP; each search says in its trace how long its
stages took. A row for each stage, in the order in which they begin:

- ms, p50_ms: mean over all searches, and median of those that had the stage
- share: of the time that the client waited, by the means
- searches: share of the searches that had the stage

`whole` is what the client waited. `routes/…` are parts of `routes`, side by side: their shares add up to more than that
of `routes` where the encoder works while keywords are looked up. `embed` is the wait for the encoder, which begins
before anything else. `again` are second looks, by parts of a question or in other words. `http` is the answer to
`/healthz`, and `rest` what is left: the trace, the shape of the answer, the loop.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import load
from bench.data import read_corpora
from bench.metrics import mean, percentile
from bench.report import plain, progress, rounded, write_json
from bench.scale import WARM, Stock, at_least, fill
from bench.server import running
from bench.texts import growing, questions
from hindsight.errors import HindsightError

ORDER = ("ms", "p50_ms", "share", "searches")
WHOLE, HTTP, REST, AGAIN, ROUTES = "whole", "http", "rest", "again", "routes"
SIDE_BY_SIDE = ("embed", "vector", "keyword", "graph", "structured", "time", "context")  # inside `routes`
ONE_AFTER_ANOTHER = (
    "cache",
    "understand",
    "head",
    ROUTES,
    "rank",
    AGAIN,
    "situations",
    "rerank",
    "select",
    "read",
    "pack",
)

Rows = dict[str, dict[str, float]]
Stages = dict[str, float]


def measure(data: Path, size: int, searches: int) -> Rows:
    """The rows of one server with so many memories."""
    corpora = read_corpora(data)
    stock = Stock(growing(corpora), iter(questions(corpora)))
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as name, running(Path(name)) as server:
        fill(server.port, size, stock)
        load.run(server.port, "/v1/search", stock.next_searches(WARM), 1)
        connection = load.Connection(server.port)
        answered = [connection.post("/v1/search", asked) for asked in stock.next_searches(searches)]
        traces = [connection.get(f"/v1/traces/{answer['trace_id']}")[1] for _, answer in answered]
        floor = [connection.get("/healthz")[0] for _ in range(searches)]
        connection.close()
    progress(f"n{size}: {searches} asked", done=True)
    return table([spent for spent, _ in answered], [stages_of(trace) for trace in traces], percentile(floor, 0.5))


def stages_of(trace: Mapping[str, Any]) -> Stages:
    """Milliseconds by stage of one traced search."""
    found: Stages = defaultdict(float)
    for one in trace["stages"]:
        name = one["stage"]
        found[f"{ROUTES}/{name}" if name in SIDE_BY_SIDE else name] += one["ms"]
    for aside in (*trace.get("parts", ()), *trace.get("wordings", ())):
        found[AGAIN] += sum(one["ms"] for one in aside["stages"] if one["stage"] in ONE_AFTER_ANOTHER)
    return dict(found)


def table(waited: Sequence[float], stages: Sequence[Stages], floor: float) -> Rows:
    """A row for each stage out of what the client waited, the stages of each search, and the floor of HTTP."""
    whole = mean(waited)
    told = [sum(one.get(name, 0.0) for name in ONE_AFTER_ANOTHER) for one in stages]
    columns: dict[str, list[float]] = {WHOLE: list(waited)}
    for name in in_order({name for one in stages for name in one}):
        columns[name] = [one[name] for one in stages if name in one]
    columns[HTTP] = [floor] * len(waited)
    columns[REST] = [max(0.0, spent - known - floor) for spent, known in zip(waited, told, strict=True)]
    return {name: rounded(_row(values, len(waited), whole).items(), 3) for name, values in columns.items()}


def in_order(names: Iterable[str]) -> list[str]:
    """Stages in the order in which they begin, unknown ones last."""
    order: list[str] = []
    for name in ONE_AFTER_ANOTHER:
        order += [name, *(f"{ROUTES}/{part}" for part in SIDE_BY_SIDE)] if name == ROUTES else [name]
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def _row(values: Sequence[float], searches: int, whole: float) -> dict[str, float]:
    each = sum(values) / searches
    return {
        "ms": each,
        "p50_ms": percentile(values, 0.5),
        "share": each / whole,
        "searches": len(values) / searches,
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.stages", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--n", type=at_least(1), default=10_000, help="memories")
    made.add_argument("--data", type=Path, required=True, help="one set in the uniform format, or a folder of sets")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    made.add_argument("--searches", type=at_least(1), default=400, help="searches the rows rest on")
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    try:
        rows = measure(options.data, options.n, options.searches)
    except HindsightError as error:
        print(f"bench.stages: {error}", file=sys.stderr)
        return 2
    print(plain(rows, ORDER, head="stage"))
    if options.json:
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

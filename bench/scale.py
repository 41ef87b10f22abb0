"""How speed and size grow: `python -m bench.scale --n 1000 5000 --clients 1 8 --data DIR [--json FILE]`.

For every n a real server process on a fresh data folder: n memories are loaded in batches over HTTP, then come single
writes, then questions, each number of clients in processes of their own outside the server. Every question is asked
once in the life of a server, so that no cache of answers can serve it; the query is embedded and the trace is written
as always. Texts and questions are those of the sets, recombined beyond about 30,000 (bench/texts.py).

Rows `n10000_c8`: search_p50_ms, search_p95_ms, search_per_s; write_p50_ms, write_p95_ms (single, durable once
answered); rss_mb of the server after the searches; disk_mb of its data folder. Of the server as a whole, in the row of
its first number of clients: batch_per_s; ready_ms and first_answer_ms, from the start of a second server on the loaded
folder to `/readyz` and to the answer of a first search. search_p50_growth and write_p50_growth compare with the
smallest n.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import load
from bench.data import DataError, read_corpora
from bench.metrics import percentile
from bench.process import disk_mb, rss_mb
from bench.report import plain, progress, rounded, write_json
from bench.server import running
from bench.texts import growing, questions
from hindsight.errors import HindsightError

BATCH = 100  # memories in one request
WARM = 20  # questions before the measured ones, which let every part load
ORDER = (
    "search_p50_ms", "search_p95_ms", "search_per_s", "write_p50_ms", "write_p95_ms", "batch_per_s", "rss_mb",
    "disk_mb", "ready_ms", "first_answer_ms", "search_p50_growth", "write_p50_growth", "degraded",
)  # fmt: skip

Rows = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes, numbers of clients, and how many writes and searches a row rests on."""

    sizes: tuple[int, ...]
    clients: tuple[int, ...]
    writes: int = 200
    searches: int = 400


@dataclass(frozen=True, slots=True)
class Stock:
    """What is left to send to one server: nothing is sent twice."""

    writes: Iterator[dict[str, object]]
    questions: Iterator[str]

    def next_writes(self, count: int) -> list[dict[str, object]]:
        """Texts that this server has not seen."""
        return list(itertools.islice(self.writes, count))

    def next_searches(self, count: int) -> list[dict[str, object]]:
        """Questions that this server has not heard. `DataError` where they run out."""
        taken = list(itertools.islice(self.questions, count))
        if len(taken) < count:
            raise DataError("data: too few distinct questions for so many searches; lower --searches")
        return [{"query": question} for question in taken]


def measure(data: Path, plan: Plan) -> Rows:
    """The rows of every size and number of clients."""
    corpora = read_corpora(data)
    rows: Rows = {}
    for size in sorted(plan.sizes):
        rows |= measure_size(size, plan, Stock(growing(corpora), iter(questions(corpora))))
    return with_growth(rows, plan)


def measure_size(size: int, plan: Plan, stock: Stock) -> Rows:
    """One server from empty to `size` memories, then under each number of clients, then started again."""
    rows: Rows = {}
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as name:
        folder = Path(name)
        with running(folder) as server:
            whole = {"batch_per_s": fill(server.port, size, stock)}
            load.run(server.port, "/v1/search", stock.next_searches(WARM), 1)
            for clients in plan.clients:
                progress(f"n{size}_c{clients}: {plan.writes} writes, {plan.searches} searches", done=True)
                row = under(server.port, clients, plan, stock)
                row["disk_mb"] = disk_mb(folder)
                resident = rss_mb(server.pid)
                rows[f"n{size}_c{clients}"] = row | ({} if resident is None else {"rss_mb": resident})
        whole |= again(folder, stock)
    rows[f"n{size}_c{plan.clients[0]}"] |= whole
    return {key: rounded(row.items(), 2) for key, row in rows.items()}


def fill(port: int, size: int, stock: Stock) -> float:
    """Load `size` memories in batches, one after the other; memories a second."""
    connection = load.Connection(port)
    spent = 0.0
    for done in range(0, size, BATCH):
        batch = stock.next_writes(min(BATCH, size - done))
        spent += connection.post("/v1/memories/batch", {"writes": batch})[0]
        progress(f"n{size}: {done + len(batch)} loaded")
    connection.close()
    progress(f"n{size}: {size} loaded in {spent / 1000:.0f} s", done=True)
    return size / (spent / 1000)


def under(port: int, clients: int, plan: Plan, stock: Stock) -> dict[str, float]:
    """Single writes, then searches, from so many clients at once."""
    writes = load.run(port, "/v1/memories", stock.next_writes(plan.writes), clients)
    searches = load.run(port, "/v1/search", stock.next_searches(plan.searches), clients)
    degraded = sum(bool(answer["degraded"]) for answer in searches.answers)
    row = {
        "search_p50_ms": percentile(searches.milliseconds, 0.5),
        "search_p95_ms": percentile(searches.milliseconds, 0.95),
        "search_per_s": len(searches.milliseconds) / searches.seconds,
        "write_p50_ms": percentile(writes.milliseconds, 0.5),
        "write_p95_ms": percentile(writes.milliseconds, 0.95),
    }
    return row | ({"degraded": degraded / plan.searches} if degraded else {})


def again(folder: Path, stock: Stock) -> dict[str, float]:
    """Start a second server on the loaded folder: milliseconds until it is ready, and until it has answered."""
    begin = time.perf_counter()
    with running(folder) as server:
        ready = (time.perf_counter() - begin) * 1000
        connection = load.Connection(server.port)
        connection.post("/v1/search", stock.next_searches(1)[0])
        answered = (time.perf_counter() - begin) * 1000
        connection.close()
    return {"ready_ms": ready, "first_answer_ms": answered}


def with_growth(rows: Rows, plan: Plan) -> Rows:
    """Each median beside that of the smallest size with as many clients."""
    least = min(plan.sizes)
    for clients, size in itertools.product(plan.clients, plan.sizes):
        base, row = rows[f"n{least}_c{clients}"], rows[f"n{size}_c{clients}"]
        if size != least:
            row["search_p50_growth"] = round(row["search_p50_ms"] / base["search_p50_ms"], 2)
            row["write_p50_growth"] = round(row["write_p50_ms"] / base["write_p50_ms"], 2)
    return rows


def at_least(low: int) -> Callable[[str], int]:
    """Reads a whole number of the command line, not below `low`."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"{text} is not accepted; allowed: {low} or more")
        return int(text)

    return read


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.scale", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--n", type=at_least(1), nargs="+", default=[1000, 5000, 10000], help="numbers of memories")
    made.add_argument("--clients", type=at_least(1), nargs="+", default=[1, 8], help="clients at the same time")
    made.add_argument("--data", type=Path, required=True, help="one set in the uniform format, or a folder of sets")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    made.add_argument("--writes", type=at_least(1), default=200, help="single writes a row rests on")
    made.add_argument("--searches", type=at_least(1), default=400, help="searches a row rests on")
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    plan = Plan(tuple(options.n), tuple(options.clients), options.writes, options.searches)
    try:
        rows = measure(options.data, plan)
    except HindsightError as error:
        print(f"bench.scale: {error}", file=sys.stderr)
        return 2
    print(plain(rows, ORDER, head="size, clients"))
    if options.json:
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Gathers the runs into RESULTS.md: `python -m bench.results [--data DIR [--run NAME …]]`.

With `--data` the runs that have no figures yet are measured, and those named by `--run` again (`--run all`: every
one); each leaves `results/NAME.json` and its circumstances in `results/runs.json`. RESULTS.md is made of these files
alone, so that the same files always give the same page. Without `--data` nothing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import ablation, abstain, experience, scale, stages
from bench.metrics import mean
from bench.pairs import CONFUSED
from bench.report import Rows, columns, markdown, progress, shown
from bench.time import MISSES
from hindsight.domain.ranking import FITS
from hindsight.errors import HindsightError

HERE = Path(__file__).parent
FIGURES = HERE / "results"
PAGE = HERE / "RESULTS.md"
RUNS_FILE = "runs.json"
EVERY = "all"
GOALS = (
    "queries", "recall@5", "tokens@5", "recall@10", "tokens@10", "recall@20", "tokens_per_block", "hit@10", "mrr",
    "ndcg@10", "session_recall@10",
)  # fmt: skip
CLAIMS = ("abstain_confident", "answerable_kept")
AREAS = ("abstain_auc", "foreign_auc")
CONFIDENCE = f"""The fit of the first hit tells whether an answer is confident: from {FITS} on. First how well it tells
answerable questions from the others (`abstain`: nothing in the set answers them; `foreign`: questions put to somebody
else's records, some of which have an answer there too), then what another bar would give. The bar is the highest at
which 90 % of the answerable questions of all sets together stay confident, in the mean over the sets."""
COSTS = ("search_p50_ms", "search_p95_ms", "write_per_s", "rss_mb", "disk_mb", "degraded")


class RunFailed(HindsightError):
    """A bench ended with an error, so there are no figures to show."""

    code = "bench_run"


@dataclass(frozen=True, slots=True)
class Run:
    """One command whose figures are kept under `name`. `title` and `says` introduce its tables."""

    name: str
    module: str
    arguments: tuple[str, ...]
    title: str
    says: str

    def command(self, data: str, figures: str) -> list[str]:
        """The command line after `python`."""
        return ["-m", self.module, "--data", data, *self.arguments, "--json", f"{figures}/{self.name}.json"]


RUNS = (
    Run("recall", "bench.recall", (), "Recall", "Every set, whole and by category, as shipped."),
    Run("ablation", "bench.ablation", (), "Ablation", "Its table stands under recall."),
    Run(
        "scale",
        "bench.scale",
        ("--n", "1000", "5000", "10000", "--clients", "1", "8"),
        "Growth",
        "One server over HTTP, its clients in processes of their own on the same processors. The same text is never "
        "written twice and no question asked twice; beyond about 30,000, texts are recombined from real ones.",
    ),
    Run(
        "scale_100k",
        "bench.scale",
        ("--n", "100000", "--clients", "1", "8"),
        "Growth to 100,000",
        "The same, in a run of its own, since loading alone takes minutes.",
    ),
    Run(
        "stages",
        "bench.stages",
        (),
        "Where the time of a search goes",
        "At 10,000 memories, one client over HTTP. `routes/…` are side by side within `routes`; `embed` is the wait "
        "for the encoder, which begins first of all.",
    ),
    Run("startup", "bench.startup", (), "Start over stdio", "From the start of the process to the answer."),
    Run(
        "time",
        "bench.time",
        (),
        "Times",
        "Share of rows read exactly (`_all`: with those that name a festival), and of texts without a time left alone. "
        "The sources contradict each other (docs/time.md), so that 1.0 is not possible. Misses by kind below.",
    ),
    Run(
        "pairs",
        "bench.pairs",
        (),
        "Same, different, or in its place",
        "`false_merge` and `false_retirement`: share of the `different` pairs that lose a memory. `pairs_more`: 225 "
        "pairs labelled before the rules. Below, how often each label was judged as what.",
    ),
    Run(
        "updates",
        "bench.updates",
        (),
        "Later facts",
        "455 facts written in order, then asked. `outdated_as_current`: a superseded value among the first five hits; "
        "`wrongly_retired`: facts without a later rival that no longer answer.",
    ),
    Run(
        "experience",
        "bench.experience",
        ("--sizes", "0", "100", "10000", "100000"),
        "Experiences by situation",
        "Beside each set the same by plain BM25 and by plain vectors over the triggers. `lookalike_first`: one of "
        "another group of the same site or domain came first; `null_auc`: how well the fit of the first hit tells "
        "situations with a right experience from those without. `lessons` is made up. Below: CPU time with so many "
        "experiences kept, and what another bar for confidence would give.",
    ),
    Run("index", "bench.index", (), "Indexes", "The candidates for the embedded indexes side by side."),
)
TITLE = "What each stage adds"
MEANS = ("in_block", "tokens_per_block")  # over the sets
TOKENS = """`tokens@5`, `tokens@10` and `tokens_per_block` are the lengths of the context blocks of 5, 10 and 20 hits:
what the recall to their left costs. A hit's sources take one rank each."""
ABLATION = """`python -m bench.ablation`: the same questions over the same stored sets, one stage less each time; in
brackets what that changes. Ten hits; `in_block`: the share of what is right that has a line in their context block;
both this and its tokens as means over the sets. Questions, evenly spread over each set: {questions}. A difference of
less than .02 may be chance. What few of these questions take (relations, kinds, parts, other words) shows nothing
here. `bm25` and `vector` are plain rankings of the bare turns."""
# Rows whose keys begin so have a table of their own, under this head.
APART = {MISSES: "missed", CONFUSED: "labelled", experience.SIZES: "experiences", experience.CURVE: "from a fit of"}
WOVEN = ("bench.recall", "bench.ablation")  # their tables are made for them
ORDERS = {"bench.scale": scale.ORDER, "bench.stages": stages.ORDER, "bench.experience": experience.ORDER}


def measure(run: Run, data: Path, figures: Path) -> None:
    """Run one bench and keep its figures and circumstances. Raises `RunFailed`."""
    progress(f"bench.results: {run.name}", done=True)
    figures.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, *run.command(str(data), str(figures))]
    answer = subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    if answer.returncode:
        raise RunFailed(f"{run.module} ended with {answer.returncode}", hint="Run it by itself to see why.")
    kept = read_runs(figures)
    kept[run.name] = circumstances(run)
    text = json.dumps(kept, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    (figures / RUNS_FILE).write_text(text, encoding="utf-8")


def circumstances(run: Run) -> dict[str, object]:
    """Where and when a run was made; nothing that names the machine."""
    return {
        "command": "python " + " ".join(run.command("DIR", "bench/results")),
        "date": datetime.now(UTC).date().isoformat(),
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def page(figures: Path) -> str:
    """RESULTS.md out of the files of figures."""
    kept = read_runs(figures)
    found = {run.name: read(figures / f"{run.name}.json") for run in RUNS}
    parts = [
        HEAD,
        *_recall_part(found["recall"]),
        *_ablation_part(found["ablation"]),
        *_plain_parts(found),
        _runs_part(kept),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


HEAD = """# Results

Made by `python -m bench.results` out of `bench/results/*.json`; measure anew with `--data DIR --run all`. What each
figure means stands at the top of `bench/recall.py` and `bench/scale.py`. Times are those of the machine at the end of
this page, and noisy where others used it too. The keys of some sets are known to hold errors, so that 1.0 is neither
possible nor wanted. `lifebench_crosslingual_zh_en` asks in Chinese over a phone kept in English. `realmem` is to be
read by `session_recall@10`: its gold is every turn of the right sessions."""


def _recall_part(rows: Rows) -> list[str]:
    if not rows:
        return []
    curve = {key.replace(abstain.CURVE, ""): row for key, row in rows.items() if abstain.CURVE in key}
    rows = {key: row for key, row in rows.items() if abstain.CURVE not in key}
    whole = {key: row for key, row in rows.items() if "/" not in key}
    parts = ["## Recall", TOKENS, _only(whole, GOALS)]
    parts += ["### By category", _only({key: row for key, row in rows.items() if "/" in key}, (*GOALS, *CLAIMS))]
    parts += [
        "### Confidence and cost",
        "`abstain_confident`: share of the questions that nothing answers for which the result claimed to be confident "
        "(lower is better), `answerable_kept`: that of the others (higher is better).",
        _only(whole, (*CLAIMS, *COSTS)),
    ]
    if curve:
        parts += ["### Where confidence begins", CONFIDENCE, _only(whole, AREAS), markdown(curve, head="set/bar")]
    return parts


def _ablation_part(rows: Rows) -> list[str]:
    """One row a stage, one column a set: the set's measure, and what is lost or gained without the stage."""
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for key, row in rows.items():
        name, _, stage = key.partition("/")
        found.setdefault(name, {})[stage] = row
    if not found:
        return []
    stages = dict.fromkeys(stage for held in found.values() for stage in held)
    heads = ["without", *(f"{name} {ablation.measure_of(name)}" for name in found), *MEANS]
    lines = [heads, ["---", *("---:" for _ in heads[1:])]]
    for stage in stages:
        cells = [_beside(held, stage, ablation.measure_of(name)) for name, held in found.items()]
        lines.append([stage, *cells, *(_mean_of(found, stage, measure) for measure in MEANS)])
    questions = ", ".join(f"{name} {held[ablation.EVERYTHING]['queries']:.0f}" for name, held in found.items())
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return [f"### {TITLE}", ABLATION.format(questions=questions), table]


def _beside(held: Rows, stage: str, measure: str) -> str:
    value, whole = held.get(stage, {}).get(measure), held[ablation.EVERYTHING].get(measure)
    if value is None or whole is None:
        return ""
    return f"{value:.3f}" if stage == ablation.EVERYTHING else f"{value:.3f} ({value - whole:+.3f})"


def _mean_of(found: Mapping[str, Rows], stage: str, measure: str) -> str:
    values = [held[stage][measure] for held in found.values() if measure in held.get(stage, {})]
    return shown(mean(values)) if values else ""


def _plain_parts(found: Mapping[str, Rows]) -> list[str]:
    parts = []
    for run in RUNS:
        if run.module in WOVEN or not found[run.name]:
            continue
        order = ORDERS.get(run.module, ())
        rows = {key: row for key, row in found[run.name].items() if not key.startswith(tuple(APART))}
        parts += [f"## {run.title}", run.says, markdown(rows, order, head="run")]
        for prefix, head in APART.items():
            table = {key.removeprefix(prefix): row for key, row in found[run.name].items() if key.startswith(prefix)}
            parts += [markdown(table, head=head)] if table else []
    return parts


def _runs_part(kept: Mapping[str, Mapping[str, object]]) -> str:
    lines = [
        f"- `{kept[run.name]['command']}`: {kept[run.name]['date']}, {kept[run.name]['processors']} processors, "
        f"Python {kept[run.name]['python']}, {kept[run.name]['system']}"
        for run in RUNS
        if run.name in kept
    ]
    return "\n".join(["## Commands", "", *lines]) if lines else ""


def _only(rows: Rows, metrics: Sequence[str]) -> str:
    """A table of these metrics, without rows that have none of them."""
    narrowed = {key: {name: row[name] for name in metrics if name in row} for key, row in rows.items()}
    return markdown({key: row for key, row in narrowed.items() if row}, columns(narrowed, metrics))


def read(path: Path) -> dict[str, dict[str, float]]:
    """A file of figures; empty where there is none."""
    if not path.exists():
        return {}
    rows: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def read_runs(figures: Path) -> dict[str, dict[str, object]]:
    """The circumstances of every run, by its name."""
    path = figures / RUNS_FILE
    if not path.exists():
        return {}
    runs: dict[str, dict[str, object]] = json.loads(path.read_text(encoding="utf-8"))
    return runs


def missing(figures: Path) -> list[Run]:
    """The runs without figures."""
    return [run for run in RUNS if not (figures / f"{run.name}.json").exists()]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    names = [EVERY, *(run.name for run in RUNS)]
    made = argparse.ArgumentParser(prog="python -m bench.results", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, help="measure what is missing on these sets; without it, only make the page")
    made.add_argument("--run", nargs="+", default=[], choices=names, metavar="NAME", help=f"again: {', '.join(names)}")
    return made


def main(given: Sequence[str] | None = None, *, figures: Path = FIGURES, made: Path = PAGE) -> int:
    """Measure what is asked for, then make the page. One failed run does not lose the figures of the others."""
    options = parser().parse_args(given)
    if options.run and options.data is None:
        parser().error("--run needs --data")
    again = [run for run in RUNS if run.name in options.run or EVERY in options.run]
    wanted = [run for run in RUNS if run in again or run in missing(figures)] if options.data else []
    failed = False
    for run in wanted:
        try:
            measure(run, options.data, figures)
        except RunFailed as error:
            failed = True
            print(f"bench.results: {error} {error.hint}", file=sys.stderr)
    made.write_text(page(figures), encoding="utf-8")
    print(made)
    return 2 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""What each stage of a search adds: `python -m bench.ablation --data DIR [--sets NAME …] [--json FILE]`.

Each set is written once into a data folder, through the public API. Then the same questions are asked on it again and
again: as shipped, and with one stage less each time. Where a setting takes a stage away, it is that; else its weight or
its function is put out of force in this process alone. Uses are not counted, no answer is cached and no trace is kept,
so that no run leaves anything to the next. `--limit` questions of each set, evenly spread (none that nothing answers).

Keys are `SET/STAGE`, and the plain means beside them: `SET/bm25` (k1 1.2, b 0.75 over the turns as they were said, in
hindsight's terms, with the speaker's name) and `SET/vector` (the cosine of question and turn by the built-in encoder).

- recall@10, hit@10, session_recall@10: as in `bench.recall`, of ten hits
- in_block: the share of what is right that is among the first ten and has a line in the context block
- tokens_per_block: of the block of these ten hits
- degraded: share of the searches that had to do without a part, which on a busy machine is one that was late
- seconds: for all questions of the set, in which the order of stages plays a part
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from bench import metrics, recall
from bench.baselines import by_bm25, by_vector
from bench.data import Corpus, Question, read_corpora
from bench.recall import Answered, Written
from bench.report import plain, progress, rounded, write_json
from hindsight import Hindsight
from hindsight.config import Route, load
from hindsight.domain import ranking
from hindsight.domain.query import SearchResult
from hindsight.errors import HindsightError

TOP_K = 10
WARMING = 5  # searches at most until nothing is missing
QUESTIONS = 150  # of a set; the encoder remembers 256, so that a run after the first pays for no embedding
EVERYTHING = "everything"
ORDER = ("queries", "recall@10", "hit@10", "session_recall@10", "in_block", "tokens_per_block", "degraded", "seconds")
# By the beginning of a set's name, the measure that its gold is made for; `recall@10` for all others.
MEASURES = {"realmem": "session_recall@10", "lifebench_crosslingual": "hit@10"}
BASELINES = {"bm25": by_bm25, "vector": by_vector}


@dataclass(frozen=True, slots=True)
class Stage:
    """A search without something. `silent`: signals that count nothing. `instead`: values by the place they stand."""

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    silent: tuple[str, ...] = ()
    instead: Mapping[str, object] = field(default_factory=dict)


def _without(route: Route) -> dict[str, object]:
    return {"routes": tuple(one for one in Route if one is not route)}


STAGES = (
    Stage(EVERYTHING),
    Stage("meaning (route vector)", _without(Route.VECTOR)),
    Stage("words (route keyword)", _without(Route.KEYWORD)),
    Stage("all that is around", silent=ranking.AROUND),
    Stage("the turns beside", silent=(ranking.PREVIOUS, ranking.NEXT, ranking.DENSE_PREVIOUS, ranking.DENSE_NEXT)),
    Stage("the stretch of five turns", silent=(ranking.STRETCH,)),
    Stage("the session", silent=(ranking.SESSION, ranking.DENSE_SESSION)),
    Stage("records of the same time", silent=(ranking.SAME_TIME,)),
    Stage("the speaker", silent=(ranking.SPEAKER,)),
    Stage("dates, as signal and route", _without(Route.TIME), (ranking.DATE_NEAR, ranking.DATE_INSIDE)),
    Stage("route time", _without(Route.TIME)),
    Stage("route graph", _without(Route.GRAPH)),
    Stage("route structured", _without(Route.STRUCTURED)),
    Stage(
        "other words and names",
        {"expansion": "off"},
        instead={"hindsight.search.look.by_other_names": lambda question, found: []},
    ),
    Stage("parts of a question", instead={"hindsight.search.understand.parts_of": lambda text: ()}),
    Stage("breadth in transcripts", instead={"hindsight.domain.ranking.BREADTH_MOST": 0.0}),
    Stage("a step for what came of one turn", instead={"hindsight.domain.ranking.TOLD_AGAIN": 0.0}),
    Stage("a loss for turns that only ask", instead={"hindsight.domain.ranking.ASKS_LOSES": 0.0}),
    Stage("a fact for its turn", instead={"hindsight.search.rank.STANDS_FOR": math.inf}),
    Stage("leaving out what repeats", instead={"hindsight.search.pack.Distinct.is_new": lambda seen, one: True}),
    Stage("excerpts of long hits", instead={"hindsight.search.pack.excerpt": lambda body, *rest: body}),
    Stage("preset balanced in its place", {"ranking": "balanced"}),
)


def measure(corpora: Sequence[Corpus], limit: int) -> Iterator[dict[str, dict[str, float]]]:
    """The rows of each corpus, measured in a fresh process."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, max_tasks_per_child=1, mp_context=fresh) as pool:
        for corpus in corpora:
            yield pool.submit(measure_corpus, corpus, limit).result()


def measure_corpus(corpus: Corpus, limit: int, stages: Sequence[Stage] = STAGES) -> dict[str, dict[str, float]]:
    """Write one corpus, ask its questions with each stage taken away, and by plain means."""
    asked = {
        key: recall.spread([one for one in questions if not one.abstain], limit)
        for key, questions in corpus.questions.items()
    }
    rows: dict[str, dict[str, dict[str, float]]] = {key: {} for key in asked}
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as name:
        folder = Path(name)
        with opened(folder, {}) as memory:
            written = recall.write_all(memory, corpus)
        for settings, group in _by_settings(stages):
            with opened(folder, settings) as memory:
                with without(Stage(EVERYTHING)):  # counts no uses
                    _warm(memory, asked.values())
                # Set by set: the encoder remembers the questions of one.
                for key, questions in asked.items():
                    for stage in group:
                        progress(f"{key}: {stage.name}")
                        rows[key][stage.name] = _ask_all(_Asking(memory, corpus, written), questions, stage)
    for key, questions in asked.items():
        for name, ranks in BASELINES.items():
            rows[key][name] = _baseline(corpus, questions, ranks(corpus.items, questions))
        progress(f"{key}: {len(rows[key])} ways", done=True)
    order = [*(stage.name for stage in stages), *BASELINES]
    return {f"{key}/{name}": found[name] for key, found in rows.items() for name in order}


def _warm(memory: Hindsight, asked: Iterable[Sequence[Question]]) -> None:
    """Search each scope once: models and indexes are loaded with the first, which may have to do without them."""
    for question in {question.scope: question for questions in asked for question in questions}.values():
        for _ in range(WARMING):
            if not recall.ask(memory, question, TOP_K).degraded:
                break


def opened(folder: Path, settings: Mapping[str, object]) -> Hindsight:
    """A memory on the folder, with these settings in place of the environment's."""
    fixed = {"data_dir": folder, "db_path": folder / "memory.db", "answer_cache": False, "traces_kept": 0}
    return Hindsight(settings=load(**fixed, **settings))


@contextmanager
def without(stage: Stage) -> Iterator[None]:
    """Put out of force what no setting takes away, and the counting of uses."""
    weights = ranking.SIGNAL_WEIGHTS
    lowered = {**weights, **dict.fromkeys(stage.silent, 0.0)}
    holding = [module for module in [*sys.modules.values()] if getattr(module, "SIGNAL_WEIGHTS", None) is weights]
    with ExitStack() as stack:
        stack.enter_context(mock.patch("hindsight.search.pipeline.Searcher.count_uses"))
        for module in holding if stage.silent else ():
            stack.enter_context(mock.patch.object(module, "SIGNAL_WEIGHTS", lowered))
        for place, value in stage.instead.items():
            stack.enter_context(mock.patch(place, value))
        yield


def _by_settings(stages: Sequence[Stage]) -> list[tuple[Mapping[str, object], list[Stage]]]:
    """Stages with the same settings together: opening a folder takes seconds."""
    groups: list[tuple[Mapping[str, object], list[Stage]]] = []
    for stage in stages:
        group = next((held for settings, held in groups if settings == stage.settings), None)
        if group is None:
            groups.append((stage.settings, [stage]))
        else:
            group.append(stage)
    return groups


@dataclass(frozen=True, slots=True)
class _Asking:
    """A memory that was written, and what is known of what it holds."""

    memory: Hindsight
    corpus: Corpus
    written: Written


def _ask_all(asking: _Asking, questions: Sequence[Question], stage: Stage) -> dict[str, float]:
    begin = time.perf_counter()
    answered: list[Answered] = []
    shown: list[float] = []
    session_of = _sessions(asking.corpus)
    item_of, twin = asking.written.item_of, asking.written.twin
    with without(stage):
        for question in questions:
            result = recall.ask(asking.memory, question, TOP_K)
            ranked = metrics.expand(recall.sources_of(result, item_of))
            sessions = tuple(session_of.get(name, "") for name in ranked)
            answered.append(
                Answered(question, tuple(ranked), sessions, False, result.tokens, 0.0, bool(result.degraded))
            )
            gold = {twin.get(name, name) for name in question.gold}
            shown.append(len(gold & set(ranked[:TOP_K]) & _in_block(result, item_of)) / len(gold))
    row = _quality(answered, twin)
    row["in_block"] = metrics.mean(shown)
    row["tokens_per_block"] = metrics.mean([float(one.tokens) for one in answered])
    row["degraded"] = metrics.mean([float(one.degraded) for one in answered])
    row["seconds"] = time.perf_counter() - begin
    return rounded(row.items())


def _in_block(result: SearchResult, item_of: Mapping[str, str]) -> set[str]:
    """The items behind the hits that have a line in the block."""
    shown = [hit for hit in result.hits if f"#{hit.short_id}" in result.context]
    return {item_of.get(source.episode_id, source.episode_id) for hit in shown for source in hit.sources}


def _baseline(corpus: Corpus, questions: Sequence[Question], ranks: Sequence[Sequence[str]]) -> dict[str, float]:
    session_of = _sessions(corpus)
    answered = [
        Answered(question, tuple(ranked), tuple(session_of.get(name, "") for name in ranked), False, 0, 0.0)
        for question, ranked in zip(questions, ranks, strict=True)
    ]
    return rounded(_quality(answered, {}).items())


def _sessions(corpus: Corpus) -> dict[str, str]:
    return {item.id: item.session_id or "" for item in corpus.items}


def _quality(answered: Sequence[Answered], twin: Mapping[str, str]) -> dict[str, float]:
    found = recall.quality(answered, twin)
    return {name: found[name] for name in ORDER if name in found and name not in ("tokens_per_block", "degraded")}


def measure_of(key: str) -> str:
    """What a set is to be read by."""
    return next((measure for name, measure in MEASURES.items() if key.startswith(name)), "recall@10")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.ablation", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, required=True, help="one set in the uniform format, or a folder of sets")
    made.add_argument("--sets", nargs="+", default=[], metavar="NAME", help="only these folders or keys, e.g. locomo")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    made.add_argument(
        "--limit", type=int, default=QUESTIONS, metavar="N", help="at most N questions of each set; 0: all"
    )
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    if options.limit < 0:
        parser().error(f"--limit: {options.limit} is not accepted; allowed: 0 for all, or a number above it")
    rows: dict[str, dict[str, float]] = {}
    try:
        for found in measure(read_corpora(options.data, options.sets), options.limit):
            rows |= found
            if options.json:  # set by set: a run takes long, and one that is cut short has measured something
                write_json(options.json, rows)
    except HindsightError as error:
        print(f"bench.ablation: {error}", file=sys.stderr)
        return 2
    print(plain(rows, ORDER))
    return 0


if __name__ == "__main__":
    sys.exit(main())

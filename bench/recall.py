"""How well a search finds what answers: `python -m bench.recall --data DIR [--sets NAME …] [--json FILE]`.

Every memory of a set is written through the public API into a fresh data folder, a namespace for each scope, and every
question is searched. A hit counts by the episodes it rests on: its sources are expanded in order and each takes one
rank, so that a memory with many sources gains nothing. Each file of memories runs in a process of its own, so that
`rss_mb` is that of one store. The environment's settings hold, but for where the data lies.

- recall@5, recall@10, recall@20, hit@10, mrr (first 20 hits), ndcg@10: means over the questions that something answers
- session_recall@10: share of the right sessions with a turn in the first 10 ranks, where a set names sessions
- abstain_confident: share of the questions nothing answers for which the result claimed to be confident (wrong)
- answerable_kept: share of the others for which it did (right)
- tokens_per_block: of the block of 20 hits; tokens@5, tokens@10: of one of as many hits, each asked for by itself, once
  all else is measured
- search_p50_ms, search_p95_ms: over all questions, for 20 hits; write_per_s: memories a second, in batches
- degraded: share of searches that had to do without a part; not shown where it is zero
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from bench import abstain, metrics
from bench.data import Corpus, Item, Question, read_corpora
from bench.process import disk_mb, rss_mb
from bench.report import plain, progress, rounded, write_json
from hindsight import Hindsight
from hindsight.config import Route, load
from hindsight.domain.query import SearchResult, TimeRange
from hindsight.errors import HindsightError

TOP_K = 20
FEWER = (5, 10)  # hits of the blocks whose length stands beside recall at as many
BATCH = 100  # memories in one call of `write_many`
ORDER = (
    "queries", "recall@5", "tokens@5", "recall@10", "tokens@10", "recall@20", "tokens_per_block", "hit@10", "mrr",
    "ndcg@10", "session_recall@10", "abstain_confident", "answerable_kept", "search_p50_ms", "search_p95_ms",
    "write_per_s", "rss_mb", "disk_mb", "degraded",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """What of a run can be chosen. `limit`: at most so many questions of a set, evenly spread; 0 takes all."""

    without: tuple[Route, ...] = ()
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with what came back: a rank for every source of every hit, with the session of each.

    `tokens`: of the block of all hits; `fewer`: of the blocks of `FEWER` hits. `fit`: of the first hit.
    """

    question: Question
    ranked: tuple[str, ...]
    sessions: tuple[str, ...]
    confident: bool
    tokens: int
    milliseconds: float
    degraded: bool = False
    fewer: tuple[int, ...] = ()
    fit: float = 0.0


@dataclass(frozen=True, slots=True)
class Written:
    """Where the items went. `item_of`: episode id → item id. `twin`: an item kept under the episode of an equal one."""

    item_of: Mapping[str, str]
    twin: Mapping[str, str]
    seconds: Mapping[str, float]


def measure(corpora: Sequence[Corpus], options: Options) -> dict[str, dict[str, float]]:
    """The rows of all corpora, each measured in a fresh process."""
    rows: dict[str, dict[str, float]] = {}
    # `spawn`, since a fork would carry over this process's memory; one task each, so nothing is left of the last one.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, max_tasks_per_child=1, mp_context=fresh) as pool:
        for corpus in corpora:
            rows |= pool.submit(measure_corpus, corpus, options).result()
    return rows


def measure_corpus(corpus: Corpus, options: Options) -> dict[str, dict[str, float]]:
    """Write one corpus into a fresh data folder, ask every question over it, and score."""
    rows: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as folder, opened(Path(folder), options) as memory:
        written = write_all(memory, corpus)
        for key, questions in corpus.questions.items():
            asked = spread(questions, options.limit)
            answered = with_shorter_blocks(memory, list(ask_all(memory, corpus, written, asked, key)))
            elsewhere = list(ask_all(memory, corpus, written, abstain.foreign(corpus, asked), f"{key}, foreign"))
            rows |= score(key, answered, written.twin)
            rows[key] |= costs(corpus, written, asked, Path(folder))
            for name, row in fits(key, answered, elsewhere).items():
                rows[name] = rows.get(name, {}) | row
    return rows


def opened(folder: Path, options: Options) -> Hindsight:
    """A memory on a fresh folder with the routes that are left."""
    settings = load(data_dir=folder, db_path=folder / "memory.db")
    routes = tuple(route for route in settings.routes if route not in options.without)
    return Hindsight(settings=settings.model_copy(update={"routes": routes}))


def write_all(memory: Hindsight, corpus: Corpus) -> Written:
    """Write every item in the order of the file, scope by scope."""
    item_of: dict[str, str] = {}
    twin: dict[str, str] = {}
    seconds: dict[str, float] = {}
    count = 0
    for scope, items in by_scope(corpus.items).items():
        view = memory.namespace(scope)
        begin = time.perf_counter()
        for start in range(0, len(items), BATCH):
            batch = items[start : start + BATCH]
            receipts = view.write_many([item.arguments() for item in batch])
            for item, receipt in zip(batch, receipts, strict=True):
                for episode_id in receipt.episode_ids:
                    twin[item.id] = item_of.setdefault(episode_id, item.id)
            count += len(batch)
            progress(f"{corpus.key}: {count} of {len(corpus.items)} written")
        seconds[scope] = time.perf_counter() - begin
    progress(f"{corpus.key}: {count} written in {sum(seconds.values()):.0f} s", done=True)
    return Written(item_of, twin, seconds)


def ask_all(
    memory: Hindsight, corpus: Corpus, written: Written, questions: Sequence[Question], key: str
) -> Iterator[Answered]:
    """Search every question in the namespace of its scope."""
    session_of = {item.id: item.session_id or "" for item in corpus.items}
    for number, question in enumerate(questions, 1):
        begin = time.perf_counter()
        result = ask(memory, question)
        spent = (time.perf_counter() - begin) * 1000
        ranked = metrics.expand(sources_of(result, written.item_of))
        yield Answered(
            question,
            tuple(ranked),
            tuple(session_of.get(name, "") for name in ranked),
            result.confident,
            result.tokens,
            spent,
            bool(result.degraded),
            fit=fit_of(memory, question, result),
        )
        progress(f"{key}: {number} of {len(questions)} asked", done=number == len(questions))


def with_shorter_blocks(memory: Hindsight, answered: Sequence[Answered]) -> list[Answered]:
    """The same with the lengths of blocks of fewer hits: these are no beginnings of the longer, but have more room."""
    return [replace(one, fewer=tuple(ask(memory, one.question, k).tokens for k in FEWER)) for one in answered]


def ask(memory: Hindsight, question: Question, top_k: int = TOP_K) -> SearchResult:
    """One search. A question from the middle of the history sees only what is earlier, without its own session."""
    return memory.namespace(question.scope).search(
        question.query,
        top_k=top_k,
        asked_at=question.asked_at,
        time_range=TimeRange(end=question.asked_at) if question.midway else None,
        filters={"exclude_sessions": question.exclude_sessions} if question.exclude_sessions else None,
    )


def fit_of(memory: Hindsight, question: Question, result: SearchResult) -> float:
    """How well the first hit fits, which its trace tells."""
    fit = memory.namespace(question.scope).trace(result.trace_id).get("fit")
    return float(fit) if isinstance(fit, (int, float)) else 0.0


def fits(key: str, answered: Sequence[Answered], elsewhere: Sequence[Answered]) -> dict[str, dict[str, float]]:
    """The rows of the curve of confidence."""
    kept = [one.fit for one in answered if not one.question.abstain]
    unanswerable = [one.fit for one in answered if one.question.abstain]
    return abstain.curve(key, kept, unanswerable, [one.fit for one in elsewhere])


def sources_of(result: SearchResult, item_of: Mapping[str, str]) -> list[list[str]]:
    """The items behind each hit, by its sources. An episode nobody wrote stands for itself and is never right."""
    return [[item_of.get(source.episode_id, source.episode_id) for source in hit.sources] for hit in result.hits]


def score(key: str, answered: Sequence[Answered], twin: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """The rows of one question set: the whole under `key`, each category under `key/category`."""
    groups: dict[str, list[Answered]] = {key: list(answered)}
    for one in answered:
        groups.setdefault(f"{key}/{slug(one.question.category)}", []).append(one)
    return {name: rounded(quality(group, twin).items()) for name, group in groups.items()}


def quality(group: Sequence[Answered], twin: Mapping[str, str]) -> dict[str, float]:
    """The measures of SPEC §8 over some questions; those that have no question to go by are left out."""
    row: dict[str, float] = {"queries": len(group)}
    answerable = [
        (one, {twin.get(name, name) for name in one.question.gold}) for one in group if not one.question.abstain
    ]
    if answerable:
        for k in (5, 10, 20):
            row[f"recall@{k}"] = metrics.mean([metrics.recall(one.ranked, gold, k) for one, gold in answerable])
        row["hit@10"] = metrics.mean([metrics.hit(one.ranked, gold, 10) for one, gold in answerable])
        row["mrr"] = metrics.mean([metrics.reciprocal_rank(one.ranked, gold) for one, gold in answerable])
        row["ndcg@10"] = metrics.mean([metrics.ndcg(one.ranked, gold, 10) for one, gold in answerable])
        row["answerable_kept"] = metrics.mean([float(one.confident) for one, _ in answerable])
    by_session = [one for one in group if one.question.gold_sessions]
    if by_session:
        row["session_recall@10"] = metrics.mean(
            [metrics.recall(one.sessions, one.question.gold_sessions, 10) for one in by_session]
        )
    abstaining = [one for one in group if one.question.abstain]
    if abstaining:
        row["abstain_confident"] = metrics.mean([float(one.confident) for one in abstaining])
    if group:
        row["search_p50_ms"] = metrics.percentile([one.milliseconds for one in group], 0.5)
        row["search_p95_ms"] = metrics.percentile([one.milliseconds for one in group], 0.95)
        row["tokens_per_block"] = metrics.mean([one.tokens for one in group])
        for place, k in enumerate(FEWER if all(one.fewer for one in group) else ()):
            row[f"tokens@{k}"] = metrics.mean([one.fewer[place] for one in group])
    degraded = sum(one.degraded for one in group)
    return row | ({"degraded": degraded / len(group)} if degraded else {})


def costs(corpus: Corpus, written: Written, asked: Sequence[Question], folder: Path) -> dict[str, float]:
    """Speed of writing the scopes that were asked about, and what this process and the data folder take now."""
    scopes = {question.scope for question in asked}
    count = sum(item.scope in scopes for item in corpus.items)
    seconds = sum(written.seconds[scope] for scope in scopes)
    row = {"write_per_s": count / seconds, "disk_mb": disk_mb(folder)} if seconds else {"disk_mb": disk_mb(folder)}
    resident = rss_mb(os.getpid())
    return rounded((row if resident is None else row | {"rss_mb": resident}).items(), 2)


def by_scope(items: Iterable[Item]) -> dict[str, list[Item]]:
    """The items of each scope, in the order of the file."""
    scopes: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        scopes[item.scope].append(item)
    return scopes


def spread(questions: Sequence[Question], limit: int) -> Sequence[Question]:
    """At most `limit` of the questions, evenly spread over the file; all of them for 0."""
    if not limit or limit >= len(questions):
        return questions
    return [questions[number * len(questions) // limit] for number in range(limit)]


def slug(category: str) -> str:
    """A category as it stands in a key: lower case, one hyphen for spaces."""
    return "-".join(category.lower().split())


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.recall", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, required=True, help="one set in the uniform format, or a folder of sets")
    made.add_argument("--sets", nargs="+", default=[], metavar="NAME", help="only these folders or keys, e.g. locomo")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    made.add_argument(
        "--limit", type=int, default=0, metavar="N", help="at most N questions of each set, evenly spread"
    )
    made.add_argument("--without", nargs="+", type=Route, default=[], choices=list(Route), help="routes to switch off")
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    if options.limit < 0:
        parser().error(f"--limit: {options.limit} is not accepted; allowed: 0 for all, or a number above it")
    try:
        corpora = read_corpora(options.data, options.sets)
        rows = measure(corpora, Options(tuple(options.without), options.limit))
    except HindsightError as error:
        print(f"bench.recall: {error}", file=sys.stderr)
        return 2
    print(plain(rows, ORDER))
    if options.json:
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

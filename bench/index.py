"""Compares ways to index: `python -m bench.index --data DIR [--n N …] [--only NAME …] [--json FILE]`.

Each candidate runs in a process of its own: build time, resident memory it added, median search time without a filter
and with filters that let a tenth and a thousandth through, and recall@10 against an exact scan. Times are CPU time of
the process, which other work on the machine disturbs less than the time on the wall. Texts are those of the
retrieval sets, recombined beyond their number. Vectors are those of the default embedder on the first 6,000 texts;
beyond, weighted means of two of them with a little noise: real neighbourhoods, made denser than real ones.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bench.data import read_corpora
from bench.index_candidates import LEXICAL, LIMIT, PICKS, VECTOR, Vectors, picked, top
from bench.report import plain, progress, write_json
from bench.texts import growing, questions
from hindsight.errors import HindsightError, InvalidInput
from hindsight.models.embedder import UseMultilingual

EMBEDDED = 6_000
ASKED = 100
SEED = 7
NAMES = {1.0: "", 0.1: "_tenth", 0.001: "_thousandth"}


@dataclass(frozen=True, slots=True)
class Input:
    """What every candidate gets; the vectors lie in files, so that they do not count as its memory."""

    texts: tuple[str, ...]
    questions: tuple[str, ...]
    folder: str

    def vectors(self, name: str) -> Vectors:
        """The vectors of the texts or the questions."""
        loaded: Vectors = np.load(Path(self.folder) / f"{name}.npy", mmap_mode="r")
        return loaded


def made(data: Path, largest: int, folder: str) -> Input:
    """Read texts and questions, embed, and put the vectors down."""
    corpora = read_corpora(data)
    texts = tuple(str(item["content"]) for item in islice(growing(corpora), largest))
    asked = tuple(questions(corpora)[:ASKED])
    progress(f"embedding {min(largest, EMBEDDED)} texts", done=True)
    real, of_questions = asyncio.run(_embedded(texts[:EMBEDDED], asked))
    np.save(Path(folder) / "texts.npy", _grown(real, largest))
    np.save(Path(folder) / "questions.npy", of_questions)
    return Input(texts, asked, folder)


async def _embedded(texts: Sequence[str], asked: Sequence[str]) -> tuple[Vectors, Vectors]:
    embedder = UseMultilingual()
    try:
        return await embedder.embed(texts), await embedder.embed(asked)
    finally:
        await embedder.aclose()


def _grown(real: Vectors, count: int) -> Vectors:
    dice = np.random.default_rng(SEED)
    more = max(0, count - len(real))
    first, second = (real[dice.integers(len(real), size=more)] for _ in range(2))
    share = dice.uniform(0.5, 0.9, size=(more, 1)).astype(np.float32)
    mixed = share * first + (1 - share) * second + dice.normal(0, 0.01, (more, real.shape[1])).astype(np.float32)
    grown: Vectors = np.concatenate((real[:count], mixed / np.linalg.norm(mixed, axis=1, keepdims=True)))
    return grown


def measured(name: str, given: Input, size: int) -> dict[str, float]:
    """Build one candidate and ask it every question under every filter."""
    texts, asked = given.vectors("texts")[:size], given.vectors("questions")
    candidate = (LEXICAL | VECTOR)[name]()  # type: ignore[operator]  # one of two tables
    before, started = _own_memory(), time.process_time()
    candidate.build(given.texts[:size], texts)
    figures = {"build_cpu_s": time.process_time() - started, "memory_mb": _own_memory() - before}
    for share in PICKS:
        took, found = [], []
        for question, vector in zip(given.questions, asked, strict=True):
            started = time.process_time()
            places = candidate.ask(question, vector, share)
            took.append(time.process_time() - started)
            found.append(_share_found(texts, vector, share, places))
        figures[f"p50_cpu_ms{NAMES[share]}"] = statistics.median(took) * 1000
        if name in VECTOR:
            figures[f"recall@10{NAMES[share]}"] = statistics.fmean(found)
    return figures


def _share_found(texts: Vectors, vector: Vectors, share: float, places: Sequence[int]) -> float:
    rows = picked(len(texts), share)
    cosines = texts[rows] @ vector
    best = rows[top(cosines, LIMIT)]
    # Equal vectors may stand for one another.
    bar = (texts[best] @ vector).min() - 1e-6
    return sum(1 for place in places if float(texts[place] @ vector) >= bar) / len(best)


def _own_memory() -> float:
    """Resident memory in MB that is the process's own, files it has mapped left out."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:")) / 1000


def _in_child(name: str, given: Input, size: int, answer: Any) -> None:
    answer.send(measured(name, given, size))


def compare(data: Path, sizes: Sequence[int], names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Figures by `name_n`."""
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        given = made(data, max(sizes), folder)
        processes = multiprocessing.get_context("spawn")
        for size in sizes:
            for name in names:
                progress(f"{name} with {size}", done=True)
                receiver, sender = processes.Pipe(duplex=False)
                child = processes.Process(target=_in_child, args=(name, given, size, sender))
                child.start()
                sender.close()
                try:
                    rows[f"{name}_n{size}"] = receiver.recv()
                except EOFError:
                    progress(f"{name} with {size}: failed, left out (see above)", done=True)
                child.join()
    return rows


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    names = [*LEXICAL, *VECTOR]
    parser = argparse.ArgumentParser(prog="bench.index", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="one retrieval set, or a folder of sets")
    parser.add_argument("--n", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="entries")
    parser.add_argument("--only", nargs="+", default=names, metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args(given)
    try:
        for name in options.only:
            if name not in names:
                raise InvalidInput("only", name, ", ".join(names))
        rows = compare(options.data, options.n, options.only)
    except HindsightError as error:
        print(f"bench.index: {error}", file=sys.stderr)
        return 2
    print(plain(rows, head="index"))
    if options.json:
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

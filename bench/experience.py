"""Whether an experience is found in the right situation only: `python -m bench.experience --data DIR [--json FILE]`.

The experiences of a set are written through the public API into a fresh data folder, and every situation is searched
among them. Each set of folders has a row, and two rows beside it of the same measures by plain means:
`SET/bm25` (k1 1.2, b 0.75 over the lower-case words, or pairs of Chinese characters, of the triggers) and `SET/vector`
(the cosine of trigger and situation by the embedder that ships with hindsight). `lessons` is made up: planted successes
and failures in both languages.

- top1: share of the situations with a right experience for which one comes first
- top1_or_partial: the same, counting those that share tools or most skills with a right one
- lookalike_first: the share for which one of another group of the same site or domain comes first
- null_confident: share of the situations without a right experience that were answered with confidence (wrong)
- right_kept: share of the others that were (right)
- null_auc: how well the first hit's fit tells the two apart: the chance that it is higher where there is a right one
- failure_as_advice: share of the hits that failed and came without a warning, or as anything but a lesson in the block;
  success_warned: of those that worked and came with one
- search_ms: CPU milliseconds of a search, the mean

`curve/SET/T`: right_kept and null_confident if the answer were confident from a fit of T on.
`library/N`: search_ms where N experiences are kept that were made up, and hot_ms, hot_share, hot_mb: whether a hot tier
would pay (`bench.growth`).
"""

from __future__ import annotations

import argparse
import asyncio
import math
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.growth import growth
from bench.metrics import mean
from bench.report import plain, progress, rounded, write_json
from bench.situations import Kept, Library, Situation, lessons, read_libraries
from hindsight import Hindsight
from hindsight.config import load
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.hit import MemoryHit
from hindsight.domain.query import SearchResult
from hindsight.errors import HindsightError
from hindsight.models.embedder import UseMultilingual

CURVE = "curve/"
SIZES = "library/"
ORDER = (
    "situations", "top1", "top1_or_partial", "lookalike_first", "null_confident", "right_kept", "null_auc",
    "failure_as_advice", "success_warned", "search_ms", "hot_ms", "hot_share", "hot_mb",
)  # fmt: skip
STEPS = tuple(round(0.05 * step, 2) for step in range(2, 18))
TOP_K = 5
SPACE = "bench"
LESSONS = ("[Lesson]", "[教训]")


@dataclass(frozen=True, slots=True)
class Answered:
    """What came first for a situation. `fit`: of the first hit, 0 without one. `warnings`: failed, and warned of."""

    situation: Situation
    group: str | None
    fit: float
    confident: bool = False
    milliseconds: float = 0.0
    warnings: tuple[tuple[bool, bool], ...] = field(default=())

    @property
    def right(self) -> bool:
        """Whether the first is right."""
        return self.group is not None and self.group == self.situation.group


def measure(libraries: Sequence[Library], sizes: Sequence[int]) -> dict[str, dict[str, float]]:
    """The rows of all sets, their baselines and curves, and what a search costs."""
    rows: dict[str, dict[str, float]] = {}
    curves: dict[str, dict[str, float]] = {}
    for library in libraries:
        answered = ask_all(library)
        rows[library.key] = rounded((quality(answered) | behaviour(answered)).items())
        for name, scorer in (("bm25", bm25), ("vector", by_vector)):
            rows[f"{library.key}/{name}"] = rounded(quality(baseline(library, scorer)).items())
        curves |= curve(library.key, answered)
    for size in sizes:
        rows[f"{SIZES}{size}"] = rounded(growth(size).items())
        progress(f"{SIZES}{size} measured", done=True)
    return rows | curves


def ask_all(library: Library) -> list[Answered]:
    """Write the experiences, then search every situation among them."""
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as folder, opened(Path(folder)) as memory:
        group_of = write_all(memory, library.kept)
        answered = []
        for number, situation in enumerate(library.asked, 1):
            begin = time.process_time()
            result = search(memory, situation.text)
            spent = (time.process_time() - begin) * 1000
            answered.append(_answered(situation, result, group_of, spent))
            progress(f"{library.key}: {number} of {len(library.asked)} asked", done=number == len(library.asked))
        return answered


def opened(folder: Path) -> Hindsight:
    """A memory on a fresh folder, with the environment's settings but for where the data lies."""
    return Hindsight(settings=load(data_dir=folder, db_path=folder / "memory.db"))


def write_all(memory: Hindsight, kept: Iterable[Kept]) -> dict[str, str]:
    """Write experiences; the group of each by the id it got."""
    group_of: dict[str, str] = {}
    for one in kept:
        receipt = memory.namespace(SPACE).write_experience(
            one.trigger,
            one.steps or (one.trigger,),
            outcome_status=OutcomeStatus.FAILURE if one.failed else OutcomeStatus.SUCCESS,
            tools_used=one.tools,
        )
        if kept_as := receipt.outcomes[0].memory_id:
            group_of[kept_as] = one.group
    return group_of


def search(memory: Hindsight, text: str) -> SearchResult:
    """One search among experiences."""
    return memory.namespace(SPACE).search(text, top_k=TOP_K, filters={"types": ["experience"]})


def _answered(situation: Situation, result: SearchResult, group_of: Mapping[str, str], spent: float) -> Answered:
    first = result.hits[0] if result.hits else None
    return Answered(
        situation,
        group_of[first.memory_id] if first else None,
        first.scores.get("fit", 0.0) if first else 0.0,
        result.confident,
        spent,
        tuple(_warned(hit, result.context) for hit in result.hits if isinstance(hit, MemoryHit)),
    )


def _warned(hit: MemoryHit, context: str) -> tuple[bool, bool]:
    """Whether an experience failed, and whether it came as a warning: in the hit, and in the block if it is there."""
    failed = hit.outcome is not None and hit.outcome.status is OutcomeStatus.FAILURE
    lines = [line for line in context.splitlines() if f"#{hit.short_id}" in line]
    lesson = all(line.startswith(LESSONS) for line in lines)
    warned = hit.warning is not None and any(words in hit.warning for words in ("failed", "失败"))
    return failed, warned and lesson if failed else warned or bool(lines and lesson)


def quality(answered: Sequence[Answered]) -> dict[str, float]:
    """The measures of SPEC §8."""
    row: dict[str, float] = {"situations": len(answered)}
    known = [one for one in answered if one.situation.group is not None]
    null = [one for one in answered if one.situation.group is None]
    if known:
        row["top1"] = mean([float(one.right) for one in known])
        row["top1_or_partial"] = mean([float(one.right or one.group in one.situation.partial) for one in known])
        row["lookalike_first"] = mean([float(one.group in one.situation.lookalikes) for one in known])
    if known and null:
        row["null_auc"] = auc([one.fit for one in known], [one.fit for one in null])
    return row


def behaviour(answered: Sequence[Answered]) -> dict[str, float]:
    """What only hindsight tells: confidence, warnings, and its cost."""
    row: dict[str, float] = {}
    for name, group in (
        ("null_confident", [one for one in answered if one.situation.group is None]),
        ("right_kept", [one for one in answered if one.situation.group is not None]),
    ):
        if group:
            row[name] = mean([float(one.confident) for one in group])
    hits = [hit for one in answered for hit in one.warnings]
    failed, worked = [warned for bad, warned in hits if bad], [warned for bad, warned in hits if not bad]
    if failed:
        row["failure_as_advice"] = mean([float(not warned) for warned in failed])
        row["success_warned"] = mean([float(warned) for warned in worked]) if worked else 0.0
    row["search_ms"] = mean([one.milliseconds for one in answered])
    return row


def curve(key: str, answered: Sequence[Answered]) -> dict[str, dict[str, float]]:
    """What a higher or lower bar for confidence would give."""
    known = [one.fit for one in answered if one.situation.group is not None]
    null = [one.fit for one in answered if one.situation.group is None]
    if not known or not null:
        return {}
    return {
        f"{CURVE}{key}/{bar:.2f}": rounded(
            {
                "right_kept": mean([float(fit >= bar) for fit in known]),
                "null_confident": mean([float(fit >= bar) for fit in null]),
            }.items()
        )
        for bar in STEPS
    }


def auc(known: Sequence[float], null: Sequence[float]) -> float:
    """The chance that one of `known` is above one of `null`, a tie counting half (Mann-Whitney)."""
    wins = sum((one > other) + 0.5 * (one == other) for one in known for other in null)
    return wins / (len(known) * len(null))


def baseline(library: Library, scorer: Callable[[Library], list[list[float]]]) -> list[Answered]:
    """What a plain ranking puts first."""
    answered = []
    for situation, scores in zip(library.asked, scorer(library), strict=True):
        best = max(range(len(scores)), key=scores.__getitem__)
        answered.append(Answered(situation, library.kept[best].group, scores[best]))
    return answered


def bm25(library: Library) -> list[list[float]]:
    """Okapi BM25 of every trigger for every situation."""
    texts = [_words(one.trigger) for one in library.kept]
    counts = [Counter(words) for words in texts]
    holding = Counter(word for words in texts for word in set(words))
    usual = mean([float(len(words)) for words in texts])
    norms = [1.2 * (1 - 0.75 + 0.75 * len(words) / usual) for words in texts]
    idf = {word: math.log(1 + (len(texts) - held + 0.5) / (held + 0.5)) for word, held in holding.items()}
    return [
        [
            sum(idf[word] * count[word] * 2.2 / (count[word] + norm) for word in asked if count[word])
            for count, norm in zip(counts, norms, strict=True)
        ]
        for asked in (set(_words(one.text)) for one in library.asked)
    ]


def _words(text: str) -> list[str]:
    words = []
    for run in re.findall(r"[a-z0-9]+|[一-鿿]+", text.lower()):
        words += [run] if run.isascii() or len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
    return words


def by_vector(library: Library) -> list[list[float]]:
    """The cosine of every trigger and every situation."""

    async def embedded() -> list[list[float]]:
        model = UseMultilingual()
        try:
            triggers = await model.embed([one.trigger for one in library.kept])
            situations = await model.embed([one.text for one in library.asked])
        finally:
            await model.aclose()
        return np.asarray(situations @ triggers.T, np.float64).tolist()  # type: ignore[no-any-return]  # two dimensions

    return asyncio.run(embedded())


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.experience", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, required=True, help="one set, or a folder of sets")
    made.add_argument("--sets", nargs="+", default=[], metavar="NAME", help="only these folders")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    made.add_argument(
        "--sizes", nargs="*", type=int, default=[], metavar="N", help="measure the cost with N experiences kept"
    )
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    if any(size < 0 for size in options.sizes):
        parser().error("--sizes: allowed: 0 and above")
    try:
        libraries = [*read_libraries(options.data, options.sets), *([] if options.sets else [lessons()])]
        rows = measure(libraries, options.sizes)
    except HindsightError as error:
        print(f"bench.experience: {error}", file=sys.stderr)
        return 2
    print(plain(rows, ORDER))
    if options.json:
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

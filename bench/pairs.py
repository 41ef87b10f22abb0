"""Same, different, or in its place? `python -m bench.pairs --data DIR [--json FILE] [--misses]`.

The two statements of a pair are written one after the other through the public API into a namespace of their own, and
the outcome of the second is read: merged with the first, superseding it, or neither. The set `pairs` and the further
pairs of `pairs_more.jsonl`, which were labelled before the rules that they judge, are scored alike.

- accuracy: share of the pairs judged as labelled
- false_merge, false_retirement: share of the `different` pairs judged `same`, and `supersedes`; each loses a memory
- other: share of all pairs that are wrong in another way, which loses nothing
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.data import DataError, read_rows
from bench.report import plain, progress, rounded, write_json
from hindsight import Hindsight
from hindsight.config import load
from hindsight.domain.change import OutcomeAction, Receipt
from hindsight.errors import HindsightError

FILE = "pairs.jsonl"
MORE = Path(__file__).parent / "pairs_more.jsonl"
DECISIONS = ("same", "different", "supersedes")
CONFUSED = "confusion/"  # keys of the tables: what was labelled → how it was judged
ORDER = ("pairs", "accuracy", "false_merge", "false_retirement", "other")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, `b` said after `a`, and what `b` is to `a`."""

    id: str
    a: str
    b: str
    language: str
    decision: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair, how it was judged, and the reason that was given."""

    pair: Pair
    decision: str
    reason: str


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file. Raises `DataError`."""
    pairs = []
    for row in read_rows(path):
        if row.values.get("decision") not in DECISIONS:
            raise row.error("decision", f"one of {', '.join(DECISIONS)}")
        pairs.append(Pair(row.text("id"), row.text("a"), row.text("b"), row.text("language"), row.text("decision")))
    return pairs


def find(data: Path, name: str, folder: str) -> Path:
    """A file in a set's own folder or in the folder of all sets. Raises `DataError`."""
    path = next((path for path in (data / name, data / folder / name) if path.exists()), None)
    if path is None:
        raise DataError(f"{data}: no {name}", hint=f"Give the folder of the set «{folder}», or that of all sets.")
    return path


def judge(memory: Hindsight, pair: Pair) -> Judged:
    """Write both statements and read the decision out of the second receipt."""
    space = memory.namespace(pair.id)
    first = {one.memory_id for one in space.write(pair.a).outcomes}
    return Judged(pair, *decision(first, space.write(pair.b)))


def decision(first: set[str | None], second: Receipt) -> tuple[str, str]:
    """What the second write did to the memories of the first, and why; the strongest of several outcomes counts."""
    for outcome in second.outcomes:
        if outcome.action is OutcomeAction.SUPERSEDED and first.intersection(outcome.other_ids):
            return "supersedes", outcome.reason
    for outcome in second.outcomes:
        if outcome.action is OutcomeAction.MERGED and outcome.memory_id in first:
            return "same", outcome.reason
    return "different", next((outcome.reason for outcome in second.outcomes if outcome.reason), "")


def measure(sets: Mapping[str, Sequence[Pair]]) -> dict[str, list[Judged]]:
    """Every pair of every set, judged in a fresh data folder."""
    judged: dict[str, list[Judged]] = {}
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as folder:
        settings = load(data_dir=Path(folder), db_path=Path(folder) / "memory.db")
        with Hindsight(settings=settings) as memory:
            for name, pairs in sets.items():
                judged[name] = [judge(memory, pair) for pair in pairs]
                progress(f"{name}: {len(pairs)} judged", done=True)
    return judged


def score(judged: Mapping[str, Sequence[Judged]]) -> dict[str, dict[str, float]]:
    """The rows of each set, whole and by language, then the tables of confusion."""
    rows: dict[str, dict[str, float]] = {}
    tables: dict[str, dict[str, float]] = {}
    for name, whole in judged.items():
        parts: dict[str, list[Judged]] = defaultdict(list)
        for one in whole:
            parts[name].append(one)
            parts[f"{name}/{one.pair.language}"].append(one)
        for key, part in parts.items():
            rows[key] = {"pairs": len(part), **rounded(shares(part).items())}
            tables |= confusion(key, part)
    return rows | tables


def shares(judged: Sequence[Judged]) -> dict[str, float]:
    """The four measures."""
    different = [one for one in judged if one.pair.decision == "different"]
    lost = Counter(one.decision for one in different)
    wrong = sum(one.decision != one.pair.decision for one in judged)
    return {
        "accuracy": 1 - wrong / len(judged),
        "false_merge": lost["same"] / max(1, len(different)),
        "false_retirement": lost["supersedes"] / max(1, len(different)),
        "other": (wrong - lost["same"] - lost["supersedes"]) / len(judged),
    }


def confusion(key: str, judged: Sequence[Judged]) -> dict[str, dict[str, float]]:
    """For each label how often each decision was made."""
    counts = Counter((one.pair.decision, one.decision) for one in judged)
    return {
        f"{CONFUSED}{key}/{label}": {made: counts[label, made] for made in DECISIONS}
        for label in DECISIONS
        if any(counts[label, made] for made in DECISIONS)
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.pairs", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, required=True, help="the folder of the set «pairs», or of all sets")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    made.add_argument("--misses", action="store_true", help="list the pairs that were judged wrong")
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    try:
        sets = {"pairs": read_pairs(find(options.data, FILE, "pairs")), "pairs_more": read_pairs(MORE)}
        judged = measure(sets)
    except HindsightError as error:
        print(f"bench.pairs: {error}", file=sys.stderr)
        return 2
    rows = score(judged)
    print(plain({key: row for key, row in rows.items() if not key.startswith(CONFUSED)}, ORDER))
    print()
    tables = {key.removeprefix(CONFUSED): row for key, row in rows.items() if key.startswith(CONFUSED)}
    print(plain(tables, DECISIONS, head="labelled"))
    if options.misses:
        for one in (one for part in judged.values() for one in part if one.decision != one.pair.decision):
            pair = one.pair
            print(f"{pair.id}: {pair.decision}, judged {one.decision} ({one.reason}): {pair.a} | {pair.b}")
    if options.json:
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Does the later fact answer? `python -m bench.updates --data DIR [--json FILE] [--misses]`.

The facts of a scope are written as facts in the order of the file, without times, through the public API; then every
question is searched. Rows marked `doubtful` are left out.

- current_first: share of the questions whose first hit holds a current value
- outdated_as_current: of the questions with an outdated value, the share for which a fact that gives it is among the
  first five hits: one equal to the current fact but for the value
- wrongly_retired: of the facts that no later fact rivals (equal to it but for the value), the share that no longer
  answers; a fact that says word for word what another says counts with it
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.data import DataError, read_rows
from bench.report import plain, progress, rounded, write_json
from hindsight import Hindsight
from hindsight.config import load
from hindsight.errors import HindsightError

SET = "factconsolidation"
TOP = 5
BATCH = 100  # facts in one call of `write_many`
ORDER = ("questions", "with_outdated", "facts", "current_first", "outdated_as_current", "wrongly_retired")
# The relations of the set: what stands before the value. The key of two facts that rival each other.
_FRAME = re.compile(
    r"(?P<frame>(?:The .+? is (?:located in the city of )?"
    r"|.+?(?:'s child is|'s \w+ is"
    r"| is (?:a citizen of|married to|located in the continent of|affiliated with the religion of|famous for"
    r"|employed by|associated with the sport of)"
    r"| was (?:created in the country of|created by|founded by|founded in the city of|performed by|developed by"
    r"|born in the city of|written in the language of)"
    r"| (?:died in the city of|speaks the language of|plays the position of|worked in the city of"
    r"|works in the field of))) ?)(?P<value>.+)"
)


@dataclass(frozen=True, slots=True)
class Update:
    """One question with the values that count and those that no longer do."""

    id: str
    query: str
    current: tuple[str, ...]
    outdated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """Facts in the order they were said, and the questions over them."""

    key: str
    facts: tuple[str, ...]
    updates: tuple[Update, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its first hits."""

    update: Update
    hits: tuple[str, ...]

    @property
    def current_first(self) -> bool:
        """Whether the first hit holds a current value."""
        return bool(self.hits) and holds(self.hits[0], self.update.current)


def read_scopes(data: Path) -> list[Scope]:
    """The scopes of the set in `data` or in its folder. Raises `DataError`."""
    folder = data if sorted(data.glob("updates_*.jsonl")) else data / SET
    paths = sorted(folder.glob("updates_*.jsonl"))
    if not paths:
        raise DataError(f"{data}: no updates_*.jsonl", hint=f"Give the folder of the set «{SET}», or that of all sets.")
    return [_scope(path) for path in paths]


def _scope(path: Path) -> Scope:
    size = path.stem.removeprefix("updates_")
    facts = [row.text("text") for row in read_rows(path.with_name(f"facts_{size}.jsonl"))]
    updates = [
        Update(row.text("id"), row.text("query"), row.texts("current"), row.texts("outdated"))
        for row in read_rows(path)
        if not row.values.get("doubtful")
    ]
    return Scope(f"{SET}_{size}", tuple(facts), tuple(updates))


def holds(text: str, values: Sequence[str]) -> bool:
    """Whether a text names one of these values as words of its own."""
    return any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) for value in values)


def frame(fact: str) -> str | None:
    """What a fact says before its value; `None` for a sentence of none of the set's relations."""
    match = _FRAME.fullmatch(fact)
    return match["frame"].lower() if match else None


def outdated_facts(scope: Scope, update: Update) -> set[str]:
    """The facts that give an outdated value: equal but for the value to one that gives a current value."""
    asked = _words(update.query)
    frames = {frame(fact) or "" for fact in scope.facts if _gives(fact, update.current)}
    meant = max(frames, key=lambda one: (len(_words(one) & asked), -len(one)), default="")
    return {fact for fact in scope.facts if frame(fact) == meant and _gives(fact, update.outdated)}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _gives(fact: str, values: Sequence[str]) -> bool:
    match = _FRAME.fullmatch(fact)
    return match is not None and match["value"].rstrip(".").casefold() in {one.rstrip(".").casefold() for one in values}


def unrivalled(facts: Sequence[str]) -> list[str]:
    """The facts without a later one of the same frame, each once."""
    last = {frame(fact) or fact: fact for fact in facts}
    return list(dict.fromkeys(last.values()))


def measure(scope: Scope) -> tuple[dict[str, float], list[str]]:
    """The figures of a scope, and a line for each miss."""
    with tempfile.TemporaryDirectory(prefix="hindsight-bench-") as folder:
        settings = load(data_dir=Path(folder), db_path=Path(folder) / "memory.db")
        with Hindsight(settings=settings) as memory:
            space = memory.namespace(scope.key)
            for start in range(0, len(scope.facts), BATCH):
                space.write_many([{"content": fact, "kind": "fact"} for fact in scope.facts[start : start + BATCH]])
            progress(f"{scope.key}: {len(scope.facts)} written", done=True)
            answered = [
                Answered(one, tuple(hit.content for hit in space.search(one.query, top_k=TOP).hits))
                for one in scope.updates
            ]
            progress(f"{scope.key}: {len(answered)} asked", done=True)
            active = _active(space)
    return score(scope, answered, active)


def _active(space: Hindsight) -> set[str]:
    found: set[str] = set()
    after: str | None = None
    while True:
        page = space.list(limit=500, after=after)
        found.update(memory.content for memory in page.items)
        after = page.next
        if after is None:
            return found


def score(scope: Scope, answered: Sequence[Answered], active: set[str]) -> tuple[dict[str, float], list[str]]:
    """The measures out of the answers and of what is still active."""
    misses = [
        f"{one.update.query} → {one.hits[:1]}, not {one.update.current}" for one in answered if not one.current_first
    ]
    challenged = [one for one in answered if one.update.outdated]
    shown = [one for one in challenged if outdated_facts(scope, one.update).intersection(one.hits)]
    misses += [f"{one.update.query} → outdated among {one.hits}" for one in shown]
    alone = unrivalled(scope.facts)
    retired = [fact for fact in alone if fact not in active]
    misses += [f"retired: {fact}" for fact in retired]
    figures = rounded(
        {
            "current_first": sum(one.current_first for one in answered) / max(1, len(answered)),
            "outdated_as_current": len(shown) / max(1, len(challenged)),
            "wrongly_retired": len(retired) / max(1, len(alone)),
        }.items()
    )
    counts = {"questions": len(answered), "with_outdated": len(challenged), "facts": len(scope.facts)}
    return {**counts, **figures}, misses


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.updates", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, required=True, help=f"the folder of the set «{SET}», or of all sets")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    made.add_argument("--misses", action="store_true", help="list what went wrong")
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    rows: Mapping[str, Mapping[str, float]]
    try:
        measured = {scope.key: measure(scope) for scope in read_scopes(options.data)}
    except HindsightError as error:
        print(f"bench.updates: {error}", file=sys.stderr)
        return 2
    rows = {key: figures for key, (figures, _) in measured.items()}
    print(plain(rows, ORDER))
    if options.misses:
        for _, misses in measured.values():
            print("\n".join(misses))
    if options.json:
        write_json(options.json, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""How well times are read: `python -m bench.time --data DIR [--json FILE] [--misses]`.

A row is right when as many times are found as expected, each with the same start and an end at most one expected
grain off (the sources disagree on whether the last unit is inside), or one of its other readings. `exact_zh`,
`exact_en`: share of the rows with a time that are right, without those that name a festival; `exact_zh_all`,
`exact_en_all`: with them. `no_time_kept`: share of the texts without a time in which none is found. `--misses` lists
what was missed, by kind.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path

from bench.data import DataError
from bench.report import plain, rounded, write_json
from hindsight.errors import HindsightError
from hindsight.language.time import TimeMention, find_times
from hindsight.language.time.values import GRAINS, Grain, add

# References come without an offset. Duckling's corpus is spoken two hours behind UTC; its rows with zone names need it.
ZONES: Mapping[str, tzinfo] = {"duckling": timezone(timedelta(hours=-2))}
FILE = "time.jsonl"
WHOLE = "time"
MISSES = "misses/"  # keys of the counts of misses by kind
METRICS = ("exact_zh", "exact_en", "exact_zh_all", "exact_en_all", "no_time_kept")


@dataclass(frozen=True, slots=True)
class Expected:
    """One reading: local times without a zone, `None` an open side."""

    start: datetime | None
    end: datetime | None
    grain: str

    def fits(self, found: TimeMention) -> bool:
        """Whether a mention says the same: the start equal, the end within one grain."""
        start = found.start.replace(tzinfo=None) if found.start else None
        end = found.end.replace(tzinfo=None) if found.end else None
        if start != self.start or (end is None) != (self.end is None):
            return False
        if end is None or self.end is None:
            return True
        grain: Grain = next((name for name in GRAINS if name == self.grain), "day")
        near, far = (add(self.end.replace(tzinfo=UTC), step, grain).replace(tzinfo=None) for step in (-1, 1))
        return near <= end <= far


@dataclass(frozen=True, slots=True)
class Row:
    """One text with what it should give: for each mention the readings that count; nothing where it holds no time."""

    text: str
    reference: datetime
    language: str
    source: str
    festival: bool
    expected: tuple[tuple[Expected, ...], ...]

    def right(self, found: Sequence[TimeMention]) -> bool:
        """Whether all mentions were read, in order, and nothing else."""
        pairs = zip(self.expected, found, strict=False)
        return len(found) == len(self.expected) and all(any(one.fits(got) for one in wanted) for wanted, got in pairs)


def read_rows(data: Path) -> list[Row]:
    """The rows of the set in `data` or in its folder `time`. Raises `DataError`."""
    path = next((path for path in (data / FILE, data / "time" / FILE) if path.exists()), None)
    if path is None:
        raise DataError(f"{data}: no {FILE}", hint="Give the folder of the set «time», or the folder of all sets.")
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            rows.append(_row(json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"{path}:{number}: {error!r}", hint="See the format in the README of the data.") from error
    return rows


def _row(given: Mapping[str, object]) -> Row:
    source = str(given["source"])
    reference = datetime.fromisoformat(str(given["reference"])).replace(tzinfo=ZONES.get(source, UTC))
    items: list[dict[str, object]] = given["expected"] or []  # type: ignore[assignment]  # checked by use
    expected = tuple(tuple(_reading(one) for one in (item, *(item.get("alt") or []))) for item in items)  # type: ignore[misc]  # checked by use
    return Row(str(given["text"]), reference, str(given["language"]), source, bool(given.get("festival")), expected)


def _reading(given: Mapping[str, object]) -> Expected:
    start, end = (datetime.fromisoformat(str(side)) if (side := given[name]) else None for name in ("start", "end"))
    return Expected(start, end, str(given["grain"]))


@dataclass(frozen=True, slots=True)
class Miss:
    """A row that was read wrongly, with what was found."""

    row: Row
    found: tuple[TimeMention, ...]

    @property
    def kind(self) -> str:
        """In what it is wrong: the first mention that differs decides."""
        if not self.row.expected:
            return "a time where there is none"
        if not self.found:
            return "nothing found"
        if len(self.found) != len(self.row.expected):
            return "another number of times"
        pairs = zip(self.row.expected, self.found, strict=True)
        wanted, got = next((one, two) for one, two in pairs if not any(reading.fits(two) for reading in one))
        return _difference(wanted[0], got)

    @property
    def line(self) -> str:
        """The row for a person: text, moment of speaking, wanted, found."""
        wanted = "; ".join(f"{one[0].start} to {one[0].end}" for one in self.row.expected) or "no time"
        found = "; ".join(f"[{one.text}] {_local(one.start)} to {_local(one.end)}" for one in self.found) or "nothing"
        return f"{self.row.text!r} ({self.row.reference:%Y-%m-%d %H:%M}): wanted {wanted}; found {found}"


def _local(moment: datetime | None) -> datetime | None:
    return moment.replace(tzinfo=None) if moment else None


def _difference(wanted: Expected, got: TimeMention) -> str:
    start, end = _local(got.start), _local(got.end)
    if (start is None, end is None) != (wanted.start is None, wanted.end is None):
        return "open on another side"
    if start is None or end is None or wanted.start is None or wanted.end is None:
        return "open from or to another moment"
    if (start == end) != (wanted.start == wanted.end):
        return "a moment for a period or the reverse"
    if start == wanted.start:
        return "another end"
    apart = abs(start - wanted.start)
    if apart < timedelta(days=1):
        return "other hours"
    if (end - start) == (wanted.end - wanted.start):
        return "another week" if apart.days % 7 == 0 and apart.days < 60 else "another day, month or year"
    return "another beginning"


def score(rows: Iterable[Row]) -> tuple[dict[str, dict[str, float]], list[Miss]]:
    """The figures, whole and by source, and the misses."""
    tallies: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    misses = []
    for row in rows:
        found = find_times(row.text, row.reference)
        hit = row.right(found)
        if not hit:
            misses.append(Miss(row, tuple(found)))
        for key in (WHOLE, f"{WHOLE}/{row.source}"):
            for metric in _metrics(row):
                tallies[key, metric] += 1
                right[key, metric] += hit
    keys = dict.fromkeys(key for key, _ in tallies)
    figures = {
        key: rounded((name, right[key, name] / tallies[key, name]) for name in METRICS if tallies[key, name])
        for key in keys
    }
    return figures, misses


def grouped(misses: Iterable[Miss]) -> dict[str, list[Miss]]:
    """The misses by language and kind, the most frequent first."""
    groups: dict[str, list[Miss]] = defaultdict(list)
    for miss in misses:
        apart = "festival" if miss.row.festival else miss.row.source
        groups[f"{miss.row.language}, {apart}: {miss.kind}"].append(miss)
    return dict(sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])))


def _metrics(row: Row) -> list[str]:
    if not row.expected:
        return ["no_time_kept"]
    whole = f"exact_{row.language}_all"
    return [whole] if row.festival else [f"exact_{row.language}", whole]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.time", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--data", type=Path, required=True, help="the set, or the folder of sets")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    made.add_argument("--misses", action="store_true", help="list every row that was read wrongly, by kind")
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    try:
        figures, misses = score(read_rows(options.data))
    except HindsightError as error:
        print(f"bench.time: {error} {error.hint}", file=sys.stderr)
        return 2
    groups = grouped(misses)
    counts: dict[str, dict[str, float]] = {f"{MISSES}{name}": {"rows": len(group)} for name, group in groups.items()}
    print(plain(figures, METRICS))
    for name, group in groups.items():
        print(f"{len(group):4} {name}")
        for miss in group if options.misses else []:
            print(f"       {miss.line}")
    if options.json:
        write_json(options.json, figures | counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`hindsight write --file`: many messages from a file of JSON lines, in batches, with progress.

A bad line never stops the others: it is left out and reported with its number.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from hindsight.domain.change import Receipt
from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.errors import BAD_INPUT, OK, visible
from hindsight.interfaces.shapes import Shape, receipt_shape

if TYPE_CHECKING:
    from hindsight.embedded import Hindsight
    from hindsight.interfaces.cli.call import Call

BATCH = 200  # lines written in one call: enough to share the work, few enough that progress moves
BATCH_BYTES = 1_000_000  # a batch of long lines ends here
MAX_LINE = 16_000_000  # bytes; four for each of the 4,000,000 characters that one write may have
LINE_FORM = 'one JSON object a line, such as {"content": "...", "speaker": "..."}'

Given: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file: its number from 1, and the arguments of a write, or why there are none."""

    number: int
    size: int
    given: Given | InvalidInput


@dataclass(slots=True)
class Report:
    """What an import has done so far. `rejected` has the bad lines by number."""

    keep_receipts: bool
    lines: int = 0
    written: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    degraded: set[str] = field(default_factory=set)
    receipts: list[Shape] = field(default_factory=list)
    rejected: dict[int, InvalidInput] = field(default_factory=dict)

    def take(self, line: Line, answer: Receipt | InvalidInput) -> None:
        """Count one line."""
        self.lines += 1
        if isinstance(answer, InvalidInput):
            self.rejected[line.number] = answer
            return
        self.written += 1
        self.actions.update(outcome.action.value for outcome in answer.outcomes)
        self.degraded.update(answer.degraded)
        if self.keep_receipts:
            self.receipts.append(receipt_shape(answer))

    def shape(self) -> Shape:
        """As JSON."""
        return {
            "lines": self.lines,
            "written": self.written,
            "actions": dict(self.actions),
            "degraded": [*sorted(self.degraded)],
            "rejected": [
                {"line": number, "field": error.field, "value": error.value, "allowed": error.allowed}
                for number, error in sorted(self.rejected.items())
            ],
            "receipts": list(self.receipts),
        }

    def text(self) -> str:
        """As one line."""
        counts = ", ".join(f"{count} {action}" for action, count in sorted(self.actions.items())) or "nothing new"
        bad = f"; bad lines left out: {len(self.rejected)}" if self.rejected else ""
        missing = f"; done without: {', '.join(sorted(self.degraded))}" if self.degraded else ""
        return f"{self.written} of {self.lines} lines written: {counts}{bad}{missing}"


def run(call: Call, file: str, defaults: Given) -> int:
    """Import a file (`-`: standard input). 2 if a line was bad. `defaults` hold for lines that do not say."""
    report = Report(keep_receipts=call.json)
    console = Console(stderr=True, highlight=False)
    with _source(file) as (stream, size), call.open(warm=True) as memory, _progress(console, size) as advance:
        try:
            for batch in batches(read_lines(stream, defaults)):
                for line, answer in write_batch(memory, batch):
                    report.take(line, answer)
                    if isinstance(answer, InvalidInput) and not call.json:
                        console.print(visible(f"line {line.number}: {answer}"), markup=False, soft_wrap=True)
                advance(sum(line.size for line in batch), report.lines)
        except BaseException:
            # Also when interrupted: the person must know that part of the file is in the memory by now.
            console.print(f"stopped: {report.written} lines were written before")
            raise
    call.answer(report.shape(), [report.text()])
    return BAD_INPUT if report.rejected else OK


def read_lines(stream: BinaryIO, defaults: Given) -> Iterator[Line]:
    """Lines that hold something, each with the arguments of a write."""
    for number in count(1):
        raw = stream.readline(MAX_LINE + 1)
        if not raw:
            return
        size = len(raw)
        if size > MAX_LINE:
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(MAX_LINE)
                size += len(raw)
            yield Line(number, size, InvalidInput("line", f"{size} bytes", f"at most {MAX_LINE} bytes"))
        elif raw.strip():
            yield Line(number, size, _read(raw, defaults))


def _read(raw: bytes, defaults: Given) -> Given | InvalidInput:
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return InvalidInput("line", raw[error.start : error.start + 20], "text in UTF-8")
    except (ValueError, RecursionError):
        return InvalidInput("line", raw[:60].decode(errors="replace").strip(), LINE_FORM)
    if not isinstance(value, dict):
        return InvalidInput("line", value, LINE_FORM)
    return {**defaults, **value}


def batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Lines in groups that are written together."""
    batch: list[Line] = []
    for line in lines:
        batch.append(line)
        if len(batch) == BATCH or sum(one.size for one in batch) >= BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def write_batch(memory: Hindsight, batch: Sequence[Line]) -> Iterator[tuple[Line, Receipt | InvalidInput]]:
    """Write lines in one call. If one is refused nothing was written, and halves are tried, down to that line."""
    good = []
    for line in batch:
        if isinstance(line.given, InvalidInput):
            yield line, line.given
        else:
            good.append((line, line.given))
    yield from _write(memory, good)


def _write(memory: Hindsight, lines: Sequence[tuple[Line, Given]]) -> Iterator[tuple[Line, Receipt | InvalidInput]]:
    if not lines:
        return
    try:
        receipts = memory.write_many([given for _, given in lines])
    except InvalidInput as error:
        if len(lines) == 1:
            yield lines[0][0], error
            return
        middle = len(lines) // 2
        yield from _write(memory, lines[:middle])
        yield from _write(memory, lines[middle:])
    else:
        yield from ((line, receipt) for (line, _), receipt in zip(lines, receipts, strict=True))


@contextmanager
def _source(file: str) -> Iterator[tuple[BinaryIO, int | None]]:
    """The file and its size in bytes; `None` where that is not known, as for a pipe."""
    if file == "-":
        yield sys.stdin.buffer, None
        return
    path = Path(file)
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InvalidInput("--file", file, f"a file that can be read ({error.strerror})") from error
    with stream:
        yield stream, path.stat().st_size if path.is_file() else None


@contextmanager
def _progress(console: Console, size: int | None) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, on a terminal only. The function inside takes bytes just read and lines done so far."""
    columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TextColumn("{task.fields[lines]} lines"))
    with Progress(*columns, TimeElapsedColumn(), console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("importing", total=size, lines=0)
        yield lambda read, lines: progress.update(task, advance=read, lines=lines)

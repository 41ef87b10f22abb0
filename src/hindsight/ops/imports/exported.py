"""An export, brought into a store as it was: ids, times, states, history.

Lines are taken in order and in small batches, each all or nothing under a key made of its lines. What is there already
is passed over, so a run that was cut short is simply begun again, and a second run changes nothing. A bad line never
stops the others: it is left out and told with its number and field.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, BinaryIO

from hindsight.domain.kept import Record
from hindsight.errors import InvalidInput
from hindsight.ops.exports import FORM, VERSION, Tally
from hindsight.ops.imports.bringing import Bringer, Item
from hindsight.ops.records import record_of
from hindsight.ports import Clock, Ids, Report, Store

BATCH = 200  # records in one batch
BATCH_BYTES = 1_000_000  # a batch of long lines ends here
MAX_LINE = 64_000_000  # bytes: a memory with a very long history
LINE_FORM = "one JSON object a line, as `hindsight export` writes them"
NO_EXPORT = "a file that `hindsight export` wrote; plain messages go in with `hindsight write --file`"


@dataclass(slots=True)
class ImportReport:
    """What an import has done. `brought` and `there` (already) count records by type, `rejected` is by line number.

    `complete`: the file has its end. `altered`: namespaces whose lines are not those that were written.
    `without_vector`: entries that wait for one, up to a thousand in a namespace.
    """

    lines: int = 0
    brought: Counter[str] = field(default_factory=Counter)
    there: Counter[str] = field(default_factory=Counter)
    purged: int = 0
    rejected: dict[int, InvalidInput] = field(default_factory=dict)
    complete: bool = False
    altered: tuple[str, ...] = ()
    namespaces: set[str] = field(default_factory=set)
    without_vector: int = 0


async def bring(
    stream: BinaryIO,
    store: Store,
    clock: Clock,
    ids: Ids,
    *,
    into: str | None = None,
    size: int = 0,
    report: Report | None = None,
) -> ImportReport:
    """Import an export. `into`: the namespace that takes it, for a file of one namespace. `InvalidInput` for no export.

    `size`: bytes of the stream, if known, to tell `report` how far it is.
    """
    done = ImportReport()
    bringer = Bringer(store, clock, ids, done.brought, done.there, done.rejected)
    tallies: dict[str, Tally] = {}
    lines = _lines(stream)
    _check_header(next(lines, None), into)
    group: list[Item] = []
    read = weight = 0
    for number, raw in lines:
        read += len(raw)
        done.lines += 1
        try:
            line = _parsed(raw)
            if line.get("type") == "end":
                _check_end(line, tallies, done)
                continue
            held, record = _read(line, into)
        except InvalidInput as error:
            done.rejected[number] = error
            continue
        tallies.setdefault(str(line["namespace"]), Tally()).take(record, line)
        done.namespaces.add(held)
        if group and (type(group[0].record) is not type(record) or len(group) == BATCH or weight > BATCH_BYTES):
            await bringer.take(group)
            group, weight = [], 0
            if report is not None:
                report("importing", read, size)
        group.append(Item(number, held, record, raw))
        weight += len(raw)
    if group:
        await bringer.take(group)
    done.purged = bringer.purged
    return done


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Lines that hold something, with their numbers from 1; one that is too long is cut, and so can't be read."""
    for number in count(1):
        raw = stream.readline(MAX_LINE)
        if not raw:
            return
        if len(raw) == MAX_LINE:
            while (rest := stream.readline(MAX_LINE)) and not rest.endswith(b"\n"):
                pass
        if raw.strip():
            yield number, raw


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("line", raw[:60].decode(errors="replace").strip(), LINE_FORM) from error
    if not isinstance(value, dict):
        raise InvalidInput("line", value, LINE_FORM)
    return value


def _check_header(first: tuple[int, bytes] | None, into: str | None) -> None:
    try:
        header = _parsed(first[1]) if first is not None else {}
    except InvalidInput as error:
        raise InvalidInput("FILE", error.value, NO_EXPORT) from error
    if header.get("form") != FORM:
        raise InvalidInput("FILE", header.get("form"), NO_EXPORT)
    version = header.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise InvalidInput("version", version, f"1 to {VERSION}; a newer hindsight wrote this file")
    if into is not None and header.get("namespace") is None:
        raise InvalidInput("--namespace", into, "only for a file of one namespace, and this one may hold several")


def _read(line: dict[str, Any], into: str | None) -> tuple[str, Record]:
    return record_of(line if into is None else {**line, "namespace": into})


def _check_end(line: dict[str, Any], tallies: dict[str, Tally], done: ImportReport) -> None:
    ends = line.get("namespaces")
    if not isinstance(ends, dict) or not all(isinstance(end, dict) for end in ends.values()):
        raise InvalidInput("namespaces", ends, "an object of counts by namespace")
    done.complete = True
    found = {name: tally.checksum for name, tally in tallies.items()}
    told = {name: end.get("checksum") for name, end in ends.items()}
    done.altered = tuple(sorted(name for name in {*found, *told} if found.get(name) != told.get(name)))

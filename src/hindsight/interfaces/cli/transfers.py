"""Commands that carry memory from one place to another: export, import."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.backups import shown_progress
from hindsight.interfaces.cli.call import Call, command
from hindsight.interfaces.cli.errors import BAD_INPUT, OK, visible

if TYPE_CHECKING:
    from hindsight.interfaces.shapes import Shape
    from hindsight.ops.imports.exported import ImportReport

app = typer.Typer()
MOST_TOLD = 20  # bad lines shown to a person; JSON has them all


@command(app)
def export(
    call: Call,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The file to write; - for standard output.")
    ] = None,
    *,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="With the vectors; else an import makes them anew.")
    ] = False,
    checksum: Annotated[bool, typer.Option("--checksum", help="Write nothing; only count, with a checksum.")] = False,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="PATH", help="For reading: one file, or a folder with one each."),
    ] = None,
) -> None:
    """Write everything as JSON lines: turns, memories with their history, reviews, sessions. All namespaces, or -n."""
    from hindsight.ops import exports  # noqa: PLC0415 - brings the whole engine

    settings = call.settings()
    if markdown is not None:
        from hindsight.ops import markdown as reading  # noqa: PLC0415 - as above

        written = asyncio.run(reading.export_markdown(settings, markdown, namespace=call.namespace))
        call.answer({"files": [str(path) for path in written]}, [str(path) for path in written])
        return
    if checksum:
        tallies = asyncio.run(exports.checksums(settings, namespace=call.namespace))
    elif file is None:
        raise InvalidInput("FILE", file, "the name of a file, - for standard output, or --markdown or --checksum")
    else:
        target: Path | BinaryIO = sys.stdout.buffer if file == "-" else Path(file)
        with shown_progress(call) as report:
            tallies = asyncio.run(
                exports.export(settings, target, namespace=call.namespace, vectors=vectors, report=report)
            )
    shape: Shape = {"namespaces": {name: tally.shape() for name, tally in sorted(tallies.items())}}
    lines = [
        f"{name}: {tally.counts['memories']} memories, {tally.counts['episodes']} episodes, checksum {tally.checksum}"
        for name, tally in sorted(tallies.items())
    ]
    if file == "-":
        call.note(lines)
    else:
        call.answer(shape, lines)


@command(app, "import")
def import_(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What `hindsight export` wrote; - for standard input.")],
) -> int:
    """Bring an export in as it was. What is there is passed over, so a second import changes nothing. -n: into that."""
    from hindsight.ops import imports  # noqa: PLC0415 - brings the whole engine

    with _source(file) as (stream, size), shown_progress(call) as report:
        done = asyncio.run(imports.bring_export(call.settings(), stream, into=call.namespace, size=size, report=report))
    call.answer(import_shape(done), _told(done))
    call.note(_faults(done))
    return BAD_INPUT if done.rejected or not done.complete or done.altered else OK


def import_shape(done: ImportReport) -> Shape:
    """What an import did, as JSON."""
    return {
        "lines": done.lines,
        "brought": dict(sorted(done.brought.items())),
        "there": dict(sorted(done.there.items())),
        "purged": done.purged,
        "complete": done.complete,
        "altered": list(done.altered),
        "without_vector": done.without_vector,
        "rejected": [
            {"line": number, "field": error.field, "value": error.value, "allowed": error.allowed}
            for number, error in sorted(done.rejected.items())
        ],
    }


def _told(done: ImportReport) -> Iterator[str]:
    brought = ", ".join(f"{count} {name}" for name, count in sorted(done.brought.items())) or "nothing new"
    yield f"{done.lines} lines: {brought}"


def _faults(done: ImportReport) -> Iterator[str]:
    if there := sum(done.there.values()):
        yield f"there already: {there}"
    if done.purged:
        yield f"left out, as it has been purged here: {done.purged}"
    for number, error in sorted(done.rejected.items())[:MOST_TOLD]:
        yield visible(f"line {number}: {error}")
    if len(done.rejected) > MOST_TOLD:
        yield f"and {len(done.rejected) - MOST_TOLD} more bad lines; --json has them all"
    if not done.complete:
        yield "the file has no end: it was cut off; what is in it has been brought in"
    if done.altered and not done.rejected:
        yield f"not as it was written (the checksum differs): {', '.join(done.altered)}"
    if done.without_vector:
        yield f"found by words until a server or `hindsight reindex` has made their vectors: {done.without_vector}"


@command(app)
def reindex(
    call: Call,
    *,
    per_minute: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Most entries embedded in a minute, 0: no limit; else HINDSIGHT_REINDEX_PER_MINUTE."
        ),
    ] = None,
) -> None:
    """Make the vectors of the model that the settings name; the former ones serve until all are there.

    Cut short, it goes on where it was when it is begun again. Also beside a server, which is started again afterwards.
    """
    from hindsight.ops import reindex as ops  # noqa: PLC0415 - brings the whole engine

    settings = call.settings(reindex_per_minute=per_minute)
    with shown_progress(call) as report:
        done = asyncio.run(ops.reindex(settings, report=report))
    call.answer(
        {"model": done.model, "before": done.before, "made": done.made, "switched": done.switched},
        [f"{done.made} vectors made; the store holds those of {done.model}"],
    )
    if done.switched and done.before is not None:
        call.note([f"a server that still runs with {done.before} is to be started again"])


@contextmanager
def _source(file: str) -> Iterator[tuple[BinaryIO, int]]:
    if file == "-":
        yield sys.stdin.buffer, 0
        return
    path = Path(file)
    try:
        stream = path.open("rb")
    except OSError as error:
        raise InvalidInput("FILE", file, f"a file that can be read ({error.strerror})") from error
    with stream:
        yield stream, path.stat().st_size if path.is_file() else 0

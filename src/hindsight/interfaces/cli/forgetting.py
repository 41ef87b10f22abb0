"""`hindsight forget`, and the proof of `hindsight doctor --forgotten`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.call import Call, command, fraction
from hindsight.interfaces.cli.errors import FAILED, OK
from hindsight.interfaces.cli.render import receipt_lines
from hindsight.interfaces.shapes import receipt_shape
from hindsight.interfaces.shapes_forget import forgetting_shape, proof_shape, purged_shape

if TYPE_CHECKING:
    from hindsight.domain.forgotten import Forgetting, Proof
    from hindsight.domain.purge import Purged
    from hindsight.embedded import Hindsight

app = typer.Typer()


@command(app)
def forget(
    call: Call,
    memory_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Id of a memory or turn, whole or short.")
    ] = None,
    *,
    about: Annotated[str | None, typer.Option(metavar="NAME", help="Instead: everything that names this.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Instead: everything of this session.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Instead: all of this namespace.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Of several: do it, not only show it.")] = False,
    purge: Annotated[bool, typer.Option("--purge", help="For good, at once: there is no undo.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before a purge.")] = False,
    decay: Annotated[str, typer.Option(metavar="F", help="1 hides it at once, less only weakens it.")] = "1",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept in its history.")] = "",
) -> int:
    """Hide a memory, or weaken it; the token shown takes it back. With --purge it goes for good."""
    several = about is not None or session is not None or everything
    if several is (memory_id is not None):
        raise InvalidInput("ID", memory_id, "one of an id, --about NAME, --session ID and --everything")
    factor = fraction("decay", decay)
    with call.open() as memory:
        if several:
            _several(call, memory, (about, session, everything), apply=apply, purge=purge, yes=yes, reason=reason)
            return OK
        assert memory_id is not None
        if not purge:
            receipt = memory.forget(memory_id, decay_factor=1.0 if factor is None else factor, reason=reason)
            call.answer(receipt_shape(receipt), receipt_lines(receipt))
            return OK
        if factor not in (None, 1.0):
            raise InvalidInput("--decay", decay, "1 beside --purge")
        _ask(f"Purge {memory_id} for good? There is no undo.", yes=yes)
        purged = memory.purge(memory_id)
    call.answer(purged_shape(purged), purged_lines(purged))
    return OK


def _several(
    call: Call,
    memory: Hindsight,
    meant: tuple[str | None, str | None, bool],
    *,
    apply: bool,
    purge: bool,
    yes: bool,
    reason: str,
) -> None:
    about, session, everything = meant
    if apply and purge:
        shown = memory.forget_about(about, session_id=session, everything=everything)
        _ask(f"Purge {shown.memories} memories and {shown.turns} turns for good? There is no undo.", yes=yes)
    report = memory.forget_about(
        about, session_id=session, everything=everything, dry_run=not apply, purge=purge, reason=reason
    )
    call.answer(forgetting_shape(report), forgetting_lines(report))
    if report.dry_run:
        call.note(["nothing was changed; do it with --apply"])


def _ask(question: str, *, yes: bool) -> None:
    """Ask on the terminal; where there is none, nobody can answer, so --yes is needed."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise InvalidInput("--yes", None, "--yes, as there is no terminal to ask on and a purge has no undo")
    typer.confirm(question, abort=True, err=True)


def purged_lines(purged: Purged) -> Iterator[str]:
    """What went where."""
    yield f"purged  {len(purged.ids)}"
    for part, number in purged.removed.items():
        yield f"{number:>8}  {part}"
    if not purged.scrubbed:
        yield "free pages wait until nobody reads any more; this is made up for by itself"
    yield "backups made before still hold it; a restore purges it again"


def forgetting_lines(report: Forgetting) -> Iterator[str]:
    """How much it is, and examples."""
    would = "would go" if report.dry_run else "purged" if report.purged is not None else "forgotten"
    yield f"{would}  {report.memories} memories, {report.turns} turns"
    if report.touched:
        yield f"stay  {report.touched} memories that rest on other turns too"
    for one in report.examples:
        yield f"    {(one.memory_id or '')[-8:]}  {' '.join(one.content.split())}"
    if report.undo is not None:
        yield f"undo  {report.undo}"
        yield f"purged after  {report.purge_after:%Y-%m-%d}"
    if report.purged is not None:
        yield from purged_lines(report.purged)


def prove(call: Call, memory_id: str, words: Sequence[str]) -> int:
    """`hindsight doctor --forgotten`: first the store, then, once it is closed, every file of the folder."""
    from hindsight.ops.forgotten import files_with  # noqa: PLC0415 - needed here alone

    with call.open() as memory:
        proof = memory.proof(memory_id)
        folder = call.settings().database.parent
    held, read = files_with(folder, words)
    shape = proof_shape(proof)
    shape["files_read"] = read
    shape["files"] = [{"path": str(one.path), "words": list(one.words)} for one in held]
    call.answer(shape, (*_proof_lines(proof), *(f"{one.path} holds {', '.join(one.words)}" for one in held)))
    call.note(
        [f"{read} files were read for {len(words)} words" if words else "no --words: files were not looked through"]
    )
    return OK if proof.gone and not held else FAILED


def _proof_lines(proof: Proof) -> Iterator[str]:
    if proof.stone is None:
        yield f"{proof.id} has not been purged"
    else:
        yield f"{proof.id} was purged on {proof.stone.at:%Y-%m-%d %H:%M}"
        yield from (f"{number:>8}  {part}" for part, number in proof.stone.removed.items())
    yield from (f"left: {count} in {place}" for place, count in proof.left.items())
    if proof.gone:
        yield f"nothing of it is left in {', '.join(proof.looked)}"

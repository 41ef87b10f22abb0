"""Commands about memories: write, search, review, undo."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.call import Call, Session, Tags, command, fraction
from hindsight.interfaces.cli.errors import OK
from hindsight.interfaces.cli.render import (
    receipt_lines,
    receipt_notes,
    result_lines,
    result_notes,
    review_lines,
    review_notes,
)
from hindsight.interfaces.schemas import Arguments
from hindsight.interfaces.shapes import receipt_shape, result_shape
from hindsight.interfaces.shapes_reflect import reviews_shape

MAX_PAGE = 500  # reviews shown at once; the engine's own bound, which is not imported before it is needed
STDIN_LIMIT = 16_000_000  # bytes; four for each of the 4,000,000 characters that one write may have

app = typer.Typer()


@command(app)
def write(
    call: Call,
    text: Annotated[str | None, typer.Argument(help="What to remember; - reads standard input.")] = None,
    *,
    session: Session = None,
    speaker: Annotated[str | None, typer.Option(metavar="NAME", help="Who said it.")] = None,
    role: Annotated[
        str | None, typer.Option(metavar="ROLE", help="user (default), assistant, tool, system or document.")
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="The text is one statement: fact, preference, constraint, event, relation, rule or summary.",
        ),
    ] = None,
    importance: Annotated[str | None, typer.Option(metavar="X", help="0 to 1, instead of what the rules say.")] = None,
    tag: Tags = None,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="When it was said, ISO 8601; else now.")] = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Import messages instead, one JSON object a line (content, role, speaker, session_id, occurred_at, "
            "...); - reads standard input. The other options hold for lines that do not say.",
        ),
    ] = None,
) -> int:
    """Remember what was said or done."""
    said = {
        "session_id": session,
        "speaker": speaker,
        "role": role,
        "kind": kind,
        "importance": fraction("importance", importance),
        "tags": tag,
        "occurred_at": at,
    }
    given = {name: value for name, value in said.items() if value is not None}
    if file is not None:
        if text is not None:
            raise InvalidInput("TEXT", text, "either TEXT or --file, not both")
        from hindsight.interfaces.cli import importing  # noqa: PLC0415 - brings rich, for the progress bar

        return importing.run(call, file, given)
    content = _content(text)
    with call.open(warm=True) as memory:
        receipt = memory.write_many([{**given, "content": content}])[0]
    call.answer(receipt_shape(receipt), receipt_lines(receipt))
    call.note(receipt_notes(receipt))
    return OK


@command(app)
def search(
    call: Call,
    query: Annotated[str, typer.Argument(help="What is asked.")],
    *,
    top_k: Annotated[str | None, typer.Option(metavar="N", help="How many at most, 1 to 100.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="This session only.")] = None,
    time_range: Annotated[
        str | None, typer.Option(metavar="FROM/TO", help="ISO interval, the end not included, or «上周», 'last week'.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--type", metavar="KIND", help="This kind of memory only; may be repeated.")
    ] = None,
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="What was true then, ISO 8601.")] = None,
    max_tokens: Annotated[str | None, typer.Option(metavar="N", help="Budget of the context block.")] = None,
) -> None:
    """Find what matters for a question, best first."""
    with call.open(warm=True) as memory:
        result = memory.search(
            query,
            top_k=top_k,  # type: ignore[arg-type]  # read and checked where all callers' numbers are
            session_id=session,
            time_range=time_range,
            filters={"types": kind} if kind else None,
            max_tokens=max_tokens,  # type: ignore[arg-type]  # as above
            as_of=as_of,
        )
    call.answer(result_shape(result), result_lines(result))
    call.note(result_notes(result))


@command(app)
def review(
    call: Call,
    memory_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Which to decide; without it all are shown.")
    ] = None,
    *,
    new: Annotated[bool, typer.Option("--new", help="The newer memory holds, in place of the older.")] = False,
    old: Annotated[bool, typer.Option("--old", help="The older goes on; the newer does not hold.")] = False,
    both: Annotated[bool, typer.Option("--both", help="They do not contradict; both stand.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="The proposed experience is kept.")] = False,
    reject: Annotated[bool, typer.Option("--reject", help="It is not, and does not come back.")] = False,
    state: Annotated[str, typer.Option(metavar="STATE", help="Show those that are open (default) or closed.")] = "open",
    limit: Annotated[str, typer.Option(metavar="N", help="Show how many at most, 1 to 500.")] = "50",
    after: Annotated[str | None, typer.Option(metavar="PLACE", help="Show those after this one.")] = None,
) -> None:
    """Show contradictions and proposed experiences, which wait for you, or decide one. The token takes it back."""
    given = {"new": new, "old": old, "both": both, "accept": accept, "reject": reject}
    choices = [name for name, chosen in given.items() if chosen]
    if memory_id is None and choices:
        raise InvalidInput("ID", None, "the id of the newer memory or of the proposal, as `hindsight review` shows it")
    if memory_id is None:
        size = Arguments({"limit": limit}, ("limit",)).whole("limit", 1, MAX_PAGE)
        with call.open() as memory:
            page = memory.reviews(state=state, limit=size or MAX_PAGE, after=after)
        call.answer(reviews_shape(page), review_lines(page))
        call.note(review_notes(page, state))
        return
    if len(choices) != 1:
        allowed = "one of --new, --old and --both, or of --accept and --reject"
        raise InvalidInput("decision", " ".join(f"--{name}" for name in choices), allowed)
    with call.open() as memory:
        receipt = memory.resolve_review(memory_id, choices[0])
    call.answer(receipt_shape(receipt), receipt_lines(receipt))


@command(app)
def undo(call: Call, token: Annotated[str, typer.Argument(help="The token that a write or forget showed.")]) -> None:
    """Take back a write, a change or a forget."""
    with call.open() as memory:
        receipt = memory.undo(token)
    call.answer(receipt_shape(receipt), receipt_lines(receipt))


def _content(text: str | None) -> str:
    if text is None:
        raise InvalidInput("TEXT", None, "what to remember, or - for standard input, or --file FILE")
    if text != "-":
        return text
    raw = sys.stdin.buffer.read(STDIN_LIMIT + 1)
    if len(raw) > STDIN_LIMIT:
        raise InvalidInput("TEXT", f"more than {STDIN_LIMIT} bytes", "at most 4,000,000 characters in one call")
    try:
        return raw.decode("utf-8-sig").rstrip("\r\n")  # the shell's line end is not part of what was said
    except UnicodeDecodeError as error:
        raise InvalidInput("TEXT", raw[error.start : error.start + 20], "text in UTF-8") from error

"""The command line, `hindsight`: parse, call one method, render.

Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 bad input, 130 interrupted. What takes
long to import (settings, engine, servers, tables) is imported by the command that needs it, so that help is quick.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from hindsight.errors import HindsightError, InvalidInput
from hindsight.interfaces import mcp_handshake
from hindsight.interfaces.cli_call import AsJson, Call, DataDir, Namespace, command
from hindsight.interfaces.cli_errors import BAD_INPUT, FAILED, INTERRUPTED, OK, Broken, exit_code, explain
from hindsight.interfaces.cli_render import (
    memory_lines,
    receipt_lines,
    receipt_notes,
    result_lines,
    result_notes,
    review_lines,
    review_notes,
)
from hindsight.interfaces.mcp_texts import VERSION
from hindsight.interfaces.schemas import Arguments
from hindsight.interfaces.shapes import memory_shape, receipt_shape, result_shape, reviews_shape

log = logging.getLogger(__name__)

MAX_PAGE = 500  # reviews shown at once; the engine's own bound, which is not imported before it is needed
STDIN_LIMIT = 16_000_000  # bytes; four for each of the 4,000,000 characters that one write may have

app = typer.Typer(
    help="The memory of an LLM agent.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # quicker, and the same on every terminal
    context_settings={"help_option_names": ["-h", "--help"]},
)
experience = typer.Typer(help="Keep what worked or failed.")
app.add_typer(experience, name="experience")

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="Id of the memory, whole or short.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")]
Agent = Annotated[str | None, typer.Option(metavar="NAME", help="Which agent says so; else HINDSIGHT_AGENT.")]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="The conversation or task run.")]


@app.callback(invoke_without_command=True)
def shared(
    context: typer.Context,
    as_json: AsJson = False,
    namespace: Namespace = None,
    data_dir: DataDir = None,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """The memory of an LLM agent. What is said here of namespace and folder counts for the command that follows."""
    context.obj = Call(json=as_json, namespace=namespace, data_dir=data_dir)
    if version:
        context.obj.answer({"version": VERSION}, [f"hindsight {VERSION}"])
        raise typer.Exit
    if context.invoked_subcommand is None:
        sys.stderr.write(context.get_help() + "\n")
        raise typer.Exit(BAD_INPUT)


@command(app)
def serve(
    call: Call,
    *,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address; else HINDSIGHT_HOST.")] = None,
    port: Annotated[str | None, typer.Option(metavar="N", help="Port, 0 for a free one; else HINDSIGHT_PORT.")] = None,
) -> None:
    """Serve REST and MCP over HTTP until interrupted."""
    settings = call.settings(host=host, port=port)
    from hindsight.interfaces import cli_serve  # noqa: PLC0415 - brings fastapi and the MCP SDK

    cli_serve.serve(settings)


@command(app)
def mcp(call: Call) -> None:
    """Serve MCP over standard input and output, for a client that starts this program."""
    wire = mcp_handshake.claim_stdio()
    opening = mcp_handshake.greet(wire)
    from hindsight.interfaces import mcp_stdio  # noqa: PLC0415 - brings the MCP SDK, which may not delay the greeting

    mcp_stdio.serve(wire, opening, call.settings())


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
        "importance": _fraction("importance", importance),
        "tags": tag,
        "occurred_at": at,
    }
    given = {name: value for name, value in said.items() if value is not None}
    if file is not None:
        if text is not None:
            raise InvalidInput("TEXT", text, "either TEXT or --file, not both")
        from hindsight.interfaces import cli_import  # noqa: PLC0415 - brings rich, for the progress bar

        return cli_import.run(call, file, given)
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
        str | None, typer.Option(metavar="FROM/TO", help="ISO interval, the end not included; one side may be empty.")
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
def replay(
    call: Call,
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="The trace_id of a search, as it showed it.")],
    *,
    why: Annotated[str | None, typer.Option("--why", metavar="ID", help="Only say what became of this memory.")] = None,
    as_of_then: Annotated[bool, typer.Option("--as-of-then", help="On the store as it was, not as it is.")] = False,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="Other weights than those of then: a preset, now (those in force), or relevance=0.5,freshness=0.2,...",
        ),
    ] = None,
) -> None:
    """Run a search again and show what is different and why, or why a memory was not returned."""
    from hindsight.interfaces import cli_replay, shapes_trace  # noqa: PLC0415 - needed by no other command

    if why is not None and (as_of_then or weights is not None):
        raise InvalidInput("--why", why, "alone: it is about the search as it was")
    with call.open(warm=True) as memory:
        if why is not None:
            found = memory.explain(trace, why)
            call.answer(shapes_trace.explanation_shape(found), cli_replay.explanation_lines(found))
            return
        again = memory.replay(trace, as_of_then=as_of_then, weights=weights)
    call.answer(shapes_trace.replay_shape(again), cli_replay.replay_lines(again))
    call.note(cli_replay.replay_notes(again))


@command(app, "eval")
def evaluate(
    call: Call,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help='Questions, one JSON object a line: {"query": ..., "relevant": [ids]}; without it, the stored '
            "searches whose hits had feedback.",
        ),
    ] = None,
    *,
    a: Annotated[str | None, typer.Option("--a", metavar="SETTING", help="One setting; else the one in force.")] = None,
    b: Annotated[
        str | None,
        typer.Option("--b", metavar="SETTING", help="The other, e.g. 'weights=balanced;routes=keyword;rerank=off'."),
    ] = None,
) -> int:
    """Measure two settings side by side on questions with known answers. Exit code 1 if there are too few."""
    from hindsight.interfaces import cli_eval  # noqa: PLC0415 - needed by no other command

    questions = None if file is None else cli_eval.questions_of(file)
    with call.open(warm=True) as memory:
        found = memory.evaluate(questions, a=a, b=b)
    call.answer(cli_eval.evaluation_shape(found), cli_eval.evaluation_lines(found))
    call.note(cli_eval.evaluation_notes(found))
    return OK if found.sides else FAILED


@command(app)
def forget(
    call: Call,
    memory_id: MemoryId,
    *,
    decay: Annotated[str, typer.Option(metavar="F", help="1 hides it at once, less only weakens it.")] = "1",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; kept in its history.")] = "",
) -> None:
    """Hide a memory, or weaken it. The token shown takes it back."""
    factor = _fraction("decay", decay)
    with call.open() as memory:
        receipt = memory.forget(memory_id, decay_factor=1.0 if factor is None else factor, reason=reason)
    call.answer(receipt_shape(receipt), receipt_lines(receipt))


@command(experience, "write")
def write_experience(
    call: Call,
    trigger: Annotated[str, typer.Argument(help="The situation it applies to.")],
    *,
    step: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="A step, in order; repeat for each.")] = None,
    outcome: Annotated[str, typer.Option(metavar="HOW", help="success or failure.")] = "success",
    tag: Tags = None,
    tool: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A tool used; may be repeated.")] = None,
    keyword: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="A word to know the situation by; may be repeated.")
    ] = None,
    session: Session = None,
    agent: Agent = None,
) -> None:
    """Keep what worked or failed: in which situation, which steps, how it ended."""
    with call.open(warm=True) as memory:
        receipt = memory.write_experience(
            trigger,
            step or (),
            outcome_status=outcome,
            tags=tag or (),
            tools_used=tool or (),
            keywords=keyword or (),
            session_id=session,
            agent=agent,
        )
    call.answer(receipt_shape(receipt), receipt_lines(receipt))
    call.note(receipt_notes(receipt))


@command(experience, "merge")
def merge_experiences(call: Call) -> None:
    """Merge experiences that are for the same situation. The token shown takes it back."""
    with call.open(warm=True) as memory:
        receipt = memory.merge_experiences()
    call.answer(receipt_shape(receipt), receipt_lines(receipt))
    call.note(receipt_notes(receipt))


@command(app)
def prune(
    call: Call,
    *,
    archive: Annotated[bool, typer.Option("--apply", help="Archive them; without it they are only shown.")] = False,
    min_confidence: Annotated[
        str | None, typer.Option(metavar="X", help="Trusted less than this, 0 to 1; else 0.3.")
    ] = None,
    max_age_days: Annotated[
        str | None, typer.Option(metavar="N", help="Older and hardly used; else 90, or 180 if there are few.")
    ] = None,
    min_uses: Annotated[str | None, typer.Option(metavar="N", help="Used less often than this; else 3.")] = None,
    agent: Agent = None,
) -> None:
    """Show experiences that are not trusted, or old and hardly used; archive them with --apply."""
    from hindsight.interfaces import cli_prune, shapes_prune  # noqa: PLC0415 - needed by no other command

    given = Arguments({"max_age_days": max_age_days, "min_uses": min_uses}, ("max_age_days", "min_uses"))
    limits = {
        "min_confidence": _fraction("min_confidence", min_confidence),
        "max_age_days": given.whole("max_age_days", 0, shapes_prune.MAX_DAYS),
        "min_uses": given.whole("min_uses", 0, shapes_prune.MAX_USES),
    }
    with call.open() as memory:
        report = memory.prune(dry_run=not archive, agent=agent, **limits)  # type: ignore[arg-type]  # as read above
    call.answer(shapes_prune.prune_shape(report), cli_prune.prune_lines(report))
    call.note(cli_prune.prune_notes(report))


@command(app)
def feedback(
    call: Call,
    memory_id: MemoryId,
    outcome: Annotated[str, typer.Argument(help="success or failure.")],
    *,
    note: Annotated[str, typer.Option(metavar="TEXT", help="What happened.")] = "",
    agent: Agent = None,
) -> None:
    """Say whether following an experience worked; its confidence moves."""
    with call.open() as memory:
        rated = memory.feedback(memory_id, outcome, note=note, agent=agent)
    call.answer(memory_shape(rated), memory_lines(rated))


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
    state: Annotated[str, typer.Option(metavar="STATE", help="Show those that are open (default) or closed.")] = "open",
    limit: Annotated[str, typer.Option(metavar="N", help="Show how many at most, 1 to 500.")] = "50",
    after: Annotated[str | None, typer.Option(metavar="PLACE", help="Show those after this one.")] = None,
) -> None:
    """Show contradictions that only you can decide, or decide one. The token shown takes it back."""
    choices = [name for name, given in (("new", new), ("old", old), ("both", both)) if given]
    if memory_id is None and choices:
        raise InvalidInput("ID", None, "the id of the newer memory, as `hindsight review` shows it")
    if memory_id is None:
        size = Arguments({"limit": limit}, ("limit",)).whole("limit", 1, MAX_PAGE)
        with call.open() as memory:
            page = memory.reviews(state=state, limit=size or MAX_PAGE, after=after)
        call.answer(reviews_shape(page), review_lines(page))
        call.note(review_notes(page, state))
        return
    if len(choices) != 1:
        raise InvalidInput("decision", " ".join(f"--{name}" for name in choices), "one of --new, --old and --both")
    with call.open() as memory:
        receipt = memory.resolve_review(memory_id, choices[0])
    call.answer(receipt_shape(receipt), receipt_lines(receipt))


@command(app)
def undo(call: Call, token: Annotated[str, typer.Argument(help="The token that a write or forget showed.")]) -> None:
    """Take back a write, a change or a forget."""
    with call.open() as memory:
        receipt = memory.undo(token)
    call.answer(receipt_shape(receipt), receipt_lines(receipt))


@command(app)
def doctor(call: Call) -> int:
    """Check the installation and the data folder; list the settings in force. Exit code 1 if a check fails."""
    from hindsight.interfaces import cli_doctor  # noqa: PLC0415 - brings rich, and everything that it checks

    return cli_doctor.run(call)


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


def _fraction(name: str, given: str | None) -> float | None:
    return Arguments({name: given}, (name,)).fraction(name)


def _speak(*, as_json: bool) -> None:
    """JSON is UTF-8. Text is what the terminal reads, unless that has no Chinese; nothing fails for one character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = "utf-8" if as_json or not _has_chinese(stream.encoding) else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _has_chinese(encoding: str) -> bool:
    try:
        "记忆".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = given[: given.index("--")] if "--" in given else given
    as_json = "--json" in options
    _speak(as_json=as_json)
    try:
        code = app(given, prog_name="hindsight", standalone_mode=False)
    except HindsightError as error:
        return _fail(error, as_json=as_json)
    except typer.TyperException as error:
        return _fail(_usage(error), as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # the edge of the process: a bug is told, not dumped
        log.debug("a fault of hindsight", exc_info=error)
        hint = "This is a fault of hindsight; HINDSIGHT_LOG_LEVEL=DEBUG shows where."
        return _fail(Broken(f"{type(error).__name__}: {error}", hint=hint), as_json=as_json)
    return code if isinstance(code, int) else OK


def _fail(error: HindsightError, *, as_json: bool) -> int:
    sys.stderr.write(explain(error, as_json=as_json) + "\n")
    return exit_code(error)


class Misused(HindsightError):
    """A command line that can't be read."""

    code = "invalid_input"


def _usage(error: typer.TyperException) -> HindsightError:
    context = getattr(error, "ctx", None)
    name = context.command_path if context is not None else "hindsight"
    return Misused(error.format_message(), hint=f"See {name} --help.")


if __name__ == "__main__":
    sys.exit(main())

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

from hindsight.errors import HindsightError
from hindsight.interfaces.cli import (
    backups,
    experiences,
    forgetting,
    jobs,
    keys,
    memories,
    sessions,
    traces,
    transfers,
    upkeep,
)
from hindsight.interfaces.cli.call import AsJson, Call, DataDir, Namespace, command
from hindsight.interfaces.cli.errors import BAD_INPUT, INTERRUPTED, OK, Broken, exit_code, explain
from hindsight.interfaces.mcp import handshake
from hindsight.interfaces.mcp.texts import VERSION

log = logging.getLogger(__name__)

app = typer.Typer(
    help="The memory of an LLM agent.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # quicker, and the same on every terminal
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (memories, forgetting, experiences, sessions, jobs, traces, backups, transfers, upkeep, keys):
    app.add_typer(group.app)


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
    from hindsight.interfaces.cli import serving  # noqa: PLC0415 - brings fastapi and the MCP SDK

    serving.serve(settings)


@command(app)
def mcp(call: Call) -> None:
    """Serve MCP over standard input and output, for a client that starts this program."""
    wire = handshake.claim_stdio()
    opening = handshake.greet(wire)
    from hindsight.interfaces.mcp import stdio  # noqa: PLC0415 - brings the MCP SDK, which may not delay the greeting

    stdio.serve(wire, opening, call.settings())


@command(app)
def doctor(
    call: Call,
    *,
    forgotten: Annotated[
        str | None, typer.Option("--forgotten", metavar="ID", help="Instead: prove that a purge left nothing of this.")
    ] = None,
    word: Annotated[
        list[str] | None, typer.Option("--word", metavar="TEXT", help="What it said: looked for in every file, too.")
    ] = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="First put right what is safe: indexes, leases, orphans, modes.")
    ] = False,
) -> int:
    """Check the installation and the data folder; list the settings in force. Exit code 1 if a check fails."""
    if forgotten is not None:
        return forgetting.prove(call, forgotten, word or ())
    from hindsight.interfaces.cli import doctor as checks  # noqa: PLC0415 - brings rich, and everything that it checks

    return checks.run(call, fix=fix)


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

"""Starting the HTTP server, from `hindsight serve` and from `python -m hindsight.server --port N`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindsight import config
from hindsight.errors import HindsightError
from hindsight.interfaces.cli.errors import INTERRUPTED, OK, exit_code, explain
from hindsight.interfaces.http import app as http
from hindsight.observe.logs import log_to_stderr

if TYPE_CHECKING:
    from hindsight.config import Settings


def run(arguments: Sequence[str]) -> int:
    """Serve with these arguments; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m hindsight.server",
        description="Serve REST and MCP over HTTP. Without arguments: MCP over standard input and output.",
    )
    parser.add_argument("--port", metavar="N", required=True, help="port to listen on; 0 picks a free one")
    parser.add_argument("--host", metavar="ADDRESS", help="address to listen on; else HINDSIGHT_HOST, else 127.0.0.1")
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    try:
        serve(config.load(**given))
    except HindsightError as error:
        sys.stderr.write(explain(error) + "\n")
        return exit_code(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return OK


def serve(settings: Settings) -> None:
    """Serve until a signal asks to stop."""
    log_to_stderr(settings.log_level, as_json=settings.log_format is config.LogFormat.JSON)
    http.serve(settings)

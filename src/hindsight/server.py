"""`python -m hindsight.server`: MCP over standard input and output; with `--port N` REST and MCP over HTTP."""

import sys

from hindsight.interfaces import mcp_handshake


def main(arguments: list[str]) -> int:
    """Serve until the client leaves or a signal asks to stop; gives the exit code."""
    if not arguments:
        mcp_handshake.run()
        return 0
    from hindsight.interfaces import cli_serve  # noqa: PLC0415 - over stdio the client waits for the first answer

    return cli_serve.run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m hindsight.server`: MCP over standard input and output; with `--port N` REST and MCP over HTTP."""

import sys

from hindsight.interfaces.mcp import handshake


def main(arguments: list[str]) -> int:
    """Serve until the client leaves or a signal asks to stop; gives the exit code."""
    if not arguments:
        handshake.run()
        return 0
    from hindsight.interfaces.cli import serving  # noqa: PLC0415 - over stdio the client waits for the first answer

    return serving.run(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

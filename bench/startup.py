"""How long a client waits for MCP over stdio.

Starts `python -m hindsight.mcp_server` a number of times with an empty data folder, sends the first request of each
protocol at once and measures from the start of the process to the answer, then to the answer of `tools/list` (for which
the SDK must have been imported). One start before the measured ones fills the file cache. Every line of standard
output must parse as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.metrics import percentile
from bench.report import plain, write_json

CLIENT = {"name": "bench", "version": "1"}
MODERN = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}
OPENINGS: dict[str, list[dict[str, object]]] = {
    "2026-07-28": [{"id": 1, "method": "server/discover", "params": MODERN}],
    **{
        version: [
            {
                "id": 1,
                "method": "initialize",
                "params": {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT},
            },
            {"method": "notifications/initialized"},
        ]
        for version in ("2025-06-18", "2025-11-25")
    },
}


@dataclass(frozen=True, slots=True)
class Start:
    """One start, in milliseconds since the process was spawned."""

    handshake: float
    tools: float


def start(version: str) -> Start:
    """Start a server, shake hands, list its tools, close its input and wait for it to end."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HINDSIGHT_DATA_DIR": folder}
        began = time.perf_counter()
        server = subprocess.Popen(
            [sys.executable, "-m", "hindsight.mcp_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        assert server.stdin is not None
        assert server.stdout is not None
        first, *rest = OPENINGS[version]
        server.stdin.write(_line(first))
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        handshake = (time.perf_counter() - began) * 1000
        assert answer["id"] == 1
        assert "result" in answer, answer
        listing = {"id": 2, "method": "tools/list", "params": MODERN if version == "2026-07-28" else {}}
        for message in (*rest, listing):
            server.stdin.write(_line(message))
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        tools = (time.perf_counter() - began) * 1000
        assert answer["id"] == 2, answer
        assert answer["result"]["tools"], answer
        server.stdin.close()
        for line in server.stdout:
            json.loads(line)
        server.wait(30)
    return Start(handshake, tools)


def measure(version: str, starts: int) -> dict[str, float]:
    """Percentiles over a number of starts."""
    runs = [start(version) for _ in range(starts)]
    handshakes, tools = [run.handshake for run in runs], [run.tools for run in runs]
    return {
        "starts": starts,
        "handshake_p50_ms": percentile(handshakes, 0.5),
        "handshake_p95_ms": percentile(handshakes, 0.95),
        "handshake_max_ms": max(handshakes),
        "tools_p50_ms": percentile(tools, 0.5),
        "tools_p95_ms": percentile(tools, 0.95),
    }


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.startup", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--starts", type=int, default=20, metavar="N", help="starts per protocol version")
    made.add_argument("--data", type=Path, metavar="DIR", help="taken as by every bench; not used by this one")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    return made


def main(given: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    options = parser().parse_args(given)
    if options.starts < 1:
        parser().error(f"--starts: {options.starts} is not accepted; allowed: a whole number above 0")
    start("2025-11-25")
    rows = {f"startup/{version}": measure(version, options.starts) for version in OPENINGS}
    print(plain(rows))
    if options.json:
        write_json(options.json, rows)
    return 0


def _line(message: dict[str, object]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


if __name__ == "__main__":
    sys.exit(main())

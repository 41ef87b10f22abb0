"""The stdio front door: answers a client's first message before the MCP SDK is imported.

A client that starts hindsight waits for the answer to its first request, and some give up after a second. Importing
the SDK takes 0.7 to 1.3 s (`mcp/__init__.py` imports its HTTP client, server and OAuth parts whichever part is asked
for), so that one request is read and answered here with nothing but the standard library:

1. `claim_stdio` moves the wire to private descriptors. From then on file descriptor 1 is stderr, so nothing that
   prints, in Python, C or a child process, can break the protocol.
2. `read_opening` reads the client's first line, `early_answer` answers it if it is a well-formed `initialize`
   (protocols 2024-11-05 to 2025-11-25) or `server/discover` (2026-07-28). Anything else is left to the SDK.
3. `stdio` is imported, which imports the SDK. It gets all bytes read so far and serves the connection as if nothing
   had happened: it sees the first request itself, and only its answer to that one is dropped, since the client has it.

What is known of the protocol here is pinned by tests to what the SDK answers, so an update of the SDK that changes the
handshake fails them. Keep this module free of imports beyond the standard library and `texts`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from hindsight.interfaces.mcp.texts import CAPABILITIES, INSTRUCTIONS, SERVER_INFO

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER = "io.modelcontextprotocol/serverInfo"

OPENING_LIMIT = 1 << 20  # bytes; a first line longer than this is no handshake and is left to the SDK
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Wire:
    """The descriptors that carry the protocol."""

    input: int
    output: int


@dataclass(frozen=True, slots=True)
class EarlyAnswer:
    """A response that has been sent ahead of the SDK's own, which must be equal and is dropped."""

    id: str | int
    result: dict[str, Any]

    def encode(self) -> bytes:
        """The response as one line of the wire."""
        response = {"jsonrpc": "2.0", "id": self.id, "result": self.result}
        return json.dumps(response, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Opening:
    """All that was read before the SDK took over, and what was answered to it."""

    head: bytes
    answer: EarlyAnswer | None


def claim_stdio() -> Wire:
    """Take standard input and output for the protocol alone; whoever prints from now on prints to stderr.

    Call it first of all. Reading standard input finds its end.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # started with it closed: fill the gap, or a duplicate would land there
            os.open(os.devnull, os.O_RDWR)
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return wire


def greet(wire: Wire) -> Opening:
    """Read the first line and answer it, where that can be done without the SDK."""
    head = read_opening(wire.input)
    answer = early_answer(head)
    if answer is not None:
        _send(wire.output, answer.encode())
    return Opening(head, answer)


def read_opening(descriptor: int) -> bytes:
    """The first line and whatever came with it; less where the input ends, or where the line is too long."""
    chunks: list[bytes] = []
    size = 0
    while size < OPENING_LIMIT:
        chunk = os.read(descriptor, _CHUNK)
        chunks.append(chunk)
        size += len(chunk)
        if not chunk or b"\n" in chunk:
            break
    return b"".join(chunks)


def early_answer(head: bytes) -> EarlyAnswer | None:
    """The answer to the first line, or `None` where it is not a handshake that is surely well-formed."""
    line, newline, _ = head.partition(b"\n")
    if not newline:
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    identifier, params = message.get("id"), message.get("params")
    if not isinstance(identifier, (str, int)) or isinstance(identifier, bool) or not isinstance(params, dict):
        return None
    if message.get("method") == "initialize" and _is_initialize(params):
        return EarlyAnswer(identifier, initialize_result(params["protocolVersion"]))
    if message.get("method") == "server/discover" and _is_discover(params):
        return EarlyAnswer(identifier, discover_result())
    return None


def initialize_result(requested: str) -> dict[str, Any]:
    """The result of `initialize`: the version asked for where it is known, else the newest that has a handshake."""
    return {
        "protocolVersion": requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": INSTRUCTIONS,
    }


def discover_result() -> dict[str, Any]:
    """The result of `server/discover`."""
    return {
        "supportedVersions": [MODERN_VERSION],
        "capabilities": CAPABILITIES,
        "instructions": INSTRUCTIONS,
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {META_SERVER: SERVER_INFO},
    }


def _is_initialize(params: dict[str, Any]) -> bool:
    return (
        isinstance(params.get("protocolVersion"), str)
        and _are_capabilities(params.get("capabilities"))
        and _is_party(params.get("clientInfo"))
        and isinstance(params.get("_meta", {}), dict)
    )


def _is_discover(params: dict[str, Any]) -> bool:
    meta = params.get("_meta")
    return (
        isinstance(meta, dict)
        and meta.get(META_VERSION) == MODERN_VERSION
        and _are_capabilities(meta.get(META_CAPABILITIES))
        and (META_CLIENT not in meta or _is_party(meta[META_CLIENT]))
    )


def _are_capabilities(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(part, dict) for part in value.values())


def _is_party(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("version"), str)


def _send(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def run() -> None:
    """Serve MCP over stdio until the client closes its side. The whole of `python -m hindsight.mcp_server`."""
    try:
        wire = claim_stdio()
        opening = greet(wire)
        from hindsight.interfaces.mcp import stdio  # noqa: PLC0415 - imports the SDK: see the module's docstring

        stdio.serve(wire, opening)
    except KeyboardInterrupt:
        raise SystemExit(130) from None  # as a shell says of a program that was interrupted
    except BrokenPipeError:
        raise SystemExit(0) from None  # the client went away without waiting for its answer

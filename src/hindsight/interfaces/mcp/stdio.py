"""MCP over standard input and output, by the SDK, from the point where `handshake` hands over."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCResponse, jsonrpc_message_adapter

from hindsight.config import LogFormat, Settings, load
from hindsight.embedded import AsyncHindsight
from hindsight.errors import ConfigError, HindsightError
from hindsight.interfaces.mcp.handshake import EarlyAnswer, Opening, Wire
from hindsight.interfaces.mcp.server import build_server
from hindsight.interfaces.process import settle_in
from hindsight.observe.logs import log_to_stderr

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.shared._stream_protocols import WriteStream
    from typing_extensions import Buffer

logger = logging.getLogger(__name__)


class ReplayedInput(io.RawIOBase):
    """A descriptor whose first bytes have been read already: gives these first, then the rest."""

    def __init__(self, head: bytes, descriptor: int) -> None:
        self._head = head
        self._descriptor = descriptor

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Fill what there is room for; 0 at the end of the input."""
        room = memoryview(buffer).cast("B")
        if self._head:
            data, self._head = self._head[: len(room)], self._head[len(room) :]
        else:
            data = os.read(self._descriptor, len(room))
        room[: len(data)] = data
        return len(data)


class DropAnswered:
    """The SDK's way out, without the one response that the client has had already."""

    def __init__(self, inner: WriteStream[SessionMessage], answer: EarlyAnswer | None) -> None:
        self._inner = inner
        self._answer = answer

    async def send(self, item: SessionMessage, /) -> None:
        """Pass a message on, unless it repeats the early answer."""
        message, answer = item.message, self._answer
        if answer is None or not isinstance(message, (JSONRPCResponse, JSONRPCError)) or message.id != answer.id:
            await self._inner.send(item)
            return
        self._answer = None
        if not isinstance(message, JSONRPCResponse) or message.result != answer.result:
            logger.error("the handshake was answered with %s, the SDK would have said %s", answer.result, message)

    async def aclose(self) -> None:
        """Close the way out."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(exc_type, exc_val, exc_tb)


def serve(wire: Wire, opening: Opening, settings: Settings | None = None) -> None:
    """Serve the connection, with the settings of the environment if none are given, until the client closes its side.

    A wrong setting ends the process with status 2 and its name on stderr.
    """
    try:
        settings = settings or load()
    except ConfigError as error:
        sys.stderr.write(f"hindsight: {error} {error.hint}\n")
        raise SystemExit(2) from None
    log_to_stderr(settings.log_level, as_json=settings.log_format is LogFormat.JSON)
    settle_in()
    try:
        anyio.run(_serve, settings, wire, opening)
    except BaseException as error:
        # A thread still waits for the client's next line, and Python would wait for that thread: leave without it.
        # The store has been closed by now.
        if not isinstance(error, KeyboardInterrupt):
            logger.critical("the server has failed", exc_info=error)
        logging.shutdown()
        os._exit(130 if isinstance(error, KeyboardInterrupt) else 1)


async def _serve(settings: Settings, wire: Wire, opening: Opening) -> None:
    memory = AsyncHindsight(settings=settings)
    warming = asyncio.create_task(_warm(memory, settings.namespace))
    warming.add_done_callback(_tell_failure)
    try:
        await serve_wire(build_server(lambda _request, _needed: memory, settings.mcp_toolset), wire, opening)
    finally:
        with anyio.CancelScope(shield=True):
            warming.cancel()
            await asyncio.gather(warming, return_exceptions=True)
            await memory.aclose()


async def _warm(memory: AsyncHindsight, namespace: str) -> None:
    """Open the store and load the embedder while the client is still listing tools."""
    await (await memory.engine()).warm(namespace)


def _tell_failure(warming: asyncio.Task[None]) -> None:
    """Not fatal: the first call meets the same failure and answers with it."""
    error = None if warming.cancelled() else warming.exception()
    if isinstance(error, HindsightError):
        logger.error("%s: %s %s", error.code, error, error.hint)
    elif error is not None:
        logger.error("opening the memory has failed", exc_info=error)


class PatientInput(anyio.AsyncFile[str]):
    """Lines of a file that the SDK can read; waiting for one does not keep the server from stopping.

    The SDK passes over what it can't read, and a client would wait for ever. `refuse` gets the answer to such a call.
    """

    def __init__(self, source: io.TextIOWrapper, refuse: Callable[[JSONRPCError], Awaitable[None]]) -> None:
        super().__init__(source)
        self._refuse = refuse

    async def readline(self) -> str:
        """The next line, empty at the end."""
        while True:
            line = await anyio.to_thread.run_sync(self.wrapped.readline, abandon_on_cancel=True)
            refusal = refusal_of(line) if line else None
            if refusal is None:
                return line
            await self._refuse(refusal)


def refusal_of(line: str) -> JSONRPCError | None:
    """The answer to a call whose id can be told and yet the SDK can't read it; `None` for any other line."""
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError as error:
        fault = error
    else:
        return None
    try:
        call = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(call, dict) or not isinstance(call.get("method"), str):
        return None
    identifier = call.get("id")
    if isinstance(identifier, bool) or not isinstance(identifier, str | int) or not is_whole(identifier):
        return None
    said = "half of a surrogate pair, or another fault" if "\\ud" in line.lower() else str(fault).splitlines()[0]
    message = f"this message can't be read: {said}; send whole Unicode characters and the fields of JSON-RPC 2.0"
    return JSONRPCError(jsonrpc="2.0", id=identifier, error=ErrorData(code=INVALID_REQUEST, message=message))


def is_whole(identifier: str | int) -> bool:
    """Whether an id can be sent back as it came."""
    try:
        str(identifier).encode()
    except ValueError:  # half a surrogate pair, or a number of thousands of digits
        return False
    return True


async def serve_wire(server: Server[object], wire: Wire, opening: Opening) -> None:
    """Serve one connection until the client closes its side."""
    raw = io.BufferedReader(ReplayedInput(opening.head, wire.input))
    source = io.TextIOWrapper(raw, encoding="utf-8", errors="replace")
    sink = io.TextIOWrapper(os.fdopen(wire.output, "wb"), encoding="utf-8", newline="\n")
    ways_out: list[WriteStream[SessionMessage]] = []

    async def refuse(answer: JSONRPCError) -> None:
        for way in ways_out:
            await way.send(SessionMessage(answer))

    async with stdio_server(PatientInput(source, refuse), anyio.wrap_file(sink)) as (incoming, outgoing):
        ways_out.append(outgoing)
        await server.run(incoming, DropAnswered(outgoing, opening.answer), server.create_initialization_options())

"""An HTTP server on loopback that speaks as much of `/embeddings` as the tests need, and can be told to misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.message import Message
from email.parser import Parser
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as it goes over the wire."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


class Hang(Exception):
    """Keep the connection and never answer."""


class CutOff(Exception):
    """Close the connection without an answer."""


class Drip(Exception):
    """Begin an answer and send it so slowly that it never ends."""


@dataclass(slots=True)
class Asked:
    """One request as it came."""

    path: str
    headers: Message
    body: dict[str, Any]


def embeddings(rows: list[list[float]]) -> Reply:
    """A right answer, its rows in reverse order, as the protocol allows."""
    data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
    return Reply(200, json.dumps({"object": "list", "data": data[::-1], "model": "m"}).encode())


def letters(text: str) -> list[float]:
    """The vector this server gives a text: how many a, b and other characters it has, and 1."""
    return [text.count("a"), text.count("b"), len(text) - text.count("a") - text.count("b"), 1.0]


def well(asked: Asked) -> Reply:
    """Answer every request as it should be."""
    return embeddings([letters(text) for text in asked.body["input"]])


@dataclass(slots=True)
class EmbeddingServer:
    """`script` holds what to do with the next requests, in order; after that every request is answered well."""

    url: str = ""
    script: list[Reply | type[Exception]] = field(default_factory=list)
    answer: Callable[[Asked], Reply] = well
    asked: list[Asked] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await self._read(reader):
                self.asked.append(request)
                turn = self.script.pop(0) if self.script else self.answer(request)
                if turn is Hang:
                    await self.over.wait()
                if turn is Drip:
                    await self._drip(writer)
                if not isinstance(turn, Reply):
                    return
                lines = [f"HTTP/1.1 {turn.status} X", f"Content-Length: {len(turn.body)}"]
                lines += [f"{name}: {value}" for name, value in turn.headers]
                writer.write("\r\n".join([*lines, "", ""]).encode() + turn.body)
                await writer.drain()
        except ConnectionError:
            return  # the client gave up, which some tests want
        finally:
            writer.close()

    async def _drip(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 X\r\nContent-Length: 1000000\r\n\r\n")
        while not self.over.is_set():
            writer.write(b" ")
            await writer.drain()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), 0.01)

    async def _read(self, reader: asyncio.StreamReader) -> Asked | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            return None
        first, _, rest = head.partition("\r\n")
        headers = Parser().parsestr(rest)
        body = await reader.readexactly(int(headers["content-length"]))
        return Asked(first.split()[1], headers, json.loads(body))


@asynccontextmanager
async def running() -> AsyncIterator[EmbeddingServer]:
    """A server on a free port of 127.0.0.1."""
    server = EmbeddingServer()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}/v1"
    async with listening:
        yield server
        server.over.set()

"""What a client of the stdio server may do wrong: only JSON comes back, and every call that has an id is answered."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SERVER = [sys.executable, "-m", "hindsight.mcp_server"]


def message(**fields: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def call(number: int, name: str, arguments: Mapping[str, object]) -> bytes:
    return message(id=number, method="tools/call", params={"name": name, "arguments": arguments})


CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
INITIALIZE = message(id=1, method="initialize", params=CLIENT)
INITIALIZED = message(method="notifications/initialized")
LIST = message(id=2, method="tools/list")


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "HINDSIGHT_DATA_DIR": str(folder / "data"), "EMBEDDING_MODEL": "none"}
    pipe = subprocess.PIPE
    with subprocess.Popen(SERVER, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as server:
        try:
            yield server
        finally:
            server.kill()


def conversation(folder: Path, sent: list[bytes], answers: int) -> dict[Any, dict[str, Any]]:
    """Send everything at once, read so many answers, close: by id. Nothing but these may come."""
    with started(folder) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdin.write(b"".join(sent))
        server.stdin.flush()
        said = [json.loads(server.stdout.readline()) for _ in range(answers)]
        server.stdin.close()
        assert server.stdout.read() == b""
        assert server.wait(60) == 0
        assert b"Traceback" not in server.stderr.read()
    return {one["id"]: one for one in said}


def test_what_is_no_message_is_passed_over(tmp_path: Path) -> None:
    garbage = [b"hello\n", b"\n", b"{}\n", b"\xff\xfe\x00\n", b"[1, 2]\n", b"x" * 3_000_000 + b"\n", b'"\\ud800"\n']
    said = conversation(tmp_path, [*garbage, INITIALIZE, *garbage, INITIALIZED, LIST], answers=2)
    assert "serverInfo" in said[1]["result"]
    assert said[2]["result"]["tools"]


def test_a_call_that_can_not_be_read_is_answered_all_the_same(tmp_path: Path) -> None:
    broken = [
        b'{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"memory_write",'
        b'"arguments":{"content":"a\\ud800b"}}}\n',
        b'{"jsonrpc":"2.0","id":"eleven","method":"tools/call","params":{"name":"\\udfff"}}\n',
        b'{"jsonrpc":"1.0","id":12,"method":"tools/list"}\n',
    ]
    said = conversation(tmp_path, [INITIALIZE, INITIALIZED, *broken, LIST], answers=5)
    for number in (10, "eleven", 12):
        assert "can't be read" in said[number]["error"]["message"]
    assert "surrogate" in said[10]["error"]["message"]
    assert said[2]["result"]["tools"]


def test_texts_at_the_edge_are_kept_or_refused_with_the_reason(tmp_path: Path) -> None:
    long = "The harbour opens at six. " * 40_000 + "The cellar key hangs behind the zebrafinch cage."
    texts = {10: "a\0b", 11: "  \n", 12: "🍕 is what Ana likes", 13: long}
    writes = [call(number, "memory_write", {"content": text}) for number, text in texts.items()]
    with started(tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(INITIALIZE + INITIALIZED + b"".join(writes))
        server.stdin.flush()
        said = {one["id"]: one for one in (json.loads(server.stdout.readline()) for _ in range(5))}
        assert [said[number]["result"].get("isError", False) for number in texts] == [True, True, False, False]
        for number, query in ((20, "zebrafinch"), (21, "🍕")):
            server.stdin.write(call(number, "memory_search", {"query": query}))
            server.stdin.flush()
            found = json.loads(server.stdout.readline())
            assert query in found["result"]["structuredContent"]["context"]


@pytest.mark.parametrize("sent", [b"", INITIALIZED * 3, b'hello\n{"jsonrpc'])
def test_a_client_that_only_goes_away_ends_the_server(tmp_path: Path, sent: bytes) -> None:
    assert conversation(tmp_path, [sent], answers=0) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc to see when it is ready")
@pytest.mark.parametrize("greeted", [False, True])
def test_an_interrupt_ends_it_without_a_word_on_stdout(tmp_path: Path, greeted: bool) -> None:
    with started(tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        if greeted:
            server.stdin.write(INITIALIZE + INITIALIZED + LIST)
            server.stdin.flush()
            assert [json.loads(server.stdout.readline())["id"] for _ in range(2)] == [1, 2]
        else:  # it takes standard input for itself when it is ready to be interrupted
            while not os.path.realpath(f"/proc/{server.pid}/fd/0").startswith("/dev/null"):
                assert server.poll() is None
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130
        assert server.stdout.read() == b""
        assert b"Traceback" not in server.stderr.read()


def test_a_client_that_stops_listening_ends_the_server(tmp_path: Path) -> None:
    with started(tmp_path) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        server.stdin.write(INITIALIZE)
        server.stdin.flush()
        assert server.wait(60) == 0
        assert b"Traceback" not in server.stderr.read()

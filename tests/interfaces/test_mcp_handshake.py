"""The answer given before the SDK is imported is the answer the SDK gives."""

import json
import subprocess
import sys
from importlib import metadata
from typing import Any

import anyio
import mcp_types
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from hindsight.config import Toolset
from hindsight.domain.access import Role
from hindsight.embedded import AsyncHindsight
from hindsight.interfaces.mcp import handshake, texts
from hindsight.interfaces.mcp.handshake import EarlyAnswer, early_answer
from hindsight.interfaces.mcp.server import build_server
from hindsight.interfaces.mcp.stdio import DropAnswered

CLIENT = {"name": "test", "version": "1"}


def initialize(version: str, **params: object) -> dict[str, Any]:
    given = {"protocolVersion": version, "capabilities": {"roots": {"listChanged": True}}, "clientInfo": CLIENT}
    return {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": given | params}


def discover(version: str = "2026-07-28", /, **meta: object) -> dict[str, Any]:
    given = {
        handshake.META_VERSION: version,
        handshake.META_CLIENT: CLIENT,
        handshake.META_CAPABILITIES: {},
    }
    return {"jsonrpc": "2.0", "id": "d", "method": "server/discover", "params": {"_meta": given | meta}}


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def never(_request: Request | None, _needed: Role) -> AsyncHindsight:
    raise AssertionError("the handshake must not open the memory")


async def sdk_answer(message: dict[str, Any], toolset: Toolset) -> object:
    """What the SDK's server answers to a first request."""
    server = build_server(never, toolset)
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](1)
    async with anyio.create_task_group() as group, to_server, from_server:
        group.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
        await to_server.send(SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(message)))
        answer = (await from_server.receive()).message
        group.cancel_scope.cancel()
    assert isinstance(answer, JSONRPCResponse)
    return {"id": answer.id, "result": answer.result}


def test_the_known_protocol_versions_are_those_of_the_sdk() -> None:
    assert handshake.HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert (handshake.MODERN_VERSION,) == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize("toolset", Toolset)
@pytest.mark.parametrize("version", [*handshake.HANDSHAKE_VERSIONS, "2026-07-28", "2099-01-01"])
async def test_initialize_is_answered_early_as_the_sdk_would(version: str, toolset: Toolset) -> None:
    answer = early_answer(line(initialize(version)))
    assert answer is not None
    assert {"id": answer.id, "result": answer.result} == await sdk_answer(initialize(version), toolset)


async def test_discover_is_answered_early_as_the_sdk_would() -> None:
    answer = early_answer(line(discover()))
    assert answer is not None
    assert {"id": answer.id, "result": answer.result} == await sdk_answer(discover(), Toolset.FULL)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n",
        b"not json\n",
        b"[]\n",
        b"\xff\xfe\n",
        b"[" * 100_000 + b"\n",
        line(initialize("2025-06-18"))[:-1],
        line({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        line({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}),
        line(initialize("2025-06-18") | {"id": None}),
        line(initialize("2025-06-18") | {"id": True}),
        line(initialize("2025-06-18") | {"jsonrpc": "1.0"}),
        line(initialize("2025-06-18", clientInfo={"name": "no version"})),
        line(initialize("2025-06-18", capabilities={"roots": 3})),
        line(initialize("2025-06-18", protocolVersion=3)),
        line(discover("2099-01-01")),
        line(discover("2026-07-28", **{handshake.META_CAPABILITIES: None})),
        line(discover("2026-07-28", **{handshake.META_CLIENT: 3})),
    ],
)
def test_what_is_not_surely_a_handshake_is_left_to_the_sdk(head: bytes) -> None:
    assert early_answer(head) is None


async def test_only_the_one_answer_the_client_has_is_dropped() -> None:
    send, receive = anyio.create_memory_object_stream[SessionMessage](4)
    out = DropAnswered(send, EarlyAnswer(1, {"a": 1}))
    sent = [JSONRPCResponse(jsonrpc="2.0", id=number, result={"a": 1}) for number in (2, 1, 1)]
    async with out, receive:
        for message in sent:
            await out.send(SessionMessage(message))
        arrived = [receive.receive_nowait().message for _ in range(2)]
    assert arrived == [sent[0], sent[2]]


async def test_an_answer_that_differs_from_the_sdk_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    send, receive = anyio.create_memory_object_stream[SessionMessage](1)
    async with DropAnswered(send, EarlyAnswer(1, {"a": 1})) as out, receive:
        await out.send(SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={"a": 2})))
    assert "the SDK would have said" in caplog.text


def run_python(code: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, timeout=60, check=True)


def test_the_handshake_needs_no_module_beyond_the_standard_library() -> None:
    code = (
        "import sys; from hindsight.interfaces.mcp import handshake as h; h.greet(h.claim_stdio()); "
        "print(*{name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names, file=sys.stderr)"
    )
    done = run_python(code, line(initialize("2025-11-25")))
    assert json.loads(done.stdout)["result"]["protocolVersion"] == "2025-11-25"
    loaded = set(done.stderr.decode().split())
    assert loaded <= {"__main__", "hindsight", "_distutils_hack", "sitecustomize", "usercustomize"}


def test_whatever_prints_to_stdout_ends_on_stderr() -> None:
    code = (
        "import os, subprocess, sys; from hindsight.interfaces.mcp import handshake as h; wire = h.claim_stdio(); "
        "print('from print', flush=True); os.write(1, b'from C\\n'); "
        "subprocess.run([sys.executable, '-c', 'print(\"from a child\")']); h.greet(wire)"
    )
    done = run_python(code, line(initialize("2025-06-18")))
    assert [json.loads(text)["id"] for text in done.stdout.splitlines()] == [7]
    assert {b"from print", b"from C", b"from a child"} <= set(done.stderr.splitlines())


def test_a_client_that_leaves_at_once_ends_the_reading() -> None:
    code = "from hindsight.interfaces.mcp import handshake as h; assert not h.greet(h.claim_stdio()).head"
    assert run_python(code, b"").stdout == b""


def test_the_version_told_to_clients_is_that_of_the_distribution() -> None:
    assert metadata.version("hindsight-memory") == texts.VERSION

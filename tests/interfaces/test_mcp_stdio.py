"""An official client in another process (issue: the main job over MCP), and the raw wire."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.client import ConnectMode
from mcp_types import CallToolResult, Implementation, TextContent

from hindsight.config import Toolset
from hindsight.interfaces.mcp.tools import TOOLSETS

SERVER = [sys.executable, "-m", "hindsight.mcp_server"]
ABOUT_THE_USER = "用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏"
TALK = (
    "I moved to Lyon last spring and work there as a bicycle mechanic.",
    "On weekends I go climbing with my sister Ana.",
    "I can't stand early meetings, please never suggest anything before ten.",
)


def environment(folder: Path, **settings: str) -> dict[str, str]:
    return {**os.environ, "HINDSIGHT_DATA_DIR": str(folder), **settings}


@asynccontextmanager
async def connected(
    folder: Path, mode: ConnectMode = "auto", name: str | None = None, **settings: str
) -> AsyncIterator[Client]:
    """A client of a server process of its own; `name`: what it calls itself."""
    info = None if name is None else Implementation(name=name, version="1")
    server = StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=environment(folder, **settings))
    async with Client(server, mode=mode, read_timeout_seconds=60, client_info=info) as client:
        yield client


async def call(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    """The structured answer of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, arguments: dict[str, object]) -> str:
    """The text of a call that must fail."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, f"{tool} {arguments} was accepted"
    return text_of(result)


def text_of(result: CallToolResult) -> str:
    assert [type(block) for block in result.content] == [TextContent]
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_writes_finds_in_both_languages_and_forgets(tmp_path: Path, mode: ConnectMode) -> None:
    async with connected(tmp_path, mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        receipt = await call(client, "memory_write", content=ABOUT_THE_USER, session_id="zh")
        allergy = next(item["memory_id"] for item in receipt["outcomes"] if "花生" in item["content"])
        for turn in TALK:
            await call(client, "memory_write", content=turn, session_id="en", metadata={"speaker": "Leo"})
        for question in ("吃什么要小心", "what food must I avoid"):
            result = await client.call_tool("memory_search", {"query": question})
            assert "花生" in text_of(result)
            assert result.structured_content is not None
            found = [hit["memory_id"] for hit in result.structured_content["hits"]]
            assert allergy in found[:3]
        await call(client, "memory_forget", memory_id=allergy, reason="asked to")
        for question in ("吃什么要小心", "what food must I avoid", "花生过敏"):
            result = await client.call_tool("memory_search", {"query": question})
            assert "花生" not in text_of(result)
            assert "花生" not in json.dumps(result.structured_content, ensure_ascii=False)


async def test_memories_outlive_the_process_and_stay_in_their_namespace(tmp_path: Path) -> None:
    async with connected(tmp_path, HINDSIGHT_NAMESPACE="one", EMBEDDING_MODEL="none") as client:
        await call(client, "memory_write", content="The staging server is called heron.")
    async with connected(tmp_path, HINDSIGHT_NAMESPACE="one", EMBEDDING_MODEL="none") as client:
        assert "heron" in (await call(client, "memory_search", query="name of the staging server"))["context"]
    async with connected(tmp_path, HINDSIGHT_NAMESPACE="two", EMBEDDING_MODEL="none") as client:
        assert (await call(client, "memory_search", query="name of the staging server"))["hits"] == []


async def test_an_experience_is_kept_found_and_rated(tmp_path: Path) -> None:
    async with connected(tmp_path, EMBEDDING_MODEL="none") as client:
        receipt = await call(
            client,
            "experience_write",
            trigger_context="pip install fails behind the company proxy with a TLS error",
            action_steps='["export the proxy certificate", "set PIP_CERT to it", "install again"]',
            outcome_status="success",
            tags=["pip"],
            tools_used=["bash"],
        )
        memory_id = receipt["outcomes"][0]["memory_id"]
        found = await client.call_tool("memory_search", {"query": "pip install: TLS error from the proxy"})
        assert "PIP_CERT" in text_of(found)
        assert (await call(client, "memory_feedback", memory_id=memory_id, outcome="success"))["confidence"] == 0.6
        assert (await call(client, "memory_feedback", memory_id=memory_id, outcome="failure"))["confidence"] == 0.4


async def test_the_text_of_a_memory_stands_once_and_a_short_id_serves_every_tool(tmp_path: Path) -> None:
    async with connected(tmp_path, EMBEDDING_MODEL="none") as client:
        await call(client, "memory_write", content="The user's sister Ana lives in Porto.")
        result = await client.call_tool("memory_search", {"query": "Where does Ana live?", "top_k": "1"})
        assert text_of(result).count("Ana lives in Porto") == 1
        found = result.structured_content
        assert found is not None
        assert json.dumps(found).count("Ana lives in Porto") == 1
        assert "Ana lives in Porto" in found["context"]
        short = f"#{found['hits'][0]['short_id']}"
        assert short in text_of(result)
        await call(client, "memory_update", memory_id=short, new_content="The user's sister Ana lives in Braga.")
        after = await client.call_tool("memory_search", {"query": "Where does Ana live?"})
        assert "Braga" in text_of(after)
        assert "Porto" not in text_of(after)


WRONG_CALLS: list[tuple[str, dict[str, object], tuple[str, ...]]] = [
    ("memory_search", {"query": "x", "top_k": -1}, ("top_k", "-1", "from 1 to 100")),
    ("memory_search", {"query": "x", "top_k": 0}, ("top_k", "0", "from 1 to 100")),
    ("memory_search", {"query": "x", "top_k": "abc"}, ("top_k", "abc", "number")),
    ("memory_search", {"query": "x", "top_k": 10**9}, ("top_k", "1000000000", "from 1 to 100")),
    ("memory_search", {"query": "x", "filters": {"colour": "red"}}, ("filters.colour", "red", "exclude_sessions")),
    ("memory_search", {"query": "x", "filters": {"types": ["opinion"]}}, ("filters.types", "opinion", "preference")),
    ("memory_search", {"query": "x", "filters": "[1]"}, ("filters", "[1]", "object")),
    ("memory_search", {"query": "x", "time_range": "sometime"}, ("time_range", "sometime", "from/to")),
    ("memory_search", {"query": "  "}, ("query", "required")),
    ("memory_search", {}, ("query", "required")),
    ("memory_search", {"query": "x", "limit": 3}, ("limit", "3", "top_k")),
    ("memory_write", {"content": "x", "type": "opinion"}, ("type", "opinion", "preference")),
    ("memory_write", {"content": "x", "importance": 7}, ("importance", "7", "0 to 1")),
    ("memory_write", {"content": "a\0b"}, ("content", "NUL")),
    ("memory_write", {"content": "x", "metadata": {"role": "boss"}}, ("metadata.role", "boss", "assistant")),
    ("memory_forget", {"memory_id": "nothere1"}, ("memory_id", "nothere1")),
    ("memory_update", {"memory_id": "nothere1", "importance": 1}, ("memory_id", "nothere1")),
    ("memory_feedback", {"memory_id": "nothere1", "outcome": "success"}, ("memory_id", "nothere1")),
    ("memory_feedback", {"memory_id": "nothere1", "outcome": "meh"}, ("outcome", "meh", "failure")),
    ("experience_write", {"trigger_context": "x", "outcome_status": "success"}, ("action_steps", "required")),
]


async def test_the_short_id_of_a_turn_is_forgotten_and_refused_with_a_reason_elsewhere(tmp_path: Path) -> None:
    async with connected(tmp_path, EMBEDDING_MODEL="none") as client:
        for said in (
            "钥匙挂在地下室蓝门后面吧？我住在北京朝阳区",
            "Where was it? I live in Lyon, the key is in the cellar.",
        ):
            written = await call(client, "memory_write", content=said)
            turn = f"#{written['episode_ids'][0][-8:]}"
            for tool, more in (("memory_update", {"importance": 1}), ("memory_feedback", {"outcome": "success"})):
                assert "turn of a conversation" in await refusal(client, tool, {"memory_id": turn, **more})
            forgotten = await call(client, "memory_forget", memory_id=turn)
            assert forgotten["episode_ids"] == written["episode_ids"]
            assert (await call(client, "memory_search", query=said))["hits"] == []


async def test_a_receipt_says_what_only_the_user_can_decide(tmp_path: Path) -> None:
    async with connected(tmp_path, EMBEDDING_MODEL="none") as client:
        for said, read in (("我住在北京", "用户搬到上海了"), ("My name is Ann.", "The user's name is Anna.")):
            mine = await call(client, "memory_write", content=said)
            result = await client.call_tool("memory_write", {"content": read, "metadata": {"role": "document"}})
            text = text_of(result)
            assert f"contradicts #{mine['outcomes'][0]['memory_id'][-8:]}" in text
            assert "only the user can say" in text
            assert result.structured_content is not None
            assert [one["review"] for one in result.structured_content["outcomes"]] == [True]


async def test_a_wrong_call_is_answered_with_field_value_and_what_is_allowed(tmp_path: Path) -> None:
    async with connected(tmp_path, EMBEDDING_MODEL="none") as client:
        for tool, arguments, parts in WRONG_CALLS:
            said = await refusal(client, tool, arguments)
            for part in parts:
                assert part in said, (tool, arguments, said)


@pytest.mark.parametrize(
    ("toolset", "tools"),
    [
        ("layered", ["memory_write", "memory_search", "memory_update", "memory_forget", "memory_summarize"]),
        ("experience", ["memory_write", "memory_search", "memory_forget", "memory_feedback", "memory_prune"]),
    ],
)
async def test_the_toolset_is_a_setting(tmp_path: Path, toolset: str, tools: list[str]) -> None:
    async with connected(tmp_path, HINDSIGHT_MCP_TOOLSET=toolset, EMBEDDING_MODEL="none") as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == tools


def exchange(folder: Path, messages: list[dict[str, object]], **settings: str) -> list[dict[str, Any]]:
    """Send all messages at once, read as many answers as there are requests; every line must be JSON."""
    with subprocess.Popen(
        SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(folder, **settings)
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for message in messages if "id" in message]
        server.stdin.close()
        assert server.stdout.read() == b""
        assert server.wait(60) == 0
    return answers


def initialize(version: str) -> dict[str, object]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return {"id": 1, "method": "initialize", "params": params}


def tool_call(number: int, name: str, arguments: Mapping[str, object]) -> dict[str, object]:
    return {"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_every_line_on_stdout_is_json_even_where_a_library_prints(tmp_path: Path, version: str) -> None:
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text("import atexit, os\natexit.register(os.write, 1, b'noise at exit\\n')\n")
    answers = exchange(
        tmp_path / "data",
        [
            initialize(version),
            {"method": "notifications/initialized"},
            tool_call(2, "memory_write", {"content": "The boiler was serviced in May."}),
            {"id": 3, "method": "tools/list"},
            {"id": 4, "method": "nonsense"},
        ],
        PYTHONPATH=os.pathsep.join([str(noisy), *filter(None, [os.environ.get("PYTHONPATH")])]),
        LOG_LEVEL="DEBUG",
        EMBEDDING_MODEL="none",
    )
    by_id = {answer["id"]: answer for answer in answers}
    assert list(by_id) == [1, *[number for number in by_id if number != 1]]
    assert by_id[1]["result"]["protocolVersion"] == version
    assert by_id[2]["result"]["structuredContent"]["outcomes"]
    assert len(by_id[3]["result"]["tools"]) == len(TOOLSETS[Toolset.FULL])
    assert by_id[4]["error"]["code"] == -32601


def test_a_wrong_setting_ends_the_server_by_name(tmp_path: Path) -> None:
    done = subprocess.run(
        SERVER, input=b"", capture_output=True, timeout=60, check=False,
        env=environment(tmp_path, HINDSIGHT_MCP_TOOLSET="everything"),
    )  # fmt: skip
    assert done.returncode == 2
    assert b"mcp_toolset" in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""

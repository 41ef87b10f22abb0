"""The same tools over streamable HTTP, mounted at `/mcp`, from an official client."""

import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
import uvicorn
from mcp import Client
from mcp.client.client import ConnectMode
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from hindsight.config import Toolset, load
from hindsight.domain.access import Role
from hindsight.embedded import AsyncHindsight
from hindsight.errors import Forbidden
from hindsight.interfaces.mcp.server import build_server, http_endpoint
from tests.serving import running_server


@asynccontextmanager
async def served(memory: AsyncHindsight) -> AsyncIterator[str]:
    """A server on a free loopback port that takes the namespace from the query; «forbidden» is refused."""

    def memory_of(request: Request | None, needed: Role) -> AsyncHindsight:
        assert request is not None
        name = request.query_params.get("namespace", "default")
        if name == "forbidden":
            raise Forbidden("this key does not reach that namespace")
        return memory.namespace(name)

    endpoint = http_endpoint(build_server(memory_of, Toolset.FULL))
    app = Starlette(routes=[Route("/mcp", endpoint=endpoint.app)])
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # so that a client may connect before the server has come up
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error"))
    async with endpoint.run(), anyio.create_task_group() as group:
        group.start_soon(server.serve, [listener])
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
    listener.close()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_client_writes_and_finds_over_http_in_the_namespace_of_its_request(
    tmp_path: Path, mode: ConnectMode
) -> None:
    async with (
        AsyncHindsight(settings=load(data_dir=tmp_path, embedding_model="none")) as memory,
        served(memory) as url,
    ):
        async with Client(f"{url}?namespace=a", mode=mode) as client:
            assert client.instructions
            written = await client.call_tool("memory_write", {"content": "The boiler was serviced in May."})
            assert not written.is_error
            found = await client.call_tool("memory_search", {"query": "When was the boiler serviced?"})
            assert found.structured_content is not None
            assert "boiler" in found.structured_content["context"]
        async with Client(f"{url}?namespace=b", mode=mode) as client:
            found = await client.call_tool("memory_search", {"query": "When was the boiler serviced?"})
            assert found.structured_content is not None
            assert found.structured_content["hits"] == []


async def test_what_the_key_does_not_reach_is_an_error_that_says_so(tmp_path: Path) -> None:
    async with (
        AsyncHindsight(settings=load(data_dir=tmp_path, embedding_model="none")) as memory,
        served(memory) as url,
        Client(f"{url}?namespace=forbidden") as client,
    ):
        refused = await client.call_tool("memory_search", {"query": "anything"})
    assert refused.is_error
    assert "does not reach" in str(refused.content)


async def test_the_round_trip_of_a_newcomer_works_over_http_with_the_built_in_encoder(tmp_path: Path) -> None:
    with running_server(tmp_path / "data") as base:
        await round_trip(f"{base}/mcp", "auto")
        await round_trip(f"{base}/mcp", "legacy")


async def round_trip(url: str, mode: ConnectMode) -> None:
    async with Client(url, mode=mode) as client:
        said = {"content": "用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏", "session_id": "zh"}
        written = await client.call_tool("memory_write", said)
        assert written.structured_content is not None
        outcomes = written.structured_content["outcomes"]
        allergy = next(one["memory_id"] for one in outcomes if "花生" in one["content"])
        for question in ("吃什么要小心", "what food must I avoid"):
            found = await client.call_tool("memory_search", {"query": question})
            assert found.structured_content is not None
            assert "花生" in found.structured_content["context"]
            assert allergy in [hit["memory_id"] for hit in found.structured_content["hits"][:3]]
        await client.call_tool("memory_forget", {"memory_id": allergy})
        for question in ("吃什么要小心", "what food must I avoid", "花生过敏"):
            found = await client.call_tool("memory_search", {"query": question})
            assert "花生" not in json.dumps(found.structured_content, ensure_ascii=False)

"""Keys at every door: made on the command line, asked for over REST and MCP, blind beyond their reach (CASES T2)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from fastapi.routing import APIRoute

from hindsight import config
from hindsight.interfaces.cli import main as cli
from hindsight.interfaces.http.app import create_app
from hindsight.interfaces.http.gate import OPEN_PATHS
from hindsight.interfaces.http.request import administering, reading, writing
from tests.serving import running_server

SECRET = "Marmaladenglas 七号柜"


def make(folder: Path, *arguments: str) -> tuple[str, str]:
    """The id and the token of a new key."""
    command = [sys.executable, "-m", "hindsight.interfaces.cli", "keys", "make", *arguments, "--json"]
    done = subprocess.run([*command, "--data-dir", str(folder)], capture_output=True, check=True, encoding="utf-8")
    made = json.loads(done.stdout)
    return made["id"], made["token"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys") / "data"


@pytest.fixture(scope="module")
def tokens(folder: Path) -> dict[str, str]:
    return {
        "a": make(folder, "a's laptop", "--grant", "a:write", "--grant", "team:read")[1],
        "b": make(folder, "b's laptop", "--grant", "b:write", "--grant", "team:write")[1],
        "reader": make(folder, "reader", "--grant", "a:read")[1],
        "admin": make(folder, "operator", "--grant", "*:admin")[1],
    }


@pytest.fixture(scope="module")
def base(folder: Path, tokens: dict[str, str]) -> Iterator[str]:
    with running_server(folder) as url:
        yield url


def caller(base: str, token: str, namespace: str | None = None) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {token}"} | ({"X-Hindsight-Namespace": namespace} if namespace else {})
    return httpx2.Client(base_url=base, headers=headers, timeout=30)


def test_a_key_is_for_its_namespaces_and_its_roles(base: str, tokens: dict[str, str]) -> None:
    with caller(base, tokens["b"]) as b, caller(base, tokens["a"]) as a, caller(base, tokens["a"], "team") as team:
        assert b.post("/v1/memories", json={"content": f"B keeps the {SECRET}."}).status_code == 200
        b.headers["X-Hindsight-Namespace"] = "team"
        assert b.post("/v1/memories", json={"content": "The team meets on Tuesday."}).status_code == 200
        assert "Marmalade" not in a.post("/v1/search", json={"query": SECRET}).text
        assert "Tuesday" in team.post("/v1/search", json={"query": "When does the team meet?"}).text
        refused = team.post("/v1/memories", json={"content": "The team meets on Friday."})
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")


def test_identity_comes_from_the_key_and_not_from_what_is_said(base: str, tokens: dict[str, str]) -> None:
    with caller(base, tokens["a"], "b") as a:
        assert a.post("/v1/search", json={"query": SECRET}).status_code == 403
    with caller(base, tokens["a"]) as a:
        assert a.post("/v1/search", json={"query": SECRET, "namespace": "b"}).status_code == 400
        assert a.get("/v1/stats", params={"namespace": "b"}).status_code == 400


@pytest.mark.parametrize("token", ["", "wrong", "hs_abcd2345_" + "x" * 43])
def test_no_key_and_a_wrong_one_are_told_apart_from_nothing(base: str, token: str) -> None:
    answer = httpx2.get(f"{base}/v1/stats", headers={"Authorization": f"Bearer {token}"} if token else {})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert httpx2.get(f"{base}/healthz").status_code == 200


def test_only_an_operators_key_reads_the_figures(base: str, tokens: dict[str, str]) -> None:
    for name, status in (("a", 403), ("reader", 403), ("admin", 200)):
        with caller(base, tokens[name]) as one:
            assert one.get("/metrics").status_code == status


def test_a_revoked_key_and_one_with_a_measure_are_refused(base: str, folder: Path, tokens: dict[str, str]) -> None:
    key_id, token = make(folder, "slow", "--grant", "a:read", "--per-minute", "2")
    with caller(base, token) as slow:
        assert [slow.get("/v1/stats").status_code for _ in range(3)] == [200, 200, 429]
        assert int(slow.get("/v1/stats").headers["retry-after"]) in range(1, 61)
    ended, gone = make(folder, "gone", "--grant", "a:read")
    assert cli.main(["keys", "revoke", ended, "--data-dir", str(folder), "--json"]) == 0
    with caller(base, gone) as revoked:
        assert revoked.get("/v1/stats").status_code == 401
    assert key_id != ended


def routes() -> list[APIRoute]:
    """Every route of the app, whatever router it stands in."""
    app = create_app(config.load(embedding_model="none"))
    found: list[APIRoute] = []
    waiting = list(app.routes)
    while waiting:
        route = waiting.pop()
        if isinstance(route, APIRoute):
            found.append(route)
        waiting += getattr(getattr(route, "original_router", None), "routes", [])
    return found


def test_every_route_of_memories_says_what_role_it_needs() -> None:
    """A route that is added without one fails here before it leaks."""
    found = routes()
    assert len(found) > 30
    for route in found:
        needs = [one.call for one in route.dependant.dependencies if one.call in (reading, writing, administering)]
        operators = route.path == "/metrics"
        assert len(needs) == (0 if route.path in OPEN_PATHS or operators else 1), route.path
        if needs == [reading]:
            assert route.methods == {"GET"} or route.path in ASKING, route.path


ASKING = {
    "/search",
    "/traces/{trace_id}/replay",
    "/summaries",
    "/answer",
}  # asked with a body, changing nothing


def test_every_route_refuses_a_namespace_beyond_the_key_and_tells_nothing(base: str, tokens: dict[str, str]) -> None:
    with caller(base, tokens["b"], "b") as b:
        written = b.post("/v1/memories", json={"content": f"B keeps the {SECRET}.", "session_id": "s-b"}).json()
        memory_id = written["outcomes"][0]["memory_id"]
        trace_id = b.post("/v1/search", json={"query": SECRET}).json()["trace_id"]
        token = written["undo"] or "none"
    ids = {"memory_id": memory_id, "trace_id": trace_id, "session_id": "s-b", "job_id": memory_id}
    document = httpx2.get(f"{base}/openapi.json", headers={"Authorization": f"Bearer {tokens['a']}"}).json()
    tried = 0
    for beyond, status in (("b", {403}), (None, {200, 400, 404, 409, 422})):
        with caller(base, tokens["a"], beyond) as a:
            for path, methods in document["paths"].items():
                if not path.startswith("/v1"):
                    continue
                for method in methods:
                    body = {"query": "jar", "question": "jar", "token": token, "memory_id": memory_id}
                    called = path.format(**{name: ids.get(name, memory_id) for name in NAMES if f"{{{name}" in path})
                    answer = a.request(method.upper(), called, json=None if method == "get" else body)
                    tried += 1
                    if beyond is not None and answer.status_code not in (400, 422):
                        assert answer.status_code in status, (method, path, answer.text)
                    assert "Marmalade" not in answer.text, (method, path)
    assert tried > 60
    with caller(base, tokens["b"], "b") as b:
        assert b.get(f"/v1/memories/{memory_id}").json()["status"] == "active"


NAMES = ("memory_id", "trace_id", "session_id", "job_id")


def test_mcp_over_http_is_behind_the_same_keys(base: str, tokens: dict[str, str]) -> None:
    def call(token: str, tool: str, arguments: dict[str, object], namespace: str | None = None) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {"Accept": "application/json, text/event-stream"}
        with caller(base, token, namespace) as one:
            return one.post("/mcp", json=message, headers=headers)

    assert httpx2.post(f"{base}/mcp", json={}).status_code == 401
    assert "Marmalade" not in call(tokens["a"], "memory_search", {"query": "Who keeps the jar?"}).text
    assert "does not reach" in call(tokens["a"], "memory_search", {"query": "jar"}, "b").text
    assert (
        "needs write"
        in call(tokens["reader"], "memory_write", {"content": "The jar is empty.", "session_id": "s"}).text
    )
    assert "needs write" not in call(tokens["reader"], "memory_search", {"query": "jar"}).text


@pytest.mark.parametrize(
    "arguments",
    [
        ["keys", "make", "x"],
        ["keys", "make", "x", "--grant", "me"],
        ["keys", "make", "x", "--grant", "me:owner"],
        ["keys", "make", "x", "--grant", ":read"],
        ["keys", "make", "x", "--grant", "me:read", "--grant", "me:write"],
        ["keys", "make", "x", "--grant", "me:read", "--days", "0"],
        ["keys", "make", " ", "--grant", "me:read"],
        ["keys", "revoke", "nothing2"],
    ],
)
def test_what_makes_no_key_is_refused_by_name(
    tmp_path: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*arguments, "--data-dir", str(tmp_path), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] in ("invalid_input", "not_found")
    cli.main(["keys", "list", "--data-dir", str(tmp_path), "--json"])
    assert json.loads(capsys.readouterr().out) == {"items": []}


def test_a_list_of_keys_shows_no_secret(
    folder: Path, tokens: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["keys", "list", "--data-dir", str(folder)]) == 0
    shown = capsys.readouterr().out
    assert "a's laptop  a:write, team:read" in shown
    assert not [token for token in tokens.values() if token.rsplit("_", 1)[1] in shown]

"""Reflection at each door: REST, the client, MCP and the command line say the same, and decide the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hindsight import Client
from tests.experience import sessions as made
from tests.interfaces.test_mcp_stdio import connected, text_of
from tests.serving import running_server

COMMAND = [sys.executable, "-m", "hindsight.interfaces.cli"]
FIELDS = {
    "session_id", "events", "proposals", "known", "left_out", "rated", "receipts", "passed_over", "unreported",
    "dropped", "degraded",
}  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("reflect") / "data"
    with running_server(data, {"HINDSIGHT_EMBEDDING_MODEL": "none"}) as url:
        yield url


def test_over_rest_a_session_or_a_transcript_is_reflected_on_and_decided(base: str) -> None:
    with httpx2.Client(base_url=base, headers={"X-Hindsight-Namespace": "rest"}, timeout=30) as client:
        turns = [{**one, "occurred_at": one["occurred_at"].isoformat()} for one in made.written(made.PORT_TAKEN)]
        assert client.post("/v1/memories", json={"content": turns, "session_id": "s-1"}).status_code == 200
        answer = client.post("/v1/reflect", json={"session_id": "s-1"})
        assert answer.status_code == 200, answer.text
        assert set(answer.json()) == FIELDS
        (proposal,) = answer.json()["proposals"]
        assert proposal["evidence"]
        assert len(proposal["steps_on"]) == len(proposal["steps"])

        sent = {"transcript": list(made.openai(made.NO_PYTHON)), "session_id": "elsewhere"}
        other = client.post("/v1/reflect", json=sent).json()
        assert [one["sort"] for one in other["proposals"]] == ["instead"]
        assert other["proposals"][0]["session_id"] == "elsewhere"

        items = client.get("/v1/review").json()["items"]
        assert [(one["kind"], one["new"]["status"]) for one in items] == [("proposal", "proposed")] * 2
        receipt = client.post(f"/v1/review/{items[0]['short_id']}", json={"choice": "accept"}).json()
        assert [one["action"] for one in receipt["outcomes"]] == ["added"]
        assert client.post(f"/v1/review/{items[0]['memory_id']}", json={"choice": "accept"}).status_code == 409
        assert client.post(f"/v1/review/{items[1]['memory_id']}", json={"choice": "new"}).status_code == 400
        client.post(f"/v1/review/{items[1]['memory_id']}", json={"choice": "reject"})
        assert client.get("/v1/review").json()["items"] == []
        assert client.post("/v1/reflect", json=sent).json()["known"] == 1


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, 400, "session_id"),
        ({"transcript": "nothing of the kind"}, 400, "transcript"),
        ({"transcript": 5}, 400, "transcript"),
        ({"session_id": "nobody"}, 404, "session_id"),
    ],
)
def test_over_rest_bad_input_names_the_field(base: str, body: dict[str, Any], code: int, field: str) -> None:
    with httpx2.Client(base_url=base, timeout=30) as client:
        answer = client.post("/v1/reflect", json=body)
    assert answer.status_code == code
    assert field in answer.text


def test_over_the_client_a_file_is_sent(base: str, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_bytes(made.lines(made.claude(made.MISSING_MODULE)))
    with Client(base, namespace="client") as memory:
        found = memory.reflect(transcript=file)
        (item,) = memory.reviews().items
        memory.resolve_review(item.memory_id, "accept")
        assert not memory.reviews().items
    assert len(found.proposals) == 1  # type: ignore[attr-defined]  # REST calls it so
    assert item.kind == "proposal"


async def test_over_mcp_proposals_stand_inside_the_fence_and_ids_outside(tmp_path: Path) -> None:
    async with connected(tmp_path, HINDSIGHT_EMBEDDING_MODEL="none") as client:
        for content, role in (("$ python a.py", "assistant"), ("zsh: command not found: python", "tool")):
            await client.call_tool(
                "memory_write",
                {"content": content, "session_id": "s-1", "metadata": {"role": role, "tool": "bash"}},
            )
        nothing = await client.call_tool("memory_reflect", {"session_id": "s-1"})
        assert nothing.structured_content is not None
        assert nothing.structured_content["proposals"] == []
        for text in (
            "$ pip install openpyxl\nERROR: No matching distribution found for openpyxl (index not reachable)",
            "$ export PIP_INDEX_URL=https://mirror.example/simple && pip install openpyxl\nSuccessfully installed",
        ):
            about = {"role": "tool", "tool": "bash"}
            await client.call_tool("memory_write", {"content": text, "session_id": "s-2", "metadata": about})
        told = await client.call_tool("memory_reflect", {"session_id": "s-2"})
        assert told.structured_content is not None
        (proposal,) = told.structured_content["proposals"]
        assert "trigger" not in proposal
        assert f"#{proposal['short_id']}" in text_of(told)
        assert "pip install" in text_of(told)
        assert "pip install" not in json.dumps(told.structured_content)
        unknown = await client.call_tool("memory_reflect", {"session_id": "nobody"})
        assert unknown.is_error


def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HINDSIGHT_EMBEDDING_MODEL": "none"}
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, encoding="utf-8", env=environment, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_on_the_command_line_a_file_is_reflected_on_shown_and_decided(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_bytes(made.lines(made.claude(made.PORT_TAKEN)) + b"\n{half\n")
    shown = run("reflect", str(file), code=2)
    assert "1 lines could not be read" in shown.stderr
    assert "EADDRINUSE" in shown.stdout
    name = shown.stdout.split()[0]
    waiting = run("review")
    assert f"{name}  " in waiting.stdout
    assert "evidence: " in waiting.stdout
    assert "--accept | --reject" in waiting.stderr
    accepted = json.loads(run("review", name, "--accept", "--json").stdout)
    assert [one["action"] for one in accepted["outcomes"]] == ["added"]
    run("undo", accepted["undo"])
    rejected = run("review", name, "--reject").stdout
    assert "rejected" in rejected
    again = json.loads(run("reflect", str(file), "--json", code=2).stdout)
    assert (again["proposals"], again["known"]) == ([], 1)
    assert "FILE" in run("reflect", code=2).stderr
    assert "--accept" in run("review", name, "--accept", "--reject", code=2).stderr

"""Working memory and the end of a session at every door: REST, command line, MCP, Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindsight import Hindsight
from hindsight.errors import InvalidInput, NotFound
from hindsight.interfaces.cli import main as cli
from hindsight.language.markers import FENCE_CLOSE
from tests.interfaces.test_mcp_stdio import connected
from tests.serving import running_server

import httpx2  # isort: skip

QUIET = {"EMBEDDING_MODEL": "none"}


def test_over_rest_a_task_notes_reads_and_ends(tmp_path: Path) -> None:
    with running_server(tmp_path, QUIET) as base, httpx2.Client(base_url=base) as client:
        client.post("/v1/memories", json={"content": "先看上周的数据", "session_id": "s/1"})
        noted = client.put("/v1/sessions/s%2F1/working", json={"set": {"目标": "写周报", "step": 2}, "ttl": 60})
        assert noted.json()["variables"] == {"目标": "写周报", "step": 2}
        assert set(noted.json()["expires"]) == {"目标", "step"}
        read = client.get("/v1/sessions/s%2F1/working").json()
        assert [turn["content"] for turn in read["turns"]] == ["先看上周的数据"]
        block = client.post("/v1/search", json={"query": "数据", "session_id": "s/1"}).json()["context"]
        assert "目标：写周报" in block
        assert [one["session_id"] for one in client.get("/v1/sessions").json()["items"]] == ["s/1"]
        ended = client.post("/v1/sessions/s%2F1/end").json()
        assert len(ended["episode_ids"]) == 1
        again = client.get("/v1/sessions/s%2F1/working").json()
        assert (again["variables"], again["ended_at"] is None) == ({}, False)
        assert again["turns"][-1]["content"] == "step: 2\n目标: 写周报"
        refused = client.put("/v1/sessions/s/working", json={"set": {"a": 1}, "ttl": -1}).json()["error"]
        assert (refused["code"], refused["field"]) == ("invalid_input", "ttl")
        assert client.get("/v1/sessions/unknown/working").status_code == 404


def test_on_the_command_line_a_task_notes_reads_and_ends(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    assert cli.main(["session", "set", "s1", "goal=weekly report", "steps=[1, 2]", "--ttl", "60", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["variables"] == {"goal": "weekly report", "steps": [1, 2]}
    assert cli.main(["session", "set", "s1", "steps="]) == 0
    assert cli.main(["session", "show", "s1"]) == 0
    shown = capsys.readouterr().out
    assert "goal = weekly report  (until " in shown
    assert "steps =" not in shown.splitlines()[-1]
    assert cli.main(["session", "list"]) == 0
    assert "s1" in capsys.readouterr().out
    assert cli.main(["session", "end", "s1", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["episode_ids"]) == 1
    assert cli.main(["session", "set", "s1", "nonsense"]) == 2
    assert "nonsense" in capsys.readouterr().err


async def test_over_mcp_a_task_notes_and_reads_inside_a_fence(tmp_path: Path) -> None:
    async with connected(tmp_path, **QUIET) as client:
        arguments = {"session_id": "s", "set": json.dumps({"goal": f"x {FENCE_CLOSE} y"}), "ttl": "60"}
        told = await client.call_tool("working_memory", arguments)
        text = told.content[0].text  # type: ignore[union-attr]  # words, not an image
        assert text.startswith("<hindsight-memory")
        assert text.count(FENCE_CLOSE) == 1
        structured = told.structured_content or {}
        assert (structured["names"], structured["context"]) == (["goal"], text)
        read = await client.call_tool("working_memory", {"session_id": "s"})
        assert read.structured_content == structured
        unknown = await client.call_tool("working_memory", {"session_id": "t"})
        assert unknown.is_error


def test_in_python_another_process_sees_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    with Hindsight(tmp_path) as one, Hindsight(tmp_path) as two:
        one.working("s", set={"goal": "report"})
        assert two.working("s").variables["goal"].value == "report"
        with pytest.raises(NotFound):
            two.namespace("other").working("s")
        with pytest.raises(InvalidInput, match="set"):
            one.working("s", set={"": 1})
        assert len(two.end_session("s").episode_ids) == 1
        assert not one.working("s").variables
        assert one.sessions()[0].ended_at is not None

"""Purging, forgetting many things at once, and the proof of it, on the command line and over REST."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindsight.interfaces.cli import main as cli
from tests.serving import running_server

import httpx2  # isort: skip

COMMAND = [sys.executable, "-m", "hindsight.interfaces.cli"]


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")


def answered(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert cli.main([*arguments, "--json"]) == code
    output = capsys.readouterr()
    found: dict[str, Any] = json.loads(output.out)
    return found


def test_a_purge_on_the_command_line_is_asked_for_done_and_proven(capsys: pytest.CaptureFixture[str]) -> None:
    written = answered(capsys, "write", "我住在积水潭附近")
    one = written["outcomes"][0]["memory_id"]
    proof = answered(capsys, "doctor", "--forgotten", one, "--word", "积水潭", code=1)
    assert (proof["gone"], proof["purged_at"]) == (False, None)
    assert [Path(held["path"]).name for held in proof["files"]] != []
    # Nobody can answer where there is no terminal.
    asked = subprocess.run(
        [*COMMAND, "forget", one, "--purge"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert asked.returncode == 2
    assert b"--yes" in asked.stderr
    done = answered(capsys, "forget", one[-8:], "--purge", "--yes")
    assert done["removed"]["rows"] == 1
    assert done["scrubbed"] is True
    proof = answered(capsys, "doctor", "--forgotten", one, "--word", "积水潭")
    assert (proof["gone"], proof["left"], proof["files"]) == (True, {}, [])
    assert proof["files_read"] > 0
    assert cli.main(["doctor", "--forgotten", one[-8:]]) == 0
    assert "was purged on" in capsys.readouterr().out
    assert cli.main(["doctor", "--forgotten", "unknown1"]) == 2


def test_everything_about_a_name_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    answered(capsys, "write", "Ann lives in Lisbon")
    shown = answered(capsys, "forget", "--about", "Ann")
    assert (shown["dry_run"], shown["memories"]) == (True, 1)
    assert cli.main(["forget", "--about", "Ann"]) == 0
    output = capsys.readouterr()
    assert "would go  1 memories" in output.out
    assert "--apply" in output.err
    done = answered(capsys, "forget", "--about", "Ann", "--apply", "--reason", "asked")
    assert done["purge_after"] is not None
    answered(capsys, "undo", done["undo"])
    gone = answered(capsys, "forget", "--everything", "--apply", "--purge", "--yes")
    assert gone["purged"]["removed"]["rows"] == 1


@pytest.mark.parametrize("arguments", [(), ("x", "--about", "y"), ("--about", "x", "--everything")])
def test_exactly_one_thing_is_named(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    assert cli.main(["forget", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") <= 2


def test_over_rest_it_is_shown_hidden_and_taken_back_but_not_purged(tmp_path: Path) -> None:
    environment = {**os.environ, "EMBEDDING_MODEL": "none"}
    with running_server(tmp_path, environment) as base, httpx2.Client(base_url=base) as client:
        one = client.post("/v1/memories", json={"content": "我住在积水潭附近", "session_id": "s"}).json()
        name = one["outcomes"][0]["memory_id"]
        shown = client.post("/v1/forget", json={"session_id": "s"}).json()
        assert (shown["dry_run"], shown["memories"], shown["turns"]) == (True, 1, 1)
        done = client.post("/v1/forget", json={"about": "积水潭", "dry_run": False}).json()
        assert client.get(f"/v1/memories/{name}").json()["status"] == "forgotten"
        proof = client.get(f"/v1/memories/{name}/forgotten").json()
        assert (proof["gone"], proof["left"]["rows"]) == (False, 1)
        assert client.post("/v1/undo", json={"token": done["undo"]}).status_code == 200
        assert client.get(f"/v1/memories/{name}").json()["status"] == "active"
        refused = client.post("/v1/forget", json={}).json()["error"]
        assert (refused["code"], refused["field"]) == ("invalid_input", "about")
        assert client.post("/v1/forget", json={"about": "x", "purge": True}).status_code == 400

"""Pruning, merging and who reports, over REST and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindsight.interfaces.cli import main as cli
from tests.serving import running_server

import httpx2  # isort: skip


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    code = cli.main([*arguments, "--json"])
    output = capsys.readouterr()
    assert code == 0, output.err
    found = json.loads(output.out)
    assert isinstance(found, dict)
    return found


def test_over_rest_it_is_named_archived_and_taken_back(tmp_path: Path) -> None:
    with running_server(tmp_path, {"EMBEDDING_MODEL": "none"}) as base, httpx2.Client(base_url=base) as client:
        body = {
            "trigger_context": "数据库迁移超时",
            "action_steps": ["重启数据库"],
            "keywords": ["迁移"],
            "agent": "甲",
        }
        one = client.post("/v1/experiences", json=body).json()["outcomes"][0]["memory_id"]
        for _ in range(2):
            rated = client.post(
                f"/v1/memories/{one}/feedback", json={"outcome": "failure", "agent": "乙", "note": "仍超时"}
            ).json()
        assert rated["trigger"]["keywords"] == ["迁移"]
        assert [(who["agent"], who["failures"]) for who in rated["contributors"]] == [("甲", 0), ("乙", 2)]
        assert client.get(f"/v1/memories/{one}/history").json()["revisions"][-1]["actor"] == "乙"

        named = client.post("/v1/prune", json={}).json()
        assert [(entry["memory_id"], entry["rule"]) for entry in named["pruned"]] == [(one, "confidence")]
        assert named["dry_run"] is True
        done = client.post("/v1/prune", json={"dry_run": False}).json()
        assert client.get(f"/v1/memories/{one}").json()["status"] == "archived"
        assert client.post("/v1/undo", json={"token": done["undo"]}).status_code == 200
        assert client.get(f"/v1/memories/{one}").json()["status"] == "active"

        refused = client.post("/v1/prune", json={"min_confidence": 2}).json()["error"]
        assert refused["field"] == "min_confidence"
        vague = {"trigger_context": "用户要求处理文件", "action_steps": ["打开它"]}
        error = client.post("/v1/experiences", json=vague).json()["error"]
        assert (error["code"], error["field"]) == ("invalid_input", "trigger_context")
        assert "打开它" in error["hint"]
        assert client.post("/v1/experiences/merge").json()["outcomes"] == []


def test_on_the_command_line_it_is_named_archived_and_taken_back(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    kept = answered(capsys, "experience", "write", "Printer jams on A3", "--step", "open the tray", "--agent", "ann")
    one = str(kept["outcomes"][0]["memory_id"])  # type: ignore[index]  # JSON
    for _ in range(2):
        answered(capsys, "feedback", one, "failure", "--agent", "bob")
    named = answered(capsys, "prune")
    assert [entry["memory_id"] for entry in named["pruned"]] == [one]  # type: ignore[attr-defined]  # JSON
    assert cli.main(["prune"]) == 0
    output = capsys.readouterr()
    assert "would go" in output.out
    assert "Printer jams on A3" in output.out
    assert "confidence 0.10 is below 0.30" in output.out
    assert "--apply" in output.err
    done = answered(capsys, "prune", "--apply")
    assert answered(capsys, "prune")["pruned"] == []
    answered(capsys, "undo", str(done["undo"]))
    assert len(answered(capsys, "prune")["pruned"]) == 1  # type: ignore[arg-type]  # JSON
    for wrong in (["--min-confidence", "2"], ["--max-age-days", "x"], ["--min-uses", "-1"]):
        assert cli.main(["prune", *wrong]) == 2
        assert wrong[0].removeprefix("--").replace("-", "_") in capsys.readouterr().err


def test_on_the_command_line_alike_ones_are_merged_and_parted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    for trigger, step in (
        ("pip install fails with TLS error", "set PIP_CERT"),
        ("pip install fails with a TLS error", "x"),
    ):
        kept = answered(capsys, "experience", "write", trigger, "--step", step)
    assert kept["outcomes"][0]["action"] == "merged"  # type: ignore[index]  # JSON
    answered(capsys, "undo", f"merge:{kept['undo']}:1")
    assert answered(capsys, "experience", "merge")["outcomes"] == []


TEXTS = (
    "触发场景：每月对账时汇率缺失 操作步骤：1. 取前一日汇率 2. 重新对账 结果：success 标签：对账",
    "Trigger: the nightly export times out Steps: 1. split it by region 2. run again Outcome: failure Tags: export",
)


def test_on_the_command_line_experiences_in_free_text_are_listed_and_shown_with_their_record(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    ids = [str(answered(capsys, "write", text)["outcomes"][0]["memory_id"]) for text in TEXTS]  # type: ignore[index]  # JSON
    listed = answered(capsys, "experience", "list", "--limit", "1")
    assert [one["memory_id"] for one in listed["items"]] == ids[1:]  # type: ignore[attr-defined]  # JSON
    rest = answered(capsys, "experience", "list", "--after", str(listed["next"]))
    assert [one["memory_id"] for one in rest["items"]] == ids[:1]  # type: ignore[attr-defined]  # JSON
    answered(capsys, "feedback", ids[0], "success", "--agent", "会计助手", "--note", "对上了")
    sure = answered(capsys, "experience", "list", "--min-confidence", "0.6", "--tag", "对账")
    assert [one["memory_id"] for one in sure["items"]] == ids[:1]  # type: ignore[attr-defined]  # JSON
    shown = answered(capsys, "experience", "show", ids[0])
    assert shown["steps"] == ["取前一日汇率", "重新对账"]
    assert [one["act"] for one in shown["revisions"]] == ["added", "feedback"]  # type: ignore[attr-defined]  # JSON
    assert cli.main(["experience", "show", ids[0]]) == 0
    told = capsys.readouterr().out
    for part in ("取前一日汇率", "1 of 1 worked", "by 会计助手", "feedback by 会计助手: success: 对上了"):
        assert part in told
    assert cli.main(["experience", "list"]) == 0
    assert "split it by region" in capsys.readouterr().out
    fact = answered(capsys, "write", "我住在北京")["outcomes"][0]["memory_id"]  # type: ignore[index]  # JSON
    assert cli.main(["experience", "show", str(fact)]) == 2
    assert "memory_id" in capsys.readouterr().err


@pytest.mark.parametrize("text", TEXTS)
def test_over_rest_free_text_becomes_an_experience(tmp_path: Path, text: str) -> None:
    with running_server(tmp_path, {"EMBEDDING_MODEL": "none"}) as base, httpx2.Client(base_url=base) as client:
        (outcome,) = client.post("/v1/memories", json={"content": text}).json()["outcomes"]
        assert outcome["kind"] == "experience"
        kept = client.get(f"/v1/memories/{outcome['memory_id']}").json()
        assert (len(kept["steps"]), kept["outcome"]["status"]) == (2, "success" if "success" in text else "failure")

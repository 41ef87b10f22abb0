"""Digests, answers, profiles and clean-up through every door: REST, MCP, the command line, Python and its client."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hindsight import Client, Hindsight
from hindsight.interfaces.cli import main as cli
from hindsight.language.markers import FENCE_OPEN, without_own_output
from tests.interfaces.test_mcp_stdio import call, connected, refusal, text_of
from tests.serving import running_server

import httpx2  # isort: skip

TALK = ("我们决定把数据库从 PostgreSQL 换成 MySQL", "好的，谢谢！", "小王下周五评审设计", "我对花生过敏")
PLAIN = {"EMBEDDING_MODEL": "none"}


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code = cli.main([*arguments, "--json"])
    output = capsys.readouterr()
    assert code == 0, output.err
    return json.loads(output.out)


def test_over_rest_a_session_is_told_a_question_answered_and_a_person_known(tmp_path: Path) -> None:
    with running_server(tmp_path, PLAIN) as base, httpx2.Client(base_url=base) as client:
        for said in TALK:
            client.post("/v1/memories", json={"content": said, "session_id": "s1"})

        told = client.post("/v1/summaries", json={"session_id": "s1"}).json()
        assert told["method"] == "extractive"
        assert told["examined"] == 4
        assert all(one["memory_ids"] and one["text"] for one in told["sentences"])
        assert without_own_output(told["summary"]).strip() == ""
        today = client.post("/v1/summaries", json={"time_range": "今天", "max_tokens": 300}).json()
        assert len(today["sentences"]) == 3
        assert today["tokens"] <= 300

        answer = client.post("/v1/answer", json={"question": "用户对什么过敏？"}).json()
        assert answer["sentences"][0]["text"] == "用户对花生过敏"
        assert answer["citations"][0] == answer["sentences"][0]["memory_ids"][0]
        assert client.get(f"/v1/traces/{answer['trace_id']}").json()["answer"]["cited"] == answer["citations"]

        known = client.get("/v1/profile").json()
        assert [(one["content"], one["proofs"]) for one in known["constraints"]] == [("用户对花生过敏", 1)]
        assert client.get("/v1/profile", params={"subject": "nobody"}).json()["constraints"] == []
        memory = client.get(f"/v1/memories/{known['constraints'][0]['memory_id']}").json()
        assert memory["last_verified"] == known["constraints"][0]["last_verified"]


def test_over_rest_clean_up_names_does_and_takes_back(tmp_path: Path) -> None:
    long_ago = (datetime.now(UTC) - timedelta(days=500)).isoformat()
    with running_server(tmp_path, PLAIN) as base, httpx2.Client(base_url=base) as client:
        body = {"content": "我在甲公司工作", "occurred_at": long_ago}
        one = client.post("/v1/memories", json=body).json()["outcomes"][0]["memory_id"]

        named = client.post("/v1/cleanup", json={}).json()
        assert [(entry["memory_id"], entry["rule"], entry["action"]) for entry in named["entries"]] == [
            (one, "stale", "review")
        ]
        assert (named["dry_run"], named["undo"], named["examined"]) == (True, None, 1)
        done = client.post("/v1/cleanup", json={"dry_run": False, "agent": "ann"}).json()
        assert done["entries"] == named["entries"]
        (asked,) = client.get("/v1/review").json()["items"]
        assert (asked["memory_id"], asked["kind"], asked["old"]) == (one, "unconfirmed", [])
        assert client.post("/v1/undo", json={"token": done["undo"]}).status_code == 200
        assert client.get("/v1/review").json()["items"] == []
        found = client.post("/v1/search", json={"query": "在哪里工作"}).json()
        assert "可能已变" in found["hits"][0]["warning"]


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/summaries", {}, "session_id"),
        ("/v1/summaries", {"time_range": "whenever"}, "time_range"),
        ("/v1/summaries", {"session_id": "s", "max_tokens": 1}, "max_tokens"),
        ("/v1/answer", {}, "question"),
        ("/v1/answer", {"question": " "}, "query"),
        ("/v1/cleanup", {"dry_run": "perhaps"}, "dry_run"),
        ("/v1/cleanup", {"unknown": 1}, "unknown"),
    ],
)
def test_bad_input_over_rest_names_the_field(
    served: httpx2.Client, path: str, body: dict[str, Any], field: str
) -> None:
    refused = served.post(path, json=body)

    assert refused.status_code == 400
    assert refused.json()["error"]["field"] == field


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with (
        running_server(tmp_path_factory.mktemp("served") / "data", PLAIN) as base,
        httpx2.Client(base_url=base) as client,
    ):
        yield client


async def test_over_mcp_the_words_stand_in_the_fence_alone(tmp_path: Path) -> None:
    async with connected(tmp_path, EMBEDDING_MODEL="none") as client:
        for said in TALK:
            await call(client, "memory_write", content=said, session_id="s1")

        result = await client.call_tool("memory_summarize", {"session_id": "s1"})
        assert result.structured_content is not None
        text = text_of(result)
        assert text.startswith(FENCE_OPEN)
        assert "MySQL" in text
        assert "MySQL" not in json.dumps(result.structured_content["sentences"], ensure_ascii=False)
        told = await call(client, "memory_summarize", time_range="today")
        assert len(told["sentences"]) == 3
        answer = await call(client, "memory_answer", question="用户对什么过敏？")
        assert answer["citations"]
        assert "session_id" in await refusal(client, "memory_summarize", {})
        assert "question" in await refusal(client, "memory_answer", {})


def test_on_the_command_line_it_is_told_answered_known_and_cleaned(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    for said in TALK:
        answered(capsys, "write", said, "--session", "s1")

    assert answered(capsys, "summarize", "--session", "s1")["examined"] == 4
    assert answered(capsys, "answer", "用户对什么过敏？")["citations"]
    assert answered(capsys, "profile")["constraints"][0]["content"] == "用户对花生过敏"
    assert answered(capsys, "clean")["dry_run"] is True
    done = answered(capsys, "clean", "--apply")
    assert done["entries"] == []
    for command, out, err in (
        (["summarize", "--time", "今天"], "MySQL", "no language model took part"),
        (["answer", "用户对什么过敏？"], "花生", "trace "),
        (["profile"], "said once", ""),
        (["clean"], "", "0 of 4 memories"),
    ):
        assert cli.main(command) == 0
        shown = capsys.readouterr()
        assert out in shown.out
        assert err in shown.err
    assert cli.main(["summarize"]) == 2
    assert cli.main(["undo", "clean:unknown"]) == 2


def test_in_python_and_over_the_client_the_same_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    with Hindsight(tmp_path / "own") as memory:
        memory.write("我对花生过敏", session_id="s1")
        assert memory.summarize("s1").sentences[0].text == "用户对花生过敏"
        assert memory.answer("用户对什么过敏？").cited
        assert memory.profile().constraints[0].proofs == 1
        assert memory.cleanup().entries == ()
        assert memory.cleanup(dry_run=False).undo is None
        assert memory.profile("nobody").facts == ()
    with running_server(tmp_path / "served", PLAIN) as base, Client(base) as client:
        client.write("我对花生过敏", session_id="s1")
        assert client.summarize("s1").sentences[0].text == "用户对花生过敏"
        assert client.summarize(time_range="今天").examined == 1
        assert client.answer("用户对什么过敏？").citations
        assert client.profile().constraints[0].proofs == 1
        assert client.cleanup().entries == ()

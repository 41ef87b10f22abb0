"""REST, over a socket, from a server in another process (CASES S8, T3, T5, W9, W12)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from tests.serving import free_port, running_server


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("http") / "data") as url:
        yield url


@pytest.fixture
def client(base: str, request: pytest.FixtureRequest) -> Iterator[httpx2.Client]:
    """A client in a namespace of its own for each test."""
    headers = {"X-Hindsight-Namespace": quote(request.node.name)[:200]}
    with httpx2.Client(base_url=base, headers=headers, timeout=30) as made:
        yield made


def write(client: httpx2.Client, content: object, **more: object) -> dict[str, object]:
    answer = client.post("/v1/memories", json={"content": content, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def search(client: httpx2.Client, query: str, **more: object) -> dict[str, object]:
    answer = client.post("/v1/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def contents(result: dict[str, object]) -> list[str]:
    hits = result["hits"]
    assert isinstance(hits, list)
    return [hit["content"] for hit in hits]


@pytest.mark.parametrize(
    ("said", "asked", "found"),
    [
        ("用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏", "吃什么要小心", "花生"),
        ("用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏", "宠物叫什么名字", "咪咪"),
        ("My sister Clara works at Siemens and I am allergic to penicillin.", "Which medicine is bad for me?", "penic"),
        ("部署用的是 k8s v1.29，镜像仓库在 harbor.internal", "harbor", "harbor"),
    ],
)
def test_what_was_written_is_found_at_once(client: httpx2.Client, said: str, asked: str, found: str) -> None:
    write(client, said)
    assert found in str(search(client, asked)["context"])


def test_a_conversation_keeps_roles_speakers_and_times(client: httpx2.Client) -> None:
    messages = [
        {"content": "I adopted a cat named Mochi.", "speaker": "Ann", "occurred_at": "2024-03-01T10:00:00+01:00"},
        {"content": "Lovely! How old is she?", "role": "assistant"},
    ]
    receipt = write(client, messages, session_id="s1")
    assert len(receipt["episode_ids"]) == 2  # type: ignore[arg-type]  # JSON
    hits = search(client, "What is Ann's cat called?")["hits"]
    assert isinstance(hits, list)
    source = next(hit for hit in hits if "Mochi" in hit["content"])["sources"][0]
    assert (source["speaker"], source["session_id"]) == ("Ann", "s1")
    assert source["occurred_at"] == "2024-03-01T09:00:00+00:00"


def test_a_batch_gives_one_receipt_each_in_order(client: httpx2.Client) -> None:
    texts = [f"Locker number {number} belongs to shelf {number * 7}" for number in range(30)]
    answer = client.post("/v1/memories/batch", json={"writes": [{"content": text} for text in texts]})
    receipts = answer.json()["receipts"]
    assert [receipt["outcomes"][0]["content"] for receipt in receipts] == texts


def test_forgetting_hides_at_once_and_undo_brings_back(client: httpx2.Client) -> None:
    memory_id = write(client, "对芒果过敏")["outcomes"][0]["memory_id"]  # type: ignore[index]  # JSON
    receipt = client.delete(f"/v1/memories/{memory_id}").json()
    assert "芒果" not in str(search(client, "芒果"))
    assert client.post("/v1/undo", json={"token": receipt["undo"]}).status_code == 200
    assert any("芒果" in text for text in contents(search(client, "芒果")))
    acts = [one["act"] for one in client.get(f"/v1/memories/{memory_id}/history").json()["revisions"]]
    assert acts == ["added", "forgotten", "undone"]


def test_an_experience_is_found_by_its_situation_and_moved_by_feedback(client: httpx2.Client) -> None:
    body = {
        "trigger_context": "用户要求把 PDF 转换成 Markdown",
        "action_steps": ["用 pdftotext 抽取文本", "按标题分段", "写成 Markdown"],
        "tools_used": ["pdftotext"],
    }
    receipt = client.post("/v1/experiences", json=body).json()
    hit = search(client, "请把这份 PDF 变成 markdown", filters={"types": ["experience"]})["hits"][0]  # type: ignore[index]  # JSON
    assert hit["steps"] == body["action_steps"]
    assert hit["outcome"]["confidence"] == 0.5
    memory_id = receipt["outcomes"][0]["memory_id"]
    rated = client.post(f"/v1/memories/{memory_id}/feedback", json={"outcome": "failure", "note": "scan"}).json()
    assert (rated["confidence"], rated["outcome"]["call_count"]) == (0.3, 1)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/search", {"query": "x", "top_k": -1}, "top_k"),
        ("/v1/search", {"query": "x", "top_k": 0}, "top_k"),
        ("/v1/search", {"query": "x", "top_k": "abc"}, "top_k"),
        ("/v1/search", {"query": "x", "top_k": 10**9}, "top_k"),
        ("/v1/search", {"query": "x", "filters": {"color": "red"}}, "filters.color"),
        ("/v1/search", {"query": "x", "filters": {"types": ["rumour"]}}, "filters.types.0"),
        ("/v1/search", {"query": "x", "time_range": "sometime"}, "time_range"),
        ("/v1/search", {"query": "x", "time_range": "2024-02-01/2024-01-01"}, "time_range"),
        ("/v1/search", {"query": "x", "asked_at": "soon"}, "asked_at"),
        ("/v1/search", {"query": "   "}, "query"),
        ("/v1/search", {"query": "a\u0000b"}, "query"),
        ("/v1/search", {}, "query"),
        ("/v1/memories", {"content": "   "}, "content"),
        ("/v1/memories", {"content": "a\u0000b"}, "content"),
        ("/v1/memories", {"content": "x", "importance": 2}, "importance"),
        ("/v1/memories", {"content": "x", "kind": "rumour"}, "kind"),
        ("/v1/memories", {"content": "x", "occurred_at": "soon"}, "occurred_at"),
        ("/v1/memories", {"content": "x", "timezone": "Mars"}, "timezone"),
        ("/v1/memories", {"content": [{"content": "x", "role": "king"}]}, "content"),
        ("/v1/memories", {"content": "x", "colour": "red"}, "colour"),
        ("/v1/memories/batch", {"writes": []}, "writes"),
        ("/v1/experiences", {"trigger_context": "x", "action_steps": []}, "action_steps"),
        ("/v1/experiences", {"trigger_context": " ", "action_steps": ["a"]}, "trigger_context"),
    ],
)
def test_bad_input_names_the_field_the_value_and_what_is_allowed(
    client: httpx2.Client, path: str, body: dict[str, object], field: str
) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["field"].startswith(field)
    assert error["allowed"]
    assert client.get("/v1/stats").json()["episodes"] == 0


def test_a_body_that_is_not_declared_as_json_is_told_so(client: httpx2.Client) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}  # what curl says unless told otherwise
    answer = client.post("/v1/memories", content=b'{"content": "x"}', headers=form)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["field"], error["allowed"]) == ("Content-Type", "application/json")


def test_a_lone_surrogate_is_refused(client: httpx2.Client) -> None:
    raw = b'{"content": "broken \\ud800 text"}'
    answer = client.post("/v1/memories", content=raw, headers={"content-type": "application/json"})
    assert answer.status_code == 400


@pytest.mark.parametrize("memory_id", ["k7m2q9", "0" * 26, "日本", "..%2f..", "'; DROP TABLE memory; --"])
def test_an_unknown_id_is_a_404_on_every_route(client: httpx2.Client, memory_id: str) -> None:
    path = f"/v1/memories/{quote(memory_id, safe='%')}"
    answers = [
        client.get(path),
        client.delete(path),
        client.get(f"{path}/history"),
        client.patch(path, json={"importance": 0.5}),
        client.post(f"{path}/pin", json={}),
        client.post(f"{path}/feedback", json={"outcome": "success"}),
    ]
    assert [answer.status_code for answer in answers] == [404] * len(answers)


def test_namespaces_are_walls(client: httpx2.Client) -> None:
    memory_id = write(client, "The vault code is 4711")["outcomes"][0]["memory_id"]  # type: ignore[index]  # JSON
    other = {"X-Hindsight-Namespace": "somebody-else"}
    assert client.get(f"/v1/memories/{memory_id}", headers=other).status_code == 404
    found = client.post("/v1/search", json={"query": "vault code"}, headers=other).json()
    assert "4711" not in str(found)


def test_a_body_beyond_the_limit_is_refused_with_the_limit(client: httpx2.Client) -> None:
    answer = client.post("/v1/memories", content=b" " * (17 * 1024 * 1024))
    assert answer.status_code == 413
    assert "16777216" in answer.json()["error"]["message"]


def test_a_page_of_another_origin_and_a_foreign_host_are_refused(client: httpx2.Client) -> None:
    body = {"query": "x"}
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}, {"Origin": "null"}):
        for path in ("/v1/search", "/mcp"):
            assert client.post(path, json=body, headers=headers).status_code == 403


def test_a_list_pages_through_everything_once(client: httpx2.Client) -> None:
    texts = {f"Fact number {number} about item {number}" for number in range(7)}
    client.post("/v1/memories/batch", json={"writes": [{"content": text, "kind": "fact"} for text in sorted(texts)]})
    seen: list[str] = []
    after = None
    while True:
        params: dict[str, str | int] = {"limit": 3} if after is None else {"limit": 3, "after": after}
        page = client.get("/v1/memories", params=params).json()
        seen += [item["content"] for item in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert sorted(seen) == sorted(texts)


def test_with_a_key_nothing_but_health_answers_without_it(tmp_path: Path) -> None:
    with running_server(tmp_path / "data", {"HINDSIGHT_API_KEY": "correct-horse"}) as url:
        assert httpx2.get(f"{url}/healthz").status_code == 200
        for path in ("/v1/stats", "/openapi.json", "/mcp"):
            assert httpx2.get(f"{url}{path}").status_code == 401
        good = {"Authorization": "Bearer correct-horse"}
        assert httpx2.get(f"{url}/v1/stats", headers=good).status_code == 200


def test_listening_beyond_loopback_without_a_key_is_refused_at_the_start() -> None:
    command = [sys.executable, "-m", "hindsight.server", "--host", "0.0.0.0", "--port", str(free_port())]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode != 0
    assert "HINDSIGHT_API_KEY" in ended.stderr

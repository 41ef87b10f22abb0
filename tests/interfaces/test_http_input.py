"""What comes over the socket and is no proper call: each gets an answer of the usual shape (CASES S8, T5, W12)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from urllib.parse import quote

import httpx2
import pytest

from tests.serving import running_server

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("input") / "data", {"EMBEDDING_MODEL": "none"}) as url:
        yield url


@pytest.fixture(scope="module")
def client(base: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=base, timeout=30) as made:
        yield made


BODIES = {
    "cut off": b'{"content": ',
    "no JSON": b"hello",
    "empty": b"",
    "a list": b"[]",
    "null": b"null",
    "not UTF-8": b'{"content":"\xff\xfe"}',
    "deep": b'{"content":"x","metadata":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    "less deep": b'{"content":"x","metadata":{"a":' + b"[" * 300 + b"]" * 300 + b"}}",
    "a number beyond floats": b'{"content":"x","metadata":{"a":1' + b"0" * 400 + b"}}",
    "a number of 6,000 digits": b'{"content":"x","metadata":{"a":1' + b"0" * 6_000 + b"}}",
    "infinity": b'{"content":"x","metadata":{"a":Infinity}}',
    "not a number": b'{"content":"x","importance":NaN}',
    "half a pair": b'{"content":"a\\ud800b"}',
    "half a pair in a key": b'{"con\\ud800":"a"}',
    "half a pair in metadata": b'{"content":"x","metadata":{"\\ud800":"a"}}',
    "NUL": b'{"content":"a\\u0000b"}',
    "NUL in a key": b'{"c\\u0000":"a"}',
    "spaces": b'{"content":" \\n\\t "}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("path", ["/v1/memories", "/v1/search"])
def test_a_body_that_can_not_be_read_is_refused_by_field(client: httpx2.Client, path: str, body: bytes) -> None:
    answer = client.post(path, content=body, headers=JSON)
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert error["code"] == "invalid_input"
    assert error["allowed"]
    assert not error["field"].isdigit()
    assert len(answer.content) < 2_000


@pytest.mark.parametrize("query", ["session=s1", "session_ids=s1", "tag=a", "top_k=3", "x%00=1", "%ff=1", "n" * 9_000])
def test_a_parameter_that_there_is_not_is_refused(client: httpx2.Client, query: str) -> None:
    answer = client.get(f"/v1/memories?{query}")
    assert answer.status_code == 400
    assert "session_id" in answer.json()["error"]["allowed"]


def test_an_empty_session_is_not_every_session(client: httpx2.Client) -> None:
    client.post("/v1/memories", json={"content": "The lamp is green."})
    assert client.get("/v1/memories?session_id=").status_code == 400


NAMES = [
    "../x",
    "a/b",
    "..",
    ".",
    "CON",
    "nul.txt",
    "a b",
    "x\ny",
    "项目",
    "café",
    "cafe\u0301",
    "\u202e",
    "%41",
    "'\"",
    "A",
    "a",
]


def test_every_name_is_a_namespace_of_its_own(client: httpx2.Client) -> None:
    for number, name in enumerate(NAMES):
        headers = {"X-Hindsight-Namespace": quote(name, safe="")}
        said = {"content": f"The {number + 100} lamp is green."}
        assert client.post("/v1/memories", json=said, headers=headers).status_code == 200
    for number, name in enumerate(NAMES):
        headers = {"X-Hindsight-Namespace": quote(name, safe="")}
        found = client.post("/v1/search", json={"query": "which lamp is green"}, headers=headers).json()
        assert [hit["content"] for hit in found["hits"]] == [f"The {number + 100} lamp is green."]


def test_a_name_sent_as_raw_utf8_is_the_same_name(client: httpx2.Client) -> None:
    client.post("/v1/memories", json={"content": "灯是绿的"}, headers={"X-Hindsight-Namespace": quote("一号项目")})
    raw = [(b"X-Hindsight-Namespace", "一号项目".encode())]
    assert client.get("/v1/stats", headers=raw).json()["episodes"] == 1


@pytest.mark.parametrize(
    "headers",
    [
        [(b"X-Hindsight-Namespace", b"%ff")],
        [(b"X-Hindsight-Namespace", b"%ed%a0%80")],
        [(b"X-Hindsight-Namespace", b"caf\xe9")],
        [(b"X-Hindsight-Namespace", b"a%00b")],
        [(b"X-Hindsight-Namespace", b"%20")],
        [(b"X-Hindsight-Namespace", b"n" * 10_000)],
        [(b"X-Hindsight-Namespace", b"mine"), (b"X-Hindsight-Namespace", b"yours")],
    ],
)
def test_a_name_that_can_not_be_read_is_refused_at_every_door(
    client: httpx2.Client, headers: list[tuple[bytes, bytes]]
) -> None:
    answer = client.get("/v1/stats", headers=headers)
    assert answer.status_code == 400
    assert "amespace" in answer.json()["error"]["field"]
    call: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "memory_search", "arguments": {"query": "lamp"}}
    accepted = [(b"accept", b"application/json, text/event-stream"), (b"content-type", b"application/json")]
    said = client.post("/mcp", content=json.dumps(call), headers=[*headers, *accepted])
    assert "invalid_input" in said.text


def exchange(base: str, *parts: bytes) -> bytes:
    """What the server says to these bytes, sent one after the other."""
    with socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1])), timeout=30) as connection:
        try:
            for part in parts:
                connection.sendall(part)
        except OSError:
            pass  # it has said what it had to say, and does not listen any more
        return connection.recv(65_536)


@pytest.mark.parametrize(
    "head",
    [
        b"Host: evil.example",
        b"Host: evil.example@127.0.0.1",
        b"Host: localhost/evil.example",
        b"Host:",
        b"Host: localhost\r\nOrigin: https://evil.example",
        b"Host: localhost\r\nOrigin: null",
        b"Host: localhost\r\nOrigin: http://localhost\r\nOrigin: https://evil.example",
    ],
)
@pytest.mark.parametrize("target", [b"GET /v1/stats", b"POST /mcp", b"GET /healthz", b"GET /openapi.json"])
def test_a_foreign_host_or_origin_gets_nowhere(base: str, target: bytes, head: bytes) -> None:
    answer = exchange(base, target + b" HTTP/1.1\r\nContent-Length: 0\r\n" + head + b"\r\nConnection: close\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize("path", [b"/v1/memories", b"/mcp"])
def test_a_body_without_a_length_is_counted_as_it_comes(base: str, client: httpx2.Client, path: bytes) -> None:
    head = (
        b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream"
    )
    chunk = b"10000\r\n" + b"a" * 65_536 + b"\r\n"
    answer = exchange(base, b"POST " + path + head + b"\r\nTransfer-Encoding: chunked\r\n\r\n", *[chunk] * 300)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("length", [b"-5", b"abc", b"20000000", b"9" * 30, b"5\r\nContent-Length: 3"])
def test_a_length_that_can_not_be_is_refused(base: str, length: bytes) -> None:
    head = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = exchange(base, head + b"Content-Length: " + length + b"\r\n\r\n")
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 413 "))


def test_two_hundred_clients_that_never_finish_keep_nobody_out(base: str, client: httpx2.Client) -> None:
    begun = b'POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"content'
    slow = [socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1]))) for _ in range(200)]
    try:
        for connection in slow:
            connection.sendall(begun)
        assert client.post("/v1/memories", json={"content": "The door is open."}).status_code == 200
        assert "open" in client.post("/v1/search", json={"query": "door"}).json()["context"]
    finally:
        for connection in slow:
            connection.close()
    assert client.get("/readyz").status_code == 200


def test_a_batch_is_whole_or_refused(client: httpx2.Client) -> None:
    headers = {"X-Hindsight-Namespace": "batch"}
    writes = [{"content": f"Shelf {number} holds tins"} for number in range(1_001)]
    assert client.post("/v1/memories/batch", json={"writes": writes}, headers=headers).status_code == 400
    wrong = [*writes[:999], {"content": "a\x00b"}]
    assert client.post("/v1/memories/batch", json={"writes": wrong}, headers=headers).status_code == 400
    assert client.get("/v1/stats", headers=headers).json()["episodes"] == 0
    answer = client.post("/v1/memories/batch", json={"writes": writes[:1_000]}, headers=headers)
    assert len(answer.json()["receipts"]) == 1_000

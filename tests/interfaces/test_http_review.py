"""Reviews over REST, over a socket: they wait, are decided once, and wait again after undo."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from tests.serving import running_server

PAIRS = [("我住在北京", "用户搬到上海了"), ("The user lives in Florence", "The user now lives in Rome")]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("http_review") / "data"
    with running_server(data, {"HINDSIGHT_EMBEDDING_MODEL": "none"}) as url:
        yield url


@pytest.fixture
def client(base: str, request: pytest.FixtureRequest) -> Iterator[httpx2.Client]:
    headers = {"X-Hindsight-Namespace": quote(request.node.name)[:200]}
    with httpx2.Client(base_url=base, headers=headers, timeout=30) as made:
        yield made


def write(client: httpx2.Client, content: str, **more: object) -> dict[str, Any]:
    answer = client.post("/v1/memories", json={"content": content, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def listed(client: httpx2.Client, **params: str | int) -> dict[str, Any]:
    answer = client.get("/v1/review", params=params)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def asked(client: httpx2.Client, said: str, read: str) -> dict[str, Any]:
    """The review that comes of what the user said and what a page says."""
    write(client, said)
    (outcome,) = write(client, read, role="document")["outcomes"]
    assert outcome["review"] is True
    (item,) = listed(client)["items"]
    assert item["memory_id"] == outcome["memory_id"]
    assert [one["memory_id"] for one in item["old"]] == outcome["other_ids"]
    return dict(item)


@pytest.mark.parametrize(("said", "read"), PAIRS, ids=("zh", "en"))
def test_a_review_shows_both_sides_and_is_decided_by_its_short_id(client: httpx2.Client, said: str, read: str) -> None:
    item = asked(client, said, read)
    assert (item["state"], item["new"]["origin"], item["old"][0]["origin"]) == ("open", "document", "user")
    assert item["reason"]
    receipt = client.post(f"/v1/review/{item['short_id']}", json={"choice": "new"}).json()
    assert [one["action"] for one in receipt["outcomes"]] == ["updated", "superseded"]
    assert listed(client) == {"items": [], "next": None}
    assert [one["state"] for one in listed(client, state="closed")["items"]] == ["closed"]
    memories = client.get("/v1/memories").json()["items"]
    assert [one["memory_id"] for one in memories] == [item["memory_id"]]

    assert client.post("/v1/undo", json={"token": receipt["undo"]}).status_code == 200
    assert [one["memory_id"] for one in listed(client)["items"]] == [item["memory_id"]]
    assert len(client.get("/v1/memories").json()["items"]) == 2


def test_of_two_who_decide_at_once_one_wins_and_the_other_gets_a_conflict(client: httpx2.Client) -> None:
    item = asked(client, *PAIRS[1])

    def decide(choice: str) -> httpx2.Response:
        with httpx2.Client(base_url=client.base_url, headers=client.headers, timeout=30) as other:
            return other.post(f"/v1/review/{item['memory_id']}", json={"choice": choice})

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(decide, ("new", "old", "both", "new")))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    for answer in answers:
        if answer.status_code == 409:
            error = answer.json()["error"]
            assert (error["code"], error["retryable"]) == ("conflict", False)
            assert "decided already" in error["message"]
            assert error["hint"]


def test_reviews_come_in_pages(client: httpx2.Client) -> None:
    cities = [("Ann", "Oslo", "Bergen"), ("Bob", "Lyon", "Nice"), ("Cid", "Bonn", "Ulm")]
    for name, old, new in cities:
        write(client, f"{name} lives in {old}")
        write(client, f"{name} lives in {new}", role="document")
    seen: list[str] = []
    page = listed(client, limit=1)
    while True:
        seen += [item["new"]["content"] for item in page["items"]]
        if page["next"] is None:
            break
        page = listed(client, limit=1, after=page["next"])
    assert seen == [f"{name} lives in {new}" for name, _, new in cities]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("GET", "/v1/review?state=meh", None, 400, "state"),
        ("GET", "/v1/review?limit=0", None, 400, "limit"),
        ("GET", "/v1/review?limit=501", None, 400, "limit"),
        ("GET", "/v1/review?after=昨天", None, 400, "after"),
        ("GET", "/v1/review?stat=open", None, 400, "stat"),
        ("POST", "/v1/review/nothere1", {"choice": "maybe"}, 400, "choice"),
        ("POST", "/v1/review/nothere1", {}, 400, "choice"),
        ("POST", "/v1/review/nothere1", {"choice": "new", "why": "x"}, 400, "why"),
        ("POST", "/v1/review/nothere1", {"choice": "new"}, 404, "memory_id"),
    ],
)
def test_bad_input_names_the_field_the_value_and_what_is_allowed(
    client: httpx2.Client, method: str, path: str, body: object, status: int, field: str
) -> None:
    answer = client.request(method, path, json=body)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert field in error["message"]
    assert error.get("field", field) == field
    assert status == 404 or error["allowed"]


def test_a_memory_that_nothing_contradicts_is_not_found_among_the_reviews(client: httpx2.Client) -> None:
    memory_id = write(client, "The vault code is 4711")["outcomes"][0]["memory_id"]
    answer = client.post(f"/v1/review/{memory_id}", json={"choice": "new"})
    assert answer.status_code == 404
    assert "open reviews" in answer.json()["error"]["hint"]


def test_a_review_of_another_namespace_is_not_there(client: httpx2.Client) -> None:
    item = asked(client, *PAIRS[0])
    other = {"X-Hindsight-Namespace": "somebody-else"}
    assert client.get("/v1/review", headers=other).json()["items"] == []
    answer = client.post(f"/v1/review/{item['memory_id']}", json={"choice": "new"}, headers=other)
    assert answer.status_code == 404
    assert "上海" not in answer.text


def test_the_routes_are_described_with_an_example(client: httpx2.Client) -> None:
    document = client.get("/openapi.json").json()
    assert {"get"} == document["paths"]["/v1/review"].keys()
    names = [one["name"] for one in document["paths"]["/v1/review"]["get"]["parameters"]]
    assert names == ["state", "limit", "after"]
    choice = document["components"]["schemas"]["ReviewBody"]["properties"]["choice"]
    assert choice["examples"] == ["new"]

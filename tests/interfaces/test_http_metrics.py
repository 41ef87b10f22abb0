"""What operators see over HTTP: the page of figures, and an id on every answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.serving import running_server

SECRET = "Marmaladenglas"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    place: Path = tmp_path_factory.mktemp("metrics") / "data"
    with running_server(place, {"HINDSIGHT_API_KEY": "k" * 20, "HINDSIGHT_LOG_FORMAT": "json"}) as url:
        yield url


@pytest.fixture
def client(base: str) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {'k' * 20}", "X-Hindsight-Namespace": "of-somebody"}
    with httpx2.Client(base_url=base, headers=headers, timeout=30) as made:
        yield made


def figures(client: httpx2.Client) -> dict[tuple[str, frozenset[str]], float]:
    page = client.get("/metrics")
    assert page.status_code == 200, page.text
    families = text_string_to_metric_families(page.text)
    return {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_calls_stages_and_requests_are_counted_by_route_and_not_by_path(client: httpx2.Client) -> None:
    written = client.post("/v1/memories", json={"content": f"The {SECRET} stands in the cellar."}).json()
    memory_id = written["outcomes"][0]["memory_id"]
    client.post("/v1/search", json={"query": f"Where is the {SECRET}?"})
    client.get(f"/v1/memories/{memory_id}")
    client.request("PROPFIND", "/v1/memories")
    found = figures(client)
    assert found["hindsight_call_seconds_count", frozenset({"search"})] == 1
    assert found["hindsight_call_seconds_count", frozenset({"write"})] == 1
    assert found["hindsight_http_seconds_count", frozenset({"GET", "/v1/memories/{memory_id}", "200"})] == 1
    assert any("other" in labels for name, labels in found if name == "hindsight_http_seconds_count")
    assert any(name == "hindsight_stage_seconds_count" and "routes" in labels for name, labels in found)
    assert found["hindsight_memories", frozenset()] == 1


def test_no_label_names_whose_memory_it_is(client: httpx2.Client) -> None:
    client.post("/v1/memories", json={"content": f"The {SECRET} is empty.", "session_id": "of-monday"})
    client.get(f"/v1/memories/{SECRET}")
    client.get(f"/{SECRET}")
    page = client.get("/metrics").text
    assert not [word for word in (SECRET, "of-somebody", "of-monday") if word in page]


def test_the_page_is_behind_the_key(base: str) -> None:
    assert httpx2.get(f"{base}/metrics").status_code == 401


def test_every_answer_carries_the_id_of_its_request(client: httpx2.Client) -> None:
    given = client.get("/healthz", headers={"X-Request-ID": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    made = [client.get("/v1/stats").headers["x-request-id"] for _ in range(2)]
    assert made[0] != made[1]
    assert client.get("/v1/nothing").headers["x-request-id"]


def test_a_slow_search_is_logged_with_its_stages_and_without_its_words(tmp_path: Path) -> None:
    settings = {"HINDSIGHT_LOG_FORMAT": "json", "HINDSIGHT_SLOW_SEARCH": "0"}
    with running_server(tmp_path / "data", settings) as base:
        answer = httpx2.post(f"{base}/v1/search", json={"query": SECRET}, headers={"X-Request-ID": "slow-1"})
    lines = [json.loads(line) for line in next(tmp_path.glob("server-*.log")).read_text().splitlines()]
    told = [line for line in lines if line.get("request_id") == "slow-1"]
    assert answer.json()["trace_id"] in told[0]["message"]
    assert "rank" in told[0]["message"]
    assert not [line for line in lines if SECRET in line["message"]]

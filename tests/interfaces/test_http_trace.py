"""Traces over REST, over a socket: read, run again, and asked why a memory was not returned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from hindsight.domain.ranking import PRESETS
from tests.serving import running_server


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data = tmp_path_factory.mktemp("http_trace") / "data"
    with running_server(data, {"HINDSIGHT_EMBEDDING_MODEL": "none"}) as url:
        yield url


@pytest.fixture
def client(base: str, request: pytest.FixtureRequest) -> Iterator[httpx2.Client]:
    headers = {"X-Hindsight-Namespace": quote(request.node.name)[:200]}
    with httpx2.Client(base_url=base, headers=headers, timeout=30) as made:
        yield made


def kept(client: httpx2.Client, content: str) -> str:
    answer = client.post("/v1/memories", json={"content": content, "kind": "fact"})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["outcomes"][0]["memory_id"])


def searched(client: httpx2.Client, query: str, **more: object) -> dict[str, Any]:
    answer = client.post("/v1/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


@pytest.mark.parametrize("query", ["花生过敏", "green tea"])
def test_a_trace_is_read_run_again_and_explained(client: httpx2.Client, query: str) -> None:
    ids = [kept(client, f"{query} {number}") for number in range(3)]
    found = searched(client, query, top_k=1)
    trace = client.get(f"/v1/traces/{found['trace_id']}").json()
    assert (trace["query"], trace["operation"]) == (query, "search")
    assert trace["given"] == [hit["memory_id"] for hit in found["hits"]]

    again = client.post(f"/v1/traces/{found['trace_id']}/replay").json()
    assert (again["same"], again["moves"], again["after"]) == (True, [], trace["given"])
    then = client.post(
        f"/v1/traces/{found['trace_id']}/replay", json={"as_of_then": True, "weights": "balanced"}
    ).json()
    assert then["weights"]["after"] == asdict(PRESETS["balanced"])

    lost = next(one for one in ids if one not in trace["given"])
    for name in (lost, lost[-8:]):
        why = client.get(f"/v1/traces/{found['trace_id']}/explain/{name}").json()
        assert (why["stage"], why["returned"], why["memory_id"]) == ("beyond_top_k", False, lost)
        assert why["facts"]["place"] > 1


def test_what_changed_since_is_told(client: httpx2.Client) -> None:
    gone, _ = kept(client, "green tea in the morning"), kept(client, "green tea at night")
    trace_id = searched(client, "green tea")["trace_id"]
    client.delete(f"/v1/memories/{gone}")
    again = client.post(f"/v1/traces/{trace_id}/replay", json={}).json()
    (move,) = [one for one in again["moves"] if one["memory_id"] == gone]
    assert (move["after"], move["stage"], move["content"]) == (None, "forgotten", "")
    assert again["changes"] == 1


def test_weights_are_numbers_or_a_name(client: httpx2.Client) -> None:
    kept(client, "green tea")
    path = f"/v1/traces/{searched(client, 'green tea')['trace_id']}/replay"
    given = client.post(path, json={"weights": {"relevance": 0.9, "use": 0.1}}).json()
    assert given["weights"]["after"] == {"relevance": 0.9, "freshness": 0.0, "importance": 0.0, "use": 0.1}
    for wrong in ("best", {"relevance": 2}, {"relevence": 1}, 5):
        answer = client.post(path, json={"weights": wrong})
        assert answer.status_code == 400, answer.text
        assert answer.json()["error"]["field"].startswith("weights")


def test_what_is_not_there_is_404(client: httpx2.Client, base: str) -> None:
    known = kept(client, "green tea")
    trace_id = searched(client, "green tea")["trace_id"]
    for path in ("/v1/traces/none", f"/v1/traces/none/explain/{known}", f"/v1/traces/{trace_id}/explain/none"):
        assert client.get(path).status_code == 404
    assert client.post("/v1/traces/none/replay").status_code == 404
    with httpx2.Client(base_url=base, headers={"X-Hindsight-Namespace": "somebody-else"}, timeout=30) as other:
        assert other.get(f"/v1/traces/{trace_id}").status_code == 404
        assert other.post(f"/v1/traces/{trace_id}/replay").status_code == 404
        assert other.get(f"/v1/traces/{trace_id}/explain/{known}").status_code == 404

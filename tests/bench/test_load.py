"""Clients send everything once, and a server that fails stops the run."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench import load


@contextmanager
def listening(status: int) -> Iterator[tuple[int, list[dict[str, object]]]]:
    """A server that keeps what it is sent."""
    heard: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.append(body | {"namespace": self.headers["X-Hindsight-Namespace"], "peer": self.client_address[1]})
            answer = json.dumps({"trace_id": body["query"], "degraded": []}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port, heard
        finally:
            server.shutdown()
            thread.join()


def test_every_request_is_sent_once_over_one_connection_a_client() -> None:
    with listening(200) as (port, heard):
        seen = load.run(port, "/v1/search", [{"query": str(number)} for number in range(10)], clients=2)
    assert sorted(str(body["query"]) for body in heard) == [str(number) for number in range(10)]
    assert len({body["peer"] for body in heard}) == 2
    assert len(seen.milliseconds) == len(seen.answers) == 10
    assert {answer["trace_id"] for answer in seen.answers} == {str(number) for number in range(10)}


def test_an_error_of_the_server_stops_the_run() -> None:
    with listening(503) as (port, _), pytest.raises(load.RequestFailed, match=r"POST /v1/search: 503"):
        load.run(port, "/v1/search", [{"query": "what?"}], clients=1)

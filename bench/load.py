"""Clients of a server under load: each a process of its own, with one connection that is kept alive.

They use the standard library alone: they must cost little, since they share the processors with what they measure.
"""

from __future__ import annotations

import http.client
import json
import multiprocessing
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier

from hindsight.errors import HindsightError

NAMESPACE = "scale"
PATIENCE = 120.0  # seconds for one answer; a whole batch of long texts is embedded within one
STARTING = 60.0  # seconds for all clients to be up

Body = dict[str, object]


class RequestFailed(HindsightError):
    """The server answered with an error, or a client died: the figures would mean nothing."""

    code = "bench_request"


@dataclass(frozen=True, slots=True)
class Load:
    """What the clients saw: milliseconds of every request, seconds from the first start to the last end."""

    milliseconds: tuple[float, ...]
    seconds: float
    answers: tuple[Body, ...] = ()


class Connection:
    """One connection, kept alive."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def post(self, path: str, body: Body) -> tuple[float, Body]:
        """Milliseconds from sending to the whole answer, and the answer. Raises `RequestFailed`."""
        raw = json.dumps(body, ensure_ascii=False).encode()
        return self._answer("POST", path, raw, {"Content-Type": "application/json"})

    def get(self, path: str) -> tuple[float, Body]:
        """As `post`, without a body."""
        return self._answer("GET", path, None, {})

    def _answer(self, method: str, path: str, raw: bytes | None, headers: dict[str, str]) -> tuple[float, Body]:
        headers = {**headers, "X-Hindsight-Namespace": NAMESPACE}
        begin = time.perf_counter()
        try:
            self._http.request(method, path, raw, headers)
            response = self._http.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise RequestFailed(f"{method} {path}: {error!r}") from error
        spent = (time.perf_counter() - begin) * 1000
        if response.status >= 300:
            raise RequestFailed(f"{method} {path}: {response.status}: {text[:500].decode(errors='replace')}")
        answer: Body = json.loads(text)
        return spent, answer

    def close(self) -> None:
        """Close it."""
        self._http.close()


def run(port: int, path: str, bodies: Sequence[Body], clients: int) -> Load:
    """Send each body once, shared out among `clients` processes that start together. Raises `RequestFailed`."""
    fresh = multiprocessing.get_context("spawn")
    gate = fresh.Barrier(clients)
    found: Queue[tuple[float, float, list[float], list[Body]] | str] = fresh.Queue()
    workers = [
        fresh.Process(target=_client, args=(port, path, bodies[number::clients], gate, found), daemon=True)
        for number in range(clients)
    ]
    for worker in workers:
        worker.start()
    try:
        parts = [_part(found, len(bodies)) for _ in workers]
    finally:
        for worker in workers:
            worker.join(5)
            worker.kill()
    begin, end = min(part[0] for part in parts), max(part[1] for part in parts)
    spent = tuple(value for part in parts for value in part[2])
    return Load(spent, end - begin, tuple(answer for part in parts for answer in part[3]))


def _part(
    found: Queue[tuple[float, float, list[float], list[Body]] | str], count: int
) -> tuple[float, float, list[float], list[Body]]:
    try:
        part = found.get(timeout=STARTING + PATIENCE + count)
    except queue.Empty as error:
        raise RequestFailed("a client did not come back") from error
    if isinstance(part, str):
        raise RequestFailed(part)
    return part


def _client(
    port: int,
    path: str,
    bodies: Sequence[Body],
    gate: Barrier,
    found: Queue[tuple[float, float, list[float], list[Body]] | str],
) -> None:
    """The life of one client. `time.time` has one zero in all processes, so it tells when the first starts."""
    connection = Connection(port)
    try:
        gate.wait(STARTING)
        begin = time.time()
        answered = [connection.post(path, body) for body in bodies]
        found.put((begin, time.time(), [spent for spent, _ in answered], [_brief(answer) for _, answer in answered]))
    except RequestFailed as error:
        found.put(str(error))
    except threading.BrokenBarrierError:
        found.put(f"not all clients were up within {STARTING:.0f} s")
    finally:
        connection.close()


def _brief(answer: Body) -> Body:
    """What of an answer is looked at afterwards."""
    return {"degraded": answer.get("degraded"), "trace_id": answer.get("trace_id")}

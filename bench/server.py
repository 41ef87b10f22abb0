"""A real server process on a data folder, started and stopped."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hindsight.errors import HindsightError

START_LIMIT = 60.0  # seconds until `/readyz`
STOP_LIMIT = 30.0  # seconds from SIGTERM to the end of the process
POLL = 0.01  # seconds between two questions to `/readyz`
# Settings of the person who measures that would lead the server to other data or close it to the clients.
OWN = ("HINDSIGHT_DB_PATH", "MEMORY_DB_PATH", "HINDSIGHT_API_KEY", "HINDSIGHT_HOST", "HINDSIGHT_PORT")


class ServerFailed(HindsightError):
    """The server did not come up or did not stop; the message has the end of its log."""

    code = "bench_server"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that is ready."""

    port: int
    pid: int


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Server]:
    """`python -m hindsight.server --port P` on a data folder, ready when this begins and gone when it ends."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name not in OWN}
    environment["HINDSIGHT_DATA_DIR"] = str(folder)
    environment["HINDSIGHT_ANSWER_CACHE"] = "false"  # what is measured is searching
    log = folder.with_name(folder.name + ".log")
    with log.open("ab") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "hindsight.server", "--port", str(port)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
        )
    try:
        wait_until_ready(process, port, log)
        yield Server(port, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.wait()
            raise ServerFailed(f"the server did not stop within {STOP_LIMIT:.0f} s: {tail(log)}") from error
        finally:
            log.unlink(missing_ok=True)


def wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    """Ask `/readyz` until it says yes. Raises `ServerFailed`."""
    end = time.monotonic() + START_LIMIT
    while time.monotonic() < end:
        if process.poll() is not None:
            raise ServerFailed(f"the server ended with {process.returncode}: {tail(log)}")
        if is_ready(port):
            return
        time.sleep(POLL)
    raise ServerFailed(f"the server was not ready within {START_LIMIT:.0f} s: {tail(log)}")


def is_ready(port: int) -> bool:
    """Whether `/readyz` answers 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def tail(log: Path, characters: int = 2000) -> str:
    """The end of a log."""
    return log.read_text(encoding="utf-8", errors="replace")[-characters:]

"""A real server in another process, for tests that speak to it over a socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2

START_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running_server(data_dir: Path, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """The base URL of a server on a data folder, stopped afterwards. Fails with its log if it does not come up."""
    port = free_port()
    log_path = data_dir.parent / f"server-{port}.log"
    settings = {**os.environ, "HINDSIGHT_DATA_DIR": str(data_dir), **(environment or {})}
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "hindsight.server", "--port", str(port)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=settings,
        )
    try:
        base = f"http://127.0.0.1:{port}"
        wait_until_ready(base, process, log_path)
        yield base
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def wait_until_ready(base: str, process: subprocess.Popen[bytes], log_path: Path) -> None:
    def ready() -> bool:
        assert process.poll() is None, f"the server ended:\n{log_path.read_text(errors='replace')}"
        return httpx2.get(f"{base}/readyz").status_code == 200

    wait_for(ready, log_path)


def wait_for(ready: Callable[[], bool], log_path: Path) -> None:
    """Ask a server that starts until it says yes: there is no event to wait for."""
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends:
        with suppress(httpx2.TransportError):
            if ready():
                return
        time.sleep(0.02)
    raise AssertionError(f"the server did not come up:\n{log_path.read_text(errors='replace')}")

"""Starts servers quickly: everything is imported once, and each server is a fork. Run as a program by `Forks`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import httpx2

from tests.serving import free_port, wait_for

ROOT = Path(__file__).parents[1]


class Forks:
    """A process that forks a server on one data folder whenever it is asked to."""

    def __init__(self, data_dir: Path, environment: Mapping[str, str]) -> None:
        self.log = data_dir.parent / f"{data_dir.name}.log"
        places = os.pathsep.join((str(ROOT), str(ROOT / "src")))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forks"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": places, "HINDSIGHT_DATA_DIR": str(data_dir), **environment},
            )

    def start(self) -> tuple[int, str]:
        """A server that is ready: its process id and its address."""
        port = free_port()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b"%d\n" % port)
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        base = f"http://127.0.0.1:{port}"
        wait_for(lambda: httpx2.get(f"{base}/readyz").status_code == 200, self.log)
        return pid, base

    def ended(self) -> int:
        """Wait for the last server to end: its exit code, or minus the signal that ended it."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


def main() -> None:
    """For each line with a port, fork a server, tell its id and, when it has ended, how."""
    from hindsight.interfaces.cli import serving  # noqa: PLC0415 - the test process itself must not import it

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os.close(1)
            os.dup2(2, 1)
            os._exit(serving.run(["--port", line.strip()]))
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""Another process with the same memory open, which does what it is told line by line. Run as a program by `Fellow`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

ROOT = Path(__file__).parents[1]


class Fellow:
    """The other process, seen from the test."""

    def __init__(self, data_dir: Path) -> None:
        places = os.pathsep.join((str(ROOT), str(ROOT / "src")))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fellow"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": places, "HINDSIGHT_DATA_DIR": str(data_dir), "EMBEDDING_MODEL": "none"},
        )

    def ask(self, what: str, *given: object) -> None:
        """Tell it to do something, without waiting."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([what, *given]).encode() + b"\n")
        self._process.stdin.flush()

    def answer(self) -> Any:
        """What came of it."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


async def main() -> None:
    """Do what the lines of standard input say."""
    from hindsight import AsyncHindsight  # noqa: PLC0415 - the test process uses the class above alone

    async with AsyncHindsight() as memory:
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            what, *given = json.loads(line)
            if what == "write":
                receipt = await memory.write(given[0])
                said: object = receipt.outcomes[0].action
            elif what == "search":
                said = (await memory.search(given[0])).context
            else:
                first, count = given
                many = (memory.write(f"Locker {first + number} belongs to the blue team") for number in range(count))
                said = len(await asyncio.gather(*many))
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())

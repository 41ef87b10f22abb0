"""Tokens used per day, on the disk, so that a cap holds across restarts and across the processes of a data folder.

One file a day, one line a call: `<tokens in> <tokens out>`. Short appends are atomic, so there is no lock between
processes, and each reads what the others added. A call that is on its way when its process is killed is not entered.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from hindsight.errors import StorageUnavailable

KEPT_DAYS = 31
_LINE = re.compile(rb"(\d+) (\d+)\n")


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens of one day."""

    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def total(self) -> int:
        """Both together."""
        return self.tokens_in + self.tokens_out


class Ledger:
    """The account in a folder; without a folder it is kept in memory and ends with the process."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._day: date | None = None
        self._read = 0  # bytes of the day's file that are counted
        self._spent = Spent()

    def add(self, day: date, tokens_in: int, tokens_out: int) -> None:
        """Enter the tokens of a call. `StorageUnavailable`."""
        if self._folder is None:
            with self._lock:
                self._turn_to(day)
                self._count(tokens_in, tokens_out)
            return
        path = self._path(day)
        try:
            if not path.exists():
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._drop_old(day)
            with path.open("ab", buffering=0) as file:
                file.write(f"{tokens_in} {tokens_out}\n".encode())
        except OSError as error:
            raise StorageUnavailable(f"{path} can't be written: {error.strerror}") from error

    def spent(self, day: date) -> Spent:
        """What that day has cost so far, by all processes. `StorageUnavailable`."""
        with self._lock:
            self._turn_to(day)
            if self._folder is not None:
                self._catch_up(self._path(day))
            return self._spent

    def _catch_up(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                file.seek(self._read)
                added = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageUnavailable(f"{path} can't be read: {error.strerror}") from error
        for match in _LINE.finditer(added):
            self._count(int(match[1]), int(match[2]))
        self._read += added.rfind(b"\n") + 1

    def _turn_to(self, day: date) -> None:
        if day != self._day:
            self._day, self._read, self._spent = day, 0, Spent()

    def _count(self, tokens_in: int, tokens_out: int) -> None:
        self._spent = Spent(self._spent.tokens_in + tokens_in, self._spent.tokens_out + tokens_out)

    def _path(self, day: date) -> Path:
        assert self._folder is not None
        return self._folder / f"llm-{day.isoformat()}.txt"

    def _drop_old(self, day: date) -> None:
        for path in self._folder.glob("llm-????-??-??.txt") if self._folder is not None else ():
            try:
                age = (day - date.fromisoformat(path.stem.removeprefix("llm-"))).days
            except ValueError:
                continue  # not one of ours
            if age > KEPT_DAYS:
                path.unlink(missing_ok=True)

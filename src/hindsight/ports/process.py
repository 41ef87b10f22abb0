"""What a process takes from its machine."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    pass


class Clock(Protocol):
    """Time, so that tests can choose it."""

    def now(self) -> datetime:
        """This moment, aware, in UTC."""
        ...


class Ids(Protocol):
    """New ids."""

    def new(self) -> str:
        """A fresh id: 26 characters of Crockford base32, lower case, rising with time; the last 8 are random."""
        ...

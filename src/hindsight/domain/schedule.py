"""Work that comes again: when it is due, as the store keeps it for all processes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Due:
    """One entry of the schedule: when it is due next, by which rule, and when it was put in last."""

    name: str
    cron: str
    due: datetime
    last: datetime | None = None

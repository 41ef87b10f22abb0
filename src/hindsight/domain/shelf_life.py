"""What is only worth knowing until a day: it stays in the store and loses its weight once the day has passed."""

from __future__ import annotations

from datetime import datetime

# Of the importance it had. «明天要出差» still answers what was planned, and comes after what holds.
WORTH_AFTERWARDS = 0.5


def importance_at(importance: float, valid_to: datetime | None, now: datetime) -> float:
    """The importance of a memory at a moment: what it is, or half of it from the end of its validity on."""
    return importance if valid_to is None or now < valid_to else importance * WORTH_AFTERWARDS

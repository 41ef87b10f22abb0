"""Lists that are too long for one answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Order(StrEnum):
    """In which order a list comes; ties are broken by id, so pages stay whole under writes."""

    NEWEST = "newest"  # by created_at, falling
    OLDEST = "oldest"  # by created_at, rising
    IMPORTANCE = "importance"  # falling


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Part of a list. `next` goes into the next call; `None` on the last page."""

    items: tuple[Item, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one namespace: memories by status are all, by kind and layer those that are active."""

    episodes: int
    memories_by_status: dict[str, int]
    memories_by_kind: dict[str, int]
    memories_by_layer: dict[str, int]
    sessions: int
    change: int


@dataclass(frozen=True, slots=True)
class Use:
    """How often a memory was given back, and when last. Kept beside the truth, not in it."""

    count: int
    last_used: float | None

"""Taking something out for good: what is to go, what went with it, and the mark that stays where it stood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from hindsight.domain.change import JobDone, NewJob


@dataclass(frozen=True, slots=True)
class Purge:
    """Memories and turns of one namespace that go for good, all of it or nothing.

    With a turn go the memories that rest on it alone. Ids that are not there get a tombstone all the same, so that what
    an import or a restore brings later is refused. `key`: the same key a second time changes nothing. Without `scrub`,
    free pages and logs wait for `Store.scrub`: one of several purges is enough for all.
    """

    namespace: str
    key: str
    at: datetime
    ids: tuple[str, ...]
    jobs: tuple[NewJob, ...] = ()
    done: JobDone | None = None
    scrub: bool = True


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What stays of a purged memory or turn: its id, the time, and how many rows of each sort went with it."""

    id: str
    at: datetime
    removed: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Purged:
    """What a purge did. `ids`: everything that went; `changed`: summaries and the like that told of it and stay.

    `episodes`: turns in which something was blanked. `scrubbed`: free pages and the write-ahead log hold nothing of it
    any more; where that had to wait for others who read, it is made up for later.
    """

    change: int
    ids: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    removed: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    scrubbed: bool = True

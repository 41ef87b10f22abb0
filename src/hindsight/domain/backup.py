"""What a copy of the whole store holds, and what is known of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Contents:
    """What was counted in a store or in a copy of it: two with the same contents hold the same number of everything.

    `rows`: by table; `changes`: the change number of each namespace; `schema`: the number of the last migration.
    """

    schema: int
    rows: Mapping[str, int]
    changes: Mapping[str, int]

    @property
    def memories(self) -> int:
        """Memories of any status."""
        return self.rows.get("memory", 0)

    @property
    def episodes(self) -> int:
        """Episodes, whatever became of them."""
        return self.rows.get("episode", 0)


@dataclass(frozen=True, slots=True)
class Backup:
    """One copy: where it lies, of when it is, how many bytes it takes. `contents` is `None` where nobody counted."""

    path: Path
    at: datetime
    size: int
    contents: Contents | None = None


@dataclass(frozen=True, slots=True)
class Flaws:
    """What is wrong inside a store. `damage`: its file; `orphans`: by sort, rows whose parents are not there."""

    damage: tuple[str, ...] = ()
    orphans: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did. `aside`: where the store lies that was there before, `None` if there was none.

    `purged`: entries that had been purged since the backup and were taken out of it.
    """

    contents: Contents
    aside: Path | None
    purged: int = 0

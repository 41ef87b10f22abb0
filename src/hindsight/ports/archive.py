"""Copies of the whole store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hindsight.domain.backup import Contents, Flaws, Restored
from hindsight.domain.kept import Record

if TYPE_CHECKING:
    pass


Report: TypeAlias = Callable[[str, int, int], None]
"""Told from time to time how far long work is: its stage, how much is done, and of how much (0: not known).

May be called from another thread than the caller's.
"""


class Archive(Protocol):
    """Copies of the whole store, each one file, by the store's own means. The store itself need not be open.

    Cancelled, every method leaves things as they were.
    """

    async def copy(self, target: Path, *, report: Report | None = None) -> Contents:
        """Copy the store into a new file, of one moment, while others write; it has been read again and compared.

        `NotFound` where there is no store yet, `Conflict` where the file is there already, `StorageFull`,
        `StorageUnavailable`, `StorageCorrupt`.
        """
        ...

    async def inspect(self, file: Path, *, report: Report | None = None) -> Contents:
        """Read a copy whole. `NotFound`, `StorageCorrupt`, `SchemaMismatch` for one of a newer release."""
        ...

    async def flaws(self) -> Flaws:
        """Look through the store itself for damage, and for rows without their parents. Changes nothing."""
        ...

    async def mend(self) -> Mapping[str, int]:
        """Take out the orphans that nothing rests on, by sort as `flaws` names them; how many of each."""
        ...

    def records(self, *, namespace: str | None, vectors: bool) -> AsyncIterator[Sequence[tuple[str, Record]]]:
        """Everything the store holds, of one moment and some at a time, each with its namespace.

        Episodes in order of arrival, then memories so, sessions, reviews, open jobs, and `vectors` where they are
        wanted. `namespace`: only what it holds. The store must have this release's schema: open it once before.
        """
        ...

    async def put_back(self, file: Path, *, aside: Path, report: Report | None = None) -> Restored:
        """Put a copy in the store's place, all or nothing; what was there, whole or damaged, is kept as `aside`.

        The copy stays. Refused as by `inspect`, and `StorageUnavailable` while another process has the store open.
        """
        ...

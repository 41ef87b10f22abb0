"""Numbered migrations, forward only. An applied file may never be edited: its hash is kept and compared.

The database's own version number (`user_version` in SQLite) is the number of the last migration.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from hindsight.errors import SchemaMismatch

_NAME = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema. `number` counts from 1 without gaps."""

    number: int
    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the text; line ends do not count, since git may change them on Windows."""
        return hashlib.sha256(self.text.replace("\r\n", "\n").encode()).hexdigest()


def migrations(package: str) -> tuple[Migration, ...]:
    """The `NNNN_name.sql` files in the folder `migrations` of a package, in order."""
    found = [
        Migration(int(match[1]), match[2], file.read_text(encoding="utf-8"))
        for file in sorted(files(package).joinpath("migrations").iterdir(), key=lambda file: file.name)
        if (match := _NAME.fullmatch(file.name))
    ]
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"{package}: migrations are not numbered 1, 2, 3, … without gaps")
    return tuple(found)


def missing(known: Sequence[Migration], applied: Mapping[int, str], where: Path | str) -> Sequence[Migration]:
    """The migrations still to be run, given the hashes of those that have been.

    `SchemaMismatch` for a database of a newer release and for a migration that was edited after it was applied.
    """
    if len(applied) > len(known):
        raise SchemaMismatch(
            f"{where} has schema {len(applied)}, this release knows {len(known)}",
            hint="A newer hindsight has opened it. Upgrade this one, or restore the backup made before.",
        )
    for migration in known[: len(applied)]:
        if applied.get(migration.number) != migration.digest:
            raise SchemaMismatch(
                f"migration {migration.number:04d}_{migration.name} differs from the one {where} was made with",
                hint="An applied migration must stay as it was; put the change into a new one.",
            )
    return known[len(applied) :]

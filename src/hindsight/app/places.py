"""Where memories, indexes, answers and copies lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType

from hindsight.app.clock import SystemClock
from hindsight.cache.local import LocalCache
from hindsight.config import Settings
from hindsight.errors import StorageUnavailable
from hindsight.index.embedded import EmbeddedVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.ports import (
    Archive,
    Cache,
    Clock,
    LexicalIndex,
    Store,
    VectorIndex,
)
from hindsight.storage.sqlite.archive import SqliteArchive
from hindsight.storage.sqlite.aside import Retention
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.upkeep.backup import BackupPolicy, Backups

STORES: Mapping[str, type[SqliteStore]] = MappingProxyType({"sqlite": SqliteStore})
ARCHIVES: Mapping[str, Callable[[Path], Archive]] = MappingProxyType({"sqlite": SqliteArchive})
VECTOR_INDEXES: Mapping[str, Callable[[Path], VectorIndex]] = MappingProxyType(
    {"embedded": lambda _folder: EmbeddedVectorIndex()}
)
LEXICAL_INDEXES: Mapping[str, Callable[[Path], LexicalIndex]] = MappingProxyType({"embedded": EmbeddedLexicalIndex})
CACHES: Mapping[str, Callable[[Clock], Cache]] = MappingProxyType({"local": LocalCache})


async def open_store(settings: Settings) -> Store:
    """The store of the settings alone, made or migrated where needed: for tools that look at what it holds."""
    make_folder(settings.database.parent)
    traces = Retention(settings.traces_kept, timedelta(days=settings.traces_days))
    return await SqliteStore.open(settings.database, traces=traces)


def make_cache(settings: Settings, clock: Clock) -> Cache | None:
    """The cache of answers that the settings name; `None` where it is off."""
    return CACHES["local"](clock) if settings.answer_cache else None


def make_archive(settings: Settings) -> Archive:
    """Copies of the store that the settings name. Nothing is opened yet."""
    return ARCHIVES["sqlite"](settings.database)


def make_backups(settings: Settings) -> Backups:
    """The backups of that store."""
    return Backups(
        make_archive(settings), SystemClock(), BackupPolicy(settings.backups, timedelta(settings.backup_days))
    )


def make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageUnavailable(
            f"the data folder {folder} can't be made: {error.strerror}", hint="Set HINDSIGHT_DATA_DIR to another."
        ) from error

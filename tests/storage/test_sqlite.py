"""The SQLite store keeps the contract; what only a file can do wrong is in the other files of this folder."""

from collections.abc import Callable
from pathlib import Path

from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.store_contract import StoreContract


class TestSqlite(StoreContract):
    async def make(self, place: Path, *, watch: Callable[[str], None] | None = None) -> SqliteStore:
        return await SqliteStore.open(place / "memory.db", watch=watch)

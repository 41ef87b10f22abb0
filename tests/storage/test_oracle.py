"""The oracle keeps the contract that it is the measure of."""

from collections.abc import Callable
from pathlib import Path

from hindsight.ports import Store
from hindsight.storage.oracle import OracleStore
from hindsight.testing.store_contract import Capabilities, StoreContract


class TestOracle(StoreContract):
    capabilities = Capabilities(reopens=False, faults=False)

    async def make(self, place: Path, *, watch: Callable[[str], None] | None = None) -> OracleStore:
        return OracleStore()

    def bytes_left(self, place: Path, store: Store) -> bytes:
        """It keeps no file: all that it holds is what it is made of."""
        return repr(vars(store)).encode()

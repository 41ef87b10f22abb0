"""The store in plain Python, in memory: as simple as it can be, so that it is plainly right.

Contract tests compare every backend with it. It is also a store for tests of whatever stands above one.
"""

from hindsight.storage.oracle.store import OracleStore

__all__ = ["OracleStore"]

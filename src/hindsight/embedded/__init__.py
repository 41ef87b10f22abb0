"""Memory inside a Python program: an `Engine` on a data folder, async and sync, with the methods of SPEC §8.

from hindsight import Hindsight

with Hindsight("my-data") as memory:
    memory.write("用户对花生过敏", session_id="s1")
    print(memory.search("吃什么要小心").context)
"""

from hindsight.embedded.asynchronous import AsyncHindsight
from hindsight.embedded.blocking import Hindsight

__all__ = ["AsyncHindsight", "Hindsight"]

"""What a process that only serves sets for itself, and a program that embeds hindsight must not have set for it."""

from __future__ import annotations

import ctypes
import sys

SWITCH_SECONDS = 0.0005
ARENAS = 2
_M_ARENA_MAX = -8  # malloc.h of the GNU C library


def settle_in() -> None:
    """Shorter turns for threads, and fewer memory pools.

    The loop, the encoder and SQLite share Python's lock: with its usual turns of 5 ms a search waits more than works.
    The GNU allocator gives each thread a pool of its own, which all grow: with two, 25 MB less at 3,000 memories.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, ARENAS)

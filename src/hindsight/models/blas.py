"""Keeps numpy's BLAS to one thread while an encoder is loaded.

OpenBLAS threads wait by spinning: with two of them on a busy machine the built-in encoder falls to a sixth of its
speed. The setting belongs to the process, so it is counted here and restored when the last encoder is closed.
"""

from __future__ import annotations

import threading
from typing import Any, Final

_LOCK: Final = threading.Lock()


class _Held:
    """How many encoders hold the limit, and what restores it."""

    count = 0
    controller: Any = None
    limit: Any = None


def hold_one_thread() -> None:
    """Limit BLAS to one thread. Every call needs a `release`."""
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - needed only with a model at work

    with _LOCK:
        if _Held.count == 0:
            _Held.controller = ThreadpoolController()
            _give_up_control()
            _Held.limit = _Held.controller.limit(limits=1, user_api="blas")
        _Held.count += 1


def release() -> None:
    """Undo one `hold_one_thread`."""
    with _LOCK:
        _Held.count -= 1
        if _Held.count == 0:
            _give_up_control()
            _Held.limit.restore_original_limits()
            _give_up_control()
            _Held.limit = _Held.controller = None


def _give_up_control() -> None:
    """Let whichever thread comes next set the limit.

    threadpoolctl (3.8, for one) ties OpenBLAS to the first thread that sets it and *silently ignores* all others while
    that one lives; here one thread may hold and another release.
    """
    for library in _Held.controller.lib_controllers:
        if (clear := getattr(library, "clear_controlling_thread", None)) is not None:
            clear(force=True)

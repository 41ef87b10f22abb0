"""A circuit breaker: a service that keeps failing is left alone for a while, then tried with a single call."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


class Breaker:
    """Opens after `failures` in a row. While it is open nothing is called; after a rest one call is let through.

    That probe closes it again if it succeeds; if it fails, the next rest is twice as long, up to `longest_rest`.
    Rests are in seconds. For use within one event loop.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        rest: float = 30.0,
        longest_rest: float = 600.0,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._limit = failures
        self._first_rest = rest
        self._longest_rest = longest_rest
        self._now = now
        self._failures = 0
        self._rest = rest
        self._until: float | None = None
        self._probing = False

    def wait(self) -> float:
        """Seconds until a call may be tried; 0 if one may be now."""
        if self._until is None:
            return 0.0
        left = max(0.0, self._until - self._now())
        return left or (1.0 if self._probing else 0.0)

    def enter(self) -> None:
        """Say that a call goes out, which is the probe if the breaker is open."""
        self._probing = self._until is not None

    def succeeded(self) -> None:
        """The service answered: all is forgotten."""
        self._failures, self._rest, self._until, self._probing = 0, self._first_rest, None, False

    def failed(self) -> None:
        """The service did not answer."""
        self._failures += 1
        if self._until is not None:
            if not self._probing:
                return  # it went out before the breaker opened
            self._rest = min(2 * self._rest, self._longest_rest)
        elif self._failures < self._limit:
            return
        self._until, self._probing = self._now() + self._rest, False

    def left(self) -> None:
        """The call was given up by its caller, which says nothing about the service."""
        self._probing = False

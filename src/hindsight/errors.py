"""Every error that hindsight raises, in one tree.

HindsightError
├── InvalidInput          a value that can't be accepted: names the field, the value and what is allowed
├── NotFound              no such thing in this namespace
├── Ambiguous             a short id that fits more than one memory
├── Conflict              somebody else wrote first; read again and retry
├── Unauthenticated       no key, or one that is not accepted
├── Forbidden             the key does not reach this namespace or act
├── TooLarge              more than one request may carry
├── Unsupported           this backend or build does not offer that
├── ConfigError           a setting is missing, unknown or wrong
└── Unavailable           a part is down, slow or full; trying again may help
    ├── StorageUnavailable    the store can't be read or written
    ├── StorageFull           no room on the disk
    ├── ModelUnavailable      an embedder or language model does not answer
    ├── DeadlineExceeded      the time allowed has passed
    └── RateLimited           more calls than a key may make
StorageCorrupt, SchemaMismatch (both HindsightError): the data folder can't be used as it is

Each carries a stable `code` for programs, `retryable`, and a `hint` that says what to do about it.
"""

from __future__ import annotations

from typing import ClassVar


class HindsightError(Exception):
    """Root of all errors. `str(error)` is a full sentence; `hint` says what to do, or is empty."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class InvalidInput(HindsightError):
    """A value that can't be accepted. `field`, `value` (shortened) and `allowed` are kept apart for programs."""

    code = "invalid_input"

    def __init__(self, field: str, value: object, allowed: str) -> None:
        self.field = field
        self.value = shorten(value)
        self.allowed = allowed
        super().__init__(f"{field}: {self.value} is not accepted; allowed: {allowed}")


class NotFound(HindsightError):
    """No such thing in this namespace. Says the same whether it never existed or belongs to somebody else."""

    code = "not_found"

    def __init__(self, field: str, value: object) -> None:
        self.field = field
        self.value = shorten(value)
        super().__init__(
            f"{field}: nothing here is called {self.value}", hint="Search first and use an id from the result."
        )


class Ambiguous(HindsightError):
    """A short id that fits more than one memory."""

    code = "ambiguous"


class Conflict(HindsightError):
    """The state read before has changed since; read again and retry."""

    code = "conflict"
    retryable = True


class Unauthenticated(HindsightError):
    """No key, or one that is not accepted."""

    code = "unauthenticated"


class TooLarge(HindsightError):
    """More than one request may carry."""

    code = "too_large"


class Forbidden(HindsightError):
    """The caller may not do this."""

    code = "forbidden"


class Unsupported(HindsightError):
    """This backend or build does not offer that."""

    code = "unsupported"


class ConfigError(HindsightError):
    """A setting is missing, unknown or wrong."""

    code = "config"


class Unavailable(HindsightError):
    """A part is down, slow or full; trying again may help."""

    code = "unavailable"
    retryable = True


class StorageUnavailable(Unavailable):
    """The store can't be read or written now."""

    code = "storage_unavailable"


class StorageFull(Unavailable):
    """No room on the disk: nothing of the write was kept."""

    code = "storage_full"


class ModelUnavailable(Unavailable):
    """An embedder or language model does not answer."""

    code = "model_unavailable"


class DeadlineExceeded(Unavailable):
    """The time allowed has passed."""

    code = "deadline_exceeded"


class RateLimited(Unavailable):
    """More calls than a key may make; `hint` says when to call again."""

    code = "rate_limited"


class StorageCorrupt(HindsightError):
    """The data folder holds something that can't be trusted."""

    code = "storage_corrupt"


class SchemaMismatch(HindsightError):
    """The data folder was written by another release."""

    code = "schema_mismatch"


def shorten(value: object, limit: int = 80) -> str:
    """`repr` of a value, cut to `limit` characters, fit to stand in an error message."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deep, or a whole number of too many digits for Python
        text = f"<a {type(value).__name__} that is too large to show>"
    return text if len(text) <= limit else text[: limit - 1] + "…"

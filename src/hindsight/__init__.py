"""The memory of an LLM agent: what was said and done, distilled, aged, and given back for the task at hand.

`Hindsight` is the memory inside a Python program; `AsyncHindsight` the same for `async` ones. `Client` and
`AsyncClient` have their methods over HTTP.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindsight.client import AsyncClient, Client
    from hindsight.domain.episode import Message, Role
    from hindsight.domain.experience import OutcomeStatus
    from hindsight.domain.memory import Kind, Layer
    from hindsight.domain.query import Filters, TimeRange
    from hindsight.embedded import AsyncHindsight, Hindsight
    from hindsight.errors import HindsightError

__all__ = [
    "AsyncClient",
    "AsyncHindsight",
    "Client",
    "Filters",
    "Hindsight",
    "HindsightError",
    "Kind",
    "Layer",
    "Message",
    "OutcomeStatus",
    "Role",
    "TimeRange",
]

_HOME = {
    "AsyncClient": "hindsight.client",
    "AsyncHindsight": "hindsight.embedded",
    "Client": "hindsight.client",
    "Filters": "hindsight.domain.query",
    "Hindsight": "hindsight.embedded",
    "HindsightError": "hindsight.errors",
    "Kind": "hindsight.domain.memory",
    "Layer": "hindsight.domain.memory",
    "Message": "hindsight.domain.episode",
    "OutcomeStatus": "hindsight.domain.experience",
    "Role": "hindsight.domain.episode",
    "TimeRange": "hindsight.domain.query",
}


def __getattr__(name: str) -> object:
    # Importing the package must cost nothing: the stdio handshake answers before anything heavy is loaded.
    if name not in _HOME:
        raise AttributeError(f"module 'hindsight' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)

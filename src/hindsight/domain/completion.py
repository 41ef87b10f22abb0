"""What a language model answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer. `truncated`: it was cut off at the limit of its length. Tokens as the provider counts them.

    `tokens_in` and `tokens_out` are estimates where the provider does not say, and include attempts that failed.
    """

    text: str
    truncated: bool = False
    tokens_in: int = 0
    tokens_out: int = 0

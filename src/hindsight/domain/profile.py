"""What is known of somebody, in one piece: current facts, tastes, limits, relations and rules, with their proofs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hindsight.domain.memory import Kind, Memory

USER = "user"  # the subject of what the user says of themselves

# The sections of a profile and the kinds in them, in the order in which they are read.
SECTIONS: tuple[tuple[str, Kind], ...] = (
    ("constraints", Kind.CONSTRAINT),
    ("facts", Kind.FACT),
    ("preferences", Kind.PREFERENCE),
    ("relations", Kind.RELATION),
    ("rules", Kind.RULE),
)


@dataclass(frozen=True, slots=True)
class Observation:
    """A memory and how well it is borne out.

    `proofs`: turns that say it; `sessions`: conversations these belong to; `strength` is that of now; `stale`: nobody
    has confirmed it for long.
    """

    memory: Memory
    proofs: int
    sessions: int
    strength: float
    last_verified: datetime
    stale: bool


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a subject. `left_out`: memories beyond the longest section. `context`: a fenced block of it."""

    subject: str
    constraints: tuple[Observation, ...]
    facts: tuple[Observation, ...]
    preferences: tuple[Observation, ...]
    relations: tuple[Observation, ...]
    rules: tuple[Observation, ...]
    left_out: int
    context: str
    tokens: int

    def section(self, name: str) -> tuple[Observation, ...]:
        """A section by its name in `SECTIONS`."""
        return {
            "constraints": self.constraints,
            "facts": self.facts,
            "preferences": self.preferences,
            "relations": self.relations,
            "rules": self.rules,
        }[name]

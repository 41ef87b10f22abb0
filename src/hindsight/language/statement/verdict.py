"""What comes of comparing two statements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Relation(StrEnum):
    """What a later statement is to an earlier one."""

    SAME = "same"
    DIFFERENT = "different"
    SUPERSEDES = "supersedes"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The relation and why.

    `sure`: of what takes a place, by subject and slot; otherwise by the number of `shared` words, and only the best of
    several counts. Of what is different: something tells them apart; otherwise nothing says that they are the same.
    """

    relation: Relation
    reason: str
    sure: bool = True
    shared: int = 0
    akin: bool = True  # both speak of the same subject and relation


def different(reason: str) -> Verdict:
    return Verdict(Relation.DIFFERENT, reason)


def unsure(reason: str, *, akin: bool = True) -> Verdict:
    """Kept apart for want of anything that says otherwise."""
    return Verdict(Relation.DIFFERENT, reason, sure=False, akin=akin)


def unrelated(reason: str) -> Verdict:
    return Verdict(Relation.DIFFERENT, reason, akin=False)


def supersedes(reason: str, shared: int | None = None) -> Verdict:
    return Verdict(Relation.SUPERSEDES, reason, sure=shared is None, shared=shared or 0)

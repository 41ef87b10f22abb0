"""What a clause claims, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Relations that hold one value at a time, for persons and things alike.
SINGLE = frozenset({"origin"}) | frozenset(
    [
        "reside",
        "floor",
        "work",
        "own_name",
        "age",
        "birthday",
        "marital",
        "housing",
        "weigh",
        "height",
        "born",
        "die_in",
        "sit",
        "diet",
    ]
)
# Verbs whose own meaning adds nothing to that of their words.
LIGHT = frozenset(["be", "have", "own_name", "happen", "do", "in", "sit"])
# Classes of the lexicon whose members stand in for each other: one database takes the place of another.
SORTS = frozenset(["database", "editor-tool", "vcs-ci", "container", "messenger", "script-language"])


class Turn(StrEnum):
    """How a claim turns against what was said before."""

    ENDED = "ended"  # «辞职了», "sold it", "no longer"
    CHANGED = "changed"  # «改用», "moved to"
    RESCHEDULED = "rescheduled"  # «推迟到», "pushed to"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Claim:
    """One clause. Words are concepts, in the order they were said.

    `owner`: the person it is about («user», «user/mother»), empty where it is a thing, a name, or unsaid. `slot`: the
    relation. `numbers`: quantities of the value. `times`: when, as «wd1», «m5», «t7:30», «y2023», «yesterday».
    `kin`: relatives in the subject. `dropped`: what a change leaves behind («from X», "not X"). `single`: the slot
    holds one value at a time. `kinds`: the class of each word of the value. `names`: names in the subject.
    `for_good`: denied without end («再也不», "no longer", «不…了»), not for a while, nor as what one can't do now.
    """

    slot: str
    subject: tuple[str, ...] = ()
    owner: str = ""
    value: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    units: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    subject_times: frozenset[str] = frozenset()
    every: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    negated: bool = False
    turn: Turn | None = None
    dropped: tuple[str, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()
    kin: frozenset[str] = frozenset()
    single: bool = False
    now: bool = False
    past: bool = False
    planned: bool = False
    also: bool = False
    for_good: bool = False
    names: frozenset[str] = frozenset()

    @property
    def content(self) -> frozenset[str]:
        """Everything it speaks of, the speaker left out."""
        return frozenset((*self.subject, *self.value)) - {"user"}


@dataclass(frozen=True, slots=True)
class Reading:
    """All claims of a text. `corrects`: it says that something said before was wrong. Which scripts it uses.

    `figures` and `names` stand in the order of the text, for what holds only in this order.
    """

    claims: tuple[Claim, ...]
    corrects: bool = False
    han: bool = False
    latin: bool = False
    figures: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

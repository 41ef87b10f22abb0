"""Statements out of text. The pipeline knows an `Extractor`; the rules are one, a language model may be another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from hindsight.domain.episode import EMPTY, Episode, Metadata
from hindsight.domain.experience import Experience
from hindsight.domain.memory import Kind, Layer, Statement

USER = "user"  # the subject of what a user without a name says of themselves


class Slot(StrEnum):
    """What a statement says of its subject, where that is known."""

    RESIDENCE = "residence"
    ORIGIN = "origin"
    JOB = "job"
    NAME = "name"
    AGE = "age"
    BIRTHDAY = "birthday"
    FAMILY = "family"
    PET = "pet"
    HEALTH = "health"
    DIET = "diet"
    LIKE = "like"
    FAVOURITE = "favourite"
    RULE = "rule"
    MEDICATION = "medication"
    EDUCATION = "education"
    POSSESSION = "possession"
    SKILL = "skill"
    LANGUAGE = "language"
    HABIT = "habit"
    GOAL = "goal"
    PLAN = "plan"
    EVENT = "event"
    RELATION = "relation"
    PROJECT = "project"
    DEADLINE = "deadline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One statement that an extractor read out of characters `[start, end)` of an episode.

    `content` stands alone. `verbatim`: nothing was understood and the words are kept. `explicit`: the caller named the
    kind. `occurred_at`: when it happened, where that is not when it was said. `importance` is the extractor's own
    estimate, if it has one, with its `reasons`; otherwise the rules of `importance` decide. `swing`: 1 or -1 where a
    language model finds that it matters more or less than these say; `reasons` says why. `metadata` joins what the
    caller attached to the episode. `experience` is the body where the text describes one.
    """

    episode_id: str
    start: int
    end: int
    content: str
    kind: Kind
    layer: Layer
    body: Statement = field(default_factory=Statement)
    experience: Experience | None = None
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    verbatim: bool = False
    explicit: bool = False
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    importance: float | None = None
    swing: int = 0
    reasons: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Unread:
    """An episode that was not read as it should have been, and why. `passing`: the next try may well succeed."""

    episode_id: str
    reason: str
    passing: bool


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was read. An episode without a candidate is kept verbatim. `degraded` names what did not work.

    `unread` episodes are read again later. `reader` and `counts` are for the trace: model and version of the prompts,
    calls and tokens.
    """

    candidates: tuple[Candidate, ...]
    degraded: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()
    reader: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


class Extractor(Protocol):
    """Reads statements out of episodes."""

    @property
    def quick(self) -> bool:
        """Whether it is done within the caller's own write; otherwise a job may finish it later."""
        ...

    async def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """The statements of these episodes, in order; never a word that was not said. `ModelUnavailable`."""
        ...


_EPISODIC = (Kind.EVENT, Kind.SUMMARY)


def word_for_word(episode: Episode, *, remark: bool) -> Candidate:
    """The whole episode as one memory. `remark`: a question or greeting, which states nothing."""
    start, end = _extent(episode.content)
    turn = episode.session_id is not None or remark
    return Candidate(
        episode_id=episode.id,
        start=start,
        end=end,
        content=episode.content[start:end],
        kind=Kind.EVENT if turn or episode.speaker is not None else Kind.FACT,
        layer=Layer.EPISODIC if turn else Layer.SEMANTIC,
        verbatim=True,
    )


def as_told(episode: Episode, kind: Kind) -> Candidate:
    """The whole episode as one statement of the kind that its caller named."""
    start, end = _extent(episode.content)
    return Candidate(
        episode_id=episode.id,
        start=start,
        end=end,
        content=episode.content[start:end],
        kind=kind,
        layer=Layer.EPISODIC if kind in _EPISODIC else Layer.SEMANTIC,
        explicit=True,
    )


def _extent(text: str) -> tuple[int, int]:
    """The text without blanks at its edges."""
    return len(text) - len(text.lstrip()), len(text.rstrip())

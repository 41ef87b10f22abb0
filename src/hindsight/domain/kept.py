"""What an export holds, to be taken over as it was: entries with their whole past, not to be understood anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from hindsight.domain.change import Embedding, Job, Review, Revision
    from hindsight.domain.episode import Episode, EpisodeState
    from hindsight.domain.memory import Memory
    from hindsight.domain.page import Use
    from hindsight.domain.session import Session, Variable


@dataclass(frozen=True, slots=True)
class KeptEpisode:
    """An episode with its position in its session, how it answers, since when, and how often it was given back."""

    episode: Episode
    state: EpisodeState
    since: datetime
    use: Use | None = None


@dataclass(frozen=True, slots=True)
class KeptMemory:
    """A memory as it is, every state it had, oldest first, and how often it was given back.

    Where it is taken over, its revisions belong to the change that brings it: change numbers are a store's own.
    """

    memory: Memory
    revisions: tuple[Revision, ...] = ()
    use: Use | None = None


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session with its variables by name."""

    session: Session
    variables: tuple[tuple[str, Variable], ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """Part of an export. Its episodes and memories must be new to the store; a session that it knows stays as it is."""

    episodes: tuple[KeptEpisode, ...] = ()
    memories: tuple[KeptMemory, ...] = ()
    sessions: tuple[KeptSession, ...] = ()


Record: TypeAlias = "KeptEpisode | KeptMemory | KeptSession | Review | Job | Embedding"
"""One thing that a namespace holds, as an export tells it."""

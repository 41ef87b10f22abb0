"""What the plain-Python store holds of one namespace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from hindsight.domain.change import Applied, Review, Revision, Touched
from hindsight.domain.entry import Entry, entry_of_episode, entry_of_memory
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.memory import Memory, Status
from hindsight.domain.purge import Tombstone
from hindsight.domain.session import Session, Variable
from hindsight.storage.purging import mark

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(slots=True)
class Space:
    """All that one namespace holds. Dicts keep the order of arrival."""

    change: int = 0
    episodes: dict[str, Episode] = field(default_factory=dict)
    states: dict[str, tuple[EpisodeState, datetime]] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    vectors: dict[tuple[str, str], NDArray[np.float32]] = field(default_factory=dict)
    revisions: list[tuple[str, Revision]] = field(default_factory=list)
    log: list[Touched] = field(default_factory=list)
    applied: dict[str, Applied] = field(default_factory=dict)
    moved: dict[int, tuple[tuple[str, EpisodeState | None], ...]] = field(default_factory=dict)
    reviews: dict[str, Review] = field(default_factory=dict)
    sessions: dict[str, Session] = field(default_factory=dict)
    variables: dict[tuple[str, str], Variable] = field(default_factory=dict)  # by session and name
    purged: dict[str, Tombstone] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)  # of keys that have been purged
    secret: str | None = None  # what marks are made with, once there is one

    def copy(self) -> Space:
        """The same contents in containers of their own; the values are frozen."""
        return Space(
            self.change,
            dict(self.episodes),
            dict(self.states),
            dict(self.memories),
            dict(self.vectors),
            list(self.revisions),
            list(self.log),
            dict(self.applied),
            dict(self.moved),
            dict(self.reviews),
            dict(self.sessions),
            dict(self.variables),
            dict(self.purged),
            set(self.marks),
            self.secret,
        )

    def held_key(self, key: str) -> str:
        """The key under which an episode is held: a mark of it, once something in the episode was purged."""
        if self.secret is None:
            return key
        made = mark(self.secret, key)
        return made if any(episode.key == made for episode in self.episodes.values()) else key

    def marked(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys of episodes or contents that have been purged."""
        if self.secret is None:
            return set()
        held = self.marks | {episode.key for episode in self.episodes.values()}
        return {key for key in keys if mark(self.secret, key) in held}

    def awake(self, session_id: str, at: datetime) -> None:
        """Something has happened in a session."""
        known = self.sessions.get(session_id)
        self.sessions[session_id] = Session(session_id, at if known is None else max(known.active_at, at))

    def position(self, memory: Memory) -> int:
        """Where the first source of a memory stands in its session; -1 without one."""
        return self.episodes[memory.sources[0].episode_id].position if memory.sources else -1

    def ended(self, episode_id: str) -> datetime | None:
        """When the last of the superseded memories that rest on an episode ended."""
        ends = [
            memory.valid_to
            for memory in self.memories.values()
            if memory.status is Status.SUPERSEDED
            and memory.valid_to is not None
            and any(source.episode_id == episode_id for source in memory.sources)
        ]
        return max(ends, default=None)

    def entry(self, entry_id: str) -> Entry | None:
        """The index entry of a memory or an episode; `None` for what is gone or covered."""
        if entry_id in self.memories:
            return entry_of_memory(self.memories[entry_id], self.position(self.memories[entry_id]))
        if entry_id in self.episodes:
            return entry_of_episode(self.episodes[entry_id], *self.states[entry_id])
        return None

"""What a search found, under the names of SPEC §8: memories, and episodes where no memory says the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from hindsight.domain.episode import Episode, Metadata
from hindsight.domain.experience import Experience, Outcome, Trigger
from hindsight.domain.memory import Kind, Layer, Memory, Source, short_id


@dataclass(frozen=True, slots=True)
class SourceText:
    """The evidence of a hit: the span it rests on, with who said it and when. Made by `of`.

    The episode's content is the span alone: the rest may say what has been forgotten.
    """

    source: Source
    episode: Episode

    @classmethod
    def of(cls, source: Source, episode: Episode) -> SourceText:
        """The span of an episode that a memory rests on."""
        if source.start == 0 and source.end >= len(episode.content):
            return cls(source, episode)
        return cls(source, replace(episode, content=episode.content[source.start : source.end]))

    @property
    def episode_id(self) -> str:
        return self.source.episode_id

    @property
    def session_id(self) -> str | None:
        return self.episode.session_id

    @property
    def speaker(self) -> str | None:
        return self.episode.speaker

    @property
    def agent(self) -> str | None:
        return self.episode.agent

    @property
    def occurred_at(self) -> datetime:
        return self.episode.occurred_at

    @property
    def metadata(self) -> Metadata:
        return self.episode.metadata

    @property
    def text(self) -> str:
        """The words of the span, not the whole episode."""
        return self.episode.content


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """A memory found. `scores` has the parts of `score` by name.

    `trigger`, `steps`, `tools` and `outcome` are an experience's, and empty for anything else.
    """

    memory: Memory
    score: float
    scores: Mapping[str, float]
    sources: tuple[SourceText, ...] = ()
    warning: str | None = None

    @property
    def memory_id(self) -> str:
        return self.memory.id

    @property
    def short_id(self) -> str:
        return self.memory.short_id

    @property
    def content(self) -> str:
        return self.memory.content

    @property
    def layer(self) -> Layer:
        return self.memory.layer

    @property
    def kind(self) -> Kind:
        return self.memory.kind

    @property
    def importance(self) -> float:
        return self.memory.importance

    @property
    def confidence(self) -> float:
        """Trust in 0 to 1; an experience's is that of its record."""
        experience = self.experience
        return self.memory.confidence if experience is None else experience.outcome.confidence / 100

    @property
    def occurred_at(self) -> datetime:
        return self.memory.occurred_at

    @property
    def valid_from(self) -> datetime | None:
        return self.memory.valid_from

    @property
    def valid_to(self) -> datetime | None:
        return self.memory.valid_to

    @property
    def session_id(self) -> str | None:
        return self.memory.session_id

    @property
    def tags(self) -> tuple[str, ...]:
        return self.memory.tags

    @property
    def experience(self) -> Experience | None:
        return self.memory.body if isinstance(self.memory.body, Experience) else None

    @property
    def trigger(self) -> Trigger | None:
        return self.experience.trigger if self.experience else None

    @property
    def steps(self) -> tuple[str, ...]:
        return self.experience.action.steps if self.experience else ()

    @property
    def tools(self) -> tuple[str, ...]:
        return self.experience.action.tools_used if self.experience else ()

    @property
    def outcome(self) -> Outcome | None:
        return self.experience.outcome if self.experience else None


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """An episode found by its own words, where no memory that answers says the same. Its id stands as `memory_id`."""

    episode: Episode
    score: float
    scores: Mapping[str, float]
    warning: str | None = None

    layer = Layer.EPISODIC
    kind = Kind.EVENT
    importance = 0.5
    confidence = 1.0
    valid_from = None
    valid_to = None

    @property
    def memory_id(self) -> str:
        return self.episode.id

    @property
    def short_id(self) -> str:
        return short_id(self.episode.id)

    @property
    def content(self) -> str:
        return self.episode.content

    @property
    def occurred_at(self) -> datetime:
        return self.episode.occurred_at

    @property
    def session_id(self) -> str | None:
        return self.episode.session_id

    @property
    def tags(self) -> tuple[str, ...]:
        tags = self.episode.metadata.get("tags")
        return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()

    @property
    def sources(self) -> tuple[SourceText, ...]:
        """Itself, whole."""
        return (SourceText.of(Source(self.episode.id, 0, len(self.episode.content)), self.episode),)


Hit: TypeAlias = MemoryHit | EpisodeHit

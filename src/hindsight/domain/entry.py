"""What an index holds: one searchable text with everything that a filter can ask about it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from hindsight.domain.episode import Episode, EpisodeState, Origin, origin_of
from hindsight.domain.experience import Experience
from hindsight.domain.memory import Body, Kind, Layer, Memory, Status


@dataclass(frozen=True, slots=True)
class Entry:
    """A memory or a bare episode as the indexes see it.

    `id` is the memory's, or the episode's where `kind` is `None`. `episode_ids` are what it rests on, in order;
    an episode rests on itself. `position` is that of the first of these within its session, -1 where unknown.
    `importance` is what forgetting by a factor has left of it. `reply`: said by the assistant or a tool.
    """

    id: str
    namespace: str
    content: str
    layer: Layer
    kind: Kind | None
    occurred_at: datetime
    status: Status = Status.ACTIVE
    importance: float = 0.5
    confidence: float = 0.5
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    session_id: str | None = None
    position: int = -1
    speaker: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    pinned: bool = False
    episode_ids: tuple[str, ...] = ()
    reply: bool = False


def entry_of_memory(memory: Memory, position: int = -1) -> Entry:
    """A memory as an index entry. An experience is found by its trigger, so that is its text."""
    return Entry(
        id=memory.id,
        namespace=memory.namespace,
        content=searchable_text(memory),
        layer=memory.layer,
        kind=memory.kind,
        occurred_at=memory.occurred_at,
        status=memory.status,
        importance=memory.importance * memory.strength,
        confidence=trust_in(memory.body, memory.confidence),
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        session_id=memory.session_id,
        position=position,
        speaker=memory.speaker,
        tags=memory.tags,
        entities=memory.entities,
        pinned=memory.pinned,
        episode_ids=tuple(dict.fromkeys(source.episode_id for source in memory.sources)),
        reply=memory.origin is Origin.TOOL,
    )


def searchable_text(memory: Memory) -> str:
    """The text that is embedded and put into the keyword index."""
    return text_to_search(memory.body, memory.content, memory.speaker, memory.tags)


def text_to_search(body: Body, content: str, speaker: str | None, tags: tuple[str, ...]) -> str:
    """`searchable_text` from the parts of a memory that it takes."""
    if isinstance(body, Experience):
        return " ".join((body.trigger.context, *body.trigger.keywords, *tags, *body.action.tools_used))
    return without_speaker(content, speaker)


def trust_in(body: Body, confidence: float) -> float:
    """Trust in 0 to 1; an experience's is that of its record."""
    return body.outcome.confidence / 100 if isinstance(body, Experience) else confidence


def without_speaker(content: str, speaker: str | None) -> str:
    """A statement without the first mention of who made it.

    Every statement of a speaker has their name, few turns do: left in, any statement of theirs fits a question with the
    name better than the turn that answers it. Who spoke is a signal of its own.
    """
    if not speaker or speaker not in content:
        return content
    return content.replace(speaker, "", 1).strip() or content


_STATUS_OF_STATE = {
    EpisodeState.OPEN: Status.ACTIVE,
    EpisodeState.CLOSED: Status.SUPERSEDED,
    EpisodeState.FORGOTTEN: Status.FORGOTTEN,
}


def entry_of_episode(episode: Episode, state: EpisodeState, state_since: datetime) -> Entry | None:
    """An episode as an index entry; `None` for a covered one, which answers through the memory that covers it.

    `state_since`: of a closed one, the end of what it says.
    """
    if state is EpisodeState.COVERED:
        return None
    status = _STATUS_OF_STATE[state]
    tags = episode.metadata.get("tags")
    return Entry(
        id=episode.id,
        namespace=episode.namespace,
        content=episode.content,
        layer=Layer.EPISODIC,
        kind=None,
        occurred_at=episode.occurred_at,
        status=status,
        valid_to=None if status is Status.ACTIVE else state_since,
        session_id=episode.session_id,
        position=episode.position,
        speaker=episode.speaker,
        tags=tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
        episode_ids=(episode.id,),
        reply=origin_of(episode.role) is Origin.TOOL,
    )

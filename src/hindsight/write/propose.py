"""From candidates to the memories that a write would add: importance, names and keys filled in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from hindsight.domain.episode import EMPTY, Episode, Metadata, origin_of
from hindsight.domain.memory import Kind, Layer, Memory, Source, Statement
from hindsight.language.fold import fold
from hindsight.write.extract import Candidate, Extraction, as_told, word_for_word
from hindsight.write.extract.rules import is_remark
from hindsight.write.importance import weigh
from hindsight.write.keys import plain, statement_key, turn_key
from hindsight.write.link import entities
from hindsight.write.prepare import Told


def complete(episodes: Sequence[Episode], told: Mapping[str, Told], extraction: Extraction) -> list[Candidate]:
    """Candidates for every episode, in order: as its caller named them, as extracted, or the episode word for word."""
    extracted: dict[str, list[Candidate]] = {}
    for candidate in extraction.candidates:
        extracted.setdefault(candidate.episode_id, []).append(candidate)
    whole: list[Candidate] = []
    for episode in episodes:
        kind = told[episode.id].kind
        if kind is not None:
            whole.append(as_told(episode, kind))
        elif found := extracted.get(episode.id):
            whole += found
        else:
            whole.append(word_for_word(episode, remark=is_remark(episode.content)))
    return whole


def covered(episodes: Sequence[Episode], candidates: Sequence[Candidate]) -> set[str]:
    """Ids of episodes that one memory says as a whole, so that they need not be found beside it."""
    content = {episode.id: episode.content for episode in episodes}
    counts = Counter(candidate.episode_id for candidate in candidates)
    return {
        one.episode_id
        for one in candidates
        if counts[one.episode_id] == 1 and plain(one.content) == plain(content[one.episode_id])
    }


def memories(
    episodes: Mapping[str, Episode],
    told: Mapping[str, Told],
    candidates: Sequence[Candidate],
    *,
    at: datetime,
    new_id: Callable[[], str],
) -> list[Memory]:
    """A new memory for each candidate, in order."""
    speakers = {episode.speaker for episode in episodes.values() if episode.speaker}
    return [
        _memory(candidate, episodes[candidate.episode_id], told[candidate.episode_id], speakers, at=at, new_id=new_id)
        for candidate in candidates
    ]


def _memory(
    candidate: Candidate,
    episode: Episode,
    told: Told,
    speakers: set[str],
    *,
    at: datetime,
    new_id: Callable[[], str],
) -> Memory:
    remark = candidate.verbatim and candidate.kind is Kind.EVENT and is_remark(candidate.content)
    return Memory(
        id=new_id(),
        namespace=episode.namespace,
        content=candidate.content,
        layer=candidate.layer,
        kind=candidate.kind,
        occurred_at=candidate.occurred_at or episode.occurred_at,
        timezone=episode.timezone,
        created_at=at,
        updated_at=at,
        content_key=content_key(candidate, episode),
        body=candidate.body,
        importance=weigh(candidate, given=told.importance, remark=remark).value,
        verbatim=candidate.verbatim,
        origin=origin_of(episode.role),
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        session_id=episode.session_id,
        speaker=episode.speaker,
        agent=episode.agent,
        tags=tuple(dict.fromkeys((*told.tags, *candidate.tags))),
        entities=candidate.entities or entities(candidate.content, speakers),
        sources=(Source(episode.id, candidate.start, candidate.end),),
        metadata=_own(episode.metadata),
    )


def content_key(candidate: Candidate, episode: Episode) -> str:
    """Semantic statements are the same wherever they were said; turns only within their session and speaker."""
    if candidate.layer is Layer.EPISODIC:
        return turn_key(episode.session_id, episode.speaker, candidate.content)
    return statement_key(subject_of(candidate.body, episode.speaker), candidate.content)


def subject_of(body: Statement, speaker: str | None) -> str | None:
    """Whom a statement is about: its subject, else whoever said it."""
    return body.subject or (fold(speaker) if speaker else None)


def _own(metadata: Metadata) -> Metadata:
    """What the caller attached, without what hindsight itself keeps there."""
    if not metadata:
        return EMPTY
    return {name: value for name, value in metadata.items() if name not in ("tags", "part")} or EMPTY

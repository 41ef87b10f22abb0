"""From candidates to the memories that a write would add: importance, names and keys filled in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from hindsight.domain.episode import EMPTY, Episode, Metadata, origin_of
from hindsight.domain.memory import Kind, Layer, Memory, Source, Statement
from hindsight.language.fold import fold
from hindsight.language.statement.claim import Claim, Reading
from hindsight.language.statement.claims import read
from hindsight.write.extract import Candidate, Extraction, as_told, word_for_word
from hindsight.write.extract.rules import is_remark
from hindsight.write.importance import Importance, weigh
from hindsight.write.keys import experience_key, plain, statement_key, turn_key
from hindsight.write.link import alias_topics, entities, subject_named
from hindsight.write.prepare import Told
from hindsight.write.reconcile import Added, Decision, Proposal
from hindsight.write.topics import MAX_READ, reading_of, speaker_of, topics_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_STOP = re.compile(r"[。！？!?;；\n]|\.(?=\s|$)")


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
        if counts[one.episode_id] == 1 and one.experience is None and _says_all(one, content[one.episode_id])
    }


def _says_all(candidate: Candidate, text: str) -> bool:
    """Whether a candidate has all the words of its episode; what is kept word for word does, and need not be folded."""
    whole, span = text.strip(), text[candidate.start : candidate.end]
    if whole in (candidate.content.strip(), span.strip()):
        return True
    return plain(text) in (plain(candidate.content), plain(span))


def proposals(
    episodes: Mapping[str, Episode],
    told: Mapping[str, Told],
    candidates: Sequence[Candidate],
    vectors: Mapping[str, NDArray[np.float32]],
    *,
    at: datetime,
    new_id: Callable[[], str],
) -> list[Proposal]:
    """What each candidate would add, in order. Where no time was given, it counts as said when it is written."""
    made = memories(episodes, told, candidates, at=at, new_id=new_id)
    counts = Counter(candidate.episode_id for candidate in candidates)
    return [
        Proposal(
            memory,
            vectors.get(memory.content),
            candidate.explicit,
            reading=_reading(memory, candidate, episode, alone=counts[episode.id] == 1),
            said_at=at if episode.occurred_at == episode.recorded_at else episode.occurred_at,
        )
        for memory, candidate in zip(made, candidates, strict=True)
        for episode in (episodes[candidate.episode_id],)
    ]


def _reading(memory: Memory, candidate: Candidate, episode: Episode, *, alone: bool) -> Reading | None:
    """What a memory says, with the turn that the words around it give it («更正一下», "not Michael")."""
    reading = reading_of(memory)
    around = _around(episode.content, candidate.start, candidate.end)
    if reading is None or len(around) > MAX_READ or plain(around) == plain(memory.content):
        return reading
    whole = read(around, speaker_of(memory.speaker, memory.origin))
    if alone:
        return whole
    turned = tuple(_turned(claim, whole) for claim in reading.claims)
    return replace(reading, claims=turned, corrects=reading.corrects or whole.corrects)


def _turned(claim: Claim, whole: Reading) -> Claim:
    """A claim with the turn that the same claim has in the whole sentence."""
    for other in whole.claims:
        if other.slot == claim.slot and set(claim.value) <= set(other.value) and claim.turn is None:
            return replace(claim, turn=other.turn, dropped=other.dropped, now=claim.now or other.now)
    return claim


def _around(text: str, start: int, end: int) -> str:
    """The sentences that a span lies in."""
    begin = max((match.end() for match in _STOP.finditer(text, 0, start)), default=0)
    stop = _STOP.search(text, max(start, end - 1))
    return text[begin : stop.end() if stop is not None else len(text)].strip()


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


def weighed(candidate: Candidate, told: Told, *, at: datetime) -> Importance:
    """How much a candidate matters, and why."""
    remark = candidate.verbatim and candidate.kind is Kind.EVENT and is_remark(candidate.content)
    return weigh(candidate, given=told.importance, remark=remark, at=at)


def explained(decision: Decision, candidate: Candidate, told: Told, *, at: datetime) -> Decision:
    """The decision with a reason: what is simply new says why it matters as much as it does."""
    if isinstance(decision, Added) and not decision.reason:
        return replace(decision, reason=weighed(candidate, told, at=at).reason)
    return decision


def _memory(
    candidate: Candidate,
    episode: Episode,
    told: Told,
    speakers: set[str],
    *,
    at: datetime,
    new_id: Callable[[], str],
) -> Memory:
    memory = Memory(
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
        body=candidate.experience or candidate.body,
        importance=weighed(candidate, told, at=at).value,
        verbatim=candidate.verbatim,
        origin=origin_of(episode.role),
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        session_id=episode.session_id,
        speaker=episode.speaker,
        agent=episode.agent,
        tags=tuple(dict.fromkeys((*told.tags, *candidate.tags))),
        entities=candidate.entities
        or (*entities(candidate.content, speakers), *subject_named(candidate.body, candidate.content)),
        sources=(Source(episode.id, candidate.start, candidate.end),),
        metadata={**_own(episode.metadata), **candidate.metadata} or EMPTY,
    )
    if candidate.experience is not None:
        return memory
    topics = (*topics_of(reading_of(memory)), *alias_topics(memory.content))
    return replace(memory, body=replace(candidate.body, topics=topics)) if topics else memory


def content_key(candidate: Candidate, episode: Episode) -> str:
    """Semantic statements are the same wherever they were said; turns only within their session and speaker."""
    if candidate.experience is not None:
        return experience_key(candidate.experience)
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

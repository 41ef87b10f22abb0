"""From what a caller hands in to episodes that may be kept: checked, without secrets and own output, cut to size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from hindsight.domain.change import OutcomeAction, WriteOutcome
from hindsight.domain.episode import EMPTY, Episode, JsonValue, Message, Metadata
from hindsight.domain.memory import Kind
from hindsight.language.markers import without_own_output
from hindsight.ports import Ids
from hindsight.write.keys import digest, episode_key
from hindsight.write.redact import redact, redact_object
from hindsight.write.request import WriteRequest, check, check_text, moment_of
from hindsight.write.split import pieces

OWN_OUTPUT = "hindsight's own output, which is not remembered again"


@dataclass(frozen=True, slots=True)
class Told:
    """What the caller said about an episode's statements, and which request of the call it came with."""

    request: int = 0
    kind: Kind | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intake:
    """Episodes ready to be kept, what was told about each (by id), and what was left out."""

    namespace: str
    key: str
    at: datetime
    episodes: tuple[Episode, ...]
    told: dict[str, Told]
    requests: int = 1
    ignored: tuple[tuple[int, WriteOutcome], ...] = ()  # with the number of the request
    repeatable: bool = False  # the caller named the key
    dated: bool = False  # the caller gave times, so that an episode may be known already
    actor: str = ""

    @property
    def characters(self) -> int:
        """Size of all episodes together."""
        return sum(len(episode.content) for episode in self.episodes)

    def without(self, ids: Collection[str], ignored: Sequence[tuple[int, WriteOutcome]]) -> Intake:
        """The same without these episodes."""
        kept = tuple(episode for episode in self.episodes if episode.id not in ids)
        return replace(self, episodes=kept, ignored=(*self.ignored, *ignored))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a piece stands in a longer text: «2/5», and the headings above it, outermost first."""

    part: str
    headings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Taking:
    """One pass over the requests of a call."""

    namespace: str
    at: datetime
    ids: Ids
    redacting: bool
    key: str
    episodes: list[Episode] = field(default_factory=list)
    told: dict[str, Told] = field(default_factory=dict)
    ignored: list[tuple[int, WriteOutcome]] = field(default_factory=list)
    occurrences: Counter[str] = field(default_factory=Counter)

    def take(self, number: int, request: WriteRequest, message: Message) -> None:
        text = clean(message.content, redacting=self.redacting)
        if not text.strip():
            kind = request.kind or Kind.EVENT
            outcome = WriteOutcome(OutcomeAction.IGNORED, None, message.content[:200], kind, 0.0, reason=OWN_OUTPUT)
            self.ignored.append((number, outcome))
            return
        moment, zone = moment_of(message, request.timezone, self.at)
        metadata = redact_object(message.metadata) if self.redacting and message.metadata else message.metadata
        said = _tags(metadata)
        tags = tuple(dict.fromkeys((*request.tags, *said)))
        parts = pieces(text)
        for count, piece in enumerate(parts, start=1):
            place = _Place(f"{count}/{len(parts)}", piece.path) if len(parts) > 1 else None
            episode = Episode(
                id=self.ids.new(),
                namespace=self.namespace,
                content=piece.text,
                occurred_at=moment,
                recorded_at=self.at,
                timezone=zone,
                key="",
                session_id=request.session_id,
                role=message.role,
                speaker=message.speaker,
                agent=message.agent,
                tool=message.tool,
                metadata=_metadata(metadata, tags, place),
            )
            self._keep(episode, message, Told(number, request.kind, request.importance, tags))

    def _keep(self, episode: Episode, message: Message, told: Told) -> None:
        # A time that the caller gave makes the episode known on a second import; our own never comes again.
        moment = episode.occurred_at.isoformat() if message.occurred_at is not None else self.key
        identity = episode_key(episode, moment=moment, occurrence=0)
        occurrence = self.occurrences[identity]
        self.occurrences[identity] += 1
        key = identity if occurrence == 0 else episode_key(episode, moment=moment, occurrence=occurrence)
        self.episodes.append(replace(episode, key=key))
        self.told[episode.id] = told


def prepare(
    namespace: str, requests: Sequence[WriteRequest], *, at: datetime, ids: Ids, redacting: bool = True
) -> Intake:
    """Episodes of these requests, in order. The first request's idempotency key counts for all. `InvalidInput`."""
    check(requests)
    named = next((request.idempotency_key for request in requests if request.idempotency_key is not None), None)
    key = f"write:{digest(named)}" if named is not None else f"write:{ids.new()}"
    taking = _Taking(namespace, at, ids, redacting, key)
    for number, request in enumerate(requests):
        for message in request.messages:
            taking.take(number, request, message)
    return Intake(
        namespace=namespace,
        key=key,
        at=at,
        episodes=tuple(taking.episodes),
        told=taking.told,
        requests=len(requests),
        ignored=tuple(taking.ignored),
        repeatable=named is not None,
        dated=any(message.occurred_at is not None for request in requests for message in request.messages),
        actor=requests[0].actor,
    )


def clean(text: str, *, redacting: bool = True) -> str:
    """A checked text as it may be kept: verbatim but for line ends, own output and secrets."""
    check_text("content", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = without_own_output(text)
    return redact(text) if redacting else text


def _tags(metadata: Metadata) -> tuple[str, ...]:
    given = metadata.get("tags")
    return tuple(tag for tag in given if isinstance(tag, str) and tag.strip()) if isinstance(given, list) else ()


def _metadata(metadata: Metadata, tags: tuple[str, ...], place: _Place | None) -> Metadata:
    """What stays with the episode: the caller's own, the tags it is filtered by, and its place in a longer text."""
    if not metadata and not tags and place is None:
        return EMPTY
    kept: dict[str, JsonValue] = dict(metadata)
    if tags:
        kept["tags"] = list(tags)
    if place is not None:
        kept["part"] = place.part
        if place.headings:
            kept["headings"] = list(place.headings)
    return kept

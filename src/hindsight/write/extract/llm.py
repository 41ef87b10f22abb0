"""Extraction by a language model, beside the rules and checked against the words that were said.

The rules read first; the model adds what they did not understand. Turns go out in pieces, type by type or joined in one
call. Each item must rest on a span of its turn (`said`); an answer that was cut off keeps its whole items, and the rest
is asked for in smaller pieces; what could not be read at all is named, so that a job reads it again.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

from hindsight.domain.episode import Episode, Role
from hindsight.domain.memory import Kind, Layer, Statement
from hindsight.errors import Unavailable
from hindsight.language.fold import fold
from hindsight.language.polarity import negated
from hindsight.language.tokens import estimate_tokens
from hindsight.ports import LanguageModel
from hindsight.write.extract import USER, Candidate, Extraction, Slot, Unread
from hindsight.write.extract.clause import Understood
from hindsight.write.extract.items import Item, UnreadableAnswer, read_answer
from hindsight.write.extract.prompting import JOINED, STEPWISE, Step, language_of, slot_holds
from hindsight.write.extract.rules import candidates as by_rule
from hindsight.write.extract.rules import is_remark
from hindsight.write.extract.said import Span, Wording, is_speaker, locate, occurs, worded
from hindsight.write.extract.when import NOTHING_SAID, Moment, moment
from hindsight.write.split import split

log = logging.getLogger(__name__)

DEGRADED = "llm"  # the name under which a receipt says that the model did not do its part
_READ_ROLES = frozenset({Role.USER, Role.TOOL, Role.DOCUMENT})  # what an assistant says of itself is not the user's
_LETTER = re.compile(r"[^\W\d_]")
_CONSTRAINS = re.compile(
    r"\b(?:allerg\w*|intoleran\w*|diabet\w*|asthma\w*|pregnan\w*|vegan|vegetarian|medication|must|never|always|cannot|"
    r"can['’]?t|can not|don['’]?t eat|avoid\w*|forbid\w*|not allowed|only)\b|"
    "过敏|不能|不可|不要|禁|忌|必须|一定要|务必|千万|糖尿病|高血压|哮喘|怀孕|素食|吃素|清真|只能",
    re.IGNORECASE,
)
# Words of what is still to come: its time is looked for ahead of the moment of speaking first.
_PLANNED = re.compile(
    r"\b(?:will|shall|going to|plans?|planning|about to|due|booked|scheduled)\b|['’]ll\b|"
    "打算|计划|准备|将|要|会|预约|预订|约了",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """`piece`: characters of turns in one request, and `turns` at most. `sentence`: longest that is kept as it stands.

    `least`: a piece shorter than this is not cut further when its answer does not fit.
    """

    piece: int = 2_400
    turns: int = 20
    least: int = 60
    sentence: int = 300
    answer_tokens: tuple[int, int] = (512, 4_096)


@dataclass(frozen=True, slots=True)
class Turn:
    """Characters `[start, end)` of an episode, as they are shown to the model."""

    episode: Episode
    start: int
    end: int

    @property
    def text(self) -> str:
        """The words."""
        return self.episode.content[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Claim:
    """An item that holds: the episode it rests on, and the words to keep."""

    episode: Episode
    item: Item
    wording: Wording
    quoted: Span


@dataclass(slots=True)
class _Reading:
    """What came of the requests of one extraction."""

    claims: list[Claim] = field(default_factory=list)
    unread: dict[str, Unread] = field(default_factory=dict)
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def give_up(self, piece: Sequence[Turn], reason: str, *, passing: bool) -> None:
        for turn in piece:
            before = self.unread.get(turn.episode.id)
            passing = passing or (before is not None and before.passing)
            self.unread[turn.episode.id] = Unread(turn.episode.id, reason, passing)


class LlmExtractor:
    """Reads statements with a language model; the rules do the work where it can't."""

    quick = False

    def __init__(self, model: LanguageModel, *, joined: bool = False, policy: ReadPolicy | None = None) -> None:
        """`joined`: all types in one call instead of one call for each: cheaper, and a little less is found."""
        self._model = model
        self._steps = JOINED if joined else STEPWISE
        self._policy = policy or ReadPolicy()

    async def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """The statements of these episodes, in order. Never fails for the model's sake: `degraded` says so."""
        reading = _Reading()
        async with asyncio.TaskGroup() as group:
            for piece in pieces(episodes, self._policy):
                group.create_task(self._read(piece, reading))
        claims: dict[str, list[Claim]] = {}
        for claim in reading.claims:
            claims.setdefault(claim.episode.id, []).append(claim)
        found = [
            one
            for episode in episodes
            for one in settled(by_rule(episode), claims.get(episode.id, ()), self._model.model)
        ]
        for one in reading.unread.values():
            log.warning("episode %s was read by rule alone: %s", one.episode_id, one.reason)
        return Extraction(
            tuple(found),
            degraded=(DEGRADED,) if reading.unread else (),
            unread=tuple(reading.unread.values()),
            reader=f"{self._model.model}, prompts {', '.join(step.label for step in self._steps)}",
            counts={
                "llm_calls": reading.calls,
                "llm_tokens_in": reading.tokens_in,
                "llm_tokens_out": reading.tokens_out,
            },
        )

    async def _read(self, piece: Sequence[Turn], reading: _Reading) -> None:
        for step in self._steps:
            try:
                await self._ask(step, piece, reading)
            except Unavailable as error:
                # The other steps would fare no better, and each try costs the caller its time.
                reading.give_up(piece, str(error), passing=True)
                return

    async def _ask(self, step: Step, piece: Sequence[Turn], reading: _Reading) -> None:
        """One request, and smaller ones for what its answer had no room for."""
        shown = shown_as(piece)
        low, high = self._policy.answer_tokens
        completion = await self._model.complete(
            step.prompt(language_of(shown)),
            shown,
            schema=step.schema,
            max_tokens=max(low, min(high, low + 5 * estimate_tokens(shown))),
        )
        reading.calls += 1
        reading.tokens_in += completion.tokens_in
        reading.tokens_out += completion.tokens_out
        try:
            answer = read_answer(completion)
        except UnreadableAnswer as error:
            if completion.truncated:
                await self._ask_less(step, piece, (), reading)
            else:
                reading.give_up(piece, f"{step.name}: {error}", passing=False)
            return
        for reason in answer.dropped:
            log.info("%s: an item was dropped: %s", step.name, reason)
        claims = list(self._holding(step, piece, answer.items))
        reading.claims += claims
        if answer.truncated:
            log.info("%s: the answer was cut off after %d whole items", step.name, len(answer.items))
            await self._ask_less(step, piece, answer.items, reading)
        elif answer.items and not claims:
            reading.give_up(piece, f"{step.name}: nothing of the answer was said", passing=False)

    async def _ask_less(self, step: Step, piece: Sequence[Turn], items: Sequence[Item], reading: _Reading) -> None:
        parts = smaller(piece, items, self._policy.least)
        if not parts:
            reading.give_up(
                piece, f"{step.name}: the answer is cut off, and the text is too short to cut", passing=False
            )
        for part in parts:
            await self._ask(step, part, reading)

    def _holding(self, step: Step, piece: Sequence[Turn], items: Sequence[Item]) -> Iterator[Claim]:
        for item in items:
            claim = claimed(item if step.kind is None else item.model_copy(update={"kind": step.kind}), piece)
            if isinstance(claim, str):
                log.info("%s: an item was dropped: %s", step.name, claim)
            elif claim.wording.own or len(claim.wording.content) <= self._policy.sentence:
                yield claim
            else:
                log.info("%s: an item was dropped: its words were changed", step.name)


def pieces(episodes: Sequence[Episode], policy: ReadPolicy) -> Iterator[tuple[Turn, ...]]:
    """Turns that are worth reading, gathered into requests; those of two sessions never share one."""
    piece: list[Turn] = []
    size = 0
    for episode in episodes:
        if episode.role not in _READ_ROLES or not _LETTER.search(episode.content) or is_remark(episode.content):
            continue
        for turn in _turns(episode, policy.piece):
            full = size + turn.end - turn.start > policy.piece or len(piece) >= policy.turns
            if piece and (full or piece[-1].episode.session_id != episode.session_id):
                yield tuple(piece)
                piece, size = [], 0
            piece.append(turn)
            size += turn.end - turn.start
    if piece:
        yield tuple(piece)


def _turns(episode: Episode, limit: int, start: int = 0, end: int | None = None) -> list[Turn]:
    """An episode, or a part of it, in turns of at most `limit` characters."""
    turns = []
    for part in split(episode.content[start:end], limit):
        turns.append(Turn(episode, start, start + len(part)))
        start += len(part)
    return turns


def shown_as(piece: Sequence[Turn]) -> str:
    """The turns as the model sees them, numbered from 1."""
    lines = [f"[{number}] {_who(turn.episode)}: {turn.text.strip()}" for number, turn in enumerate(piece, start=1)]
    return "\n".join(lines)


def _who(episode: Episode) -> str:
    return " ".join(filter(None, (episode.role.value, episode.speaker or episode.tool)))


def smaller(piece: Sequence[Turn], items: Sequence[Item], least: int) -> list[Sequence[Turn]]:
    """What a cut-off answer did not reach, in smaller pieces than before; nothing if it can't be cut further."""
    numbers = [item.turn for item in items]
    if numbers and numbers == sorted(numbers) and 1 < numbers[-1] <= len(piece):
        return [piece[numbers[-1] - 1 :]]  # the last turn may have more to it than was told
    if len(piece) > 1:
        return [piece[: len(piece) // 2], piece[len(piece) // 2 :]]
    (turn,) = piece
    length = turn.end - turn.start
    if length < 2 * least:
        return []
    parts = _turns(turn.episode, length // 2 + 1, turn.start, turn.end)
    return [[part] for part in parts] if len(parts) > 1 else []


def claimed(item: Item, piece: Sequence[Turn]) -> Claim | str:
    """What holds of an item; or why nothing does."""
    named = [piece[item.turn - 1]] if 0 < item.turn <= len(piece) else []
    for turn in (*named, *(one for one in piece if one not in named)):
        found = locate(item.quote, turn.text)
        if found is not None:
            break
    else:
        return "its quote was not said"
    episode = turn.episode
    span = Span(found.start + turn.start, found.end + turn.start)
    wording = worded(
        item.statement or item.quote, span, episode.content, speaker=episode.speaker, subject=item.subject or None
    )
    return wording if isinstance(wording, str) else Claim(episode, item, wording, span)


def settled(rules: Sequence[Candidate], claims: Sequence[Claim], model: str = "") -> list[Candidate]:
    """The statements of one episode: those of the rules, and those of the model that rest on other words.

    A sentence kept in place of the model's wording counts only where nothing else was read out of it. Where both read
    the same words, the model still says how much it matters.
    """
    kept = [_swung(one, claims, model) for one in rules]
    spans = [Span(one.start, one.end) for one in rules]
    for claim in sorted(claims, key=lambda one: not one.wording.own):
        most = 0.5 if claim.wording.own else 0.0
        if all(claim.wording.span.shared(span) <= most for span in spans):
            kept.append(candidate_of(claim, model))
            spans.append(claim.wording.span)
    return sorted(kept, key=lambda one: one.start)


def _swung(one: Candidate, claims: Sequence[Claim], model: str) -> Candidate:
    """A statement of the rules with what the model, which read the same words, says of its importance."""
    span = Span(one.start, one.end)
    claim = next((claim for claim in claims if claim.item.matters and claim.quoted.shared(span) > 0.5), None)
    return one if claim is None else replace(one, **_weight(claim.item, model))


class _Weight(TypedDict, total=False):
    swing: int
    reasons: tuple[str, ...]


def _weight(item: Item, model: str) -> _Weight:
    """How much a model says that it matters; only with its reason."""
    return {"swing": item.matters, "reasons": (f"judged by {model}: {item.why}",)} if item.matters and item.why else {}


def candidate_of(claim: Claim, model: str = "") -> Candidate:
    """A claim as a candidate. Slot and value count only where the words bear them out: they can end other memories."""
    item, wording, episode = claim.item, claim.wording, claim.episode
    said = episode.content[wording.span.start : wording.span.end]
    kind = item.kind
    if kind is Kind.CONSTRAINT and not _CONSTRAINS.search(said):
        kind = Kind.FACT  # constraints stand in every context block: a word of the text must bear it out
    when = _when(claim, kind)
    return Candidate(
        episode_id=episode.id,
        start=wording.span.start,
        end=wording.span.end,
        content=wording.content,
        kind=kind,
        layer=Layer.EPISODIC if kind is Kind.EVENT else Layer.SEMANTIC,
        body=_body(item, wording, said, episode.speaker),
        entities=tuple(name for name in dict.fromkeys(item.entities) if name.strip() and occurs(name, said))[:20],
        occurred_at=when.occurred_at,
        valid_from=when.valid_from,
        valid_to=when.valid_to,
        metadata=when.metadata,
        **_weight(item, model),
    )


def _when(claim: Claim, kind: Kind) -> Moment:
    """The times of a claim's words, read as those of the rules are; the model is not asked for dates."""
    quoted, worded = claim.quoted, claim.wording.span
    start, end = min(quoted.start, worded.start), max(quoted.end, worded.end)
    planned = _PLANNED.search(claim.episode.content[start:end]) is not None
    slots = ((Slot.PLAN, Slot.EVENT) if planned else (Slot.EVENT, Slot.PLAN)) if kind is Kind.EVENT else (Slot.RULE,)
    for slot in slots:
        found = moment(Understood(claim.wording.content, start, end, kind, slot, claim.item.subject, ""), claim.episode)
        if found != NOTHING_SAID:
            return found
    return NOTHING_SAID


def _body(item: Item, wording: Wording, said: str, speaker: str | None) -> Statement:
    if not wording.own or not item.subject or not item.value or not occurs(item.value, said):
        return Statement()
    own = is_speaker(item.subject, speaker)
    if not own and not occurs(item.subject, wording.content):
        return Statement()
    subject = (fold(speaker) if speaker else USER) if own else fold(item.subject)
    slot = item.slot if item.slot is not None and slot_holds(item.slot, said) else None
    return Statement(subject, slot.value if slot else None, item.value, negated(wording.content))

"""Many old memories of what happened become one that tells them; the originals are archived and can be had back.

A group is what happened in one session, or in one month where sessions are short. Without a language model the summary
is made of sentences of the originals; with one it is written, and each sentence has to cite them. A model that gives
nothing usable changes nothing: the job fails and is tried again (CASES W6).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from hindsight.domain.change import Act, Batch, Embedding, OutcomeAction, Put, Receipt, WriteOutcome
from hindsight.domain.cleaning import CleanRules, is_old_episode
from hindsight.domain.digest import Passage, Sentence
from hindsight.domain.entry import searchable_text
from hindsight.domain.episode import EpisodeState, Origin
from hindsight.domain.forgetting import strength
from hindsight.domain.memory import Kind, Layer, Memory, Source, Status
from hindsight.domain.page import Order, Use
from hindsight.domain.query import Filters
from hindsight.domain.summary import Told, content_of, metadata_of
from hindsight.errors import ModelUnavailable
from hindsight.language.tokens import ESTIMATE, Ruler
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.upkeep.cite import layout_for, zone
from hindsight.upkeep.passages import of_memory, safe
from hindsight.upkeep.resting import left_open
from hindsight.upkeep.summarize import chosen
from hindsight.upkeep.telling import CONSOLIDATION, Teller
from hindsight.write.embed import embed_later, vectors_in_time
from hindsight.write.extract.items import UnreadableAnswer
from hindsight.write.keys import digest

log = logging.getLogger(__name__)

PAGE = 500
FEWEST = 2  # memories that are worth a summary: one alone stays as it is
LARGEST = 48  # memories told in one summary
SHARE = 4  # one sentence for so many memories, and two at least
TOKENS = 400  # of a summary
MOST_MARKS = 20  # tags, and entities, that a summary takes over
EMBED_SECONDS = 20.0
REASON = "told in a summary"


@dataclass(frozen=True, slots=True)
class Group:
    """Ids of memories that become one summary, oldest first, and what holds them together."""

    key: str
    ids: tuple[str, ...]

    @property
    def label(self) -> str:
        """The group in words, for reports and the history."""
        kind, _, name = self.key.partition(":")
        return f"session {name}" if kind == "session" else name


@dataclass(frozen=True, slots=True)
class Consolidator:
    """What making summaries needs. Without a `teller` sentences of the originals are chosen."""

    store: Store
    embedder: Embedder | None
    clock: Clock
    ids: Ids
    teller: Teller | None = None
    ruler: Ruler = ESTIMATE

    async def groups(self, namespace: str, rules: CleanRules, *, without: frozenset[str] = frozenset()) -> list[Group]:
        """What there is to summarise, oldest first; `without` these memories."""
        at = self.clock.now()
        found: dict[str, list[str]] = {}
        months: dict[str, str] = {}
        after: str | None = None
        wanted = Filters(layers=(Layer.EPISODIC,), kinds=(Kind.EVENT,), episodes=False)
        while True:
            page = await self.store.find(namespace, wanted, order=Order.OLDEST, limit=PAGE, after=after)
            old = [one for one in page.items if is_old_episode(one, rules, at) and one.id not in without]
            for memory in old:
                months[memory.id] = f"month:{memory.occurred_at.astimezone(zone(memory.timezone)):%Y-%m}"
                key = f"session:{memory.session_id}" if memory.session_id is not None else months[memory.id]
                found.setdefault(key, []).append(memory.id)
            after = page.next
            if after is None or at - page.items[-1].created_at <= timedelta(days=rules.episode_days):
                break  # the oldest come first
        return _sized(found, months)

    async def plan(
        self, namespace: str, group: Group, rules: CleanRules, key: str, *, actor: str = "", extractive: bool = False
    ) -> tuple[Batch, Memory] | None:
        """The batch that puts a summary in place of a group, as it is now; `None` if too little is left of it.

        `ModelUnavailable` where a model is set and gives nothing usable; nothing is changed then. `extractive` does
        without it.
        """
        at = self.clock.now()
        held = await self.store.memories(namespace, list(group.ids))
        old = [held[one] for one in group.ids if one in held and is_old_episode(held[one], rules, at)]
        if len(old) < FEWEST:
            return None
        told = await self._told(namespace, old, rules, at, extractive=extractive)
        if not told:
            return None
        summary = _summary(self.ids.new(), namespace, group, old, told, at)
        vectors, missing = await vectors_in_time(self.embedder, [searchable_text(summary)], seconds=EMBED_SECONDS)
        model = self.embedder.model if self.embedder is not None else ""
        reason = f"{REASON}, with {len(old) - 1} others of {group.label}"
        puts = (
            Put(summary, None, Act.ADDED, f"tells {len(old)} memories of {group.label}", (), actor),
            *(
                Put(
                    replace(one, status=Status.ARCHIVED, updated_at=at, version=one.version + 1),
                    one.version,
                    Act.ARCHIVED,
                    reason,
                    (summary.id,),
                    actor,
                )
                for one in old
            ),
        )
        closed = await left_open(self.store, namespace, old)
        outcomes = tuple(
            WriteOutcome(
                OutcomeAction.ADDED if put.act is Act.ADDED else OutcomeAction.ARCHIVED,
                put.memory.id,
                put.memory.content,
                put.memory.kind,
                put.memory.importance,
                put.other_ids,
                put.reason,
            )
            for put in puts
        )
        batch = Batch(
            namespace,
            key,
            at,
            puts=puts,
            embeddings=tuple(Embedding(summary.id, model, vector) for vector in vectors.values()),
            jobs=(embed_later(self.ids, self.clock),) if missing else (),
            receipt=Receipt(outcomes, undo=key, degraded=missing),
            episode_states=tuple((one, EpisodeState.CLOSED) for one in closed),
        )
        return batch, summary

    async def _told(
        self, namespace: str, old: Sequence[Memory], rules: CleanRules, at: datetime, *, extractive: bool
    ) -> tuple[Told, ...]:
        uses = await self.store.uses(namespace, [one.id for one in old])
        passages = safe(_passage(one, uses.get(one.id), rules, at) for one in old)
        if not passages:
            return ()
        most = max(2, (len(old) + SHARE - 1) // SHARE)
        if self.teller is None or extractive:
            layout = layout_for([one.text for one in passages], self.ruler)
            sentences: Sequence[Sentence] = await chosen(passages, layout, TOKENS, most=most)
        else:
            try:
                sentences = (await self.teller.tell(CONSOLIDATION, passages)).sentences[:most]
            except UnreadableAnswer as error:
                raise ModelUnavailable(f"{self.teller.model} gave no usable summary: {error}") from error
            if not sentences:
                raise ModelUnavailable(f"{self.teller.model} gave no usable summary: it has no sentence")
        return tuple(Told(one.text, one.ids, one.at.astimezone(zone(one.timezone)).date()) for one in sentences)


def _passage(memory: Memory, use: Use | None, rules: CleanRules, at: datetime) -> Passage:
    """A memory as a passage that weighs as much as is left of its strength, and of its importance."""
    left = strength(memory, at, use, rules.half_lives)
    return replace(of_memory(memory), importance=(memory.importance + left) / 2)


def _sized(found: Mapping[str, Sequence[str]], months: Mapping[str, str]) -> list[Group]:
    """Groups of a size to be told: single memories of a session join those of their month; large ones are cut."""
    groups: dict[str, list[str]] = {}
    for key, ids in found.items():
        for one in ids:
            groups.setdefault(key if len(ids) >= FEWEST else months[one], []).append(one)
    return [
        Group(key, part)
        for key, ids in groups.items()
        for part in _parts(ids)
        if len(part) >= FEWEST
    ]  # fmt: skip


def _parts(ids: Sequence[str]) -> list[tuple[str, ...]]:
    """Even parts, so that no last one is too small."""
    count = -(-len(ids) // LARGEST)
    size, rest = divmod(len(ids), count)
    parts, start = [], 0
    for number in range(count):
        end = start + size + (number < rest)
        parts.append(tuple(ids[start:end]))
        start = end
    return parts


def _summary(
    identifier: str, namespace: str, group: Group, old: Sequence[Memory], told: Sequence[Told], at: datetime
) -> Memory:
    by_id = {one.id: one for one in old}
    resting = [by_id[one] for sentence in told for one in sentence.ids]
    first = min(old, key=lambda one: one.occurred_at)
    sessions = {one.session_id for one in old}
    speakers = {one.speaker for one in old}
    sources: dict[Source, None] = dict.fromkeys(source for one in resting for source in one.sources)
    originals = [one.id for one in old]
    return Memory(
        id=identifier,
        namespace=namespace,
        content=content_of(told),
        layer=Layer.EPISODIC,
        kind=Kind.SUMMARY,
        occurred_at=first.occurred_at,
        timezone=first.timezone,
        created_at=at,
        updated_at=at,
        content_key=digest("summary", group.key, *originals),
        importance=max(one.importance for one in resting),
        confidence=round(sum(one.confidence for one in resting) / len(resting), 4),
        origin=max((one.origin for one in old), key=tuple(Origin).index),  # trusted as the least of them is
        session_id=next(iter(sessions)) if len(sessions) == 1 else None,
        speaker=next(iter(speakers)) if len(speakers) == 1 else None,
        tags=tuple(dict.fromkeys(tag for one in old for tag in one.tags))[:MOST_MARKS],
        entities=tuple(dict.fromkeys(name for one in resting for name in one.entities))[:MOST_MARKS],
        sources=tuple(sources),
        metadata=metadata_of(told, originals),
    )

"""What a purge takes away, worked out the same for every store.

A memory goes with every state it ever had, and the spans of the turns it rests on are blanked; a turn whose words are
all gone is blanked whole. Summaries lose the sentences that tell of it, merged experiences its way.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from hindsight.domain.change import Act, Batch, Put, Receipt, WriteOutcome
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.experience import Experience, rendered
from hindsight.domain.memory import Kind, Memory
from hindsight.domain.purge import Purge
from hindsight.domain.summary import told_in, without
from hindsight.storage.snapshot import dumps

SECRET = "purge_secret"  # the setting that marks of purged keys are made with, so that no one can guess what they were
SCRUB_DUE = "scrub_due"  # the setting that says that free pages may still hold what was purged
MARKED = "purged:"
LEAST_NEEDLE, LONGEST_NEEDLE = 4, 60  # characters of a text that is looked for
REASON = "what it told of was purged"
PARTS = (
    "rows", "history", "vectors", "links", "spans", "turns", "summaries", "reviews", "uses", "receipts", "traces",
    "jobs", "variables",
)  # fmt: skip
"""What a purge counts, in the order of a report."""


class Held(Protocol):
    """What a store has to tell before anything is taken away."""

    def memories(self, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Memories by id."""
        ...

    def episodes(self, ids: Sequence[str]) -> Mapping[str, Episode]:
        """Episodes by id."""
        ...

    def resting(self, episode_ids: Sequence[str]) -> Sequence[Memory]:
        """Memories that rest on any of these turns."""
        ...

    def states(self, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Every state these memories ever had."""
        ...

    def telling(self, memory_ids: Sequence[str]) -> Sequence[Memory]:
        """Summaries and experiences that may name any of these."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What a purge does: `memories` go, `changed` take the place of what they were, episodes get `contents`.

    `states` are all states of what goes; `needles` what no text beside them may hold any more.
    """

    purge: Purge
    memories: frozenset[str]
    changed: Mapping[str, Memory]
    contents: Mapping[str, str]
    states: tuple[Memory, ...]
    needles: tuple[str, ...]
    before: Mapping[str, Memory] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        """What gets a tombstone: what was asked for, what went with it, and turns that are blank as a whole."""
        blank = [one for one, content in self.contents.items() if not content]
        return tuple(dict.fromkeys((*self.purge.ids, *sorted(self.memories), *blank)))

    @property
    def named(self) -> frozenset[str]:
        """Ids whose words may stand in receipts and traces."""
        return frozenset((*self.memories, *self.contents, *self.changed))

    @property
    def puts(self) -> tuple[Put, ...]:
        """The changed memories as a step of their history."""
        return tuple(
            Put(replace(new, version=self.before[one].version + 1), self.before[one].version, Act.UPDATED, REASON)
            for one, new in self.changed.items()
        )


def planned(held: Held, purge: Purge) -> Plan:
    """What a purge takes away, and how what stays is left."""
    gone = set(held.memories(purge.ids))
    whole = {one for one, episode in held.episodes(purge.ids).items() if episode.content}
    changed: dict[str, Memory] = {}
    before: dict[str, Memory] = {}
    told: list[str] = []
    size = -1
    while size < len(gone):
        size = len(gone)
        changed, before, told = {}, {}, []
        for memory in held.resting(sorted(whole)):
            left = tuple(source for source in memory.sources if source.episode_id not in whole)
            if not left:
                gone.add(memory.id)
            elif memory.id not in gone:
                before[memory.id] = memory
                changed[memory.id] = replace(memory, sources=left, updated_at=purge.at)
        for memory in held.telling(sorted(gone)):
            if memory.id in gone:
                continue
            shorter = _shorter(changed.get(memory.id, memory), gone, whole)
            if shorter is None:
                gone.add(memory.id)
            elif shorter != changed.get(memory.id, memory):
                before.setdefault(memory.id, memory)
                changed[memory.id] = replace(shorter, updated_at=purge.at)
                told += [one.text for one in told_in(memory) if set(one.ids) & gone]
    states = tuple(held.states(sorted(gone)))
    kept = {one: memory for one, memory in changed.items() if one not in gone}
    contents, spoken = _contents(held, states, whole)
    needles = _needles((*told, *spoken, *(text for state in states for text in _texts(state))))
    return Plan(purge, frozenset(gone), kept, contents, states, needles, before)


def _shorter(memory: Memory, gone: Collection[str], episode_ids: Collection[str]) -> Memory | None:
    """A summary or merged experience without what rests on these; as it is where nothing does; `None`: nothing left."""
    if memory.kind is Kind.SUMMARY and any(set(one.ids) & set(gone) for one in told_in(memory)):
        return without(memory, gone, episode_ids)
    body = memory.body
    if not isinstance(body, Experience) or not any(way.id in gone for way in body.ways):
        return memory
    ways = tuple(way for way in body.ways if way.id not in gone)
    if not ways:
        return None
    originals = tuple(one for one in body.originals if one not in gone)
    left = replace(body, action=ways[0].action, ways=ways if len(ways) > 1 else (), originals=originals)
    return replace(memory, body=left, content=rendered(left))


def shortened_state(state: Memory, plan: Plan) -> Memory | None:
    """A former state of a changed memory, without what has gone; `None` where nothing of it is left."""
    return _shorter(state, plan.memories, {one for one, content in plan.contents.items() if not content})


def _contents(held: Held, states: Iterable[Memory], whole: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """What each turn says afterwards, and what it said."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for state in states:
        # A summary is no evidence: the turns it was made of stay.
        for source in () if state.kind is Kind.SUMMARY else state.sources:
            if source.episode_id not in whole:
                spans.setdefault(source.episode_id, []).append((source.start, source.end))
    contents, spoken = {}, []
    for one, episode in held.episodes(sorted({*spans, *whole})).items():
        if not episode.content:
            continue
        if one in whole:
            contents[one] = ""
            spoken.append(episode.content)
            continue
        left = blanked(episode.content, spans[one])
        if left == episode.content:
            continue  # there is nothing at the span any more
        contents[one] = left if says_something(left) else ""
        spoken += [episode.content[start:end] for start, end in spans[one]]
    return contents, spoken


def blanked(content: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with spaces in place of these spans, so that others stay where they are."""
    letters = list(content)
    for start, end in spans:
        for place in range(max(0, start), min(end, len(letters))):
            letters[place] = " "
    return "".join(letters)


def says_something(text: str) -> bool:
    """Whether there is a letter or a figure left."""
    return any(letter.isalnum() for letter in text)


def _texts(state: Memory) -> Iterable[str]:
    yield state.content
    if isinstance(state.body, Experience):
        yield state.body.trigger.context
        for action in (state.body.action, *(way.action for way in state.body.ways)):
            yield from action.steps


def _needles(texts: Iterable[str]) -> tuple[str, ...]:
    found = dict.fromkeys(text.strip()[:LONGEST_NEEDLE].strip() for text in texts)
    return tuple(one for one in found if len(one) >= LEAST_NEEDLE)


def in_json(text: str) -> str:
    """A text as it stands inside a JSON string."""
    return dumps(text)[1:-1]


def blank_metadata(episode: Episode, plan: Plan) -> dict[str, object]:
    """What stays of a turn's metadata: nothing where it is blank as a whole, else what does not say it too."""
    if not plan.contents[episode.id]:
        return {}
    return {
        name: value
        for name, value in episode.metadata.items()
        if not any(in_json(one) in dumps({name: value}) for one in plan.needles)
    }


def mark(secret: str, key: str) -> str:
    """What stays of a key: it is known again by who holds the store, and tells nobody what it was made of."""
    if key.startswith(MARKED):
        return key
    return MARKED + hmac.new(bytes.fromhex(secret), key.encode(), hashlib.sha256).hexdigest()[:32]


def without_words(receipt: Receipt, plan: Plan) -> Receipt:
    """A receipt that tells what was done to what has gone, and not what it said."""
    named = plan.named
    return replace(receipt, outcomes=tuple(_wordless(one, plan, named) for one in receipt.outcomes))


def _wordless(outcome: WriteOutcome, plan: Plan, named: frozenset[str]) -> WriteOutcome:
    says = (outcome.content, outcome.reason)
    if (
        outcome.memory_id not in named
        and named.isdisjoint(outcome.other_ids)
        and not any(needle in text for needle in plan.needles for text in says)
    ):
        return outcome
    return replace(outcome, content="", reason="")


def tells(text: str, plan: Plan) -> bool:
    """Whether a JSON text names what has gone, or says what it said."""
    return any(one in text for one in plan.named) or says(text, plan)


def says(text: str, plan: Plan) -> bool:
    """Whether a JSON text says what has gone said."""
    return any(in_json(one) in text for one in plan.needles)


def batch_of(purge: Purge, plan: Plan) -> Batch:
    """The part of a purge that is an ordinary batch."""
    return Batch(
        purge.namespace,
        purge.key,
        purge.at,
        puts=plan.puts,
        jobs=purge.jobs,
        done=purge.done,
        episode_states=_blank_turns(plan),
    )


def _blank_turns(plan: Plan) -> tuple[tuple[str, EpisodeState], ...]:
    """Turns that are blank as a whole are seen no more."""
    return tuple((one, EpisodeState.FORGOTTEN) for one, content in plan.contents.items() if not content)


def archived_for(until: object, now: datetime) -> bool:
    """Whether the time that an archived memory may still be had back is over."""
    if not isinstance(until, str):
        return False
    try:
        moment = datetime.fromisoformat(until)
    except ValueError:
        return False
    return moment.tzinfo is not None and moment <= now


def counted(counts: Mapping[str, int]) -> dict[str, int]:
    """What went, in the order of a report, without what there was none of."""
    return {part: counts[part] for part in PARTS if counts.get(part)}

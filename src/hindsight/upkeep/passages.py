"""What there is to tell of a session or a time: memories that answer, and turns that none of these tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hindsight.domain.digest import Passage
from hindsight.domain.episode import Episode
from hindsight.domain.hit import Hit, MemoryHit
from hindsight.domain.memory import Memory, Status
from hindsight.domain.page import Order
from hindsight.domain.query import Filters, TimeRange
from hindsight.language.fold import fold
from hindsight.ports import Store
from hindsight.search.caution import reads_like_instruction

MOST = 2_000  # passages read for one digest, the oldest first
PAGE = 500


async def of_session(store: Store, namespace: str, session_id: str, within: TimeRange | None) -> list[Passage]:
    """What was said in a session, in the order it was said; what was forgotten or has ended is left out."""
    episodes = [one for one in await _session(store, namespace, session_id) if within is None or _inside(one, within)]
    ids = [one.id for one in episodes]
    rests = await store.memories_of(namespace, ids) if ids else {}
    memories = await store.memories(namespace, list({one for some in rests.values() for one in some}))
    shown = await store.entries(namespace, ids) if ids else {}
    told: dict[str, Passage] = {}
    for episode in episodes:
        active = [memories[one] for one in rests.get(episode.id, ()) if memories[one].status is Status.ACTIVE]
        for memory in active:
            told.setdefault(memory.id, of_memory(memory))
        if not active and episode.id in shown and shown[episode.id].status is Status.ACTIVE:
            told[episode.id] = of_episode(episode)
    return safe(told.values())[:MOST]


async def of_time(store: Store, namespace: str, within: TimeRange) -> list[Passage]:
    """What happened in a time, over all sessions, in the order it happened."""
    found: list[Memory] = []
    after: str | None = None
    wanted = Filters(time_range=within, episodes=False)
    while len(found) < MOST:
        page = await store.find(namespace, wanted, order=Order.OLDEST, limit=PAGE, after=after)
        found += page.items
        after = page.next
        if after is None:
            break
    return safe(map(of_memory, sorted(found, key=lambda one: (one.occurred_at, one.created_at, one.id))))[:MOST]


def of_hits(hits: Iterable[Hit]) -> list[Passage]:
    """What a search found, best first, each once."""
    found: dict[str, Passage] = {}
    for hit in hits:
        made = of_memory(hit.memory) if isinstance(hit, MemoryHit) else of_episode(hit.episode)
        found.setdefault(made.id, made)
    return safe(found.values())


def of_memory(memory: Memory) -> Passage:
    """A memory as a passage."""
    return Passage(
        memory.id, memory.content, memory.occurred_at, memory.timezone, memory.importance * memory.strength,
        _unnamed(memory.speaker, memory.content),
    )  # fmt: skip


def of_episode(episode: Episode) -> Passage:
    """A turn as a passage."""
    speaker = episode.speaker or episode.role.value
    return Passage(
        episode.id, episode.content, episode.occurred_at, episode.timezone,
        speaker=_unnamed(speaker, episode.content),
    )  # fmt: skip


def safe(passages: Iterable[Passage]) -> list[Passage]:
    """Without what addresses the model that reads it: retold, it would no longer be seen to be a quotation."""
    return [one for one in passages if not reads_like_instruction(one.text)]


def _unnamed(speaker: str | None, text: str) -> str | None:
    """Who said it, where the words do not name them."""
    return speaker if speaker and fold(speaker) not in fold(text) else None


async def _session(store: Store, namespace: str, session_id: str) -> Sequence[Episode]:
    found: list[Episode] = []
    while len(found) < MOST:
        page = await store.session(namespace, session_id, limit=PAGE, after=found[-1].position if found else -1)
        found += page
        if len(page) < PAGE:
            break
    return found


def _inside(episode: Episode, within: TimeRange) -> bool:
    return within.contains(episode.occurred_at)

"""Keeps the indexes level with the store's change log, so that what was written can be found at once.

An index is never written to by a request. Before each look-up the change log is read from the index's cursor on, and
the entries it names are taken in as they are now. Several processes on one store follow the same log, each at its pace.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hindsight.domain.change import Touched
from hindsight.domain.entry import Entry
from hindsight.domain.memory import Kind, Layer, Memory
from hindsight.domain.page import Order
from hindsight.domain.query import Filters, Scored
from hindsight.domain.surroundings import Surroundings
from hindsight.ports import Index, LexicalIndex, Store, VectorIndex

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LEXICAL, VECTOR = "lexical", "vector"  # names of the indexes in logs and in `lag`
STEP = 1000  # changes read from the log at once
SLICE = (
    2000  # entries taken in at once: bounds the memory that catching up takes, and how long a search waits behind it
)

# Bounds of the entries kept in memory: some 20 MB where texts are long, and the whole of most namespaces.
MOST_ENTRIES, MOST_CHARACTERS = 20_000, 8_000_000

log = logging.getLogger(__name__)


class Entries:
    """Entries as the store had them at a change or later, the latest used of all namespaces.

    A ranking looks at a hundred of them, and reading these took as long as all the rest of it. Every change passes here
    on its way into the keyword index, so that none is kept that has changed since.
    """

    __slots__ = ("_characters", "_held", "_reached", "_turns")

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], Entry] = {}
        self._characters = 0
        self._reached: dict[str, int] = {}  # change numbers by namespace
        self._turns: dict[str, int] = {}  # rises with everything that is taken in

    def turn(self, namespace: str) -> int:
        """To be told to `keep`."""
        return self._turns.get(namespace, 0)

    def get(self, namespace: str, ids: Sequence[str], head: int) -> dict[str, Entry]:
        """Those of the entries that are kept, if they are of this change or a later one."""
        if self._reached.setdefault(namespace, head) < head:
            return {}
        held, found = self._held, {}
        for entry_id in ids:
            entry = held.pop((namespace, entry_id), None)
            if entry is not None:
                found[entry_id] = held[namespace, entry_id] = entry  # the latest used is last
        return found

    def keep(self, namespace: str, entries: Mapping[str, Entry], head: int, turn: int) -> None:
        """Keep what was just read, unless something was taken in since `turn`."""
        if self.turn(namespace) == turn and self._reached.get(namespace, -1) >= head:
            self._put(namespace, entries)

    def take(self, namespace: str, ids: Sequence[str], entries: Mapping[str, Entry]) -> None:
        """Put these of a step of the log in place of what was kept of them."""
        self._turns[namespace] = self.turn(namespace) + 1
        for entry_id in ids:
            self._drop((namespace, entry_id))
        self._put(namespace, entries)

    def reach(self, namespace: str, before: int, change: int) -> None:
        """All that was touched between these changes has been taken in."""
        if self._reached.get(namespace, before) < before:
            self.clear(namespace)
        self._reached[namespace] = change

    def clear(self, namespace: str) -> None:
        """Keep nothing of a namespace: its log is another one now."""
        self._turns[namespace] = self.turn(namespace) + 1
        self._reached.pop(namespace, None)
        for key in [key for key in self._held if key[0] == namespace]:
            self._drop(key)

    def _put(self, namespace: str, entries: Mapping[str, Entry]) -> None:
        for entry_id, entry in entries.items():
            self._drop((namespace, entry_id))
            self._held[namespace, entry_id] = entry
            self._characters += len(entry.content)
        while len(self._held) > MOST_ENTRIES or self._characters > MOST_CHARACTERS:
            self._drop(next(iter(self._held)))

    def _drop(self, key: tuple[str, str]) -> None:
        entry = self._held.pop(key, None)
        if entry is not None:
            self._characters -= len(entry.content)


class Projection:
    """The two indexes of one store, kept level. Safe from several tasks: one at a time brings a namespace level.

    Catching up is a task of its own: a search that runs out of time leaves it running, and the next one gains from it.
    """

    def __init__(self, store: Store, lexical: LexicalIndex, vector: VectorIndex, *, model: str) -> None:
        self._store = store
        self._lexical = lexical
        self._vector = vector
        self._model = model
        self._entries = Entries()
        self._catching_up: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._proven: set[tuple[str, str]] = set()  # indexes that are known to have followed this store's log

    async def by_words(
        self, namespace: str, terms: Sequence[str], filters: Filters, *, limit: int, head: int | None = None
    ) -> tuple[Sequence[Scored], float]:
        """The best entries by BM25, and the sum of the terms' idf that puts their scores on an absolute scale.

        `head`: the change number to be level with, where the caller has just read it.
        """
        await self._level(namespace, LEXICAL, self._lexical, head)
        hits = await self._lexical.search(namespace, terms, filters, limit=limit)
        return hits, await self._lexical.ceiling(namespace, terms)

    async def around(self, namespace: str, terms: Sequence[str], filters: Filters, ids: Sequence[str]) -> Surroundings:
        """These entries and the rest of their sessions, as far as the keyword index has followed the store."""
        return await self._lexical.around(namespace, terms, filters, ids)

    async def nearest(
        self, namespace: str, vector: NDArray[np.float32], filters: Filters, *, limit: int, head: int | None = None
    ) -> Sequence[Scored]:
        """The closest entries by cosine. Only vectors of this process's model are in the index. `head`: as above."""
        await self._level(namespace, VECTOR, self._vector, head)
        return await self._vector.search(namespace, vector, filters, limit=limit)

    async def cosines(self, namespace: str, vector: NDArray[np.float32], ids: Sequence[str]) -> NDArray[np.float32]:
        """The cosine of each of these entries; NaN where the vector index has none yet."""
        return await self._vector.cosines(namespace, vector, ids)

    async def entries(self, namespace: str, ids: Sequence[str], *, head: int | None = None) -> Mapping[str, Entry]:
        """Entries by id, as the store has them now; as it had them at `head` or later where that is given."""
        if head is None:
            return await self._store.entries(namespace, ids)
        found = self._entries.get(namespace, ids, head)
        unread = [entry_id for entry_id in ids if entry_id not in found]
        if unread:
            turn = self._entries.turn(namespace)
            read = await self._store.entries(namespace, unread)
            self._entries.keep(namespace, read, head, turn)
            found |= read
        return found

    async def newest(self, namespace: str, filters: Filters, *, limit: int) -> Sequence[Memory]:
        """The memories that match, the latest first, straight from the store."""
        return (await self._store.find(namespace, filters, order=Order.NEWEST, limit=limit)).items

    async def about(self, namespace: str, topics: Sequence[str], *, limit: int) -> Sequence[str]:
        """Ids of active memories under these keys of what they are about, straight from the store: key by key, the
        latest first."""
        found = await self._store.about(namespace, topics, limit=limit)
        return list(dict.fromkeys(memory_id for topic in topics for memory_id in found.get(topic, ())))

    async def near_each(
        self, namespace: str, vectors: NDArray[np.float32], *, limit: int
    ) -> Sequence[Sequence[Scored]]:
        """For each row of `vectors`, the closest active semantic memories: what a new statement may repeat."""
        await self._level(namespace, VECTOR, self._vector)
        wanted = Filters(layers=(Layer.SEMANTIC,), episodes=False)
        found = []
        for vector in vectors:
            found.append(await self._vector.search(namespace, vector, wanted, limit=limit))
            await asyncio.sleep(0)  # a small index answers without giving others their turn
        return found

    async def near_experiences(self, namespace: str, vector: NDArray[np.float32], *, limit: int) -> Sequence[Scored]:
        """The active experiences whose triggers are closest."""
        await self._level(namespace, VECTOR, self._vector)
        wanted = Filters(kinds=(Kind.EXPERIENCE,), episodes=False)
        return await self._vector.search(namespace, vector, wanted, limit=limit)

    def follow(self, namespace: str) -> None:
        """Begin to take in what was just written, without waiting for it."""
        for name, index in self._indexes():
            self._catch_up(namespace, name, index)

    async def warm(self, namespace: str) -> None:
        """Bring both indexes level now, so that the first search does not pay for it."""
        for name, index in self._indexes():
            await self._level(namespace, name, index)

    async def lag(self, namespace: str) -> dict[str, int]:
        """By how many changes each index is behind the store."""
        head = await self._store.head(namespace)
        return {name: head - await index.cursor(namespace) for name, index in self._indexes()}

    async def aclose(self) -> None:
        """Stop catching up; an index goes on from its cursor next time."""
        tasks = list(self._catching_up.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _indexes(self) -> tuple[tuple[str, Index], ...]:
        return ((LEXICAL, self._lexical), (VECTOR, self._vector))

    async def _level(self, namespace: str, name: str, index: Index, head: int | None = None) -> None:
        if head is None:
            head = await self._store.head(namespace)
        while (name, namespace) not in self._proven or await index.cursor(namespace) != head:
            await asyncio.shield(self._catch_up(namespace, name, index))
            head = await self._store.head(namespace)

    def _catch_up(self, namespace: str, name: str, index: Index) -> asyncio.Task[None]:
        running = self._catching_up.get((name, namespace))
        if running is not None:
            return running
        task = asyncio.create_task(self._run(namespace, name, index), name=f"{name} index of {namespace}")
        self._catching_up[name, namespace] = task
        task.add_done_callback(lambda done: self._ended(name, namespace, done))
        return task

    def _ended(self, name: str, namespace: str, task: asyncio.Task[None]) -> None:
        del self._catching_up[name, namespace]
        if not task.cancelled() and (error := task.exception()) is not None:
            # Whoever waits for it hears of it too; a follower in the background has nobody.
            log.warning("the %s index is behind the store: %s", name, error)

    async def _run(self, namespace: str, name: str, index: Index) -> None:
        if (name, namespace) not in self._proven:
            await self._prove(namespace, name, index)
        cursor = await index.cursor(namespace)
        steps = await self._store.touched(namespace, after=cursor, limit=STEP)
        if not steps and cursor > await self._store.head(namespace):
            # The store is older than the index: it was restored from a backup or replaced.
            await index.drop(namespace)
            self._entries.clear(namespace)
            cursor = 0
            steps = await self._store.touched(namespace, after=cursor, limit=STEP)
        while steps:
            await self._advance(namespace, index, cursor, steps)
            if len(steps) < STEP:
                return  # the end of the log, or near it: whoever needs more has read a later head
            cursor = steps[-1].change
            steps = await self._store.touched(namespace, after=cursor, limit=STEP)

    async def _prove(self, namespace: str, name: str, index: Index) -> None:
        """Let an index go that followed another log than the store's: its snapshot is of before a restore."""
        cursor = await index.cursor(namespace)
        if cursor:
            steps = await self._store.touched(namespace, after=cursor - 1, limit=1)
            if not steps or steps[0].change != cursor or _mark(steps[0]) != await index.mark(namespace):
                log.warning("the %s index had followed another store than this one: it is built anew", name)
                await index.drop(namespace)
        self._proven.add((name, namespace))

    async def _advance(self, namespace: str, index: Index, cursor: int, steps: Sequence[Touched]) -> None:
        """Take in steps of the log, the first of which comes after the cursor."""
        ids = list(dict.fromkeys(entry_id for step in steps for entry_id in step.entry_ids))
        reached, mark = steps[-1].change, _mark(steps[-1])
        before = await index.mark(namespace)
        for start in range(0, max(1, len(ids)), SLICE):  # a step without entries moves the cursor too
            # The cursor moves with the last slice: after a crash all are taken in again, which changes nothing.
            last = start + SLICE >= len(ids)
            place = (reached, mark) if last else (cursor, before)
            await self._take(namespace, index, ids[start : start + SLICE], *place)
        if index is self._lexical:
            self._entries.reach(namespace, cursor, reached)

    async def _take(self, namespace: str, index: Index, ids: Sequence[str], cursor: int, mark: str) -> None:
        entries = await self._store.entries(namespace, ids)
        if index is self._vector:
            vectors = await self._store.vectors(namespace, list(entries), model=self._model)
            upserts = [(entry, vectors[entry.id]) for entry in entries.values() if entry.id in vectors]
            gone = [entry_id for entry_id in ids if entry_id not in vectors]
            await self._vector.apply(namespace, upserts, gone, cursor=cursor, mark=mark)
        else:
            self._entries.take(namespace, ids, entries)
            gone = [entry_id for entry_id in ids if entry_id not in entries]
            await self._lexical.apply(namespace, list(entries.values()), gone, cursor=cursor, mark=mark)


def _mark(step: Touched) -> str:
    """What tells a step from that of another store with the same number."""
    return "" if step.at is None else step.at.isoformat()

"""«Everything about X», «everything of session Y», «everything»: shown first, then forgotten, undone within the grace.

A turn that names what is forgotten is hidden as a whole, also where something else was said in it; the memories that
rest on that stay.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import assert_never

from hindsight.domain.change import Act, Batch, OutcomeAction, Put, Receipt, WriteOutcome
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.experience import rendered
from hindsight.domain.forgotten import About, Everything, Forgetting, Meant, OfSession
from hindsight.domain.memory import Memory, Statement, Status
from hindsight.domain.page import Order
from hindsight.domain.pruning import GRACE
from hindsight.domain.query import Filters
from hindsight.domain.session import SessionEnd
from hindsight.errors import Conflict, InvalidInput
from hindsight.language.fold import fold
from hindsight.ports import Clock, Ids, Store
from hindsight.upkeep.purge import Purger
from hindsight.write.forget_turn import SHARED, turn_outcome
from hindsight.write.request import MAX_NAME, check_text
from hindsight.write.undo import more_key

PAGE = 500
SLICE = 1_000  # memories and turns forgotten in one transaction
EXAMPLES = 20
TRIES = 3
NOT_FORGOTTEN = tuple(status for status in Status if status is not Status.FORGOTTEN)


@dataclass(slots=True)
class Found:
    """What is meant: memories that go, memories that only rest on other turns afterwards, and turns."""

    gone: dict[str, Memory] = field(default_factory=dict)
    touched: dict[str, Memory] = field(default_factory=dict)
    turns: dict[str, Episode] = field(default_factory=dict)

    @property
    def things(self) -> list[Memory | Episode]:
        """All of it, in the order in which it is forgotten."""
        return [*self.gone.values(), *self.touched.values(), *self.turns.values()]


@dataclass(frozen=True, slots=True)
class Forgetter:
    """Forgets many things of one store."""

    store: Store
    clock: Clock
    ids: Ids
    purger: Purger
    grace: timedelta = GRACE

    async def forget(
        self, namespace: str, meant: Meant, *, dry_run: bool = True, purge: bool = False, reason: str = "",
        actor: str = "",
    ) -> Forgetting:  # fmt: skip
        """Name what is meant; without `dry_run`, hide it; with `purge`, take it out for good instead."""
        found = await self._found(namespace, meant)
        report = _report(found)
        if dry_run or not found.things:
            return replace(report, dry_run=dry_run)
        if purge:
            alone = await self._alone(namespace, found)
            purged = await self.purger.purge(namespace, [*found.gone, *alone])
            return replace(report, dry_run=False, purged=purged)
        token = await self._hide(namespace, meant, found, reason, actor)
        return replace(report, dry_run=False, undo=token, purge_after=self.clock.now() + self.grace)

    # What is meant ------------------------------------------------------------------------------------------------

    async def _found(self, namespace: str, meant: Meant) -> Found:
        match meant:
            case About(name):
                return await self._about(namespace, name)
            case OfSession(session_id):
                return await self._of_session(namespace, session_id)
            case Everything():
                memories = {memory.id: memory async for memory in self._memories(namespace, Filters())}
                return Found(memories, {}, {one.id: one async for one in self._turns(namespace)})
            case _:
                assert_never(meant)

    async def _about(self, namespace: str, name: str) -> Found:
        names = _Names(name)
        found = Found()
        async for memory in self._memories(namespace, Filters()):
            if names.stand_in(memory):
                found.gone[memory.id] = memory
        async for episode in self._turns(namespace):
            if names.are_in(episode.content) or names.are_in(episode.speaker or ""):
                found.turns[episode.id] = episode
        rests = list({source.episode_id for one in found.gone.values() for source in one.sources} - found.turns.keys())
        for start in range(0, len(rests), PAGE):
            part = rests[start : start + PAGE]
            resting = await self.store.memories_of(namespace, part)
            only = [one for one in part if found.gone.keys() >= set(resting[one])]
            found.turns.update(await self.store.episodes(namespace, only))
        return found

    async def _of_session(self, namespace: str, session_id: str) -> Found:
        found = Found()
        after = -1
        while turns := await self.store.session(namespace, session_id, limit=PAGE, after=after):
            found.turns.update((one.id, one) for one in turns)
            after = turns[-1].position
        ids = list(found.turns)
        for start in range(0, len(ids), PAGE):
            rests = await self.store.memories_of(namespace, ids[start : start + PAGE])
            held = await self.store.memories(namespace, list({one for some in rests.values() for one in some}))
            for memory in held.values():
                self._sort(memory, found)
        async for memory in self._memories(namespace, Filters(session_ids=(session_id,))):
            if not memory.sources:
                found.gone[memory.id] = memory
        return found

    def _sort(self, memory: Memory, found: Found) -> None:
        if memory.status is Status.FORGOTTEN:
            return
        alone = all(source.episode_id in found.turns for source in memory.sources)
        (found.gone if alone else found.touched)[memory.id] = memory

    async def _memories(self, namespace: str, filters: Filters) -> AsyncIterator[Memory]:
        after: str | None = None
        wanted = replace(filters, statuses=NOT_FORGOTTEN, episodes=False)
        while True:
            page = await self.store.find(namespace, wanted, order=Order.OLDEST, limit=PAGE, after=after)
            for memory in page.items:
                yield memory
            after = page.next
            if after is None:
                return

    async def _turns(self, namespace: str) -> AsyncIterator[Episode]:
        """Every turn that still says something, in the order of arrival."""
        after = 0
        seen: set[str] = set()
        while steps := await self.store.touched(namespace, after=after, limit=PAGE):
            after = steps[-1].change
            fresh = [one for one in dict.fromkeys(e for step in steps for e in step.entry_ids) if one not in seen]
            seen.update(fresh)
            for episode in (await self.store.episodes(namespace, fresh)).values():
                if episode.content:
                    yield episode

    async def _alone(self, namespace: str, found: Found) -> list[str]:
        """Turns on which nothing rests but what goes: the others are blanked where it rests on them."""
        alone: list[str] = []
        ids = list(found.turns)
        for start in range(0, len(ids), PAGE):
            part = ids[start : start + PAGE]
            resting = await self.store.memories_of(namespace, part)
            held = await self.store.memories(namespace, list({one for some in resting.values() for one in some}))
            alive = {one.id for one in held.values() if one.status is not Status.FORGOTTEN}
            goes = found.gone.keys() | found.touched.keys()
            alone += [one for one in part if not (set(resting[one]) & alive) - goes]
        return alone

    # Hiding it ------------------------------------------------------------------------------------------------------

    async def _hide(self, namespace: str, meant: Meant, found: Found, reason: str, actor: str) -> str:
        token = self.ids.new()
        things = found.things
        for number, start in enumerate(range(0, len(things), SLICE)):
            part = [one.id for one in things[start : start + SLICE]]
            key = token if number == 0 else more_key(token, number)
            await self._hide_part(namespace, key, token, part, found, reason, actor)
        if isinstance(meant, OfSession):
            await self._end(namespace, meant.session_id, token)
        return token

    async def _hide_part(
        self, namespace: str, key: str, token: str, part: Sequence[str], found: Found, reason: str, actor: str
    ) -> None:
        for attempt in range(TRIES):
            now = self.clock.now()
            held = await self.store.memories(namespace, [one for one in part if one not in found.turns])
            puts = [_put(one, found, reason, now, actor) for one in held.values() if one.status is not Status.FORGOTTEN]
            states = tuple((one, EpisodeState.FORGOTTEN) for one in part if one in found.turns)
            receipt = Receipt(tuple(_examples(part, found)), undo=token)
            try:
                await self.store.apply(
                    Batch(namespace, key, now, puts=tuple(puts), receipt=receipt, episode_states=states)
                )
            except Conflict:  # one of them was changed meanwhile: read it again
                if attempt + 1 == TRIES:
                    raise
            else:
                return

    async def _end(self, namespace: str, session_id: str, token: str) -> None:
        """What a session has noted goes with it: it is not to become an episode later."""
        now = self.clock.now()
        working = await self.store.working(namespace, session_id, now=now, turns=0)
        if working is not None and working.session.ended_at is None:
            end = SessionEnd(session_id, working.session.active_at)
            await self.store.apply(Batch(namespace, f"end:{token}", now, ends=(end,)))


def parse_meant(about: object, session_id: object, everything: object) -> Meant:
    """Exactly one of the three. `InvalidInput`."""
    given = [name for name, value in (("about", about), ("session_id", session_id)) if value is not None]
    given += ["everything"] if everything is True else []
    if len(given) != 1 or everything not in (True, False):
        raise InvalidInput("about", given or None, "exactly one of about, session_id and everything (true)")
    name = "about" if about is not None else "session_id"
    if everything:
        return Everything()
    text = check_text(name, about if about is not None else session_id)
    if len(text) > MAX_NAME:
        raise InvalidInput(name, text, f"at most {MAX_NAME} characters")
    if name == "about":
        if not any(letter.isalnum() for letter in text):
            raise InvalidInput("about", text, "a name or a word")
        return About(text.strip())
    return OfSession(text)


class _Names:
    """Where a name stands: Latin letters as a whole word, Chinese ones anywhere."""

    def __init__(self, name: str) -> None:
        folded = fold(name).strip()
        begin = r"(?<![a-z0-9_])" if folded[:1].isascii() and folded[:1].isalnum() else ""
        end = r"(?![a-z0-9_])" if folded[-1:].isascii() and folded[-1:].isalnum() else ""
        self._folded = folded
        self._pattern = re.compile(f"{begin}{re.escape(folded)}{end}")

    def are_in(self, text: str) -> bool:
        return self._pattern.search(fold(text)) is not None

    def stand_in(self, memory: Memory) -> bool:
        texts: list[str] = [memory.content, memory.speaker or "", *memory.entities, *memory.tags]
        if isinstance(memory.body, Statement):
            texts += [memory.body.subject or "", memory.body.value or ""]
        else:
            texts.append(rendered(memory.body))
        return any(self.are_in(text) for text in texts)


def _put(memory: Memory, found: Found, reason: str, now: datetime, actor: str) -> Put:
    changed = replace(memory, updated_at=now, version=memory.version + 1)
    if memory.id in found.touched:
        left = tuple(source for source in memory.sources if source.episode_id not in found.turns)
        return Put(replace(changed, sources=left), memory.version, Act.UPDATED, SHARED, actor=actor)
    gone = replace(changed, status=Status.FORGOTTEN, strength=0.0)
    return Put(gone, memory.version, Act.FORGOTTEN, reason, actor=actor)


def _report(found: Found) -> Forgetting:
    examples = tuple(_examples([one.id for one in found.things], found))
    return Forgetting(True, len(found.gone), len(found.turns), len(found.touched), examples)


def _examples(ids: Iterable[str], found: Found) -> list[WriteOutcome]:
    """Some of what goes: memories first, in the order of arrival."""
    outcomes: list[WriteOutcome] = []
    for one in ids:
        if len(outcomes) == EXAMPLES:
            break
        memory = found.gone.get(one)
        if memory is not None:
            action, kind = OutcomeAction.FORGOTTEN, memory.kind
            outcomes.append(WriteOutcome(action, one, memory.content, kind, memory.importance))
        elif one in found.turns:
            outcomes.append(turn_outcome(OutcomeAction.FORGOTTEN, found.turns[one], reason=""))
    return outcomes

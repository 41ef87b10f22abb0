"""Changes by name: new words, pinning, forgetting a memory or a turn, and taking back what a call did.

The former state always stays in the history; nothing is deleted here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace

from hindsight.domain.change import Act, Batch, Embedding, NewJob, OutcomeAction, Put, Receipt, WriteOutcome
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.experience import Experience
from hindsight.domain.memory import Kind, Layer, Memory, Source, Statement, Status
from hindsight.errors import Conflict, InvalidInput, NotFound
from hindsight.language.statement.verdict import Relation, Verdict
from hindsight.ports import Clock, Embedder, Ids, Store
from hindsight.write.embed import embed_later, vectors_in_time
from hindsight.write.extract import Extractor
from hindsight.write.forget_turn import forgotten_turn, hidden_turns
from hindsight.write.importance import weigh
from hindsight.write.keys import digest, statement_key, turn_key
from hindsight.write.link import alias_topics, entities, subject_named
from hindsight.write.pipeline import WritePolicy
from hindsight.write.prepare import clean
from hindsight.write.propose import covered, subject_of
from hindsight.write.reconcile import (
    Candidates,
    Neighbours,
    Proposal,
    candidates,
    ended_by,
    judged,
    measure,
    merged,
    outweighs,
    rivals_among,
)
from hindsight.write.request import check_share
from hindsight.write.retell import forgotten_with, outcome_of_put, told_by, without_told
from hindsight.write.topics import reading_of, topics_of
from hindsight.write.undo import take_back

MAX_CONTENT = 20_000  # characters of a memory's new words
MAX_REASON = 2_000


class Amender:
    """Changes memories of one store by their whole id."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        clock: Clock,
        ids: Ids,
        *,
        extractor: Extractor,
        neighbours: Neighbours | None,
        policy: WritePolicy | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._ids = ids
        self._extractor = extractor
        self._neighbours = neighbours
        self._policy = policy or WritePolicy()

    async def update(
        self,
        namespace: str,
        memory_id: str,
        *,
        new_content: str | None = None,
        confidence: float | None = None,
        importance: float | None = None,
        actor: str = "",
    ) -> Receipt:
        """Give a memory new words, confidence or importance.

        New words pass the same checks and the same reconciliation as a write: where another memory says them already,
        the two are merged and this one ends. `InvalidInput`, `NotFound`.
        """
        if new_content is None and confidence is None and importance is None:
            raise InvalidInput("new_content", None, "at least one of new_content, confidence and importance")
        shares = {
            name: check_share(name, value)
            for name, value in (("confidence", confidence), ("importance", importance))
            if value is not None
        }
        text = self._cleaned(new_content) if new_content is not None else None

        async def once() -> Receipt:
            memory = await self._active(namespace, memory_id)
            if isinstance(memory.body, Experience) and (text is not None or confidence is not None):
                raise InvalidInput(
                    "memory_id",
                    memory.short_id,
                    "a memory that is no experience; an experience is written anew, "
                    "and its confidence follows from feedback",
                )
            changed = replace(
                memory,
                confidence=shares.get("confidence", memory.confidence),
                importance=shares.get("importance", memory.importance),
            )
            if text is None:
                return await self._put(memory, changed, Act.UPDATED, OutcomeAction.UPDATED, actor=actor)
            return await self._reword(memory, changed, text, weighed="importance" in shares, actor=actor)

        return await self._retried(once)

    async def pin(self, namespace: str, memory_id: str, *, pinned: bool = True, actor: str = "") -> Receipt:
        """Keep a memory from fading and always in the context block, or let it go again."""

        async def once() -> Receipt:
            memory = await self._active(namespace, memory_id)
            if memory.pinned is pinned:
                return _unchanged(memory, "already pinned" if pinned else "not pinned")
            reason = "" if pinned else "no longer pinned"
            changed = replace(memory, pinned=pinned)
            return await self._put(memory, changed, Act.PINNED, OutcomeAction.PINNED, reason=reason, actor=actor)

        return await self._retried(once)

    async def forget(
        self, namespace: str, memory_id: str, *, decay_factor: float = 1.0, reason: str = "", actor: str = ""
    ) -> Receipt:
        """Multiply a memory's strength by `1 - decay_factor`; 1 hides it at once, and the words it came from too.

        A turn of a conversation goes whole, with the memories that rest on it alone.
        """
        if check_share("decay_factor", decay_factor) == 0:
            raise InvalidInput("decay_factor", decay_factor, "a number above 0 and up to 1")
        if len(reason) > MAX_REASON:
            raise InvalidInput("reason", reason, f"at most {MAX_REASON} characters")

        async def once() -> Receipt:
            memory = (await self._store.memories(namespace, [memory_id])).get(memory_id)
            if memory is None:
                return await self._forget_turn(namespace, memory_id, decay_factor, reason, actor)
            if memory.status is Status.FORGOTTEN:
                return _unchanged(memory, "already forgotten")
            if decay_factor < 1:
                faded = replace(memory, strength=memory.strength * (1 - decay_factor))
                return await self._put(memory, faded, Act.DECAYED, OutcomeAction.DECAYED, reason=reason, actor=actor)
            gone = replace(memory, status=Status.FORGOTTEN, strength=0.0)
            originals = await told_by(self._store, memory)
            states = await self._left_behind([memory, *originals], EpisodeState.FORGOTTEN)
            also = await hidden_turns(self._store, memory, states)
            at = self._clock.now()
            puts = forgotten_with(originals, memory, at, actor)
            puts += await without_told(self._store, namespace, [memory], [one for one, _ in states], at=at, actor=actor)
            return await self._put(
                memory,
                gone,
                Act.FORGOTTEN,
                OutcomeAction.FORGOTTEN,
                reason=reason,
                states=states,
                also=(*map(outcome_of_put, puts), *also),
                more=puts,
                actor=actor,
            )

        return await self._retried(once)

    async def _forget_turn(
        self, namespace: str, episode_id: str, decay_factor: float, reason: str, actor: str
    ) -> Receipt:
        at, key = self._clock.now(), self._ids.new()
        todo = await forgotten_turn(
            self._store, namespace, episode_id, decay_factor=decay_factor, reason=reason, at=at, key=key, actor=actor
        )
        if isinstance(todo, Receipt):
            return todo
        return (await self._store.apply(replace(todo, jobs=self._embedded_later(todo.puts)))).receipt

    async def undo(self, namespace: str, token: str, *, actor: str = "") -> Receipt:
        """Take back what one call changed. `NotFound`; `Conflict` if something of it has been changed since."""
        return await take_back(self._store, self._embedder, self._clock, self._ids, namespace, token, actor=actor)

    # New words ---------------------------------------------------------------------------------------------------

    def _cleaned(self, given: str) -> str:
        text = clean(given, redacting=self._policy.redacts).strip()
        if not text or len(text) > MAX_CONTENT:
            raise InvalidInput("new_content", given, f"1 to {MAX_CONTENT} characters, and not hindsight's own output")
        return text

    async def _reword(self, memory: Memory, changed: Memory, text: str, *, weighed: bool, actor: str) -> Receipt:
        now = self._clock.now()
        key = self._ids.new()
        episode = Episode(
            id=self._ids.new(),
            namespace=memory.namespace,
            content=text,
            occurred_at=now,
            recorded_at=now,
            timezone=memory.timezone,
            key=digest("update", key),
            speaker=memory.speaker,
            agent=memory.agent,
        )
        changed = await self._with_words(changed, episode, weighed=weighed)
        vectors, degraded = await vectors_in_time(self._embedder, [text], seconds=self._policy.embed_seconds)
        model = self._embedder.model if self._embedder is not None else ""
        twin, rivals = await self._meets(Proposal(changed, vectors.get(text)))
        if twin is None:
            puts: tuple[Put, ...] = (Put(changed, memory.version, Act.UPDATED, actor=actor),)
            for one, verdict in rivals:
                over = replace(ended_by(one, replace(changed, occurred_at=now), at=now), version=one.version + 1)
                puts += (Put(over, one.version, Act.SUPERSEDED, verdict.reason, (changed.id,), actor),)
            reason = "the former words stay in the history"
            outcome = _outcome(OutcomeAction.UPDATED, changed, tuple(one.id for one, _ in rivals), reason)
            reworded: Memory | None = changed
        else:
            into = replace(merged(twin, changed, at=now), version=twin.version + 1)
            ended = replace(
                memory,
                status=Status.SUPERSEDED,
                superseded_by=twin.id,
                valid_to=now,
                updated_at=now,
                version=memory.version + 1,
            )
            reason = "another memory says this already"
            puts = (
                Put(ended, memory.version, Act.SUPERSEDED, reason, (twin.id,), actor),
                Put(into, twin.version, Act.MERGED, reason, (memory.id,), actor),
            )
            outcome = _outcome(OutcomeAction.MERGED, into, (memory.id,), reason)
            reworded = into if into.content != twin.content else None
        batch = Batch(
            namespace=memory.namespace,
            key=key,
            at=now,
            episodes=(episode,),
            puts=puts,
            embeddings=(Embedding(reworded.id, model, vectors[text]),) if reworded is not None and vectors else (),
            jobs=(embed_later(self._ids, self._clock),) if degraded else (),
            receipt=Receipt((outcome,), (episode.id,), facts=1, degraded=degraded, undo=key),
            episode_states=(
                *await self._left_behind([memory], EpisodeState.CLOSED),
                (episode.id, EpisodeState.COVERED),
            ),
        )
        return (await self._store.apply(batch)).receipt

    async def _with_words(self, memory: Memory, episode: Episode, *, weighed: bool) -> Memory:
        """The memory with the words of an episode, and what can be read out of them."""
        body, kind, importance, stated = Statement(), memory.kind, memory.importance, episode.content
        if self._extractor.quick:
            found = (await self._extractor.extract([episode])).candidates
            if covered([episode], found):
                (candidate,) = found
                body, stated = candidate.body, candidate.content
                kind = candidate.kind if memory.verbatim else kind
                importance = importance if weighed or not memory.verbatim else weigh(candidate).value
        if memory.layer is Layer.EPISODIC:
            key = turn_key(memory.session_id, memory.speaker, episode.content)
        else:
            key = statement_key(subject_of(body, memory.speaker), stated)
        worded = replace(
            memory,
            content=episode.content,
            content_key=key,
            body=body,
            kind=kind,
            importance=importance,
            strength=1.0,
            verbatim=False,
            entities=(*entities(episode.content), *subject_named(body, episode.content)),
            sources=(Source(episode.id, 0, len(episode.content)),),
            updated_at=episode.recorded_at,
            version=memory.version + 1,
        )
        topics = (*topics_of(reading_of(worded)), *alias_topics(worded.content))
        return replace(worded, body=replace(body, topics=topics))

    async def _meets(self, proposal: Proposal) -> tuple[Memory | None, list[tuple[Memory, Verdict]]]:
        """Another active memory that states the same as this one now does; otherwise those that it contradicts."""
        memory = proposal.memory
        exact = await self._store.by_content_key(memory.namespace, [memory.content_key])
        twin = exact.get(memory.content_key)
        if twin is not None:
            return (twin if twin.id != memory.id else None), []
        reading = reading_of(memory)
        if reading is None:
            return None, []
        by = measure(
            self._embedder.model if self._embedder is not None else "",
            floor=self._policy.floor,
            bound=self._policy.bound,
        )
        found = await candidates(memory.namespace, [proposal], {}, self._store, self._neighbours, by)
        near = found.get(memory.id, Candidates())
        others = (one for one in near.memories if one.id != memory.id and one.status is Status.ACTIVE)
        verdicts = [(one, judged(one, memory, reading, near.close.get(one.id))) for one in others]
        same = next((one for one, verdict in verdicts if verdict.relation is Relation.SAME), None)
        return same, [pair for pair in rivals_among(verdicts) if outweighs(memory, pair[0])]

    # What all of them share --------------------------------------------------------------------------------------

    async def _put(
        self,
        before: Memory,
        changed: Memory,
        act: Act,
        action: OutcomeAction,
        *,
        reason: str = "",
        states: tuple[tuple[str, EpisodeState], ...] = (),
        also: tuple[WriteOutcome, ...] = (),
        more: tuple[Put, ...] = (),
        actor: str,
    ) -> Receipt:
        now = self._clock.now()
        key = self._ids.new()
        changed = replace(changed, updated_at=now, version=before.version + 1)
        receipt = Receipt((_outcome(action, changed, reason=reason), *also), undo=key)
        put = Put(changed, before.version, act, reason, actor=actor)
        batch = Batch(
            before.namespace,
            key,
            now,
            puts=(put, *more),
            jobs=self._embedded_later(more),
            receipt=receipt,
            episode_states=states,
        )
        return (await self._store.apply(batch)).receipt

    def _embedded_later(self, puts: Sequence[Put]) -> tuple[NewJob, ...]:
        """The job that gives summaries with fewer sentences their new vectors."""
        reworded = any(put.act is Act.UPDATED and put.memory.kind is Kind.SUMMARY for put in puts)
        return (embed_later(self._ids, self._clock),) if reworded and self._embedder is not None else ()

    async def _left_behind(
        self, memories: Sequence[Memory], state: EpisodeState
    ) -> tuple[tuple[str, EpisodeState], ...]:
        """The episodes that nothing active rests on any more once these memories are gone, in their new state.

        A summary keeps no turn in sight: it tells what was put away.

        With what is forgotten go also those found by their own words, which still say it: and those hidden already, so
        that they wait for this one too when it is taken back. What has been forgotten is never merely closed.
        """
        namespace = memories[0].namespace
        episode_ids = list(dict.fromkeys(source.episode_id for memory in memories for source in memory.sources))
        if not episode_ids:
            return ()
        rests = await self._store.memories_of(namespace, episode_ids)
        others = {one for ids in rests.values() for one in ids} - {memory.id for memory in memories}
        active = await self._active_of(namespace, others)
        shown = await self._store.entries(namespace, episode_ids)
        forgotten = {one for one, entry in shown.items() if entry.status is Status.FORGOTTEN}
        also = shown if state is EpisodeState.FORGOTTEN else {}
        return tuple(
            (one, state)
            for one in episode_ids
            if one in also or (one not in forgotten and active.isdisjoint(rests.get(one, ())))
        )

    async def _active_of(self, namespace: str, ids: Collection[str]) -> set[str]:
        if not ids:
            return set()
        memories = await self._store.memories(namespace, list(ids))
        kept = (one for one in memories.values() if one.kind is not Kind.SUMMARY)
        return {one.id for one in kept if one.status is Status.ACTIVE}

    async def _found(self, namespace: str, memory_id: str) -> Memory:
        memory = (await self._store.memories(namespace, [memory_id])).get(memory_id)
        if memory is None:
            raise NotFound("memory_id", memory_id)
        return memory

    async def _active(self, namespace: str, memory_id: str) -> Memory:
        memory = await self._found(namespace, memory_id)
        if memory.status is not Status.ACTIVE:
            raise InvalidInput("memory_id", memory.short_id, f"an active memory; this one is {memory.status}")
        return memory

    async def _retried(self, once: Callable[[], Awaitable[Receipt]]) -> Receipt:
        """Again from what is stored by then, if somebody else wrote in between."""
        for _ in range(self._policy.attempts - 1):
            try:
                return await once()
            except Conflict:
                continue
        return await once()


def _unchanged(memory: Memory, reason: str) -> Receipt:
    return Receipt((_outcome(OutcomeAction.IGNORED, memory, reason=reason),))


def _outcome(action: OutcomeAction, memory: Memory, other_ids: tuple[str, ...] = (), reason: str = "") -> WriteOutcome:
    return WriteOutcome(action, memory.id, memory.content, memory.kind, memory.importance, other_ids, reason)

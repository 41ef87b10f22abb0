"""Random histories: the same steps on a store and on the oracle, which must answer alike at every step."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from hindsight.domain.change import Act, Batch, JobDone, NewJob, Put, Receipt, Review
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.memory import Source
from hindsight.domain.page import Order
from hindsight.domain.purge import Purge
from hindsight.domain.query import Filters
from hindsight.domain.schedule import Due
from hindsight.domain.session import SessionEnd, Working
from hindsight.errors import HindsightError
from hindsight.ports import Store
from hindsight.storage.oracle import OracleStore
from hindsight.storage.purging import MARKED
from hindsight.testing.made import MODEL, NOON, WORDS, a_vector, an_embedding, episodes_called, memories_called

SPACES = ("ann", "bob")
EPISODES = tuple(f"episode-{n}" for n in range(6))
MEMORIES = tuple(f"memory-{n}" for n in range(5))
CONTENT_KEYS = ("says this", "says that", "says more")
BATCH_KEYS = tuple(f"batch-{n}" for n in range(25))
PURGE_KEYS = tuple(f"purge-{n}" for n in range(9))
JOBS = tuple(f"job-{n}" for n in range(5))
OWNERS = ("worker-1", "worker-2")
SEEDS = range(4)
MODELS = (MODEL, "model-b@2")
SESSIONS = ("家", "home", "工作", "Ünïcode", "")
hours = st.integers(0, 4).map(lambda n: NOON + timedelta(hours=n))

Opener = Callable[[Path], Awaitable[Store]]


class History(RuleBasedStateMachine):
    """One random history. `opener` and `reopens` are set by `history_of`."""

    opener: Opener
    reopens: bool

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.place = Path(tempfile.mkdtemp(prefix="hindsight-history-"))
        self.oracle = OracleStore()
        self.store = self.loop.run_until_complete(type(self).opener(self.place))

    def teardown(self) -> None:
        try:
            self.compare()
        finally:
            self.loop.run_until_complete(self.store.aclose())
            self.loop.close()
            shutil.rmtree(self.place)

    def both(self, act: Callable[[Store], Awaitable[Any]]) -> None:
        """Do it to both: the same answer, or an error of the same class."""
        wanted = self.loop.run_until_complete(_outcome(act, self.oracle))
        found = self.loop.run_until_complete(_outcome(act, self.store))
        assert found == wanted, difference(found, wanted)

    @rule(data=st.data(), namespace=st.sampled_from(SPACES), key=st.sampled_from(BATCH_KEYS))
    def apply(self, data: st.DataObject, namespace: str, key: str) -> None:
        held = self.loop.run_until_complete(known(self.oracle, namespace))
        batch = data.draw(_batches(held, key))
        self.both(lambda store: store.apply(batch))

    @rule(kinds=st.lists(st.sampled_from(("a", "b")), min_size=1), owner=st.sampled_from(OWNERS), now=hours, more=hours)
    def lease(self, kinds: list[str], owner: str, now: Any, more: Any) -> None:
        self.both(lambda store: store.lease_job(kinds, owner=owner, now=now, until=more))

    @rule(job=st.sampled_from(JOBS), owner=st.sampled_from(OWNERS), until=hours)
    def renew(self, job: str, owner: str, until: Any) -> None:
        self.both(lambda store: store.renew_job(job, owner=owner, until=until))

    @rule(job=st.sampled_from(JOBS), owner=st.sampled_from(OWNERS), retry_at=st.none() | hours)
    def fail(self, job: str, owner: str, retry_at: Any) -> None:
        self.both(lambda store: store.fail_job(job, owner=owner, error="broken", retry_at=retry_at))

    @rule(job=st.sampled_from(JOBS), owner=st.sampled_from(OWNERS))
    def close(self, job: str, owner: str) -> None:
        self.both(lambda store: store.close_job(job, owner=owner))

    @rule(namespace=st.sampled_from(SPACES), job=st.sampled_from(JOBS))
    def cancel(self, namespace: str, job: str) -> None:
        self.both(lambda store: store.cancel_job(namespace, job))

    @rule(data=st.data(), name=st.sampled_from(("daily", "weekly")), due=hours, expected=st.none() | hours)
    def schedule(self, data: st.DataObject, name: str, due: Any, expected: Any) -> None:
        held = {one.name: one.due for one in self.loop.run_until_complete(self.oracle.scheduled())}
        when = expected if data.draw(seldom) else held.get(name)
        jobs = [(data.draw(st.sampled_from(("", *SPACES))), data.draw(_jobs(job))) for job in JOBS[:1]]
        entry = Due(name, "0 4 * * *", due, data.draw(st.none() | hours))
        self.both(lambda store: store.put_scheduled(entry, expected=when, jobs=jobs))

    @rule(namespace=st.sampled_from(SPACES), ids=st.lists(st.sampled_from(MEMORIES + EPISODES)), at=hours)
    def use(self, namespace: str, ids: list[str], at: Any) -> None:
        self.both(lambda store: store.record_use(namespace, ids, at))

    @rule(
        namespace=st.sampled_from(SPACES),
        session=st.sampled_from(SESSIONS),
        values=st.dictionaries(st.sampled_from(WORDS), st.sampled_from((None, 1, ["那"])), max_size=3),
        at=hours,
        expires_at=st.none() | hours,
    )
    def note(self, namespace: str, session: str, values: Any, at: Any, expires_at: Any) -> None:
        self.both(lambda store: store.set_working(namespace, session, values, at=at, expires_at=expires_at))

    @rule(
        namespace=st.sampled_from(SPACES),
        ids=st.lists(st.sampled_from(MEMORIES + EPISODES), min_size=1, max_size=2),
        key=st.sampled_from(PURGE_KEYS),
        at=hours,
    )
    def purge(self, namespace: str, ids: list[str], key: str, at: Any) -> None:
        self.both(lambda store: store.purge(Purge(namespace, key, at, tuple(ids))))

    @rule(model=st.sampled_from(MODELS), expected=st.none() | st.sampled_from(MODELS))
    def choose_model(self, model: str, expected: str | None) -> None:
        self.both(lambda store: store.set_embedding_model(model, expected=expected))

    @precondition(lambda self: self.reopens)
    @rule()
    def reopen(self) -> None:
        self.loop.run_until_complete(self.store.aclose())
        self.store = self.loop.run_until_complete(type(self).opener(self.place))

    @rule()
    def compare(self) -> None:
        """Everything that can be read is the same."""
        for namespace in (*SPACES, "nobody"):
            self.both(lambda store, namespace=namespace: everything(store, namespace))  # type: ignore[misc]  # binds the loop's name
        self.both(lambda store: store.namespaces())
        self.both(lambda store: store.scheduled())
        self.both(lambda store: store.jobs(""))
        self.both(lambda store: store.hidden(now=NOON + timedelta(hours=3), grace=timedelta(hours=1), limit=9))
        self.both(lambda store: store.idle_sessions(before=NOON + timedelta(hours=3), limit=4))
        self.both(lambda store: store.embedding_model())


def history_of(opener: Opener, *, reopens: bool) -> type[History]:
    """The machine for one backend; give it to `run_state_machine_as_test`."""
    return type("HistoryOfBackend", (History,), {"opener": staticmethod(opener), "reopens": reopens})


async def everything(store: Store, namespace: str) -> dict[str, Any]:
    """All that a store knows of one namespace, by read method."""
    found: dict[str, Any] = {
        "head": await store.head(namespace),
        "touched": list(await store.touched(namespace, after=0, limit=1000)),
        "touched, part": list(await store.touched(namespace, after=1, limit=2)),
        "entries": dict(await store.entries(namespace, MEMORIES + EPISODES)),
        "memories": dict(await store.memories(namespace, MEMORIES)),
        "by_content_key": dict(await store.by_content_key(namespace, CONTENT_KEYS)),
        "about": {topic: list(ids) for topic, ids in (await store.about(namespace, WORDS, limit=2)).items()},
        "reviews": list(await store.reviews(namespace)),
        "reviews, settled": list(await store.reviews(namespace, waiting=False)),
        "history": {memory_id: list(await store.history(namespace, memory_id)) for memory_id in MEMORIES},
        "changesets": {key: await store.changeset(namespace, key) for key in BATCH_KEYS},
        "episodes": {one: unmarked(told) for one, told in (await store.episodes(namespace, EPISODES)).items()},
        "known": dict(await store.known_episodes(namespace, [f"key of {name}" for name in EPISODES])),
        "sessions": {name: [*map(unmarked, await store.session(namespace, name))] for name in SESSIONS},
        "memories_of": {episode: list(ids) for episode, ids in (await store.memories_of(namespace, EPISODES)).items()},
        "working": {name: await _working(store, namespace, name) for name in SESSIONS},
        "tombstones": list(await store.tombstones(namespace)),
        "purged": dict(await store.purged(namespace, MEMORIES + EPISODES)),
        "purged keys": await store.purged_keys(namespace, (*CONTENT_KEYS, *(f"key of {name}" for name in EPISODES))),
        "sessions, latest": list(await store.sessions(namespace, limit=3)),
        "stats": await store.stats(namespace),
        "jobs": list(await store.jobs(namespace)),
        "uses": dict(await store.uses(namespace, MEMORIES + EPISODES)),
    }
    for model in MODELS:
        found[f"unembedded by {model}"] = list(await store.unembedded(namespace, model=model, limit=4))
        found[f"vectors of {model}"] = recognised(await store.vectors(namespace, MEMORIES + EPISODES, model=model))
    for order in Order:
        page = await store.find(namespace, Filters(statuses=()), order=order, limit=3)
        found[f"found, {order}"] = page
        if page.next is not None:
            found[f"found, {order}, on"] = await store.find(
                namespace, Filters(statuses=()), order=order, limit=3, after=page.next
            )
    return found


async def _working(store: Store, namespace: str, session_id: str) -> Working | None:
    found = await store.working(namespace, session_id, now=NOON, turns=2)
    return None if found is None else replace(found, turns=tuple(map(unmarked, found.turns)))


def unmarked(episode: Episode) -> Episode:
    """An episode whose key is not told from another store's mark of it: each has a secret of its own."""
    return replace(episode, key=MARKED) if episode.key.startswith(MARKED) else episode


def recognised(vectors: Mapping[str, Any]) -> dict[str, int | None]:
    """Which of the vectors that were put in each one is: a backend may keep them in half precision."""
    return {
        entry_id: next((seed for seed in SEEDS if float(vector @ a_vector(seed)) > 0.99999), None)
        for entry_id, vector in vectors.items()
    }


def difference(found: Any, wanted: Any) -> str:
    """Where two answers part: of dicts only the keys that differ."""
    if not (isinstance(found, dict) and isinstance(wanted, dict)):
        return f"the store answers\n  {found!r}\nand the oracle\n  {wanted!r}"
    keys = [key for key in (*found, *wanted) if found.get(key) != wanted.get(key)]
    return "\n".join(f"{key}: {difference(found.get(key), wanted.get(key))}" for key in dict.fromkeys(keys))


async def _outcome(act: Callable[[Store], Awaitable[Any]], store: Store) -> Any:
    try:
        return await act(store)
    except HindsightError as error:
        return type(error)


@dataclass(frozen=True, slots=True)
class Known:
    """What the store holds before a batch is drawn, so that most batches fit it."""

    namespace: str
    versions: Mapping[str, int]
    episodes: tuple[str, ...]
    leased: tuple[JobDone, ...]
    awake: tuple[SessionEnd, ...]


async def known(store: Store, namespace: str) -> Known:
    """Read what the next batch is drawn from."""
    memories = await store.memories(namespace, MEMORIES)
    return Known(
        namespace,
        {memory_id: memory.version for memory_id, memory in memories.items()},
        tuple(await store.episodes(namespace, EPISODES)),
        tuple(JobDone(job.id, job.owner) for job in await store.jobs(namespace) if job.owner is not None),
        tuple(
            SessionEnd(session.id, session.active_at)
            for session in await store.sessions(namespace, limit=99)
            if session.ended_at is None
        ),
    )


seldom = st.sampled_from((False,) * 11 + (True,))


@st.composite
def _batches(draw: st.DrawFn, held: Known, key: str) -> Batch:
    named = draw(st.lists(st.sampled_from(EPISODES), max_size=2, unique=True))
    episodes = [replace(draw(episodes_called(name)), namespace=held.namespace) for name in named]
    if episodes and draw(seldom):  # the key of another one
        episodes[0] = replace(episodes[0], key=f"key of {draw(st.sampled_from(EPISODES))}")
    there = EPISODES if draw(seldom) else tuple(dict.fromkeys((*held.episodes, *named)))
    puts = draw(_puts(held, there))
    entries = (*there, *held.versions, *(put.memory.id for put in puts))
    return Batch(
        namespace=held.namespace,
        key=key,
        at=draw(hours),
        episodes=tuple(episodes),
        puts=tuple(puts),
        embeddings=tuple(
            an_embedding(entry_id, draw(st.sampled_from(SEEDS)), draw(st.sampled_from(MODELS)))
            for entry_id in draw(_some(entries))
        ),
        jobs=tuple(draw(_jobs(job_id)) for job_id in draw(st.lists(st.sampled_from(JOBS), max_size=1))),
        done=draw(st.none() | st.sampled_from(held.leased or (None,))) if not draw(seldom) else JobDone(JOBS[0], "me"),
        receipt=Receipt(facts=draw(st.integers(0, 3)), episode_ids=tuple(named)),
        episode_states=tuple((name, draw(st.sampled_from(EpisodeState))) for name in draw(_some(there))),
        reviews=tuple(draw(_reviews()) for _ in range(draw(st.integers(0, 1)))),
        ends=(SessionEnd("家", NOON),) if draw(seldom) else tuple(draw(_some_of(held.awake))),
    )


def _some_of(ends: Sequence[SessionEnd]) -> st.SearchStrategy[list[SessionEnd]]:
    return st.lists(st.sampled_from(ends), max_size=1) if ends else st.just([])


def _some(names: Sequence[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), max_size=2) if names else st.just([])


@st.composite
def _puts(draw: st.DrawFn, held: Known, there: Sequence[str]) -> list[Put]:
    reached = dict(held.versions)
    puts: list[Put] = []
    for name in draw(st.lists(st.sampled_from(MEMORIES), max_size=3)):
        expected = reached.get(name)
        if name not in {put.memory.id for put in puts} and draw(seldom):
            expected = draw(st.sampled_from((None, 1, 2)))  # read too long ago
        memory = replace(
            draw(memories_called(name, tuple(Source(episode, 0, 1) for episode in there))),
            namespace=held.namespace,
            version=(expected or 0) + 1,
            content_key=draw(st.sampled_from((name, name, name, *CONTENT_KEYS))),
        )
        reached[name] = memory.version
        puts.append(
            Put(memory, expected, draw(st.sampled_from(Act)), draw(st.sampled_from(("", "为何"))), ("x",), "me")
        )
    return puts


@st.composite
def _reviews(draw: st.DrawFn) -> Review:
    others = tuple(draw(st.lists(st.sampled_from(MEMORIES), max_size=2)))
    return Review(
        draw(st.sampled_from(MEMORIES)), others, draw(st.sampled_from(("", "为何"))), draw(hours), draw(st.booleans())
    )


@st.composite
def _jobs(draw: st.DrawFn, job_id: str) -> NewJob:
    owner = draw(st.none() | st.sampled_from(OWNERS))
    return NewJob(
        id=job_id,
        kind=draw(st.sampled_from(("a", "b"))),
        payload={"那": [1, None, {"x": 0.5}]},
        run_at=draw(hours),
        dedup_key=draw(st.sampled_from((None, "once"))),
        owner=owner,
        lease_until=None if owner is None else draw(hours),
    )

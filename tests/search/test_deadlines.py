"""Whatever hangs, an answer comes within three seconds and says what it is without (CASES S9, SPEC §4.8).

These run on a clock that jumps ahead whenever everybody waits: with the deadlines that ship, and without waiting.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from hindsight.cache.local import LocalCache
from hindsight.domain.entry import Entry
from hindsight.domain.episode import Episode
from hindsight.domain.memory import Kind, Memory
from hindsight.domain.page import Order, Page, Use
from hindsight.domain.query import Answer, Filters, Query, Scored, SearchResult
from hindsight.domain.session import Working
from hindsight.domain.surroundings import Surroundings
from hindsight.index.exact import ExactVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.models.fake import FakeEmbedder
from hindsight.observe.trace import Trace
from hindsight.ports import LanguageModel
from hindsight.search.answers import Answers
from hindsight.search.look import Expansion
from hindsight.search.pipeline import Searcher, SearchSettings
from hindsight.search.rerank import Reranking
from hindsight.search.rewrite import Rewriter
from hindsight.storage.oracle import OracleStore
from tests.search.made import NOW, SPACE, StoppedClock, World, contents, memory

LONGEST = 3.0  # SPEC §4.8
Done = TypeVar("Done")
HELD = memory(1, "用户对花生过敏", kind=Kind.CONSTRAINT, importance=0.95), memory(2, "The train to Oslo leaves at nine")


class _Jumping(selectors.DefaultSelector):
    """Where it would wait for a timer, lets the time pass instead."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found: list[tuple[selectors.SelectorKey, int]] = super().select(0 if timeout else timeout)
        if not found and timeout:
            self.passed += timeout
        return found


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock counts only what is waited for."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.passed

    def run_in_executor(self, executor: object, func: Callable[..., Any], *args: object) -> asyncio.Future[Any]:
        """At once: what runs in a thread takes no time here."""
        done: asyncio.Future[Any] = self.create_future()
        done.set_result(func(*args))
        return done


def timed(work: Callable[[], Awaitable[Done]]) -> tuple[Done, float]:
    """What the work gives, and the seconds it waited."""

    async def run() -> tuple[Done, float]:
        clock = asyncio.get_running_loop().time
        begun = clock()
        return await work(), clock() - begun

    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(run())


async def never() -> Any:
    await asyncio.Future()


class HangingEmbedder(FakeEmbedder):
    """Embeds what is stored, and never a question."""

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = await never()
        return vector


class HangingVectors(ExactVectorIndex):
    """Takes everything in and never answers."""

    async def search(
        self, namespace: str, vector: NDArray[np.float32], filters: Filters, *, limit: int
    ) -> Sequence[Scored]:
        found: Sequence[Scored] = await never()
        return found


class HangingWords(EmbeddedLexicalIndex):
    """Takes everything in and never answers."""

    async def search(self, namespace: str, terms: Sequence[str], filters: Filters, *, limit: int) -> Sequence[Scored]:
        found: Sequence[Scored] = await never()
        return found


class HangingSessions(EmbeddedLexicalIndex):
    """Finds words, but not what stands around them."""

    async def around(self, namespace: str, terms: Sequence[str], filters: Filters, ids: Sequence[str]) -> Surroundings:
        found: Surroundings = await never()
        return found


class HangingStore(OracleStore):
    """The readings named in `hanging` never end."""

    hanging: frozenset[str] = frozenset()

    async def _pass(self, name: str) -> None:
        if name in self.hanging:
            await never()

    async def head(self, namespace: str) -> int:
        await self._pass("head")
        return await super().head(namespace)

    async def find(
        self,
        namespace: str,
        filters: Filters,
        *,
        order: Order = Order.NEWEST,
        limit: int = 50,
        after: str | None = None,
    ) -> Page[Memory]:
        await self._pass("find")
        return await super().find(namespace, filters, order=order, limit=limit, after=after)

    async def working(self, namespace: str, session_id: str, *, now: datetime, turns: int) -> Working | None:
        await self._pass("working")
        return await super().working(namespace, session_id, now=now, turns=turns)

    async def uses(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Use]:
        await self._pass("uses")
        return await super().uses(namespace, ids)

    async def entries(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Entry]:
        await self._pass("entries")
        return await super().entries(namespace, ids)

    async def about(self, namespace: str, topics: Sequence[str], *, limit: int) -> Mapping[str, Sequence[str]]:
        await self._pass("about")
        return await super().about(namespace, topics, limit=limit)

    async def memories_and_episodes(
        self, namespace: str, memory_ids: Sequence[str], episode_ids: Sequence[str]
    ) -> tuple[Mapping[str, Memory], Mapping[str, Episode]]:
        await self._pass("memories_and_episodes")
        return await super().memories_and_episodes(namespace, memory_ids, episode_ids)


class HangingModel:
    """A language model that never answers."""

    model = "hanging"

    async def complete(self, system: str, prompt: str, **options: object) -> Any:
        return await never()

    async def aclose(self) -> None:
        """Nothing is held."""


class HangingReranker:
    """A reranker that never answers, nor keeps to the time it is given."""

    model = "hanging"

    async def score(self, query: str, texts: Sequence[str], *, within: float) -> Sequence[float]:
        found: Sequence[float] = await never()
        return found

    async def warm(self) -> None:
        """Nothing to load."""

    async def aclose(self) -> None:
        """Nothing is held."""


class HangingCache(LocalCache):
    """Neither gives nor takes."""

    async def get(self, namespace: str, key: str) -> Answer | None:
        found: Answer | None = await never()
        return found

    async def put(self, namespace: str, key: str, answer: Answer) -> None:
        await never()


def ask(
    text: str, *, hanging: Sequence[str] = (), session_id: str | None = None, cached: bool = False, **parts: Any
) -> tuple[SearchResult, float]:
    """The answer over `HELD`, and how long it took; `hanging` once everything is stored."""
    reranking: Reranking | None = parts.pop("reranking", None)
    settings = parts.pop("settings", SearchSettings())

    async def work() -> tuple[SearchResult, float]:
        store = HangingStore()
        world = World(store=store, settings=settings, **parts)
        await world.holds(*HELD)
        await world.finds("kettle")  # the indexes are level
        store.hanging = frozenset(hanging)
        searcher = Searcher(world.store, world.projection, world.embedder, StoppedClock(), settings, reranking)
        cache = HangingCache(StoppedClock()) if cached else LocalCache(StoppedClock())
        answers = Answers(searcher, world.store, StoppedClock(), cache)
        clock = asyncio.get_running_loop().time
        begun = clock()
        result = await answers.search(SPACE, Query(text, NOW, session_id=session_id), Trace("t", SPACE, "search"))
        return result, clock() - begun

    return timed(work)[0]


QUESTIONS = ("花生过敏", "When does the train to Oslo leave?")
PARTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "embedder": ({"embedder": HangingEmbedder()}, {"vector"}),
    "vector index": ({"vector": HangingVectors()}, {"vector"}),
    "keyword index": ({"lexical": HangingWords()}, {"keyword"}),
    "sessions": ({"lexical": HangingSessions()}, {"context"}),
    "standing memories": ({"hanging": ["find"]}, {"standing"}),
    "use counts": ({"hanging": ["uses"]}, set()),
    "working memory": ({"hanging": ["working"], "session_id": "s1"}, {"working"}),
    "cache": ({"cached": True}, set()),
    "reranker": ({"reranking": Reranking(HangingReranker(), deadline=2.5)}, {"rerank"}),
    "embedder and reranker": (
        {"embedder": HangingEmbedder(), "reranking": Reranking(HangingReranker(), deadline=2.5)},
        {"vector", "rerank"},
    ),
    "embedder, cache, standing and working memories": (
        {"embedder": HangingEmbedder(), "cached": True, "hanging": ["find", "working"], "session_id": "s1"},
        {"vector", "standing", "working"},
    ),
    "embedder and sessions": ({"embedder": HangingEmbedder(), "lexical": HangingSessions()}, {"vector", "context"}),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("part", PARTS)
def test_whatever_hangs_the_rest_answers_in_time_and_names_it(part: str, question: str) -> None:
    parts, missing = PARTS[part]
    result, seconds = ask(question, **parts)
    assert contents(result)[0] == HELD[QUESTIONS.index(question)].content
    assert set(result.degraded) == missing
    assert seconds <= LONGEST


@pytest.mark.parametrize("question", ["什么时候浇花？", "What is watered when?"])
def test_a_language_model_that_hangs_is_given_up(question: str) -> None:
    model: LanguageModel = HangingModel()  # type: ignore[assignment]  # as much of one as is asked for
    result, seconds = ask(question, settings=SearchSettings(expansion=Expansion(rewriter=Rewriter(model))))
    assert "expansion" in result.degraded
    assert seconds <= LONGEST


@pytest.mark.parametrize("reading", ["head", "memories_and_episodes"])
def test_a_store_that_hangs_where_nothing_can_be_said_without_it_gives_an_empty_answer(reading: str) -> None:
    result, seconds = ask("火车几点开？", hanging=[reading])
    assert result.hits == ()
    assert "store" in result.degraded
    assert seconds <= LONGEST


def test_a_store_that_hangs_altogether_is_given_up_in_time_under_a_session_too() -> None:
    every = ["head", "find", "working", "uses", "entries", "about", "memories_and_episodes"]
    result, seconds = ask("花生", hanging=every, session_id="s1", cached=True)
    assert (result.hits, result.confident) == ((), False)
    assert "没有找到" in result.context
    assert seconds <= LONGEST

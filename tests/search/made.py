"""A small world to search: a store with real indexes, filled with what a test says happened."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hindsight.domain.change import Act, Batch, Embedding, Put
from hindsight.domain.entry import entry_of_memory
from hindsight.domain.episode import Episode
from hindsight.domain.experience import Action, Experience, Outcome, OutcomeStatus, Trigger
from hindsight.domain.memory import Kind, Layer, Memory, Source, Statement
from hindsight.domain.query import Filters, Query, SearchResult
from hindsight.index.exact import ExactVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.language.fold import fold
from hindsight.models.fake import FakeEmbedder
from hindsight.observe.trace import Trace
from hindsight.ports import Embedder, LexicalIndex, Store, VectorIndex
from hindsight.projection import Projection
from hindsight.search.pipeline import Searcher, SearchSettings
from hindsight.search.routes import KEYWORD, VECTOR, Routes
from hindsight.storage.oracle import OracleStore

NOW = datetime(2024, 3, 1, 12, 0, tzinfo=UTC)
SPACE = "ann"
# A busy machine must not decide a test: deadlines are short only where one is to pass.
PATIENT = SearchSettings(routes=Routes(deadlines={VECTOR: 60.0, KEYWORD: 60.0}), deadline=60.0)


class StoppedClock:
    """It is always `NOW`."""

    def now(self) -> datetime:
        return NOW


def an_id(number: int) -> str:
    """Ids of 26 characters that rise with their number and differ in their last eight."""
    return f"{number:026d}"


def memory(number: int, content: str, **changes: object) -> Memory:
    """A fact said a month before `NOW`, unless `changes` say otherwise."""
    plain = Memory(
        id=an_id(number),
        namespace=SPACE,
        content=content,
        layer=Layer.SEMANTIC,
        kind=Kind.FACT,
        occurred_at=NOW - timedelta(days=30),
        timezone="UTC",
        created_at=NOW - timedelta(days=30),
        updated_at=NOW - timedelta(days=30),
        content_key=f"{number}/{fold(content)}",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # names and types of fields, as tests write them


def episode(number: int, content: str, **changes: object) -> Episode:
    """Something said a month before `NOW`."""
    plain = Episode(
        id=an_id(number),
        namespace=SPACE,
        content=content,
        occurred_at=NOW - timedelta(days=30),
        recorded_at=NOW - timedelta(days=30),
        timezone="UTC",
        key=f"key-{number}",
    )
    return replace(plain, **changes)  # type: ignore[arg-type]  # as above


def experience(
    number: int,
    trigger: str,
    *steps: str,
    status: OutcomeStatus = OutcomeStatus.SUCCESS,
    confidence: int = 50,
) -> Memory:
    """A procedural memory."""
    body = Experience(Trigger(trigger), Action(steps), Outcome(status, confidence))
    return memory(number, trigger, kind=Kind.EXPERIENCE, layer=Layer.PROCEDURAL, body=body)


def resting_on(said: Episode, memory: Memory) -> Memory:
    """The memory, with the whole of an episode as its source."""
    return replace(memory, sources=(Source(said.id, 0, len(said.content)),), session_id=said.session_id)


def about_user(slot: str, value: str) -> Statement:
    return Statement("user", slot, value)


class World:
    """A store, its indexes and a searcher over them; each part can be put in place of another."""

    def __init__(
        self,
        *,
        embedder: Embedder | None = None,
        lexical: LexicalIndex | None = None,
        vector: VectorIndex | None = None,
        store: Store | None = None,
        settings: SearchSettings | None = None,
    ) -> None:
        self.store: Store = store or OracleStore()
        self.embedder = embedder or FakeEmbedder()
        self.projection = Projection(
            self.store, lexical or EmbeddedLexicalIndex(), vector or ExactVectorIndex(),
            model=self.embedder.model,
        )  # fmt: skip
        self.searcher = Searcher(self.store, self.projection, self.embedder, StoppedClock(), settings or PATIENT)
        self.trace = Trace("none", SPACE, "search")
        self._batches = 0

    async def holds(self, *things: Memory | Episode, namespace: str = SPACE) -> None:
        """Store these, with their vectors."""
        self._batches += 1
        memories = [thing for thing in things if isinstance(thing, Memory)]
        episodes = [thing for thing in things if isinstance(thing, Episode)]
        texts = [(said.id, said.content) for said in episodes]
        texts += [(made.id, entry_of_memory(made).content) for made in memories]
        vectors = await self.embedder.embed([text for _, text in texts])
        await self.store.apply(
            Batch(
                namespace,
                key=f"batch-{self._batches}",
                at=NOW,
                episodes=tuple(episodes),
                puts=tuple(Put(made, None, Act.ADDED) for made in memories),
                embeddings=tuple(
                    Embedding(entry_id, self.embedder.model, vector)
                    for (entry_id, _), vector in zip(texts, vectors, strict=True)
                ),
            )
        )

    async def search(
        self,
        text: str,
        *,
        top_k: object = None,
        filters: Filters | None = None,
        max_tokens: int | None = None,
        namespace: str = SPACE,
    ) -> SearchResult:
        """Ask, and keep the trace in `trace`."""
        self.trace = Trace("trace-1", namespace, "search")
        query = Query(text, NOW, filters=filters or Filters(), max_tokens=max_tokens)
        return await self.searcher.search(
            namespace,
            replace(query, top_k=top_k),  # type: ignore[arg-type]  # also what callers send in error
            self.trace,
        )

    async def finds(self, text: str, **options: object) -> list[str]:
        """The contents of the hits."""
        return contents(await self.search(text, **options))  # type: ignore[arg-type]  # options of `search`


def contents(result: SearchResult) -> list[str]:
    return [hit.content for hit in result.hits]

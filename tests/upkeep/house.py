"""What the tests of this folder share: a clock that goes through years, a model that answers as told, a full house."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from hindsight.domain.change import Act, Batch, Embedding, Put
from hindsight.domain.cleaning import CleanRules
from hindsight.domain.completion import Completion
from hindsight.domain.episode import Episode, JsonValue
from hindsight.domain.memory import Kind, Layer, Memory, Source, Status
from hindsight.domain.query import Filters, Query
from hindsight.errors import HindsightError
from hindsight.index.exact import ExactVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.observe.trace import Trace
from hindsight.projection import Projection
from hindsight.search.pipeline import Searcher, SearchSettings
from hindsight.search.routes import KEYWORD, VECTOR, Routes
from hindsight.upkeep.alike import Twins
from hindsight.upkeep.cleanup import CLEAN_JOB, CONSOLIDATE_JOB, Cleaner
from hindsight.upkeep.consolidate import Consolidator
from hindsight.upkeep.jobs import JobPolicy, Worker
from hindsight.upkeep.telling import Teller
from tests.write.house import SPACE, House, SteppingClock

START = datetime(2020, 1, 6, 9, 0, tzinfo=UTC)
PATIENT = SearchSettings(routes=Routes(deadlines={VECTOR: 60.0, KEYWORD: 60.0}), deadline=60.0)


@dataclass
class LongClock(SteppingClock):
    """A second with each look, and years when told."""

    moment: datetime = START

    def passes(self, **span: float) -> None:
        self.moment += timedelta(**span)


@dataclass
class Scripted:
    """A language model that gives the next of its answers, or what a function makes of the request."""

    answers: list[str | HindsightError] = field(default_factory=list)
    reply: Callable[[str, str], str] | None = None
    model: str = "scripted"
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, JsonValue] | None = None, max_tokens: int
    ) -> Completion:
        self.asked.append((system, user))
        answer = self.answers.pop(0) if self.answers else (self.reply or _nothing)(system, user)
        if isinstance(answer, HindsightError):
            raise answer
        return Completion(answer)

    async def aclose(self) -> None:
        return None


def _nothing(system: str, user: str) -> str:
    return '{"items": []}'


@dataclass
class Home(House):
    """A house with a searcher, whose clock goes through years."""

    clock: LongClock = field(default_factory=LongClock)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.projection = Projection(self.store, EmbeddedLexicalIndex(), ExactVectorIndex(), model=self.embedder.model)
        self.searcher = Searcher(self.store, self.projection, self.embedder, self.clock, PATIENT)

    def trace(self) -> Trace:
        return Trace("trace", "space", "test")

    def cleaner(self, model: Scripted | None = None, *, owner: str = "one", **rules: object) -> Cleaner:
        """A clean-up of this house, with limits of its own by name."""
        return Cleaner(
            self.store,
            self.embedder,
            self.clock,
            self.ids,
            twins=Twins(self.store, self.embedder, self.projection.near_each, self.clock, self.ids),
            consolidator=Consolidator(
                self.store, self.embedder, self.clock, self.ids, Teller(model) if model is not None else None
            ),
            owner=owner,
            rules=CleanRules(**rules),  # type: ignore[arg-type]  # fields by name
        )

    async def keeps(self, content: str, **changes: object) -> Memory:
        """A memory as a test wants it, past the rules of writing."""
        at = self.clock.now()
        plain = Memory(
            id=self.ids.new(), namespace=SPACE, content=content, layer=Layer.SEMANTIC, kind=Kind.FACT,
            occurred_at=at, timezone="UTC", created_at=at, updated_at=at, content_key=f"key of {content}",
        )  # fmt: skip
        memory = replace(plain, **changes)  # type: ignore[arg-type]  # fields by name
        (vector,) = await self.embedder.embed([content])
        embedding = Embedding(memory.id, self.embedder.model, vector)
        await self.store.apply(
            Batch(SPACE, self.ids.new(), at, puts=(Put(memory, None, Act.ADDED),), embeddings=(embedding,))
        )
        return memory

    async def happened(self, content: str, *, session_id: str | None = None, **changes: object) -> Memory:
        """An event that rests on a turn of its own, which it does not say as a whole."""
        at = self.clock.now()
        episode = Episode(
            self.ids.new(), SPACE, f"{content} So much for that.", at, at, "UTC", self.ids.new(), session_id=session_id
        )
        await self.store.apply(Batch(SPACE, self.ids.new(), at, episodes=(episode,)))
        source = Source(episode.id, 0, len(content))
        return await self.keeps(
            content, layer=Layer.EPISODIC, kind=Kind.EVENT, session_id=session_id, sources=(source,), **changes
        )

    def query(self, text: str, *, as_of: datetime | None = None) -> Query:
        """A question asked now."""
        return Query(text, self.clock.now(), filters=Filters(as_of=as_of), timezone="UTC")

    async def now(self, memory: Memory) -> Memory:
        """A memory as it is stored."""
        return (await self.store.memories(SPACE, [memory.id]))[memory.id]

    async def status(self, memory: Memory) -> Status:
        return (await self.now(memory)).status


async def a_session(home: Home, session: str, count: int = 8) -> list[Memory]:
    subjects = ("Ann planted apple trees", "Bob sold his blue boat", "Carol broke the kitchen window",
                "Dora won the chess final", "Emil painted the barn red", "Fay lost her passport in Rome",
                "Gus repaired the old clock", "Hal burnt the birthday cake")  # fmt: skip
    return [await home.happened(f"{one} in {session}.", session_id=session) for one in subjects[:count]]


async def a_year(home: Home) -> list[Memory]:
    """Something for each rule, and facts that stay."""
    made = await a_session(home, "s1")
    made += await a_session(home, "s2", count=5)
    made += [await home.keeps(f"trifle {number}", importance=0.1) for number in range(6)]
    made += [await home.keeps(f"plan {n}", valid_to=home.clock.now() + timedelta(days=9)) for n in range(3)]
    made += [await home.keeps("用户住在 Lisbon"), await home.keeps("用户住在 lisbon")]
    made += [
        await home.keeps("用户的项目叫晨星"),
        await home.keeps("用户对花生过敏", kind=Kind.CONSTRAINT, importance=0.95),
    ]
    home.clock.passes(days=400)
    return made


async def all_of(home: Home) -> list[Memory]:
    """Every memory, whatever its status."""
    return list((await home.store.find(SPACE, Filters(statuses=tuple(Status), episodes=False), limit=500)).items)


async def worked(home: Home, model: Scripted | None = None) -> None:
    """Do the jobs that are due within the next days."""
    cleaner = home.cleaner(model, owner="worker")
    handlers = {CLEAN_JOB: cleaner.work, CONSOLIDATE_JOB: cleaner.consolidate}
    worker = Worker(home.store, home.clock, handlers, owner="worker", policy=JobPolicy(attempts=32))
    home.clock.passes(days=1)
    while await worker.run_one():
        home.clock.passes(hours=2)

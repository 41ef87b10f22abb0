"""A writer with everything it needs, for the tests of this folder; only the clock and the ids are made up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hindsight.domain.change import Receipt
from hindsight.domain.episode import Episode, EpisodeState, Message, Role
from hindsight.domain.memory import Memory, Status
from hindsight.domain.page import Order
from hindsight.domain.query import Filters
from hindsight.index.exact import ExactVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.models.fake import FakeEmbedder
from hindsight.observe.trace import Trace
from hindsight.ports import Embedder, Store
from hindsight.projection import Projection
from hindsight.storage.oracle import OracleStore
from hindsight.write.amend import Amender
from hindsight.write.extract import Extractor
from hindsight.write.extract.rules import RuleExtractor, candidates
from hindsight.write.judge import Judge
from hindsight.write.pipeline import WritePolicy, Writer
from hindsight.write.request import WriteRequest

SPACE = "space"
START = datetime(2024, 1, 15, 9, 0, tzinfo=UTC)


@dataclass
class SteppingClock:
    """Moves a second with each look."""

    moment: datetime = START

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


@dataclass
class CountingIds:
    """Ids that rise; `prefix` keeps those of two writers apart."""

    prefix: str = "a"
    count: int = 0

    def new(self) -> str:
        self.count += 1
        return f"{self.prefix * 10}{self.count:016d}"


@dataclass
class House:
    """Writer, amender and what they stand on."""

    store: Store = field(default_factory=OracleStore)
    embedder: Embedder = field(default_factory=FakeEmbedder)
    extractor: Extractor = field(default_factory=RuleExtractor)
    policy: WritePolicy = field(default_factory=lambda: WritePolicy(floor=0.6))
    clock: SteppingClock = field(default_factory=SteppingClock)
    ids: CountingIds = field(default_factory=CountingIds)
    judge: Judge | None = None

    def __post_init__(self) -> None:
        projection = Projection(self.store, EmbeddedLexicalIndex(), ExactVectorIndex(), model=self.embedder.model)
        self.writer = Writer(
            self.store,
            self.embedder,
            self.clock,
            self.ids,
            extractor=self.extractor,
            neighbours=projection.near_each,
            owner=f"writer-{self.ids.prefix}",
            policy=self.policy,
            judge=self.judge,
        )
        self.amender = Amender(
            self.store,
            self.embedder,
            self.clock,
            self.ids,
            extractor=self.extractor,
            neighbours=projection.near_each,
            policy=self.policy,
        )

    def trace(self) -> Trace:
        return Trace("trace", SPACE, "write")

    async def say(self, *contents: str, session_id: str | None = None, speaker: str | None = None) -> Receipt:
        """Write what a user says now."""
        request = WriteRequest(tuple(Message(one, speaker=speaker) for one in contents), session_id=session_id)
        return await self.write(request)

    async def write(self, request: WriteRequest) -> Receipt:
        return await self.writer.write(SPACE, request, self.trace())

    async def active(self) -> list[Memory]:
        """Active memories, oldest first."""
        page = await self.store.find(SPACE, Filters(statuses=(Status.ACTIVE,)), order=Order.OLDEST, limit=500)
        return list(page.items)

    async def contents(self) -> list[str]:
        return [memory.content for memory in await self.active()]

    async def state(self, episode_id: str) -> EpisodeState:
        """How an episode answers, told from its index entry."""
        entry = (await self.store.entries(SPACE, [episode_id])).get(episode_id)
        if entry is None:
            return EpisodeState.COVERED
        return EpisodeState.OPEN if entry.status is Status.ACTIVE else EpisodeState.CLOSED


def stated(text: str) -> str:
    """The words a text is kept in: those of its statement («我» is «用户»), where the rules read one out of it."""
    found = candidates(Episode("e", SPACE, text, START, START, "UTC", "k"))
    return found[0].content if found else text


def transcript(turns: Sequence[str], *, session_id: str = "s1") -> WriteRequest:
    """A conversation with times, as an import brings it: user and assistant by turns."""
    return WriteRequest(
        tuple(
            Message(
                turn,
                role=Role.USER if number % 2 == 0 else Role.ASSISTANT,
                occurred_at=START + timedelta(minutes=number),
            )
            for number, turn in enumerate(turns)
        ),
        session_id=session_id,
    )

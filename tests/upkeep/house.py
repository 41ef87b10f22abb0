"""What the tests of this folder share: a clock that goes through years, a model that answers as told, a full house."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from hindsight.domain.completion import Completion
from hindsight.domain.episode import JsonValue
from hindsight.errors import HindsightError
from hindsight.index.exact import ExactVectorIndex
from hindsight.index.lexical import EmbeddedLexicalIndex
from hindsight.observe.trace import Trace
from hindsight.projection import Projection
from hindsight.search.pipeline import Searcher, SearchSettings
from hindsight.search.routes import KEYWORD, VECTOR, Routes
from tests.write.house import House, SteppingClock

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

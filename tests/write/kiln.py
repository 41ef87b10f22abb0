"""A house that reads with a language model behind a loopback server, and a text for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias

from hindsight.domain.change import Job
from hindsight.models.breaker import Breaker
from hindsight.models.endpoint import Endpoint
from hindsight.models.ledger import Ledger
from hindsight.models.llm import ChatModel, LlmPolicy
from hindsight.models.wire import OpenAIChat
from hindsight.upkeep.jobs import JobPolicy, Worker
from hindsight.write.extract.llm import LlmExtractor
from hindsight.write.extract.llm_judge import LlmJudge
from hindsight.write.pipeline import WritePolicy
from hindsight.write.reread import REREAD_JOB
from hindsight.write.task import DISTIL_JOB
from tests.models.chat_server import items
from tests.models.openai_server import EmbeddingServer
from tests.write.house import SPACE, House, SteppingClock

# The rules know the first statement of each text, the model the second.
SAID = "我住在北京。蓝窑烧到九号锥。"
RULE, MODEL = "用户住在北京", "蓝窑烧到九号锥"
ROW = {"quote": MODEL, "statement": MODEL, "kind": "fact", "subject": "蓝窑", "slot": "other", "value": "九号锥"}
WHOLE = items({"turn": 1, **ROW})


@dataclass
class Kiln:
    """A house that reads with a model behind a loopback server."""

    server: EmbeddingServer
    joined: bool = True
    timeout: float = 5.0
    breaker: Breaker = field(default_factory=lambda: Breaker(failures=1_000))
    policy: LlmPolicy = field(default_factory=LlmPolicy)
    ledger: Ledger = field(default_factory=Ledger)
    attempts: int = 8
    judging: bool = False
    judge_seconds: float = 5.0
    patience: float = 5.0

    def __post_init__(self) -> None:
        async def at_once(seconds: float) -> None:
            return None

        self.model = ChatModel(
            Endpoint(self.server.url, timeout=self.timeout, sleep=at_once),
            OpenAIChat(),
            "m",
            SteppingClock(),
            ledger=self.ledger,
            breaker=self.breaker,
            policy=self.policy,
        )
        self.house = House(
            extractor=LlmExtractor(self.model, joined=self.joined),
            policy=WritePolicy(floor=0.6, patience=self.patience, judge_seconds=self.judge_seconds),
            judge=LlmJudge(self.model) if self.judging else None,
        )

    async def work(self) -> None:
        """Do the jobs that are due within an hour."""
        house = self.house

        async def distil(job: Job, owner: str) -> None:
            await house.writer.distil(job, owner, house.trace())

        async def reread(job: Job, owner: str) -> None:
            await house.writer.reread(job, owner, house.trace())

        house.clock.moment += timedelta(hours=1)
        handlers = {DISTIL_JOB: distil, REREAD_JOB: reread}
        worker = Worker(house.store, house.clock, handlers, owner="w", policy=JobPolicy(attempts=self.attempts))
        while await worker.run_one():
            pass

    async def jobs(self) -> list[Job]:
        return list(await self.house.store.jobs(SPACE))


Make: TypeAlias = Callable[..., Kiln]

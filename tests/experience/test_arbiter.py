"""A language model rules where the rules doubt: over real sockets, well and badly, never on a look-alike."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hindsight import AsyncHindsight
from hindsight.config import load
from hindsight.domain.change import JobState, OutcomeAction, Receipt
from hindsight.domain.experience import Action, Experience, Outcome, OutcomeStatus, Trigger
from hindsight.domain.memory import Memory
from hindsight.domain.query import Filters
from hindsight.experience.alike import apart, covers, look_alike
from hindsight.experience.arbiter import LlmArbiter
from hindsight.experience.feedback import Feedback
from hindsight.experience.merge import MERGE_JOB, Merger
from hindsight.experience.record import Recorder, parse_experience
from hindsight.models.breaker import Breaker
from hindsight.models.endpoint import Endpoint
from hindsight.models.ledger import Ledger
from hindsight.models.llm import ChatModel, LlmPolicy
from hindsight.models.wire import AnthropicMessages, OpenAIChat, Wire
from hindsight.observe.trace import Trace
from hindsight.storage.oracle import OracleStore
from hindsight.upkeep.jobs import JobPolicy, Worker
from hindsight.write.undo import take_back
from tests.models.chat_server import chat, messages
from tests.models.openai_server import Asked, EmbeddingServer, Hang, Reply
from tests.write.house import SPACE, CountingIds, SteppingClock

# Alike, and each says something that the other does not: rules keep these apart.
EN = ("docker build times out behind the proxy", "docker build hangs behind the proxy")
ZH = ("合并请求的流水线卡在排队", "合并请求的流水线一直排队")
DOUBTFUL = (EN, ZH)
LOOK_ALIKES = (
    ("pip install fails with TLS error", "npm install fails with TLS error"),
    ("convert the PDF to Markdown", "convert the Markdown to PDF"),
    ("create the weekly report", "delete the weekly report"),
    ("restart the worker on port 8080", "restart the worker on port 8081"),
    ("在 github.com 上建仓库", "在 gitlab.com 上建仓库"),
    ("从飞书导出周报", "从钉钉导出周报"),
)
WHY = "both wait for the proxy"
SAME = {"pair": 1, "answer": "same", "trigger": "", "why": WHY}


def ruling(*rows: object) -> Callable[[Asked], Reply]:
    return lambda asked: chat(json.dumps({"items": rows}, ensure_ascii=False))


def questions(server: EmbeddingServer) -> list[str]:
    return [asked.body["messages"][-1]["content"] for asked in server.asked]


@dataclass
class Office:
    """Experiences in a store, and a model behind a loopback server that is asked about them."""

    server: EmbeddingServer
    policy: LlmPolicy = field(default_factory=LlmPolicy)
    breaker: Breaker = field(default_factory=lambda: Breaker(failures=1_000))
    timeout: float = 5.0
    wire: Wire = field(default_factory=OpenAIChat)
    attempts: int = 8

    def __post_init__(self) -> None:
        async def at_once(seconds: float) -> None:
            return None

        self.store, self.clock, self.ids, self.ledger = OracleStore(), SteppingClock(), CountingIds(), Ledger()
        self.model = ChatModel(
            Endpoint(self.server.url, timeout=self.timeout, sleep=at_once),
            self.wire,
            "m",
            self.clock,
            ledger=self.ledger,
            breaker=self.breaker,
            policy=self.policy,
        )
        self.merger = Merger(self.store, None, None, self.clock, self.ids, LlmArbiter(self.model))
        self.recorder = Recorder(self.store, None, self.clock, self.ids, self.merger)
        self.feedback = Feedback(self.store, self.clock, self.ids)

    async def write(self, trigger: str, *steps: str, failed: bool = False) -> Receipt:
        status = OutcomeStatus.FAILURE if failed else OutcomeStatus.SUCCESS
        request = parse_experience(trigger, steps or ("act",), outcome_status=status)
        return await self.recorder.record(SPACE, request, Trace("trace", SPACE, "write"))

    async def both(self, pair: tuple[str, str]) -> Receipt:
        await self.write(pair[0], "use the mirror")
        return await self.write(pair[1], "set the variables")

    async def work(self) -> None:
        """Do the jobs that are due within an hour."""
        self.clock.moment += timedelta(hours=1)
        policy = JobPolicy(attempts=self.attempts)
        worker = Worker(self.store, self.clock, {MERGE_JOB: self.merger.judge}, owner="w", policy=policy)
        while await worker.run_one():
            pass

    async def active(self) -> list[Memory]:
        return list((await self.store.find(SPACE, Filters(episodes=False), limit=100)).items)

    async def undo(self, token: str | None) -> Receipt:
        assert token is not None
        return await take_back(self.store, None, self.clock, self.ids, SPACE, token)


@pytest.fixture
async def office(server: EmbeddingServer) -> AsyncIterator[Callable[..., Office]]:
    made: list[Office] = []

    def make(**options: Any) -> Office:
        made.append(Office(server, **options))
        return made[-1]

    yield make
    for one in made:
        await one.model.aclose()


Make = Callable[..., Office]


def body_of(memory: Memory) -> Experience:
    assert isinstance(memory.body, Experience)
    return memory.body


def told(trigger: str) -> Experience:
    return Experience(Trigger(trigger), Action(("act",)), Outcome())


# What it may say -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", DOUBTFUL)
async def test_a_doubtful_pair_is_merged_by_a_job_where_the_model_calls_it_the_same(
    server: EmbeddingServer, office: Make, pair: tuple[str, str]
) -> None:
    server.answer = ruling(SAME)
    one = office()
    receipt = await one.both(pair)
    assert receipt.outcomes[0].action is OutcomeAction.ADDED, "who writes does not wait for the model"
    assert questions(server) == []
    before = {memory.id: memory for memory in await one.active()}
    await one.work()
    (whole,) = await one.active()
    body = body_of(whole)
    assert set(body.originals) == set(before)
    assert {way.action.steps for way in body.ways} == {("use the mirror",), ("set the variables",)}
    assert body.trigger.context in pair
    history = await one.store.history(SPACE, whole.id)
    assert history[-1].reason == f"judged by m (merge 1): {WHY}"
    assert [job.state for job in await one.store.jobs(SPACE)] in ([], [JobState.DONE])
    await one.undo(receipt.undo)
    (left,) = await one.active()
    assert replace(left, version=1, updated_at=left.created_at) == before[body.originals[0]]


async def test_the_merge_alone_can_be_taken_back_and_is_not_asked_for_again(
    server: EmbeddingServer, office: Make
) -> None:
    server.answer = ruling(SAME)
    one = office()
    receipt = await one.both(EN)
    before = {memory.id: body_of(memory) for memory in await one.active()}
    await one.work()
    await one.undo(f"merge:{receipt.undo}:1")
    assert {memory.id: body_of(memory) for memory in await one.active()} == before
    assert (await one.merger.sweep(SPACE)).outcomes == ()
    assert len(questions(server)) == 1


async def test_a_sweep_asks_about_what_is_kept_already_and_one_token_takes_it_back(
    server: EmbeddingServer, office: Make
) -> None:
    server.answer = ruling(SAME, {**SAME, "pair": 2, "why": "the same queue"})
    one = office()
    one.recorder = replace(one.recorder, merger=replace(one.merger, arbiter=None))
    for pair in DOUBTFUL:
        await one.both(pair)
    before = {memory.id: body_of(memory) for memory in await one.active()}
    receipt = await one.merger.sweep(SPACE, actor="ann")
    assert [outcome.action for outcome in receipt.outcomes] == [OutcomeAction.MERGED] * 2
    for outcome in receipt.outcomes:
        assert (await one.store.history(SPACE, outcome.memory_id or ""))[-1].actor == "ann"
    assert len(await one.active()) == 2
    assert len(questions(server)) == 1, "several pairs in one question"
    await one.undo(receipt.undo)
    assert {memory.id: body_of(memory) for memory in await one.active()} == before


async def test_three_for_one_situation_join_one_after_the_other(server: EmbeddingServer, office: Make) -> None:
    server.answer = ruling(SAME)
    one = office()
    await one.both(EN)
    await one.work()
    third = await one.write("docker build stalls behind the proxy", "ask the network team")
    await one.work()
    (whole,) = await one.active()
    assert len(body_of(whole).ways) == len(body_of(whole).originals) == 3
    await one.undo(third.undo)
    assert len(body_of((await one.active())[0]).ways) == 2


async def test_different_leaves_both(server: EmbeddingServer, office: Make) -> None:
    server.answer = ruling({**SAME, "answer": "different"})
    one = office()
    await one.both(EN)
    await one.work()
    assert len(await one.active()) == 2
    assert len(questions(server)) == 1
    assert [job for job in await one.store.jobs(SPACE) if job.state is not JobState.DONE] == []


async def test_anthropic_wire_is_understood_too(server: EmbeddingServer, office: Make) -> None:
    server.answer = lambda asked: messages(json.dumps({"items": [SAME]}))
    one = office(wire=AnthropicMessages())
    await one.both(EN)
    await one.work()
    assert len(await one.active()) == 1


# What it is not asked ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", LOOK_ALIKES)
async def test_a_look_alike_is_none_of_its_business(
    server: EmbeddingServer, office: Make, pair: tuple[str, str]
) -> None:
    server.answer = ruling(SAME)
    one = office()
    assert look_alike(told(pair[0]), told(pair[1]))
    await one.both(pair)
    await one.work()
    await one.merger.sweep(SPACE)
    assert len(await one.active()) == 2
    assert questions(server) == []


async def test_what_worked_and_what_failed_is_none_of_its_business(server: EmbeddingServer, office: Make) -> None:
    server.answer = ruling(SAME)
    one = office()
    await one.write(EN[0])
    await one.write(EN[1], failed=True)
    await one.work()
    assert (len(await one.active()), questions(server)) == (2, [])


async def test_what_the_rules_are_sure_of_costs_no_question(server: EmbeddingServer, office: Make) -> None:
    server.answer = ruling({**SAME, "answer": "different"})
    one = office()
    receipt = await one.both(("docker build times out", "Docker build timed out"))
    await one.write("the coffee machine is descaled")
    await one.work()
    assert receipt.outcomes[0].action is OutcomeAction.MERGED
    assert questions(server) == []


async def test_the_question_shows_situations_and_steps_as_data(server: EmbeddingServer, office: Make) -> None:
    server.answer = ruling()
    one = office()
    await one.both(EN)
    await one.work()
    assert questions(server) == [f"[1] known: {EN[0]} | use the mirror\n[1] new: {EN[1]} | set the variables"]
    form = server.asked[0].body["response_format"]["json_schema"]
    assert (form["name"], form["strict"]) == ("merge", True)


# How the trigger for both may read -----------------------------------------------------------------------------------


async def test_a_general_trigger_is_taken_where_it_says_nothing_of_its_own(
    server: EmbeddingServer, office: Make
) -> None:
    general = "docker build behind the proxy"
    server.answer = ruling({**SAME, "trigger": general})
    one = office()
    await one.both(EN)
    await one.work()
    (whole,) = await one.active()
    assert body_of(whole).trigger.context == general


@pytest.mark.parametrize(
    "invented",
    [
        "podman build behind the proxy",  # a tool
        "docker build behind the proxy of example.com",  # a site
        "docker build fails behind the proxy",  # a word
        "docker build behind proxy 2",  # a number
        "docker",  # not what both say
        "docker build behind the proxy using buildkit",
        "a task",
        "docker build times out or hangs behind the proxy, whichever of the two comes first",  # longer than both
        "构建卡在代理",
    ],
)
async def test_a_trigger_that_says_more_or_too_little_gives_way_to_that_of_the_rules(
    server: EmbeddingServer, office: Make, invented: str
) -> None:
    server.answer = ruling({**SAME, "trigger": invented})
    one = office()
    await one.both(EN)
    await one.work()
    (whole,) = await one.active()
    assert body_of(whole).trigger.context in EN


@pytest.mark.parametrize(
    ("general", "holds"),
    [
        ("合并请求的流水线排队", True),
        ("合并请求流水线一直排队", True),
        ("流水合并线排队", False),  # the same characters in other words
        ("合并请求的流水线排队超时", False),
        ("GitLab 合并请求的流水线排队", False),
    ],
)
def test_a_chinese_trigger_is_made_of_words_that_stand_in_the_two(general: str, holds: bool) -> None:
    assert covers(general, told(ZH[0]), told(ZH[1])) is holds


# How it may fail -----------------------------------------------------------------------------------------------------

RUBBISH: dict[str, Reply] = {
    "no list": chat("I think they are the same."),
    "items null": chat('{"items": null}'),
    "an empty list": chat('{"items": []}'),
    "another word": chat(json.dumps({"items": [{**SAME, "answer": "merge"}]})),
    "no reason": chat(json.dumps({"items": [{**SAME, "why": " "}]})),
    "another pair": chat(json.dumps({"items": [{**SAME, "pair": 2}]})),
    "two answers to one pair": chat(json.dumps({"items": [SAME, {**SAME, "answer": "different"}]})),
    "cut off": chat('{"items": [{"pair": 1, "answer": "same", "wh', finish="length"),
    "the prompt's example": chat(json.dumps({"items": [{**SAME, "why": "both want to leave the room later"}]})),
}


@pytest.mark.parametrize("fault", RUBBISH)
async def test_a_bad_answer_leaves_both_and_ends_the_job(server: EmbeddingServer, office: Make, fault: str) -> None:
    server.answer = lambda asked: RUBBISH[fault]
    one = office()
    await one.both(EN)
    await one.work()
    assert len(await one.active()) == 2
    assert [job for job in await one.store.jobs(SPACE) if job.state is not JobState.DONE] == []


async def test_a_model_that_is_away_is_asked_again_later(server: EmbeddingServer, office: Make) -> None:
    server.script = [Hang, Hang, Hang, Hang]
    server.answer = ruling(SAME)
    one = office(timeout=0.1)
    await one.both(EN)
    for _ in range(5):
        await one.work()
    assert len(await one.active()) == 1


async def test_a_sweep_says_that_the_model_was_away(server: EmbeddingServer, office: Make) -> None:
    server.answer = lambda asked: Reply(401, b"")
    one = office()
    await one.both(EN)
    receipt = await one.merger.sweep(SPACE)
    assert (receipt.outcomes, receipt.degraded) == ((), ("arbiter",))


async def test_at_the_days_cap_nothing_is_asked(server: EmbeddingServer, office: Make) -> None:
    server.answer = ruling(SAME)
    one = office(policy=LlmPolicy(daily_tokens=10))
    await one.both(EN)
    await one.work()
    assert (len(await one.active()), questions(server)) == (2, [])
    assert one.ledger.spent(one.clock.moment.date()).total == 0


async def test_what_was_undone_or_changed_meanwhile_stays_as_it_is(server: EmbeddingServer, office: Make) -> None:
    server.answer = ruling(SAME)
    one = office()
    receipt = await one.both(EN)
    await one.undo(receipt.undo)
    await one.work()
    assert (len(await one.active()), questions(server)) == (1, [])
    again = await one.write(EN[1], "set the variables")
    (known,) = [memory for memory in await one.active() if body_of(memory).trigger.context == EN[0]]
    await one.feedback.give(SPACE, known.id, OutcomeStatus.FAILURE)
    await one.feedback.give(SPACE, known.id, OutcomeStatus.FAILURE)  # a warning by now
    await one.work()
    assert again.undo is not None
    assert len(await one.active()) == 2


def test_rules_keep_the_doubtful_pairs_apart_only_by_their_words() -> None:
    for pair in DOUBTFUL:
        assert apart(told(pair[0]), told(pair[1])) == "each says something that the other does not"
        assert look_alike(told(pair[0]), told(pair[1])) is None


async def test_the_model_of_the_settings_is_asked(server: EmbeddingServer, tmp_path: Path) -> None:
    server.answer = ruling(SAME)
    settings = load(data_dir=tmp_path, embedding_model="none", llm_model="m", llm_base_url=server.url)
    async with AsyncHindsight(settings=settings) as memory:
        for trigger in EN:
            await memory.write_experience(trigger, ["act"])
        await memory.merge_experiences()
    assert set(questions(server)) == {f"[1] known: {EN[0]} | act\n[1] new: {EN[1]} | act"}

"""Random histories of writing, feedback, merging, pruning and undoing: nothing is lost, and undo is exact."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hindsight.domain.confidence import record
from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.domain.memory import Memory, Status
from hindsight.domain.query import Filters
from hindsight.errors import Conflict, InvalidInput
from hindsight.experience.feedback import Feedback
from hindsight.experience.merge import Merger
from hindsight.experience.prune import PURGE_AFTER, Pruner, Wanted
from hindsight.experience.record import Recorder, parse_experience
from hindsight.experience.ways import action_of
from hindsight.observe.trace import Trace
from hindsight.storage.oracle import OracleStore
from hindsight.write.undo import take_back

SPACE = "space"
START = datetime(2024, 1, 15, 9, tzinfo=UTC)
Answer = TypeVar("Answer")
State = dict[str, Memory]

# Of each line the first two are one situation; the third is a look-alike.
TRIGGERS = (
    *("pip install fails with TLS error", "pip install fails with a TLS error", "npm install fails with TLS error"),
    *("用户要求把 PDF 转换成 Markdown", "把 PDF 转换成 Markdown", "把 Markdown 转换成 PDF"),
    *("docker build times out", "Docker build timed out", "docker push times out"),
)
STEPS = (("retry",), ("clear the cache", "retry"), ("ask an operator",))


@dataclass
class Clock:
    moment: datetime = START

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


@dataclass
class Ids:
    count: int = 0

    def new(self) -> str:
        self.count += 1
        return f"{self.count:026d}"


@dataclass
class Undoable:
    """A call that can be taken back: its token, the state before it, and the change it made."""

    token: str
    before: State
    change: int


@dataclass
class World:
    store: OracleStore = field(default_factory=OracleStore)
    clock: Clock = field(default_factory=Clock)
    ids: Ids = field(default_factory=Ids)

    def __post_init__(self) -> None:
        self.merger = Merger(self.store, None, None, self.clock, self.ids)
        self.recorder = Recorder(self.store, None, self.clock, self.ids, self.merger)
        self.feedback = Feedback(self.store, self.clock, self.ids)
        self.pruner = Pruner(self.store, self.clock, self.ids)


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run(work)


def body_of(memory: Memory) -> Experience:
    assert isinstance(memory.body, Experience)
    return memory.body


class Histories(RuleBasedStateMachine):
    """One namespace, whose every call is followed by looking at all that it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.undoable: list[Undoable] = []
        self.reported = {OutcomeStatus.SUCCESS: 0, OutcomeStatus.FAILURE: 0}

    def everything(self) -> State:
        wanted = Filters(statuses=(), episodes=False)
        return {one.id: one for one in run(self.world.store.find(SPACE, wanted, limit=1000)).items}

    def answering(self) -> State:
        """What answers, without what counts changes."""
        return {
            one.id: replace(one, version=1, updated_at=START)
            for one in self.everything().values()
            if one.status is Status.ACTIVE
        }

    def head(self) -> int:
        return run(self.world.store.head(SPACE))

    def done(self, token: str | None, before: State) -> None:
        if token is not None:
            self.undoable.append(Undoable(token, before, self.head()))

    @rule(
        trigger=st.sampled_from(TRIGGERS),
        steps=st.sampled_from(STEPS),
        outcome=st.sampled_from(OutcomeStatus),
        tags=st.sampled_from(((), ("high-risk",))),
        agent=st.sampled_from((None, "ann", "bob")),
    )
    def write(
        self, trigger: str, steps: tuple[str, ...], outcome: OutcomeStatus, tags: tuple[str, ...], agent: str | None
    ) -> None:
        before = self.answering()
        request = parse_experience(trigger, steps, outcome_status=outcome, tags=tags, agent=agent)
        receipt = run(self.world.recorder.record(SPACE, request, Trace("trace", SPACE, "write")))
        (told,) = receipt.outcomes
        assert told.memory_id in self.answering()
        self.done(receipt.undo, before)

    @precondition(lambda self: self.everything())
    @rule(data=st.data(), outcome=st.sampled_from(OutcomeStatus), agent=st.sampled_from(("", "ann", "bob")))
    def report(self, data: st.DataObject, outcome: OutcomeStatus, agent: str) -> None:
        one = data.draw(st.sampled_from(sorted(self.everything())))
        try:
            rated = run(self.world.feedback.give(SPACE, one, outcome, actor=agent))
        except InvalidInput:
            assert one not in self.answering()
            return
        assert rated.id == one or one in body_of(rated).originals
        self.reported[outcome] += 1

    @rule()
    def merge(self) -> None:
        before = self.answering()
        receipt = run(self.world.merger.sweep(SPACE))
        self.done(receipt.undo, before)

    @rule(dry_run=st.booleans())
    def prune(self, dry_run: bool) -> None:
        before = self.answering()
        report = run(self.world.pruner.prune(SPACE, Wanted(dry_run=dry_run)))
        gone = set(before) - set(self.answering())
        named = {entry.memory.id for entry in report.pruned}
        assert gone == (set() if dry_run else named)
        if not dry_run:
            assert not run(self.world.pruner.prune(SPACE, Wanted())).pruned
        self.done(report.undo, before)

    @rule(days=st.sampled_from((1, 100, 200)))
    def time_passes(self, days: int) -> None:
        self.world.clock.moment += timedelta(days=days)

    @precondition(lambda self: self.undoable)
    @rule()
    def undo_the_last(self) -> None:
        last = self.undoable.pop()
        untouched = self.head() == last.change
        try:
            self.undo(last.token)
        except Conflict:
            assert not untouched, "nothing has been changed since"
            return
        if untouched:
            assert self.answering() == last.before

    @precondition(lambda self: self.undoable and self.head() == self.undoable[-1].change)
    @rule()
    def undo_and_do_again(self) -> None:
        last = self.undoable.pop()
        now = self.answering()
        token = self.undo(last.token)
        assert self.answering() == last.before
        self.undo(token)
        assert self.answering() == now

    def undo(self, token: str) -> str:
        world = self.world
        receipt = run(take_back(world.store, None, world.clock, world.ids, SPACE, token))
        assert receipt.undo is not None
        return receipt.undo

    @invariant()
    def every_report_is_counted_once(self) -> None:
        held = self.everything()
        counted = [one for one in held.values() if one.status is not Status.FORGOTTEN and not merged_away(one, held)]
        bodies = [body_of(one).outcome for one in counted]
        assert sum(one.successes for one in bodies) == self.reported[OutcomeStatus.SUCCESS]
        assert sum(one.failures for one in bodies) == self.reported[OutcomeStatus.FAILURE]

    @invariant()
    def an_entry_is_whole(self) -> None:
        for one in self.everything().values():
            body = body_of(one)
            assert 0 <= body.outcome.confidence <= 100
            assert one.confidence == body.outcome.confidence / 100
            assert (PURGE_AFTER in one.metadata) is (one.status is Status.ARCHIVED)
            if body.ways:
                assert list(body.ways) == sorted(body.ways, key=lambda way: record(way.outcome), reverse=True)
                assert body.action == action_of(body.ways)
                assert {way.id for way in body.ways} <= set(body.originals)
            assert sum(credit.successes + credit.failures for credit in body.credits) <= body.outcome.call_count

    @invariant()
    def an_original_is_known_to_what_it_has_become(self) -> None:
        held = self.everything()
        for one in held.values():
            if one.status is Status.SUPERSEDED:
                assert one.superseded_by in held
                assert merged_away(one, held) or body_of(one).outcome.status is OutcomeStatus.FAILURE

    @invariant()
    def look_alikes_are_never_one(self) -> None:
        for one in self.everything().values():
            contexts = {body_of(self.everything()[original]).trigger.context for original in body_of(one).originals}
            assert len({TRIGGERS.index(context) // 3 for context in contexts}) <= 1
            assert not (len(contexts) > 1 and any(TRIGGERS.index(context) % 3 == 2 for context in contexts))


def merged_away(one: Memory, held: State) -> bool:
    """Whether an experience counts in what it was merged into."""
    if one.status is not Status.SUPERSEDED or one.superseded_by is None:
        return False
    return one.id in body_of(held[one.superseded_by]).originals


TestHistories = pytest.mark.filterwarnings("ignore::ResourceWarning")(Histories.TestCase)
TestHistories.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)

"""A language model judges what the rules can't: over real sockets, well and badly, and it can delete nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from hindsight.domain.change import Act, OutcomeAction, WriteOutcome
from hindsight.domain.episode import EpisodeState, Message, Role
from hindsight.domain.memory import Status
from hindsight.models.llm import LlmPolicy
from hindsight.write.request import WriteRequest
from tests.models.chat_server import chat
from tests.models.openai_server import Asked, CutOff, Drip, EmbeddingServer, Hang, Reply
from tests.write.house import SPACE, START
from tests.write.kiln import Kiln, Make

# The rules keep these apart, for want of anything that says that they are the same.
PARAPHRASED = [
    ("窑炉的日志由安娜记", "窑炉的日志是安娜在记"),
    ("The kiln burns gas", "The kiln runs on gas"),
    ("The kiln log is kept by Anna", "The kiln log is written by Anna"),
]
# The rules only see words in common, or no more than that something is new.
ENDED = [("婚礼定在六月", "婚礼取消了"), ("周末去露营", "周末的露营取消了")]
CHANGED = ("We track bugs in Jira", "We now track bugs in Linear instead of Jira")
WHY = "both say who writes it"


def judging(*rows: object, extraction: str = '{"items": []}') -> Callable[[Asked], Reply]:
    """A model that reads nothing and gives these rows for every question about pairs."""

    def answer(asked: Asked) -> Reply:
        if not is_question(asked):
            return chat(extraction)
        return chat(json.dumps({"items": rows}, ensure_ascii=False))

    return answer


def is_question(asked: Asked) -> bool:
    form = asked.body.get("response_format")
    return form["json_schema"]["name"] == "judge" if form else "judge" in str(asked.body)


def questions(server: EmbeddingServer) -> list[str]:
    return [asked.body["messages"][-1]["content"] for asked in server.asked if is_question(asked)]


async def both(kiln: Kiln, first: str, second: str, *, role: Role = Role.USER) -> WriteOutcome:
    """Say both, and what became of the second."""
    await kiln.house.say(first)
    receipt = await kiln.house.write(WriteRequest((Message(second, role=role),)))
    (outcome,) = receipt.outcomes
    return outcome


# What it may say -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), PARAPHRASED)
async def test_the_same_is_merged_as_evidence_with_the_reason(
    server: EmbeddingServer, make: Make, first: str, second: str
) -> None:
    server.answer = judging({"pair": 1, "answer": "same", "why": WHY})
    kiln = make(judging=True)
    await kiln.house.say(first)
    receipt = await kiln.house.say(second)
    (outcome,) = receipt.outcomes
    assert outcome.action is OutcomeAction.MERGED
    assert outcome.reason.startswith(f"judged by m: {WHY}")
    (memory,) = await kiln.house.active()
    assert memory.content == first, "evidence, and no better wording"
    assert len(memory.sources) == 2
    assert await kiln.house.state(receipt.episode_ids[0]) is EpisodeState.OPEN, "the new words are found by themselves"
    history = await kiln.house.store.history(SPACE, memory.id)
    assert (history[-1].act, history[-1].reason) == (Act.MERGED, outcome.reason)
    assert len(questions(server)) == 1
    await kiln.house.amender.undo(SPACE, receipt.undo or "")
    (memory,) = await kiln.house.active()
    assert len(memory.sources) == 1


@pytest.mark.parametrize(("first", "second"), ENDED)
async def test_different_keeps_both_where_the_rules_would_have_ended_one(
    server: EmbeddingServer, make: Make, first: str, second: str
) -> None:
    server.answer = judging({"pair": 1, "answer": "different", "why": "another wedding"})
    outcome = await both(make(judging=True), first, second)
    assert outcome.action in (OutcomeAction.KEPT_APART, OutcomeAction.ADDED)


async def test_what_is_kept_apart_names_the_reason(server: EmbeddingServer, make: Make) -> None:
    server.answer = judging({"pair": 1, "answer": "different", "why": "two logs"})
    kiln = make(judging=True)
    outcome = await both(kiln, *PARAPHRASED[0])
    assert outcome.action is OutcomeAction.KEPT_APART
    assert outcome.reason == "near, but judged by m: two logs"
    assert len(await kiln.house.active()) == 2


async def test_what_takes_the_place_retires_and_deletes_nothing(server: EmbeddingServer, make: Make) -> None:
    server.answer = judging({"pair": 1, "answer": "supersedes", "why": "they moved to another tracker"})
    kiln = make(judging=True)
    await kiln.house.say(CHANGED[0])
    (before,) = await kiln.house.active()
    receipt = await kiln.house.say(CHANGED[1])
    (outcome,) = receipt.outcomes
    assert outcome.action is OutcomeAction.SUPERSEDED
    assert outcome.other_ids == (before.id,)
    assert outcome.reason == "judged by m: they moved to another tracker"
    old = (await kiln.house.store.memories(SPACE, [before.id]))[before.id]
    assert old.status is Status.SUPERSEDED
    assert (await kiln.house.store.history(SPACE, before.id))[-1].reason == outcome.reason
    await kiln.house.amender.undo(SPACE, receipt.undo or "")
    assert await kiln.house.contents() == [CHANGED[0]]


async def test_a_page_retires_nothing_whatever_the_model_says(server: EmbeddingServer, make: Make) -> None:
    server.answer = judging({"pair": 1, "answer": "supersedes", "why": "the page is newer"})
    kiln = make(judging=True)
    outcome = await both(kiln, *ENDED[0], role=Role.DOCUMENT)
    assert outcome.action is OutcomeAction.KEPT_APART
    assert ENDED[0][0] in await kiln.house.contents()
    assert len(await kiln.house.store.reviews(SPACE)) == 1


# What it is not asked ------------------------------------------------------------------------------------------------

SURE = [
    ("Room 101 has a kiln", "Room 102 has a kiln"),
    ("Dr John Richardson treats my knee", "Dr Jane Richardson treats my knee"),
    ("The kiln fires to cone 9", "The kiln fires to cone 10"),
    ("我住在北京", "我搬到上海了"),
    ("我对花生过敏", "我对花生过敏"),
    ("I love pizza", "I love sushi"),
    ("我去年去了云南", "我前年去了云南"),
]


@pytest.mark.parametrize(("first", "second"), SURE)
@pytest.mark.parametrize("answer", ["same", "supersedes"])
async def test_what_the_rules_are_sure_of_is_none_of_its_business(
    server: EmbeddingServer, make: Make, first: str, second: str, answer: str
) -> None:
    server.answer = judging({"pair": 1, "answer": answer, "why": "it looks alike"})
    judged, ruled = make(judging=True), make()
    assert (await both(judged, first, second)).action is (await both(ruled, first, second)).action
    assert await judged.house.contents() == await ruled.house.contents()


async def test_a_new_statement_alone_costs_no_question(server: EmbeddingServer, make: Make) -> None:
    server.answer = judging()
    await make(judging=True).house.say("The kiln burns gas")
    assert questions(server) == []


async def test_the_question_shows_both_with_their_days_as_data(server: EmbeddingServer, make: Make) -> None:
    server.answer = judging()
    await both(make(judging=True), *PARAPHRASED[1])
    day = START.date().isoformat()
    assert questions(server) == [f"[1] known ({day}): {PARAPHRASED[1][0]}\n[1] new ({day}): {PARAPHRASED[1][1]}"]


# How it may fail -----------------------------------------------------------------------------------------------------

SAME = {"pair": 1, "answer": "same", "why": WHY}
RUBBISH: dict[str, Reply | type[Exception]] = {
    "no list": chat("I think they are the same."),
    "items null": chat('{"items": null}'),
    "an empty list": chat('{"items": []}'),
    "a word that is none of the three": chat(json.dumps({"items": [{**SAME, "answer": "delete"}]})),
    "a relation that the words rule out": chat(json.dumps({"items": [{**SAME, "answer": "supersedes"}]})),
    "no reason": chat(json.dumps({"items": [{**SAME, "why": " "}]})),
    "another pair": chat(json.dumps({"items": [{**SAME, "pair": 2}]})),
    "two answers to one pair": chat(json.dumps({"items": [SAME, {**SAME, "answer": "different"}]})),
    "cut off": chat('{"items": [{"pair": 1, "answer": "same", "wh', finish="length"),
    "the prompt's example": chat(
        json.dumps({"items": [{**SAME, "why": "both tell how the user gets to work"}]}),
    ),
    "invalid UTF-8": Reply(200, json.dumps({"items": [SAME]}).encode("utf-16")),
    "401": Reply(401, b""),
    "429 that asks for an hour": Reply(429, b"", (("Retry-After", "3600"),)),
    "hang": Hang,
    "slow drip": Drip,
}


@pytest.mark.parametrize("fault", RUBBISH)
async def test_a_bad_answer_leaves_what_the_rules_say_and_is_counted(
    server: EmbeddingServer, make: Make, fault: str
) -> None:
    server.answer = judging()
    slow = fault in ("hang", "slow drip")
    kiln = make(judging=True, timeout=0.2 if slow else 5.0)
    first, second = PARAPHRASED[1]
    await kiln.house.say(first)
    server.script = [chat('{"items": []}'), RUBBISH[fault]]
    trace = kiln.house.trace()
    receipt = await kiln.house.writer.write(SPACE, WriteRequest((Message(second),)), trace)
    assert [one.action for one in receipt.outcomes] == [OutcomeAction.ADDED]
    assert await kiln.house.contents() == [first, second]
    assert receipt.degraded == ()
    (span,) = [span for span in trace.spans if span.name == "reconcile"]
    assert (span.counts["doubts"], span.counts["unruled"]) == (1, 1)
    assert await kiln.jobs() == []


@pytest.mark.parametrize("fault", ["401", "hang"])
async def test_without_an_answer_an_end_that_the_rules_saw_stays_one(
    server: EmbeddingServer, make: Make, fault: str
) -> None:
    server.answer = judging()
    kiln = make(judging=True, timeout=0.2)
    await kiln.house.say(ENDED[0][0])
    server.script = [chat('{"items": []}'), RUBBISH[fault]]
    receipt = await kiln.house.say(ENDED[0][1])
    assert [(one.action, one.reason) for one in receipt.outcomes] == [(OutcomeAction.SUPERSEDED, "cancelled")]


async def test_a_judge_that_takes_too_long_is_done_without(server: EmbeddingServer, make: Make) -> None:
    server.answer = judging()
    kiln = make(judging=True, judge_seconds=0.05)
    await kiln.house.say(PARAPHRASED[1][0])
    server.script = [chat('{"items": []}'), Hang]
    trace = kiln.house.trace()
    await kiln.house.writer.write(SPACE, WriteRequest((Message(PARAPHRASED[1][1]),)), trace)
    (span,) = [span for span in trace.spans if span.name == "reconcile"]
    assert span.counts["judge_late"] == 1
    assert len(await kiln.house.active()) == 2
    server.over.set()


async def test_a_connection_that_breaks_is_tried_again(server: EmbeddingServer, make: Make) -> None:
    server.answer = judging(SAME)
    kiln = make(judging=True)
    await kiln.house.say(PARAPHRASED[1][0])
    server.script = [chat('{"items": []}'), CutOff]
    receipt = await kiln.house.say(PARAPHRASED[1][1])
    assert [one.action for one in receipt.outcomes] == [OutcomeAction.MERGED]


async def test_the_caller_does_not_wait_for_a_judge_and_the_ruling_comes_later(
    server: EmbeddingServer, make: Make
) -> None:
    server.answer = judging(SAME)
    kiln = make(judging=True, judge_seconds=600.0, patience=0.05)
    await kiln.house.say(PARAPHRASED[1][0])
    await kiln.house.writer.aclose()
    server.script = [chat('{"items": []}'), Hang]
    receipt = await kiln.house.say(PARAPHRASED[1][1])
    assert receipt.pending
    server.over.set()  # the connection breaks, and the question is asked again
    await kiln.house.writer.aclose()
    (memory,) = await kiln.house.active()
    assert len(memory.sources) == 2
    assert await kiln.jobs() == []


async def test_what_was_written_meanwhile_is_seen(server: EmbeddingServer, make: Make) -> None:
    """While the judge thinks, another write changes what it was asked about."""
    server.answer = judging(SAME)
    kiln = make(judging=True, patience=0.05)
    await kiln.house.say(PARAPHRASED[1][0])
    await kiln.house.writer.aclose()
    (known,) = await kiln.house.active()
    server.script = [chat('{"items": []}'), Hang]
    assert (await kiln.house.say(PARAPHRASED[1][1])).pending
    await kiln.house.amender.forget(SPACE, known.id)
    server.over.set()
    await kiln.house.writer.aclose()
    assert await kiln.house.contents() == [PARAPHRASED[1][1]], "no merge into what is forgotten"


async def test_its_tokens_count_for_the_days_cap_and_its_prompt_stands_in_the_trace(
    server: EmbeddingServer, make: Make
) -> None:
    server.answer = judging(SAME)
    kiln = make(judging=True)
    await kiln.house.say(PARAPHRASED[1][0])
    trace = kiln.house.trace()
    await kiln.house.writer.write(SPACE, WriteRequest((Message(PARAPHRASED[1][1]),)), trace)
    assert trace.notes["judge"] == "m, prompt judge 1"
    (span,) = [span for span in trace.spans if span.name == "reconcile"]
    assert (span.counts["judge_calls"], span.counts["judge_tokens_in"], span.counts["ruled"]) == (1, 100, 1)
    assert kiln.ledger.spent(START.date()).total == 360, "three calls of 120 tokens: two readings and a question"


async def test_at_the_days_cap_the_rules_decide(server: EmbeddingServer, make: Make) -> None:
    server.answer = judging(SAME)
    kiln = make(judging=True, policy=LlmPolicy(daily_tokens=10))
    outcome = await both(kiln, *PARAPHRASED[1])
    assert outcome.action is OutcomeAction.ADDED
    assert questions(server) == []

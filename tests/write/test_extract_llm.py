"""Extraction by a language model that misbehaves: over real sockets, in every way that was met (CASES W4 to W6).

Whatever it does, nothing is lost, nothing is doubled, no word is kept that was not said; the receipt says that it was
degraded, and a job reads the text again. What each fault leads to stands in docs/llm.md, and is compared with it here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from hindsight.domain.change import JobState
from hindsight.domain.episode import Message, Role
from hindsight.domain.memory import Kind
from hindsight.models.breaker import Breaker
from hindsight.models.llm import LlmPolicy
from hindsight.write.extract.llm import LlmExtractor
from hindsight.write.pipeline import WritePolicy
from hindsight.write.request import WriteRequest
from hindsight.write.reread import REREAD_JOB
from tests.models.chat_server import chat, found, items, knowing, turns_of
from tests.models.openai_server import Asked, CutOff, Drip, EmbeddingServer, Hang, Reply
from tests.write.house import SPACE, House
from tests.write.kiln import MODEL, ROW, RULE, SAID, WHOLE, Kiln, Make

PAGE = Path(__file__).resolve().parents[2] / "docs" / "llm.md"


def cut(text: str, *, finish: str = "length") -> Reply:
    return chat(text, finish=finish)


PROSE = f"Sure! Here is what I found:\n```json\n{WHOLE}\n```\nI hope this helps."
ROW_JSON = json.dumps({"turn": 1, **ROW}, ensure_ascii=False)
Script = Sequence[Reply | type[Exception]]

# Fault: what the server does with the next requests; then it answers well.
FAULTS: dict[str, Script] = {
    "none": [],
    "429, twice": [Reply(429, b"")] * 2,
    "429 for good": [Reply(429, b"")] * 3,
    "429 that asks for an hour": [Reply(429, b"", (("Retry-After", "3600"),))],
    "500, twice": [Reply(500, b"")] * 2,
    "500 for good": [Reply(500, b"")] * 3,
    "503 for good": [Reply(503, b"")] * 3,
    "401": [Reply(401, b"")],
    "404": [Reply(404, b"")] * 2,
    "json_schema refused": [Reply(400, b"response_format")],
    "hang": [Hang],
    "slow drip": [Drip],
    "connection closed, once": [CutOff],
    "connection closed for good": [CutOff] * 3,
    "invalid UTF-8": [Reply(200, WHOLE.encode("gb18030"))],
    "HTML": [Reply(200, b"<html>busy</html>")],
    "empty body": [Reply(200, b"")],
    "another JSON": [Reply(200, b'{"error": {"message": "no"}}')],
    "content null": [Reply(200, b'{"choices": [{"message": {"content": null}}]}')],
    "empty answer": [chat("")],
    "prose only": [chat("I could not find any facts, sorry.")],
    "prose with JSON inside": [chat(PROSE)],
    "Markdown list": [chat(f"- {MODEL}\n- {RULE}")],
    "a bare list": [chat(f"[{ROW_JSON}]")],
    "a list of strings": [chat(json.dumps([MODEL], ensure_ascii=False))],
    "nearly JSON": [chat(f"{{'items': [{ROW_JSON},], // done\n}}")],
    "thoughts before the JSON": [chat(f"<think>{{hm}}</think>{WHOLE}")],
    "another name for the list": [chat(WHOLE.replace("items", "facts"))],
    "one object in place of the list": [chat(f'{{"items": {ROW_JSON}}}')],
    "`items` null": [chat('{"items": null}')],
    "`items` a string": [chat('{"items": "none"}')],
    "wrong types, one item whole": [chat(f'{{"items": [{{"quote": null}}, 7, null, {ROW_JSON}]}}')],
    "wrong types throughout": [chat('{"items": [{"quote": null}, {"quote": ["a"]}, 7]}')],
    "nothing found": [chat('{"items": []}')],
    "words that were not said": [chat(items({**ROW, "quote": "红窑烧到三号锥", "statement": "红窑烧到三号锥"}))],
    "a fact of the prompt's example": [chat(items({**ROW, "quote": "住在成都", "statement": "用户住在成都"}))],
    "another wording": [chat(items({**ROW, "statement": "用户的蓝色窑炉可以烧到九号锥"}))],
    "a translation": [chat(items({**ROW, "statement": "The blue kiln fires to cone nine"}))],
    "the same item five times": [chat(items(*[{"turn": 1, **ROW}] * 5))],
    "another turn's number": [chat(items({"turn": 7, **ROW}))],
    "cut off after a whole item": [cut(f'{{"items": [{ROW_JSON}, {{"turn": 1, "quote": "我住在北')],
    "cut off, and not said so": [cut(f'{{"items": [{ROW_JSON}, {{"turn": 1, "quote": "我住在北', finish="stop")],
    "cut off in the first item": [cut('{"items": [{"turn": 1, "quote": "我住')],
    "endless repetition": [cut('{"items": [{"turn": 1, "quote": "' + "我" * 4_000)],
}
SLOW = {"hang", "slow drip"}


@dataclass(frozen=True)
class Outcome:
    """What a fault led to: calls at once, statements of the model at once, degraded, and at the end of its job."""

    calls: int
    read: bool
    degraded: bool
    later: bool


async def outcome_of(fault: str, server: EmbeddingServer) -> Outcome:
    server.script = list(FAULTS[fault])
    kiln = Kiln(server, timeout=0.2 if fault in SLOW else 5.0)
    receipt = await kiln.house.say(SAID, session_id="s")
    calls = len(server.asked)
    at_once = await kiln.house.contents()
    assert RULE in at_once, "what the rules know is never lost"
    assert not receipt.pending
    open_jobs = await kiln.jobs()
    assert [job.kind for job in open_jobs] == ([REREAD_JOB] if receipt.degraded else [])
    server.script = []
    await kiln.work()
    assert await kiln.jobs() == []
    memories = await kiln.house.active()
    contents = [memory.content for memory in memories]
    assert len(contents) == len(set(contents)), "nothing is doubled"
    assert all(content.rstrip("。").replace("用户", "我") in SAID for content in contents), "no word that was not said"
    assert all((len(memory.sources), memory.confidence) == (1, 0.5) for memory in memories), "nothing counts twice"
    episode = (await kiln.house.store.episodes(SPACE, receipt.episode_ids))[receipt.episode_ids[0]]
    assert episode.content == SAID
    await kiln.model.aclose()
    has = [any(one.rstrip("。") == MODEL for one in some) for some in (at_once, contents)]
    return Outcome(calls, has[0], receipt.degraded == ("llm",), has[1])


def page() -> dict[str, Outcome]:
    """The table of docs/llm.md."""
    rows = re.findall(
        r"^\| (.+?) \| .+? \| (\d+) \| (yes|no) \| (yes|no) \| (yes|no) \|$", PAGE.read_text(), re.MULTILINE
    )
    return {name: Outcome(int(calls), *(word == "yes" for word in words)) for name, calls, *words in rows}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_leads_to_what_the_page_says(fault: str, server: EmbeddingServer) -> None:
    assert await outcome_of(fault, server) == page().get(fault)


def test_the_page_has_no_other_faults() -> None:
    assert list(page()) == list(FAULTS)


# Cut-off answers ---------------------------------------------------------------------------------------------------


THREE = ["蓝窑烧到九号锥。", "红泥产自宜兴龙窑。", "坯体阴干需十二昼夜。"]
ROWS = [{"quote": one[:-1], "statement": one[:-1], "kind": "fact"} for one in THREE]


def short_of_room(limit: int) -> Callable[[Asked], Reply]:
    """A model that knows the three, and whose answers are cut off after so many characters."""

    def answer(asked: Asked) -> Reply:
        whole = items(*found(turns_of(asked), ROWS))
        return chat(whole) if len(whole) <= limit else chat(whole[:limit], finish="length")

    return answer


async def test_two_whole_items_and_half_a_third_keep_two_and_ask_for_the_rest(
    server: EmbeddingServer, make: Make
) -> None:
    whole = items(*({"turn": number, **row} for number, row in enumerate(ROWS, start=1)))
    server.answer = short_of_room(len(whole) - 20)
    kiln = make()
    receipt = await kiln.house.say(*THREE, session_id="s")
    assert (receipt.facts, receipt.degraded) == (3, ())
    assert len({memory.content for memory in await kiln.house.active()}) == 3
    assert len(server.asked) == 2
    assert [text for _, text in turns_of(server.asked[1])] == THREE[1:], "from the last whole item's turn on"
    bodies = [json.dumps(asked.body) for asked in server.asked]
    assert len(set(bodies)) == len(bodies), "the same request is never repeated"


async def test_one_long_turn_is_cut_in_two_until_the_answers_fit(server: EmbeddingServer, make: Make) -> None:
    filler = "窗外一直下雨，" * 12
    server.answer = short_of_room(len(items({"turn": 1, **ROWS[0]})) + 10)
    kiln = make()
    receipt = await kiln.house.say(filler.join(THREE), session_id="s")
    found_now = {memory.content for memory in await kiln.house.active()}
    assert {one[:-1] for one in THREE} <= found_now
    assert receipt.degraded == ()
    bodies = [json.dumps(asked.body) for asked in server.asked]
    assert len(set(bodies)) == len(bodies)


async def test_what_can_not_be_cut_further_is_left_to_the_rules_and_to_a_later_try(
    server: EmbeddingServer, make: Make
) -> None:
    server.answer = lambda asked: chat('{"items": [{"quote": "', finish="length")
    kiln = make()
    receipt = await kiln.house.say(SAID, session_id="s")
    assert receipt.degraded == ("llm",)
    assert await kiln.house.contents() == [RULE]
    assert len(server.asked) == 1


# Jobs --------------------------------------------------------------------------------------------------------------


async def test_a_model_that_stays_away_is_tried_again_and_again_until_it_is_back(
    server: EmbeddingServer, make: Make
) -> None:
    kiln = make()
    server.answer = lambda asked: Reply(503, b"")
    receipt = await kiln.house.say(SAID, session_id="s")
    for _ in range(4):
        await kiln.work()
    (job,) = await kiln.jobs()
    assert job.state is JobState.READY
    assert job.attempts >= 4
    assert "503" in (job.last_error or "")
    assert await kiln.house.contents() == [RULE]
    server.answer = knowing(ROW)
    await kiln.work()
    assert await kiln.jobs() == []
    assert await kiln.house.contents() == [RULE, MODEL]
    await kiln.house.amender.undo(SPACE, receipt.undo or "")
    assert await kiln.house.active() == [], "the second reading is taken back with the first"


@pytest.mark.parametrize("rubbish", ['{"items": null}', "- a\n- b", '{"items": [{"quote": "红窑烧到三号锥"}]}'])
async def test_rubbish_is_paid_for_three_times_and_then_left_for_a_person(
    server: EmbeddingServer, make: Make, rubbish: str
) -> None:
    server.answer = lambda asked: chat(rubbish)
    kiln = make()
    await kiln.house.say(SAID, session_id="s")
    before = await kiln.house.active()
    for _ in range(6):
        await kiln.work()
    (job,) = await kiln.jobs()
    assert job.state is JobState.DEAD
    assert len(server.asked) == 4
    assert await kiln.house.active() == before, "nothing is changed, nothing deleted"


async def test_what_was_forgotten_in_the_meantime_does_not_come_back(server: EmbeddingServer, make: Make) -> None:
    server.script = [chat('{"items": null}')]
    server.answer = knowing({"quote": RULE, "statement": RULE, "kind": "fact"}, ROW)
    kiln = make()
    receipt = await kiln.house.say(SAID, session_id="s")
    (memory,) = await kiln.house.active()
    await kiln.house.amender.forget(SPACE, memory.id)
    await kiln.work()
    assert RULE not in await kiln.house.contents()
    assert await kiln.jobs() == []
    assert receipt.degraded == ("llm",)


async def test_what_was_taken_back_in_the_meantime_is_not_read_again(server: EmbeddingServer, make: Make) -> None:
    server.script = [chat('{"items": null}')]
    kiln = make()
    receipt = await kiln.house.say(SAID, session_id="s")
    await kiln.house.amender.undo(SPACE, receipt.undo or "")
    await kiln.work()
    assert await kiln.house.active() == []
    assert len(server.asked) == 1


async def test_part_of_an_import_that_failed_is_read_again_alone(server: EmbeddingServer, make: Make) -> None:
    filler = "今天的会开了很久，大家都没有新的意见要补充。" * 60
    turns = [MODEL + "。" + filler, "红泥产自宜兴龙窑。" + filler, "坯体阴干需十二昼夜。" + filler]
    server.answer = knowing(*ROWS)
    server.script = [Reply(401, b"")]
    kiln = make()
    receipt = await kiln.house.say(*turns, session_id="s")
    assert len(server.asked) == 3
    assert receipt.degraded == ("llm",)
    await kiln.work()
    assert len(server.asked) == 4, "only the piece that failed"
    facts = {memory.content for memory in await kiln.house.active() if not memory.verbatim}
    assert facts == {row["quote"] for row in ROWS}


async def test_an_open_breaker_leaves_the_work_to_the_rules_at_once(server: EmbeddingServer, make: Make) -> None:
    kiln = make(breaker=Breaker(failures=2, now=lambda: 0.0))
    server.answer = lambda asked: Reply(401, b"")
    texts = [f"我住在北京{place}区。" for place in ("朝阳", "海淀", "西城", "东城", "丰台")]
    receipts = [await kiln.house.say(text, session_id="s") for text in texts]
    assert all(receipt.degraded == ("llm",) and receipt.facts == 1 for receipt in receipts)
    assert len(server.asked) == 2


async def test_the_days_cap_leaves_the_work_to_the_rules(server: EmbeddingServer, make: Make) -> None:
    kiln = make(policy=LlmPolicy(daily_tokens=10))
    receipt = await kiln.house.say(SAID, session_id="s")
    assert (receipt.degraded, receipt.facts, server.asked) == (("llm",), 1, [])


async def test_a_hanging_model_gives_the_caller_a_pending_receipt_while_the_job_goes_on(
    server: EmbeddingServer,
    make: Make,
) -> None:
    server.script = [Hang]
    kiln = make()
    kiln.house = House(extractor=LlmExtractor(kiln.model, joined=True), policy=WritePolicy(patience=0.05, floor=0.6))
    receipt = await kiln.house.say(SAID, session_id="s")
    assert receipt.pending
    assert len(receipt.episode_ids) == 1
    server.over.set()
    await kiln.house.writer.aclose()
    assert sorted(await kiln.house.contents()) == sorted([RULE, MODEL])
    assert await kiln.jobs() == []


# What is asked, and what is kept -------------------------------------------------------------------------------------


async def test_stepwise_asks_for_attributes_relations_and_events_by_turns(server: EmbeddingServer, make: Make) -> None:
    kiln = make(joined=False)
    await kiln.house.say(SAID, session_id="s")
    names = [asked.body["response_format"]["json_schema"]["name"] for asked in server.asked]
    assert names == ["attributes", "relations", "events"]
    assert sorted(await kiln.house.contents()) == sorted([RULE, MODEL]), "found by three steps, kept once"


@pytest.mark.parametrize(
    ("text", "word"), [("蓝窑烧到九号锥", "列出"), ("The blue kiln fires to cone nine", "You list")]
)
async def test_the_prompt_is_in_the_language_of_the_text(
    server: EmbeddingServer, make: Make, text: str, word: str
) -> None:
    kiln = make()
    await kiln.house.say(text)
    assert word in server.asked[0].body["messages"][0]["content"]


@pytest.mark.parametrize("text", ["你好", "Thanks!", "你住在哪里？", "What is cone nine?", "42", "😀"])
async def test_what_states_nothing_costs_nothing(server: EmbeddingServer, make: Make, text: str) -> None:
    kiln = make()
    await kiln.house.say(text)
    assert server.asked == []


async def test_the_assistants_own_words_are_not_read(server: EmbeddingServer, make: Make) -> None:
    server.answer = knowing(ROW)
    kiln = make()
    messages = (Message("蓝窑烧到几号锥", role=Role.USER), Message(MODEL, role=Role.ASSISTANT))
    receipt = await kiln.house.write(WriteRequest(messages, session_id="s"))
    assert receipt.facts == 0
    assert [text for asked in server.asked for _, text in turns_of(asked)] == ["蓝窑烧到几号锥"]


async def test_a_named_kind_is_not_put_to_the_model(server: EmbeddingServer, make: Make) -> None:
    kiln = make()
    await kiln.house.write(WriteRequest((Message(SAID),), kind=Kind.RULE))
    assert server.asked == []


async def test_the_trace_names_model_prompts_and_tokens(server: EmbeddingServer, make: Make) -> None:
    kiln = make()
    trace = kiln.house.trace()
    await kiln.house.writer.write(SPACE, WriteRequest((Message(SAID),)), trace)
    assert trace.notes["extractor"] == "m, prompts joined 2"
    (span,) = [span for span in trace.spans if span.name == "extract"]
    assert {name: span.counts[name] for name in ("llm_calls", "llm_tokens_in", "llm_tokens_out")} == {
        "llm_calls": 1,
        "llm_tokens_in": 100,
        "llm_tokens_out": 20,
    }

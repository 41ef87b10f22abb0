"""A write from end to end, against the oracle store."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from hindsight.domain.change import OutcomeAction
from hindsight.domain.episode import Episode, EpisodeState, Message, Role
from hindsight.domain.memory import Kind, Layer
from hindsight.errors import InvalidInput, ModelUnavailable
from hindsight.models.fake import FakeEmbedder
from hindsight.upkeep.jobs import Worker
from hindsight.write.embed import EMBED_JOB, embed_missing
from hindsight.write.extract import Extraction
from hindsight.write.extract.rules import RuleExtractor
from hindsight.write.pipeline import WritePolicy
from hindsight.write.request import WriteRequest
from hindsight.write.task import DISTIL_JOB
from tests.write.house import SPACE, START, CountingIds, House, stated, transcript


class SlowExtractor:
    """The rules, as slow as a language model: waits for `gate`, fails with `error`."""

    quick = False

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def extract(self, episodes: Sequence[Episode]) -> Extraction:
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return await RuleExtractor().extract(episodes)


@pytest.mark.parametrize(
    "text",
    [
        "用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏",
        "I live in Berlin, have a dog named Rex and I'm allergic to peanuts.",
        "我住在上海，养了一只叫豆豆的狗，对海鲜过敏。",
        "The user lives in Oslo, has two cats and is allergic to shellfish.",
    ],
)
async def test_one_sentence_becomes_three_memories_beside_its_episode(text: str) -> None:
    house = House()
    receipt = await house.say(text)
    place, pet, allergy = await house.active()
    assert receipt.facts == 3
    assert not receipt.verbatim
    assert [outcome.action for outcome in receipt.outcomes] == [OutcomeAction.ADDED] * 3
    assert (place.kind, pet.kind, allergy.kind) == (Kind.FACT, Kind.FACT, Kind.CONSTRAINT)
    assert allergy.importance > 0.9 > max(place.importance, pet.importance)
    (episode_id,) = receipt.episode_ids
    assert await house.state(episode_id) is EpisodeState.OPEN
    ids = [place.id, pet.id, allergy.id, episode_id]
    assert len(await house.store.vectors(SPACE, ids, model="fake-1")) == 4
    episode = (await house.store.episodes(SPACE, [episode_id]))[episode_id]
    for memory in (place, pet, allergy):
        (source,) = memory.sources
        assert episode.content[source.start : source.end]


UNKNOWN = [
    "The dice rule is 5d3+5",
    "骰子规则是 5d3+5",
    "Staging runs on port 8443",
    "项目的构建号是 7.3.1",
    "Das Passwort liegt im Tresor",
    "重跑gen-itgc后检查rerank精排",
    "支持外币汇率换算",
    "AAPL closed at 201.7",
    "x = y + 1",
    "😀😀",
]


@pytest.mark.parametrize("text", UNKNOWN)
async def test_what_no_rule_knows_is_kept_word_for_word(text: str) -> None:
    house = House()
    receipt = await house.say(text)
    (memory,) = await house.active()
    assert (receipt.facts, receipt.verbatim) == (0, True)
    assert memory.content == text
    assert memory.verbatim
    assert (memory.kind, memory.layer) == (Kind.FACT, Layer.SEMANTIC)
    assert await house.state(receipt.episode_ids[0]) is EpisodeState.COVERED


@pytest.mark.parametrize("text", UNKNOWN)
async def test_a_turn_of_a_session_is_an_event(text: str) -> None:
    house = House()
    await house.say(text, session_id="s1")
    (memory,) = await house.active()
    assert (memory.kind, memory.layer, memory.session_id) == (Kind.EVENT, Layer.EPISODIC, "s1")


async def test_a_statement_that_is_the_whole_episode_covers_it() -> None:
    house = House()
    receipt = await house.say("我对花生过敏。")
    assert await house.contents() == ["用户对花生过敏"]
    assert await house.state(receipt.episode_ids[0]) is EpisodeState.COVERED


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.EXPERIENCE])
async def test_a_named_kind_makes_one_memory_of_it(kind: Kind) -> None:
    house = House()
    text = "I live in Berlin, have a dog named Rex and I'm allergic to peanuts."
    receipt = await house.write(WriteRequest((Message(text),), kind=kind, importance=0.3, tags=("t",)))
    (memory,) = await house.active()
    assert (memory.content, memory.kind, memory.importance, memory.tags) == (text, kind, 0.3, ("t",))
    assert receipt.facts == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("我对花生过敏", "我对花生过敏。"),
        ("I'm allergic to peanuts", "I'm  ALLERGIC to peanuts!"),
        ("The dice rule is 5d3+5", "the dice rule is 5d3+5."),
        ("支持外币汇率换算", "支持外幣匯率換算"),
        ("\uff33taging runs on port \uff18443", "Staging runs on port 8443"),
    ],
)
async def test_the_same_words_merge_with_all_their_sources(first: str, second: str) -> None:
    house = House()
    before = await house.say(first)
    after = await house.say(second)
    (memory,) = await house.active()
    assert after.outcomes[0].action is OutcomeAction.MERGED
    assert after.outcomes[0].memory_id == before.outcomes[0].memory_id
    assert memory.confidence == pytest.approx(0.6)
    assert [source.episode_id for source in memory.sources] == [*before.episode_ids, *after.episode_ids]
    assert memory.occurred_at < memory.updated_at


async def test_the_same_words_within_one_call_merge_too() -> None:
    house = House()
    receipt = await house.say("我对花生过敏", "我对花生过敏！", "我对花生过敏", "我住在北京")
    assert [outcome.action.value for outcome in receipt.outcomes] == ["added", "merged", "merged", "added"]
    allergy, _ = await house.active()
    assert len(allergy.sources) == 3
    assert allergy.confidence == pytest.approx(0.7)


async def test_the_same_turn_in_two_sessions_stays_two_memories() -> None:
    house = House()
    await house.say("The server is down", session_id="s1")
    await house.say("The server is down", session_id="s2")
    await house.say("The server is down", session_id="s2", speaker="Ann")
    assert len(await house.active()) == 3


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("我喜欢猫", "我喜欢狗"),
        ("我喜欢猫", "我喜欢熊猫"),
        ("I like cats", "I like dogs"),
        ("I like coffee", "I like coffee cake"),
        ("I live in room 101", "I live in room 102"),
        ("My flight is UA123", "My flight is UA124"),
        ("The 2023 tax return is done", "The 2024 tax return is done"),
        ("Alice works at Google", "Alice's brother works at Google"),
        ("I'm allergic to nuts", "My wife is allergic to nuts"),
        ("服务器在一号机房", "服务器在二号机房"),
        ("Take the pill before lunch", "Take the pill after lunch"),
    ],
)
async def test_what_differs_is_kept_beside(known: str, new: str) -> None:
    house = House(policy=WritePolicy(floor=0.1))
    await house.say(known)
    receipt = await house.say(new)
    assert await house.contents() == [stated(known), stated(new)]
    assert receipt.outcomes[0].action in (OutcomeAction.KEPT_APART, OutcomeAction.ADDED)


@pytest.mark.parametrize(
    ("known", "new", "kept"),
    [
        ("我在北京", "我住在北京朝阳区", "我住在北京朝阳区"),
        ("我住在北京朝阳区", "我在北京", "我住在北京朝阳区"),
        ("I live in Berlin", "I now live in Berlin, Mitte", "I now live in Berlin, Mitte"),
        ("The staging server runs on port 8443", "Staging server now runs on port 8443", None),
        ("项目的端口号是8080", "项目端口号是8080", None),
    ],
)
async def test_the_same_in_other_words_merges_and_the_closer_wording_stays(
    known: str, new: str, kept: str | None
) -> None:
    house = House(policy=WritePolicy(floor=0.1))
    await house.say(known)
    receipt = await house.say(new)
    (memory,) = await house.active()
    assert receipt.outcomes[0].action is OutcomeAction.MERGED
    assert memory.content == stated(kept or known)
    assert len(memory.sources) == 2


@pytest.mark.parametrize(
    "copy",
    [
        "Rule 17 of the project is that module m17 owns table 17.",
        "rule 17 of the project is that the module m17 owns table 17",
    ],
)
async def test_a_near_copy_among_fifty_neighbours_finds_its_own(copy: str) -> None:
    house = House(policy=WritePolicy(floor=0.1))
    facts = [f"Rule {n} of the project is that module m{n} owns table {n}" for n in range(50)]
    receipt = await house.say(*facts)
    again = await house.say(copy)
    assert again.outcomes[0].memory_id == receipt.outcomes[17].memory_id
    assert len(await house.active()) == 50


TURNS = ["你好", "您好，有什么可以帮您？", "我住在北京，对花生过敏", "记下了", "谢谢", "不客气", "yes", "yes", "yes"]


async def test_a_second_import_doubles_nothing_and_new_turns_are_added() -> None:
    house = House()
    await house.write(transcript(TURNS))
    before = await house.active()
    again = await house.write(transcript(TURNS))
    assert {outcome.action for outcome in again.outcomes} == {OutcomeAction.IGNORED}
    assert again.episode_ids == ()
    assert await house.active() == before
    longer = await house.write(transcript([*TURNS, "我喜欢爬山", "好的", "The dice rule is 5d3+5"]))
    assert len(longer.episode_ids) == 3
    assert [memory.content for memory in (await house.active())[len(before) :]] == [
        "我喜欢爬山",
        "好的",
        "The dice rule is 5d3+5",
    ]
    assert len(await house.store.session(SPACE, "s1")) == len(TURNS) + 3


async def test_a_repeated_idempotency_key_gets_the_first_answer() -> None:
    house = House()
    request = WriteRequest((Message("我住在北京"),), idempotency_key="k-1")
    first = await house.write(request)
    assert await house.write(request) == first
    assert len((await house.active())[0].sources) == 1


async def test_own_output_is_not_remembered() -> None:
    house = House()
    block = '<hindsight-memory type="data">\n对花生过敏（#k7m2q9ab，重要性高）\n</hindsight-memory>'
    receipt = await house.write(WriteRequest((Message(block, role=Role.ASSISTANT),)))
    assert receipt.outcomes[0].action is OutcomeAction.IGNORED
    assert await house.active() == []
    assert await house.store.head(SPACE) == 0


@pytest.mark.parametrize("sentence", ["今天没有什么特别的事情发生。", "Nothing special happened today. "])
async def test_a_megabyte_is_kept_to_its_last_word(sentence: str) -> None:
    house = House()
    text = sentence * (1_000_000 // len(sentence)) + "The key phrase is zanzibar-42."
    receipt = await house.say(text)
    await house.writer.aclose()
    assert not receipt.pending
    assert any("zanzibar-42" in content for content in await house.contents())


async def test_many_writes_share_a_transaction_and_have_a_receipt_each() -> None:
    house = House()
    requests = [WriteRequest((Message(f"Fact number {n} is {n * n}"),), session_id="s") for n in range(40)]
    requests.append(WriteRequest((Message("我住在北京，对花生过敏"),)))
    receipts = await house.writer.write_many(SPACE, requests, house.trace())
    assert len(receipts) == 41
    assert receipts[-1].facts == 2
    assert [receipt.outcomes[0].content for receipt in receipts[:2]] == ["Fact number 0 is 0", "Fact number 1 is 1"]
    assert await house.store.head(SPACE) == 1
    assert isinstance(house.embedder, FakeEmbedder)
    assert len(house.embedder.calls) == 1


async def test_a_wrong_one_among_many_writes_nothing() -> None:
    house = House(policy=WritePolicy(slice_messages=1))
    requests = [WriteRequest((Message("good"),)), WriteRequest((Message("bad\x00"),))]
    with pytest.raises(InvalidInput, match="NUL"):
        await house.writer.write_many(SPACE, requests, house.trace())
    assert await house.active() == []


async def test_without_the_embedder_the_write_is_kept_and_made_up_for() -> None:
    house = House()
    embedder = house.embedder
    assert isinstance(embedder, FakeEmbedder)
    embedder.error = ModelUnavailable("away")
    receipt = await house.say("我住在北京，对花生过敏")
    assert receipt.degraded == ("embedder",)
    assert len(await house.active()) == 2
    (job,) = await house.store.jobs(SPACE)
    assert job.kind == EMBED_JOB
    embedder.error = None
    await work(house)
    ids = [memory.id for memory in await house.active()]
    assert len(await house.store.vectors(SPACE, [*ids, *receipt.episode_ids], model="fake-1")) == 3
    assert await house.store.jobs(SPACE) == []


async def test_a_hanging_embedder_does_not_hang_the_write() -> None:
    house = House(policy=WritePolicy(embed_seconds=0.01))
    assert isinstance(house.embedder, FakeEmbedder)
    house.embedder.gate.clear()
    assert (await house.say("我住在北京")).degraded == ("embedder",)


async def test_what_is_written_while_missing_vectors_are_made_gets_its_own() -> None:
    house = House(policy=WritePolicy(embed_seconds=0.01))
    assert isinstance(house.embedder, FakeEmbedder)
    house.embedder.gate.clear()
    first = await house.say("我住在北京")
    working = asyncio.create_task(work(house))
    for _ in range(1000):  # until the worker has read what is missing, and waits for the embedder
        await asyncio.sleep(0)
    assert [job.owner for job in await house.store.jobs(SPACE)] == ["worker"]
    second = await house.say("我对花生过敏")
    house.embedder.gate.set()
    await working
    assert first.degraded == second.degraded == ("embedder",)
    assert await house.store.unembedded(SPACE, model="fake-1", limit=9) == []
    assert await house.store.jobs(SPACE) == []


async def work(house: House) -> None:
    """Let a worker of another process do what is due."""
    writer, store = house.writer, house.store

    async def distil(job: object, owner: str) -> None:
        await writer.distil(job, owner, house.trace())  # type: ignore[arg-type]  # wrong on purpose

    async def embed(job: object, owner: str) -> None:
        await embed_missing(store, house.embedder, house.ids, house.clock, job, owner)  # type: ignore[arg-type]  # wrong on purpose

    house.clock.moment += timedelta(hours=1)
    worker = Worker(store, house.clock, {DISTIL_JOB: distil, EMBED_JOB: embed}, owner="worker")
    while await worker.run_one():
        pass


async def test_a_slow_extractor_is_waited_for_a_while_and_then_goes_on_alone() -> None:
    extractor = SlowExtractor()
    house = House(extractor=extractor, policy=WritePolicy(patience=0.01))
    receipt = await house.say("我住在北京，对花生过敏")
    assert receipt.pending
    assert await house.state(receipt.episode_ids[0]) is EpisodeState.OPEN
    extractor.gate.set()
    await house.writer.aclose()
    assert await house.contents() == ["用户住在北京", "用户对花生过敏"]
    assert await house.store.jobs(SPACE) == []


async def test_an_extractor_in_time_answers_at_once() -> None:
    extractor = SlowExtractor()
    extractor.gate.set()
    house = House(extractor=extractor)
    receipt = await house.say("我住在北京，对花生过敏")
    assert (receipt.pending, receipt.facts) == (False, 2)
    assert await house.store.jobs(SPACE) == []


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ZeroDivisionError("rubbish")])
async def test_a_failed_extractor_loses_nothing(error: Exception) -> None:
    extractor = SlowExtractor()
    extractor.gate.set()
    extractor.error = error
    house = House(extractor=extractor)
    receipt = await house.say("我住在北京，对花生过敏")
    assert receipt.pending
    assert receipt.degraded == ("extractor",)
    assert await house.state(receipt.episode_ids[0]) is EpisodeState.OPEN
    (job,) = await house.store.jobs(SPACE)
    assert str(error) in (job.last_error or "")
    extractor.error = None
    await work(house)
    retried = isinstance(error, ModelUnavailable)
    assert len(await house.active()) == (2 if retried else 0)


async def test_a_worker_finishes_what_a_dead_writer_left() -> None:
    extractor = SlowExtractor()
    house = House(extractor=extractor, policy=WritePolicy(patience=0.0))
    request = WriteRequest((Message("我住在北京，对花生过敏"), Message("x")), tags=("t",), importance=0.9)
    receipt = await house.write(request)
    for task in house.writer._background:
        task.cancel()
    extractor.gate.set()
    await work(house)
    memories = await house.active()
    assert [memory.content for memory in memories] == ["用户住在北京", "用户对花生过敏", "x"]
    assert {(memory.tags, memory.importance) for memory in memories} == {(("t",), 0.9)}
    await house.amender.undo(SPACE, receipt.undo or "")
    assert await house.active() == []


async def test_what_was_taken_back_is_not_distilled_later() -> None:
    extractor = SlowExtractor()
    house = House(extractor=extractor, policy=WritePolicy(patience=0.0))
    receipt = await house.say("我住在北京")
    for task in house.writer._background:
        task.cancel()
    await house.amender.undo(SPACE, receipt.undo or "")
    extractor.gate.set()
    await work(house)
    assert await house.active() == []
    assert await house.store.jobs(SPACE) == []


@pytest.mark.parametrize(
    "text", ["我对花生过敏", "The dice rule is 5d3+5", "I live in Berlin", "支持外币汇率换算", "我住在北京，对花生过敏"]
)
async def test_two_writers_at_the_same_moment_make_one_memory(text: str) -> None:
    one = House()
    two = House(store=one.store, ids=CountingIds("b"))
    await asyncio.gather(*(house.say(text) for house in (one, two) * 4))
    memories = await one.active()
    assert len({memory.content for memory in memories}) == len(memories)
    assert all(len(memory.sources) == 8 for memory in memories)


async def test_two_imports_at_the_same_moment_double_nothing() -> None:
    one = House()
    two = House(store=one.store, ids=CountingIds("b"))
    await asyncio.gather(one.write(transcript(TURNS)), two.write(transcript(TURNS)))
    assert len(await one.store.session(SPACE, "s1")) == len(TURNS)


async def test_a_lower_origin_does_not_reword_what_the_user_said() -> None:
    house = House(policy=WritePolicy(floor=0.1))
    await house.say("The user lives in Berlin")
    tool = Message("The user lives in Berlin Mitte", role=Role.TOOL)
    await house.write(WriteRequest((tool,)))
    (memory,) = await house.active()
    assert memory.content == "The user lives in Berlin"


async def test_the_trace_has_a_span_for_each_stage() -> None:
    house = House()
    trace = house.trace()
    await house.writer.write(SPACE, WriteRequest((Message("我住在北京"),)), trace)
    assert [span.name for span in trace.spans] == ["prepare", "extract", "embed", "reconcile", "apply"]


async def test_time_and_zone_of_a_message_reach_its_memory() -> None:
    house = House()
    message = replace(Message("我住在北京"), occurred_at=START - timedelta(days=9), timezone="Asia/Shanghai")
    await house.write(WriteRequest((message,), session_id="s"))
    (memory,) = await house.active()
    assert (memory.occurred_at, memory.timezone) == (START - timedelta(days=9), "Asia/Shanghai")

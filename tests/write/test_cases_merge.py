"""CASES W1 and W2 as kinds: what is said again is merged with what is known, with all its sources."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from hindsight.domain.change import OutcomeAction
from hindsight.models.embedder import UseMultilingual
from hindsight.write.pipeline import WritePolicy
from tests.write.house import SPACE, House


@pytest.fixture
async def house(weights: None) -> AsyncIterator[House]:
    embedder = UseMultilingual()
    yield House(embedder=embedder, policy=WritePolicy())
    await embedder.aclose()


FIVE_FACTS = [
    [
        ("我对芒果过敏", "我吃芒果会过敏", "芒果我过敏"),
        ("我住在宁波", "我家住在宁波", "我在宁波居住"),
        ("我是会计", "我的职业是会计", "我的工作是会计"),
        ("我养了一只鹦鹉", "我有一只鹦鹉", "我家里有一只鹦鹉"),
        ("我每天六点起床", "我一般每天6点起床", "我平时每天六点起床"),
    ],
    [
        ("I'm allergic to shrimp", "I have a shrimp allergy", "I'm severely allergic to shrimp"),
        ("I live in Turin", "I'm based in Turin", "I currently live in Turin"),
        ("My mom is a dentist", "My mother is a dentist", "My mum works as a dentist"),
        ("I have two horses", "I own two horses", "I've got two horses"),
        ("I run every morning", "I go running every morning", "I usually run every morning"),
    ],
    [
        ("I speak Korean", "我会说韩语", "I can speak Korean"),
        ("我住在里斯本", "I live in Lisbon", "I currently live in Lisbon"),
        ("My wife is a lawyer", "我老婆是律师", "我太太是律师"),
        ("我喜欢绿茶", "I like green tea", "I really love green tea"),
        ("We use Redis", "我们用 Redis", "We are using Redis"),
    ],
]


@pytest.mark.parametrize("facts", FIVE_FACTS)
@pytest.mark.parametrize("by_fact", [True, False])
async def test_five_facts_in_three_wordings_are_five_memories(
    house: House, facts: list[tuple[str, str, str]], by_fact: bool
) -> None:
    wordings = (
        [one for fact in facts for one in fact] if by_fact else [one for row in zip(*facts, strict=True) for one in row]
    )
    for wording in wordings:
        await house.say(wording)
    active = await house.active()
    assert len(active) in (5, 6), [one.content for one in active]
    assert sum(len(one.sources) for one in active) == 15
    assert max(one.confidence for one in active) > 0.6


TOPICS = [
    ("The pump of hall {n} needs a new seal", "The pump of hall {n} needs a new seal now"),
    ("Customer {n} wants invoices by e-mail", "Customer {n} still wants invoices by e-mail"),
    ("Room {n} has a broken lamp", "Room {n} has got a broken lamp"),
    ("Recipe {n} calls for two eggs", "Recipe {n} calls for 2 eggs"),
    ("Server {n} runs the nightly backup", "Server {n} runs the nightly backup still"),
    ("{n}号机床需要换机油", "{n}号机床现在需要换机油"),
    ("{n}号会议室的投影仪坏了", "{n}号会议室的投影仪坏掉了"),
    ("第{n}车间的空调坏了", "第{n}车间的空调又坏了"),
    ("客户{n}喜欢电话沟通", "客户{n}很喜欢电话沟通"),
    ("{n}号仓库存放轮胎", "{n}号仓库里存放轮胎"),
]


@pytest.mark.parametrize(("fact", "copy"), TOPICS)
async def test_a_near_copy_finds_its_own_among_fifty(house: House, fact: str, copy: str) -> None:
    await house.say(*(fact.format(n=number) for number in range(101, 151)))
    known = {one.content: one.id for one in await house.active()}
    assert len(known) == 50
    receipt = await house.say(copy.format(n=117))
    assert [(one.action, one.memory_id) for one in receipt.outcomes] == [
        (OutcomeAction.MERGED, known[fact.format(n=117)])
    ]
    assert len(await house.active()) == 50


async def test_rivals_are_found_without_vectors() -> None:
    house = House(policy=WritePolicy(floor=2.0))  # no cosine is that high
    await house.say("I live in Turin", "I have a shrimp allergy", "The stack uses PostgreSQL")
    await house.say("I moved to Genoa", "I'm allergic to shrimp", "We migrated to MySQL")
    assert await house.contents() == [
        "The user has a shrimp allergy",
        "The user moved to Genoa",
        "We migrated to MySQL",
    ]


async def test_the_more_specific_wording_is_kept(house: House) -> None:
    for text in ("我在北京", "我住在北京朝阳区", "我在北京"):
        await house.say(text)
    (memory,) = await house.active()
    assert memory.content == "用户住在北京朝阳区"
    assert len(memory.sources) == 3
    assert len(await house.store.history(SPACE, memory.id)) == 3

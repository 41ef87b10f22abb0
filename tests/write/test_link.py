"""Entities: names kept apart by what tells them apart, and joined only where something said joins them."""

from __future__ import annotations

import pytest

from hindsight.language.names import aliases
from hindsight.write.link import entities
from tests.write.house import House

APART = [
    ("Room 101 has a projector", "Room 102 has a projector"),
    ("Flight UA123 is late", "Flight UA124 is late"),
    ("Ticket JIRA-4512 is open", "Ticket JIRA-4521 is open"),
    ("Dr John Richardson called", "Dr Jane Richardson called"),
    ("Tigran called", "Iran played"),
    ("Anna sings", "Ann sings"),
    ("Gate B12 is closed", "Gate B21 is closed"),
    ("会议室101坏了", "会议室102坏了"),
    ("航班CA1501晚点", "航班CA1510晚点"),
    ("3号楼停电", "5号楼停电"),
    ("小王迟到了", "小汪迟到了"),
    ("第3章写完了", "第4章写完了"),
]


@pytest.mark.parametrize(("first", "second"), APART)
def test_lookalikes_have_no_name_in_common(first: str, second: str) -> None:
    assert entities(first)
    assert entities(second)
    assert not set(entities(first)) & set(entities(second))


def test_a_speaker_is_found_only_as_a_word_of_its_own() -> None:
    assert entities("Anna saw Tigran", ["Ann", "Iran", "Anna"]) == ("Anna", "Tigran")
    assert entities("we asked ann", ["ann"]) == ("ann",)


JOINED = [
    ("小张就是张伟", "小张", "张伟"),
    ("张伟（小张）明天来", "张伟", "小张"),
    ("大家都管王建国叫老王", "王建国", "老王"),
    ("李娜又叫娜娜", "李娜", "娜娜"),
    ("陈默和阿默是同一个人", "陈默", "阿默"),
    ("Bob, also known as Robert Smith, called", "Bob", "Robert Smith"),
    ("Peggy aka Margaret", "Peggy", "Margaret"),
    ("Rob is short for Robert", "Rob", "Robert"),
    ("Liz and Elizabeth are the same person", "Liz", "Elizabeth"),
    ("Margaret (nicknamed Daisy) lives here", "Margaret", "Daisy"),
]


@pytest.mark.parametrize(("text", "one", "other"), JOINED)
def test_what_says_that_two_names_are_one_joins_them(text: str, one: str, other: str) -> None:
    assert (one, other) in aliases(text)


@pytest.mark.parametrize(
    "text",
    [
        "小张和张伟一起来了", "张伟认识小张", "张伟（北京）来了", "Alice (Berlin) called", "Bob and Robert are friends",
        "John Richardson met Jane Richardson", "小王不是小汪", "Rob and Robert work here", "Dr Jane lives near Dr John",
        "他叫小张",
    ],
)  # fmt: skip
def test_names_side_by_side_are_not_joined(text: str) -> None:
    assert aliases(text) == ()


async def test_a_later_statement_bears_the_joined_name_until_the_joining_is_taken_back() -> None:
    house = House()
    await house.say("小张喜欢钓鱼")
    joining = await house.say("小张就是张伟")
    await house.say("小张下周出差")
    (before, _, after) = await house.active()
    assert "张伟" not in before.entities
    assert set(after.entities) == {"小张", "张伟"}
    assert joining.undo is not None
    await house.amender.undo("space", joining.undo)
    await house.say("小张养了一只狗")
    assert "张伟" not in (await house.active())[-1].entities


async def test_names_that_are_alike_are_never_joined_by_themselves() -> None:
    house = House()
    await house.say("Jon Smith likes tea", "John Smith likes tea", "张伟喜欢茶", "章伟喜欢茶")
    assert [one.entities for one in await house.active()][:2] == [("Jon Smith",), ("John Smith",)]


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("王芳喜欢喝绿茶", ("王芳",)),
        ("陈静怡搬到了成都", ("陈静怡",)),
        ("张伟在财务部上班", ("张伟",)),
        ("我喜欢喝绿茶", ()),
        ("水壶坏了", ()),
    ],
)
async def test_whom_a_chinese_statement_is_about_is_a_name(said: str, names: tuple[str, ...]) -> None:
    house = House()
    await house.say(said)
    (memory,) = await house.active()
    assert memory.entities == names


async def test_a_name_without_a_mark_is_known_once_a_statement_joins_it() -> None:
    house = House()
    await house.say("大伟就是张伟")
    await house.say("大伟对海鲜过敏")
    (memory,) = [one for one in await house.active() if "海鲜" in one.content]
    assert set(memory.entities) == {"大伟", "张伟"}

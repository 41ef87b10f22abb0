"""Rules: statements out of ordinary text, in Chinese and English, and none where nothing was stated."""

import re

import pytest

from hindsight.domain.episode import Episode, Role
from hindsight.domain.memory import Kind
from hindsight.write.extract import Candidate
from hindsight.write.extract.rules import candidates, is_remark
from tests.write.house import START


def turn(text: str, *, role: Role = Role.USER, speaker: str | None = None) -> Episode:
    return Episode("e1", "space", text, START, START, "UTC", "k", role=role, speaker=speaker)


def read(text: str, *, role: Role = Role.USER, speaker: str | None = None) -> list[Candidate]:
    return candidates(turn(text, role=role, speaker=speaker))


THREE = [
    (
        "用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏",
        ["用户住在北京朝阳区", "用户家里有只猫叫咪咪", "用户对花生过敏"],
    ),
    ("我住在上海，养了一只叫豆豆的狗，对海鲜过敏。", ["用户住在上海", "用户养了一只叫豆豆的狗", "用户对海鲜过敏"]),
    ("用户表示自己住在杭州，家里有两只兔子，对青霉素过敏", ["用户住在杭州", "用户家里有两只兔子", "用户对青霉素过敏"]),
    ("我搬到了成都，家里养了一条金毛，对牛奶过敏！", ["用户搬到了成都", "用户家里养了一条金毛", "用户对牛奶过敏"]),
    (
        "用户定居在深圳，有一只鹦鹉叫小绿，对尘螨严重过敏",
        ["用户定居在深圳", "用户有一只鹦鹉叫小绿", "用户对尘螨严重过敏"],
    ),
    (
        "I live in Berlin, have a dog named Rex and I'm allergic to peanuts.",
        ["The user lives in Berlin", "The user has a dog named Rex", "The user is allergic to peanuts"],
    ),
    (
        "The user lives in Oslo, has two cats and is allergic to shellfish.",
        ["The user lives in Oslo", "The user has two cats", "The user is allergic to shellfish"],
    ),
    (
        "The user says he lives in Rome, has a parrot called Coco and is severely allergic to penicillin.",
        ["The user lives in Rome", "The user has a parrot called Coco", "The user is severely allergic to penicillin"],
    ),
    (
        "I moved to Vienna, I have a hamster named Kiwi, and I am allergic to bee stings",
        ["The user moved to Vienna", "The user has a hamster named Kiwi", "The user is allergic to bee stings"],
    ),
    (
        "I'm living in Lyon and I have a rabbit. I'm allergic to sesame.",
        ["The user is living in Lyon", "The user has a rabbit", "The user is allergic to sesame"],
    ),
]


@pytest.mark.parametrize(("text", "expected"), THREE)
def test_a_place_a_pet_and_an_allergy_become_three_statements(text: str, expected: list[str]) -> None:
    found = read(text)
    assert [one.content for one in found] == expected
    assert [one.body.slot for one in found] == ["residence", "pet", "health"]
    assert [one.kind for one in found] == [Kind.FACT, Kind.FACT, Kind.CONSTRAINT]
    assert {one.body.subject for one in found} == {"user"}


# What a statement may have that was not said: its subject, and the third person that the verb then stands in.
LABEL = re.compile("^(?:用户|The user)")
INFLECTED = {"is": "am", "has": "have", "lives": "live"}


@pytest.mark.parametrize("text", [text for text, _ in THREE])
def test_no_word_is_invented(text: str) -> None:
    for one in read(text):
        said = re.sub(r"['’](?=m)", " a", text[one.start : one.end])
        for word in re.findall(r"[A-Za-z]+|[\u4e00-\u9fff]+", LABEL.sub("", one.content)):
            assert word in said or INFLECTED[word] in said


@pytest.mark.parametrize(
    ("text", "kind", "slot", "value"),
    [
        ("我叫李雷", Kind.FACT, "name", "李雷"),
        ("My name is Anna Schmidt.", Kind.FACT, "name", "Anna Schmidt"),
        ("我是一名软件工程师", Kind.FACT, "job", "软件工程师"),
        ("我在阿里巴巴工作", Kind.FACT, "job", "阿里巴巴"),
        ("I work at Siemens.", Kind.FACT, "job", "Siemens"),
        ("I'm a nurse", Kind.FACT, "job", "nurse"),
        ("我有两个孩子", Kind.FACT, "family", "孩子"),
        ("I have two kids", Kind.FACT, "family", "kids"),
        ("我的生日是5月3日", Kind.FACT, "birthday", "5月3日"),
        ("我不吃香菜", Kind.CONSTRAINT, "diet", "香菜"),
        ("I don't eat pork", Kind.CONSTRAINT, "diet", "pork"),
        ("I'm a vegetarian.", Kind.CONSTRAINT, "diet", "vegetarian"),
        ("我患有高血压", Kind.CONSTRAINT, "health", "高血压"),
        ("I have asthma", Kind.CONSTRAINT, "health", "asthma"),
        ("我喜欢爬山", Kind.PREFERENCE, "like", "爬山"),
        ("I really love old jazz records", Kind.PREFERENCE, "like", "old jazz records"),
        ("以后都用中文回复我", Kind.RULE, "rule", "以后都用中文回复我"),
        ("Always answer in German.", Kind.RULE, "rule", "Always answer in German"),
        ("Never deploy on Fridays", Kind.RULE, "rule", "Never deploy on Fridays"),
    ],
)
def test_a_plain_statement_gets_its_kind_and_slot(text: str, kind: Kind, slot: str, value: str) -> None:
    (one,) = read(text)
    assert (one.kind, one.body.slot, one.body.value) == (kind, slot, value)


@pytest.mark.parametrize(
    "text", ["我不喜欢吃辣", "我讨厌开会", "I hate cilantro", "I don't like crowds", "我对猫毛不过敏"]
)
def test_a_denial_is_marked_as_one(text: str) -> None:
    (one,) = read(text)
    assert one.body.negated


@pytest.mark.parametrize(
    "text",
    [
        "你住在哪里？",
        "我对花生过敏吗",
        "Do I like coffee?",
        "你好！",
        "Hey there!",
        "如果我住在北京，我会养一只猫",
        "If I lived in Berlin I would have a dog",
        "我以前住在北京",
        "I used to live in Madrid",
        "也许我喜欢狗",
        "The dice rule is 5d3+5",
        "I love how you explain that",
        "我喜欢这个",
        "Sounds good, let's do that.",
        "今天天气不错",
        "def main():\n    I like = 3",
        "```\nI live in Berlin\n```",
    ],
)
def test_what_states_nothing_certain_of_the_user_gives_no_fact(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("text", ["I live in a data centre", "我住在服务器里，喜欢聊天", "I like helping people"])
def test_what_an_assistant_says_of_itself_is_not_the_users(text: str) -> None:
    assert read(text, role=Role.ASSISTANT) == []


def test_an_assistant_may_report_what_the_user_said() -> None:
    (one,) = read("The user is allergic to nuts", role=Role.ASSISTANT)
    assert one.body.subject == "user"


@pytest.mark.parametrize(
    ("text", "speaker", "subject"),
    [
        ("I live in Paris", "Gina", "gina"),
        ("我住在武汉", "小王", "小王"),
        ("我妻子对海鲜过敏", None, "user's wife"),
        ("我朋友小李住在上海", None, "user's friend"),
        ("My friend Bob lives in Rome", None, "user's friend"),
        ("我老婆对海鲜过敏", "老周", "老周's wife"),
        ("My wife is a nurse", None, "user's wife"),
    ],
)
def test_the_subject_is_whoever_is_spoken_of(text: str, speaker: str | None, subject: str) -> None:
    (one,) = read(text, speaker=speaker)
    assert one.body.subject == subject


@pytest.mark.parametrize(
    "text", ["谢谢", "Thanks!", "ok", "晚安", "What is my dog called?", "我的猫叫什么？", "你吃了吗"]
)
def test_questions_and_greetings_are_remarks(text: str) -> None:
    assert is_remark(text)


@pytest.mark.parametrize(
    "text", ["The dice rule is 5d3+5", "骰子规则是5d3+5", "Thanks to Anna the server runs again since May"]
)
def test_a_statement_is_no_remark(text: str) -> None:
    assert not is_remark(text)

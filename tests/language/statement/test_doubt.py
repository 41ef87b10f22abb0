"""What a judge may say of two statements where the rules can't tell."""

from __future__ import annotations

import pytest

from hindsight.language.statement.claims import read
from hindsight.language.statement.doubt import open_to
from hindsight.language.statement.relate import relate
from hindsight.language.statement.verdict import Relation


def choices(first: str, second: str) -> set[Relation]:
    old, new = read(first), read(second)
    return set(open_to(old, new, relate(old, new)))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("我女儿上小学三年级", "我女儿读小学三年级"),
        ("我不吃香菜", "我不爱吃香菜"),
        ("The kiln burns gas", "The kiln runs on gas"),
        ("I'm a vegan", "I follow a vegan diet"),
    ],
)
def test_other_words_for_one_thing_may_be_the_same(first: str, second: str) -> None:
    assert choices(first, second) == {Relation.SAME, Relation.DIFFERENT}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("婚礼定在六月", "婚礼取消了"),
        ("We track bugs in Jira", "We now track bugs in Linear instead of Jira"),
        ("I plan to visit Japan in October", "I'm not going to Japan after all"),
    ],
)
def test_only_what_turns_against_the_known_may_take_its_place(first: str, second: str) -> None:
    assert Relation.SUPERSEDES in choices(first, second)
    assert Relation.SAME not in choices(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Room 101 has a kiln", "Room 102 has a kiln"),
        ("Flight UA123 is late", "Flight UA124 is late"),
        ("The 2023 tax return is filed", "The 2024 tax return is filed"),
        ("Dr John Richardson treats my knee", "Dr Jane Richardson treats my knee"),
        ("Tigran is my colleague", "Iran is a country"),
        ("张伟喜欢打篮球", "章伟喜欢打篮球"),
        ("我喜欢猫", "我喜欢狗"),
        ("I love pizza", "I love sushi"),
        ("I'm allergic to peanuts", "I'm allergic to cats"),
        ("我会说法语", "我会说德语"),
        ("我住在南京", "我已经搬到苏州了"),
        ("我姐姐住在成都", "我妹妹住在成都"),
        ("我住在青岛", "我在青岛居住"),
        ("I visited my parents at Easter", "I visited my parents at Christmas"),
    ],
)
def test_what_the_words_tell_apart_or_join_is_open_to_nobody(first: str, second: str) -> None:
    assert choices(first, second) == set()

"""What one does no longer is liked no longer, and a diet ends with what it forbids; only as wide as the words say."""

from __future__ import annotations

import pytest

from hindsight.language.statement.claims import read
from hindsight.language.statement.relate import relate
from hindsight.language.statement.verdict import Relation

GIVEN_UP = [
    ("我爱喝可乐", "我已经不喝可乐了"),
    ("我喜欢看综艺", "我不看综艺了"),
    ("我喜欢打羽毛球", "我再也不打羽毛球了"),
    ("我喜欢抽烟", "我把烟戒了"),
    ("我喜欢吃甜食", "我不再吃甜食了"),
    ("我喜欢短视频", "我再也不刷短视频了"),
    ("我是素食者", "我开始吃牛肉了"),
    ("我老公喜欢白酒", "我老公戒酒了"),
    ("我妈爱打麻将", "我妈不打麻将了"),
    ("老张爱喝白酒", "老张再也不喝白酒了"),
    ("我每天写日记", "我不写日记了"),
    ("我每周末打排球", "我以后不打排球了"),
    ("我爱吃烧烤", "我从今以后不吃烧烤了"),
    ("I adore bacon", "I no longer eat bacon"),
    ("I'm fond of whisky", "I've quit whisky"),
    ("I enjoy playing poker", "I don't play poker anymore"),
    ("I swim twice a week", "I don't swim any longer"),
    ("My husband loves cigars", "My husband has given up cigars"),
    ("I love reading manga", "I stopped reading manga"),
    ("I like listening to podcasts", "I no longer listen to podcasts"),
    ("I keep a vegan diet", "I'm eating eggs again"),
    ("I meditate daily", "I stopped meditating"),
    ("I love horror movies", "I've sworn off horror movies"),
    ("I like oysters", "I will never eat oysters again"),
    ("Mia loves ice cream", "Mia doesn't eat ice cream any more"),
    ("I love energy drinks", "I gave up energy drinks"),
    ("I like black tea", "I no longer drink tea"),
    ("我喜欢奶酪", "I don't eat cheese any more"),
    ("I love beer", "我再也不喝啤酒了"),
]


@pytest.mark.parametrize(("first", "second"), GIVEN_UP)
def test_what_is_given_up_ends_the_liking_or_habit(first: str, second: str) -> None:
    verdict = relate(read(first), read(second))
    assert verdict.relation is Relation.SUPERSEDES
    assert verdict.reason


ONE_OCCASION = [
    ("我喜欢咖啡", "我今天不想喝咖啡"),
    ("我喜欢可乐", "我今晚不喝可乐了"),
    ("我每天跑步", "我今天不跑步了"),
    ("我每天喝咖啡", "我明天不喝咖啡了"),
    ("我喜欢旅行", "我这次不去旅行了"),
    ("I love coffee", "I don't want coffee today"),
    ("I swim twice a week", "I'm not swimming today"),
    ("I enjoy poker", "I'm not playing poker this week"),
    ("I play golf on Sundays", "I don't play golf on Mondays any more"),
    ("I love coffee", "I don't drink coffee in the evening any more"),
]
FOR_A_WHILE_OR_HALF = [
    ("我爱吃辣", "我最近不吃辣了"),
    ("我喜欢咖啡", "我暂时不喝咖啡了"),
    ("我喜欢咖啡", "我不怎么喝咖啡了"),
    ("我喜欢咖啡", "我不能喝咖啡了"),
    ("I like chocolate", "I'm not eating chocolate at the moment"),
    ("I love coffee", "I can't drink coffee any more"),
    ("I love coffee", "I don't drink much coffee any more"),
]
ANOTHER_THING = [
    ("我喜欢咖啡", "我再也不喝奶茶了"),
    ("我喜欢咖啡", "我不喝速溶咖啡了"),
    ("我喜欢打篮球", "我不看篮球了"),
    ("我喜欢狗", "我不养狗了"),
    ("我喜欢咖啡", "我不在办公室喝咖啡了"),
    ("我在吃素", "我又开始吃辣了"),
    ("I adore bacon", "I no longer eat ham"),
    ("I love coffee cake", "I quit coffee"),
    ("I love chocolate", "I stopped eating chocolate cake"),
    ("I love dogs", "I stopped working with dogs"),
    ("I love coffee", "I don't drink coffee at work any more"),
    ("I love my job at the cafe", "I quit coffee"),
]
ANOTHER_PERSON = [
    ("我喜欢羽毛球", "我弟弟再也不打羽毛球了"),
    ("我在吃素", "我女儿又开始吃肉了"),
    ("小王喜欢咖啡", "小李不喝咖啡了"),
    ("My husband loves cigars", "I've given up cigars"),
    ("I'm a vegetarian", "My son eats meat again"),
    ("Mia loves ice cream", "Noah doesn't eat ice cream any more"),
]


@pytest.mark.parametrize(("first", "second"), ONE_OCCASION + FOR_A_WHILE_OR_HALF + ANOTHER_THING + ANOTHER_PERSON)
def test_what_is_left_once_or_in_part_or_by_another_ends_nothing(first: str, second: str) -> None:
    assert relate(read(first), read(second)).relation is Relation.DIFFERENT

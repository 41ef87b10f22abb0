"""Choosing sentences: those that tell the most, none twice, each as it was said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from hindsight.domain.digest import Passage, Sentence
from hindsight.upkeep.choose import choose

START = datetime(2024, 1, 15, 9, 0, tzinfo=UTC)


def passages(*texts: str, importance: float = 0.5) -> list[Passage]:
    return [
        Passage(f"{number:026d}", text, START + timedelta(minutes=number), importance=importance)
        for number, text in enumerate(texts)
    ]


def told(found: Sequence[Passage], *, most: int = 3, asked: str = "") -> list[str]:
    return [one.text for one in choose(found, fits=lambda _: True, most=most, asked=asked)]


def test_what_much_of_the_talk_is_about_is_told_before_an_aside() -> None:
    talk = passages(
        "The database migration to MySQL starts on Monday.",
        "Somebody left a blue umbrella in the hall.",
        "The migration of the database needs a backup before Monday.",
        "Carol leads the database migration.",
    )

    assert "Somebody left a blue umbrella in the hall." not in told(talk)


def test_the_same_said_twice_is_told_once_in_both_languages() -> None:
    for twice in (
        ("缓存改用 Redis，周五上线", "缓存改用 Redis，周五上线了"),
        ("Cache moves to Redis", "the cache moves to Redis"),
    ):
        assert len(told(passages(*twice))) == 1


def test_a_thing_of_importance_is_told_before_one_of_none() -> None:
    both = [*passages("We sat by the window"), *passages("用户对花生过敏", importance=0.95)]

    assert told(both, most=1) == ["用户对花生过敏"]


def test_greetings_are_told_only_where_there_is_nothing_else() -> None:
    hello = passages("Hello there, how are you?", importance=0.25)

    assert told(hello) == ["Hello there, how are you?"]
    assert told([*hello, *passages("Bob reviews the design on Friday")]) == ["Bob reviews the design on Friday"]


def test_of_a_long_turn_single_sentences_are_told_as_they_were_said() -> None:
    steps = ("先备份数据库", "然后停掉写入服务", "再检查磁盘剩余空间", "接着升级到新版本", "最后恢复流量并观察日志")
    long = (
        "。".join(f"{step}，记录耗时和负责人的姓名以及遇到的问题，写进值班手册的第{step[-2:]}节" for step in steps * 2)
        + "。"
    )

    found = told(passages(long), most=4)

    assert len(found) == 4
    assert all(one in long for one in found)


def test_a_question_brings_what_shares_its_words_first() -> None:
    talk = passages("The garden has roses", "Bob reviews the design on Friday", "The roses in the garden are red")

    assert told(talk, most=1, asked="Who reviews the design?") == ["Bob reviews the design on Friday"]


def test_who_spoke_stands_before_words_that_do_not_name_them() -> None:
    (only,) = choose([Passage("a" * 26, "I will paint it green", START, speaker="Ann")], fits=lambda _: True, most=1)

    assert only.text == "Ann: I will paint it green"


def test_sentences_come_in_the_order_of_the_passages() -> None:
    talk = passages("甲方案在一月提出", "乙方案在二月取代了它", "丙方案在三月定稿")

    assert told(talk) == [one.text for one in talk]


@given(st.lists(st.text(max_size=400), max_size=12), st.integers(1, 400))
def test_whatever_is_said_the_chosen_fit_and_each_rests_on_one_passage(texts: list[str], room: int) -> None:
    def fits(some: Sequence[Sentence]) -> bool:
        return sum(len(one.text) for one in some) <= room

    given_ = passages(*texts)
    found = choose(given_, fits=fits, most=5)

    assert fits(found)
    assert len(found) <= 5
    by_id = {one.id: " ".join(one.text.split()) for one in given_}
    assert all(one.text in by_id[one.ids[0]] for one in found)

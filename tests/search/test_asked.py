"""What sort of thing a question asks for."""

from __future__ import annotations

import pytest

from hindsight.domain.memory import Kind
from hindsight.search.asked import asked_for, asks_what_happened

BARE = [
    ("用户之前提到的那个偏好", Kind.PREFERENCE),
    ("用户有哪些偏好？", Kind.PREFERENCE),
    ("用户提过哪些偏好", Kind.PREFERENCE),
    ("你还记得我提过的那个规矩吗", Kind.RULE),
    ("我之前提到的限制", Kind.CONSTRAINT),
    ("我说过的禁忌有哪些", Kind.CONSTRAINT),
    ("that preference the user mentioned earlier", Kind.PREFERENCE),
    ("What are my preferences?", Kind.PREFERENCE),
    ("Which preference did I mention before?", Kind.PREFERENCE),
    ("the rule I told you about", Kind.RULE),
    ("What constraint did the user mention?", Kind.CONSTRAINT),
    ("the preference I told you about last time", Kind.PREFERENCE),
]


@pytest.mark.parametrize(("text", "kind"), BARE)
def test_a_kind_with_nothing_beside_it_is_asked_for_as_a_kind(text: str, kind: Kind) -> None:
    asked = asked_for(text)
    assert asked.kinds == (kind,)
    assert asked.bare


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("用户的饮食偏好是什么", Kind.PREFERENCE),
        ("What dietary restrictions does Ann have?", Kind.CONSTRAINT),
        ("代码规范里怎么说缩进", Kind.RULE),
    ],
)
def test_a_kind_of_something_keeps_what_it_is_of(text: str, kind: Kind) -> None:
    asked = asked_for(text)
    assert asked.kinds == (kind,)
    assert not asked.bare


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("用户之前说的那个餐厅叫什么", "用户 餐厅叫什么"),
        ("他提到的那位医生是谁", "他 医生是谁"),
        ("我上次跟你说过的那本书", "我 书"),
        ("What was the restaurant she mentioned earlier?", "What was the restaurant ?"),
        ("the book I told you about last time", "the book"),
    ],
)
def test_words_of_mentioning_are_taken_from_what_is_looked_for(text: str, left: str) -> None:
    assert asked_for(text).text == left


@pytest.mark.parametrize(
    "text",
    [
        "What did Caroline mention about her job?",
        "王芳在聊天时提到了什么？",
        "那个是什么",
        "What did she say?",
        "用户之前提到的那个",
        "Where does Ann live?",
    ],
)
def test_a_question_about_what_was_said_is_left_as_it_is(text: str) -> None:
    assert asked_for(text).text == text
    assert not asked_for(text).kinds


@pytest.mark.parametrize(
    "text", ["发生了什么", "我都做了些什么", "有什么事", "What happened ?", "What did I do ?", "anything new ?", ""]
)
def test_without_its_time_such_a_question_asks_for_whatever_happened(text: str) -> None:
    assert asks_what_happened(text)


@pytest.mark.parametrize("text", ["What did Ann buy ?", "会议谈了什么", "Who came to dinner ?", "我跑了多少公里"])
def test_a_question_about_something_does_not_ask_for_whatever_happened(text: str) -> None:
    assert not asks_what_happened(text)

"""Questions that ask several things."""

from __future__ import annotations

import pytest

from hindsight.search.parts import parts_of

SEVERAL = [
    ("Where does Ann live and what does she eat?", ("Where does Ann live", "what does Ann eat")),
    ("Who is Bob's boss? Where does he work?", ("Who is Bob's boss", "Where does Bob work")),
    ("What is my wife's name, and when is her birthday?", ("What is my wife's name", "when is my wife's birthday")),
    (
        "What does Ann do, where does she live and how old is she?",
        ("What does Ann do", "where does Ann live", "how old is Ann"),
    ),
    ("When was the meeting and who attended?", ("When was the meeting", "who attended")),
    ("小王住在哪，他吃什么？", ("小王住在哪", "小王吃什么")),
    ("咖啡机是什么，钥匙在哪？", ("咖啡机是什么", "钥匙在哪")),
    ("张三几岁了？做什么工作？", ("张三几岁了", "张三做什么工作")),
    ("我的车是什么牌子的，以及我的狗叫什么？", ("我的车是什么牌子的", "我的狗叫什么")),
    ("我住哪里、在哪上班", ("我住哪里", "我在哪上班")),
    ("我喜欢吃什么还有我讨厌什么", ("我喜欢吃什么", "我讨厌什么")),
]


@pytest.mark.parametrize(("text", "parts"), SEVERAL)
def test_each_question_stands_alone(text: str, parts: tuple[str, ...]) -> None:
    assert parts_of(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "Where did Ann buy the bicycle and the helmet?",
        "What did Caroline and Melanie do?",
        "When Dave was a child, what did he do in the garage?",
        "What ice cream does Joanna mention that Nate makes and is delicious?",
        "1月中旬，冯浩然在哪一天与好友参观了艺术展？",
        "我对花生过敏，推荐点零食",
        "花生和牛奶哪个不能吃",
        "What did Deb share a photo of, which brought a smile to her face?",
        "What dish includes garlic and is shared with Andrew?",
        "汇率",
        "What does Ann like?\nI would like to know, and what is it?",
        "If it rains, where do we meet?",
    ],
)
def test_one_question_stays_in_one_piece(text: str) -> None:
    assert parts_of(text) == ()

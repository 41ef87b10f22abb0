"""Does a statement deny?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.polarity import negated


@pytest.mark.parametrize(
    "text",
    [
        "我不喜欢吃辣",
        "他没有去过巴黎",
        "别打电话给我",
        "对花生不过敏",
        "她從來沒去過日本",
        "他不再喝咖啡了",
        "我戒了烟",
        "尚未完成",
        "I don't like it",
        "I don’t like it",
        "She never drinks tea",
        "He can't swim",
        "Alice no longer works there",
        "without sugar",
    ],
)
def test_denials_deny(text: str) -> None:
    assert negated(text)


@pytest.mark.parametrize(
    "text",
    [
        "我喜欢吃辣",
        "这家店不错",
        "他不得不加班",
        "她特别喜欢非洲",
        "你去不去",
        "有没有猫",
        "不仅会做饭",
        "未来的计划",
        "性别：男",
        "I like it",
        "Not only does he cook, he bakes",
        "Room no. 5",
        "I can't wait to see it",
        "",
    ],
)
def test_what_only_looks_like_a_denial_does_not(text: str) -> None:
    assert not negated(text)


@given(st.text(st.characters(codec=None)))
def test_any_text_has_an_answer(text: str) -> None:
    assert negated(text) in (True, False)

"""W12 and W13: texts of any size and of strange characters; what differs far behind is found by what differs."""

import pytest

from hindsight.domain.episode import Message
from hindsight.errors import InvalidInput
from hindsight.write.request import WriteRequest
from tests.write.house import SPACE, House

LONG = [
    "整理仓库的时候先清点左边的货架，然后登记编号。",
    "Count the shelves on the left before you write down their numbers. ",
    "## 第{n}节\n\n货架上的箱子按颜色排好。\n\n",
    "- box {n} goes to the upper shelf\n",
    "```\nrow {n}\n```\n",
    "没有标点的长句一直写下去没有停顿也没有换行只是一直往后写",
    "wordswithoutanyspaceatall",
    "|col a|col b|\n|---|---|\n|{n}|x|\n",
    "\t{n}\tleft\tright\n",
    "「引用」他说：“好。”\n",
]


def grown(sentence: str, size: int) -> str:
    return "".join(sentence.format(n=n) for n in range(size // len(sentence)))


@pytest.mark.parametrize("sentence", LONG)
async def test_a_megabyte_is_chunked_and_its_end_is_there(sentence: str) -> None:
    house = House()
    text = grown(sentence, 1_000_000) + "\nThe last word is quokka-77."
    receipt = await house.say(text, session_id="s")
    await house.writer.aclose()
    episodes = (await house.store.episodes(SPACE, receipt.episode_ids)).values()
    assert "".join(one.content for one in sorted(episodes, key=lambda one: one.id)) == text
    assert all(len(one.content) <= 1_500 for one in episodes)
    assert any("quokka-77" in content for content in [one.content for one in episodes])


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\t",
        "　　",
        "a\x00b",
        "\x00",
        "名\x00字",
        "\ud800",
        "x\udfffy",
        "猫\ud83d",
        "\r\n \r\n",
        "\u2003\u2003",
    ],
)
async def test_nothing_and_what_no_store_can_hold_is_refused_with_the_reason(text: str) -> None:
    house = House()
    with pytest.raises(InvalidInput) as caught:
        await house.say(text)
    assert caught.value.field == "content"
    assert caught.value.allowed
    assert await house.active() == []


@pytest.mark.parametrize(
    "text",
    [
        "😀",
        "👩‍👩‍👧‍👦 家",
        "🏳️‍🌈",
        "❤️ it",
        "𠮷野家",
        "café naïve",
        "\uff46\uff55\uff4c\uff4c",
        "مرحبا",
        "日本語テスト",
        "a\u0301bc",
    ],
)
async def test_emoji_and_every_script_is_stored_as_it_is(text: str) -> None:
    house = House()
    await house.say(text)
    assert await house.contents() == [text]


@pytest.mark.parametrize("sentence", LONG[:6])
@pytest.mark.parametrize(("one", "other"), [("红色 sauna-12", "蓝色 sauna-13"), ("left quay-4", "right quay-5")])
async def test_two_long_texts_that_differ_only_at_their_end_are_two(sentence: str, one: str, other: str) -> None:
    house = House()
    beginning = grown(sentence, 6_000)
    for end in (one, other):
        await house.write(WriteRequest((Message(f"{beginning}\n{end}"),), session_id=end))
    contents = await house.contents()
    assert any(one in content for content in contents)
    assert any(other in content for content in contents)

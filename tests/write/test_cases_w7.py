"""W7: what no rule understands is kept word for word and the receipt says so."""

import pytest

from hindsight.domain.episode import Message, Role
from hindsight.write.request import WriteRequest
from tests.write.house import House

NOT_UNDERSTOOD = [
    "Gear ratio of the left mixer: 7:3",
    "左侧搅拌机的齿轮比是 7:3",
    "The lookup key is tenant + region",
    "查找键是租户加地区",
    "Kiln nine fires at cone 6",
    "九号窑烧到六号锥",
    "Der Schlüssel hängt hinter der Tür",
    "make build && make ship",
    "重启 relay-7 之后再看 backlog",
    "\u03b1 = 0.35, \u03b2 = 1.2",
    "Blue bin: paper. Green bin: glass.",
    "蓝桶装纸，绿桶装玻璃",
    "🧯 → third floor",
    "Retries double until 64 s",
]


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
async def test_it_is_kept_word_for_word_and_the_receipt_says_so(text: str) -> None:
    house = House()
    receipt = await house.say(text)
    assert (receipt.facts, receipt.verbatim) == (0, True)
    (memory,) = await house.active()
    assert memory.content == text
    assert memory.verbatim


@pytest.mark.parametrize("text", NOT_UNDERSTOOD[:6])
@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.TOOL, Role.DOCUMENT])
async def test_whoever_said_it(text: str, role: Role) -> None:
    house = House()
    await house.write(WriteRequest((Message(text, role=role),)))
    assert await house.contents() == [text]


@pytest.mark.parametrize("text", NOT_UNDERSTOOD)
async def test_beside_something_understood_the_whole_turn_is_still_there(text: str) -> None:
    house = House()
    receipt = await house.say(f"我对花生过敏。{text}")
    assert receipt.facts == 1
    (episode,) = (await house.store.episodes("space", receipt.episode_ids)).values()
    assert text in episode.content
    assert (await house.state(receipt.episode_ids[0])).value == "open"

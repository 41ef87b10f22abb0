"""W10: a transcript imported twice doubles nothing; with three turns more, three are added."""

from dataclasses import replace
from datetime import timedelta

import pytest

from hindsight.domain.change import OutcomeAction
from hindsight.domain.episode import Message, Role
from hindsight.write.request import WriteRequest
from tests.write.house import SPACE, START, House, transcript

TRANSCRIPTS = [
    ["我住在杭州", "记下了", "我对虾过敏", "好的", "谢谢"],
    ["I live in Oslo", "Noted", "I'm allergic to shrimp", "All right", "thanks"],
    ["好", "好", "好", "好", "好"],
    ["yes", "yes", "no", "yes", "yes"],
    ["我喜欢爬山", "真好", "我喜欢爬山", "你说过了", "我喜欢爬山"],
    ["The retry limit is 5", "ok", "重试上限是 5", "ok"],
    ["密码是abc12345", "已保存", "再说一遍：密码是abc12345"],
    ["第一章\n\n" + "今天继续整理仓库里的旧书，一共三箱。" * 120, "读完了", "第二章"],
    ["# Notes\n\n" + "We sorted three boxes of old books today. " * 60, "done", "next"],
    ["你几点到？", "六点", "带伞了吗？", "带了"],
    ["😀", "😀", "🎉"],
]
MORE = ["我每天早上游泳", "好的", "The relay is in rack 7"]


@pytest.mark.parametrize("turns", TRANSCRIPTS)
async def test_a_second_import_doubles_nothing_and_three_more_turns_are_three(turns: list[str]) -> None:
    house = House()
    await house.write(transcript(turns))
    before, episodes = await house.active(), await house.store.session(SPACE, "s1")
    again = await house.write(transcript(turns))
    assert {outcome.action for outcome in again.outcomes} == {OutcomeAction.IGNORED}
    assert (await house.active(), await house.store.session(SPACE, "s1")) == (before, episodes)
    longer = await house.write(transcript([*turns, *MORE]))
    assert len(longer.episode_ids) == 3
    assert [one.content for one in await house.store.session(SPACE, "s1")] == [
        *(one.content for one in episodes),
        *MORE,
    ]


@pytest.mark.parametrize("turns", TRANSCRIPTS[:4])
async def test_what_is_another_turn_is_kept_however_alike(turns: list[str]) -> None:
    house = House()
    request = transcript(turns)
    await house.write(request)
    others = [
        replace(request, session_id="s2"),
        replace(request, messages=tuple(replace(one, speaker="Mia") for one in request.messages)),
        replace(
            request,
            messages=tuple(
                replace(one, occurred_at=START + timedelta(days=1, minutes=n)) for n, one in enumerate(request.messages)
            ),
        ),
    ]
    for other in others:
        assert len((await house.write(other)).episode_ids) == len(turns)


@pytest.mark.parametrize("key", ["import-7", "导入-七"])
async def test_an_idempotency_key_makes_a_repetition_harmless_without_times(key: str) -> None:
    house = House()
    request = WriteRequest((Message("我住在杭州"), Message("ok", role=Role.ASSISTANT)), "s1", idempotency_key=key)
    first = await house.write(request)
    assert await house.write(request) == first
    assert len(await house.store.session(SPACE, "s1")) == 2

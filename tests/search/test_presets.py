"""An exact answer comes first under every preset, however old, unimportant and unused it is."""

from __future__ import annotations

import pytest

from hindsight.domain.ranking import PRESETS
from hindsight.search.pipeline import SearchSettings
from tests.search.made import NOW, PATIENT, SPACE, World, episode, memory, resting_on

# Each kind of near miss: a question, what answers it exactly, and what says nearly the same of something else.
KINDS = {
    "number of a flight": (
        "Which gate does flight UA123 leave from?",
        "Flight UA123 leaves from gate B7.",
        ("Flight UA124 leaves from gate C2.", "Flight UA132 leaves from gate A1.", "Flight DL123 leaves from gate D4."),
    ),
    "number of a room": (
        "Who works in room 101?",
        "Maria works in room 101.",
        ("Tom works in room 102.", "Ann works in room 110.", "Everyone works in the big room on Fridays."),
    ),
    "name of a person": (
        "What is the phone extension of Dr Jane Richardson?",
        "The phone extension of Dr Jane Richardson is 4471.",
        ("The phone extension of Dr John Richardson is 4472.", "The phone extension of Dr Jane Robertson is 4480."),
    ),
    "year": (
        "Where is the tax return for 2021?",
        "The tax return for 2021 lies in the blue folder.",
        ("The tax return for 2022 lies in the red folder.", "The tax return for 2023 lies in the safe."),
    ),
    "thing": (
        "What colour is Ann's bicycle?",
        "Ann's bicycle is green.",
        ("Ann's car is black.", "Tom's bicycle is red.", "Ann's helmet is blue."),
    ),
    "航班号": (
        "UA123航班在几号登机口登机？",
        "UA123航班在B7登机口登机。",
        ("UA124航班在C2登机口登机。", "UA132航班在A1登机口登机。", "DL123航班在D4登机口登机。"),
    ),
    "房间号": (
        "101会议室的投影仪密码是多少？",
        "101会议室的投影仪密码是7788。",
        ("102会议室的投影仪密码是6655。", "110会议室的投影仪密码是1234。"),
    ),
    "人名": (
        "李国玉的分机号是多少？",
        "李国玉的分机号是4471。",
        ("李国松的分机号是4472。", "李玉国的分机号是4480。", "王国玉的分机号是4490。"),
    ),
    "年份": (
        "2021年的报税材料放在哪里？",
        "2021年的报税材料放在蓝色文件夹里。",
        ("2022年的报税材料放在红色文件夹里。", "2023年的报税材料放在保险柜里。"),
    ),
    "事物": (
        "小安的自行车是什么颜色？",
        "小安的自行车是绿色的。",
        ("小安的汽车是黑色的。", "小明的自行车是红色的。", "小安的头盔是蓝色的。"),
    ),
}
LONG_AGO = NOW.replace(year=NOW.year - 2)
OFTEN = 12


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", KINDS)
async def test_no_near_miss_drowns_an_exact_answer(kind: str, preset: str) -> None:
    question, exact, near_misses = KINDS[kind]
    world = World(settings=SearchSettings(PRESETS[preset], PATIENT.routes, PATIENT.deadline))
    await _hold(world, exact, near_misses)
    assert (await world.finds(question, top_k=5))[0] == exact


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("kind", KINDS)
async def test_no_near_miss_drowns_an_exact_answer_inside_a_conversation(kind: str, preset: str) -> None:
    question, exact, near_misses = KINDS[kind]
    world = World(settings=SearchSettings(PRESETS[preset], PATIENT.routes, PATIENT.deadline))
    said = [
        episode(
            100 + 10 * number + place,
            said,
            session_id=f"s{number}",
            position=place,
            occurred_at=NOW if number else LONG_AGO,
        )
        for number, text in enumerate((exact, *near_misses))
        for place, said in enumerate(("早上好 / Good morning!", text, "谢谢 / Thanks, that helps."))
    ]
    told = memory(1, exact, occurred_at=LONG_AGO, importance=0.05)
    await world.holds(*said, resting_on(said[1], told))
    await _hold(world, None, near_misses)
    assert (await world.finds(question, top_k=5))[0] == exact


@pytest.mark.parametrize("preset", [name for name, weights in PRESETS.items() if weights.freshness])
async def test_of_two_that_answer_alike_the_fresher_comes_first(preset: str) -> None:
    world = World(settings=SearchSettings(PRESETS[preset], PATIENT.routes, PATIENT.deadline))
    await world.holds(
        memory(1, "The gate of the train to Oslo is 7", occurred_at=LONG_AGO),
        memory(2, "The gate of the train to Oslo is 9", occurred_at=NOW),
    )
    assert (await world.finds("What is the gate of the train to Oslo?"))[0].endswith("9")


async def _hold(world: World, exact: str | None, near_misses: tuple[str, ...]) -> None:
    old = () if exact is None else (memory(1, exact, occurred_at=LONG_AGO, importance=0.05),)
    fresh = [memory(number, text, occurred_at=NOW, importance=1.0) for number, text in enumerate(near_misses, 2)]
    await world.holds(*old, *fresh)
    for _ in range(OFTEN):
        await world.store.record_use(SPACE, [one.id for one in fresh], NOW)

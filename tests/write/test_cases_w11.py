"""W11: relative time is read against the moment of speaking, and the words that were said are kept beside it."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hindsight.domain.episode import Message
from hindsight.domain.memory import Kind, Memory
from hindsight.write.request import WriteRequest
from tests.write.house import House

SAID = datetime(2023, 5, 24, 15, 0, tzinfo=UTC)  # a Wednesday


async def told(text: str, *, at: datetime = SAID, zone: str | None = None, speaker: str | None = None) -> Memory:
    house = House()
    await house.write(WriteRequest((Message(text, occurred_at=at, timezone=zone, speaker=speaker),), session_id="s"))
    (memory,) = await house.active()
    return memory


PAST = [
    ("我去过巴黎，上周去的", "上周", (5, 15), 7),
    ("我上周去了巴黎。", "上周", (5, 15), 7),
    ("我昨天参加了公司的年会", "昨天", (5, 23), 1),
    ("前天我买了一台新相机", "前天", (5, 22), 1),
    ("我上个月辞职了", "上个月", (4, 1), 30),
    ("我三天前拿到了驾照", "三天前", (5, 21), 1),
    ("昨天晚上我和老婆看了演唱会", "昨天", (5, 23), 1),
    ("I went to Paris last week", "last week", (5, 15), 7),
    ("Last week, I visited the Louvre with my sister.", "Last week", (5, 15), 7),
    ("I adopted a kitten yesterday!", "yesterday", (5, 23), 1),
    ("Yesterday I finished my first marathon", "Yesterday", (5, 23), 1),
    ("I bought a camera two days ago", "two days ago", (5, 22), 1),
    ("I moved to Lyon last month", "last month", (4, 1), 30),
]


@pytest.mark.parametrize(("text", "words", "first", "days"), PAST)
async def test_what_happened_is_dated_from_when_it_was_said(
    text: str, words: str, first: tuple[int, int], days: int
) -> None:
    memory = await told(text)
    begin = datetime(2023, *first, tzinfo=UTC)
    assert begin <= memory.occurred_at < begin + timedelta(days=days)
    assert memory.valid_to is None
    assert words.casefold() in memory.content.casefold()
    when = memory.metadata["when"]
    assert isinstance(when, dict)
    assert str(when["start"]).startswith(f"2023-{first[0]:02d}-{first[1]:02d}")


PLANNED = [
    ("明天我要去上海出差", (5, 25), (5, 26)),
    ("后天要面试", (5, 26), (5, 27)),
    ("我下周要去日本旅行", (5, 29), (6, 5)),
    ("我下个月搬到广州", (6, 1), (7, 1)),
    ("I'm flying to Rome tomorrow", (5, 25), (5, 26)),
    ("I have a job interview tomorrow", (5, 25), (5, 26)),
    ("I'm going to Tokyo next month", (6, 1), (7, 1)),
    ("I'm moving to Leeds next week", (5, 29), (6, 5)),
    ("My wife is flying to Madrid tomorrow", (5, 25), (5, 26)),
    ("我妈妈明天要去医院复查", (5, 25), (5, 26)),
]


@pytest.mark.parametrize(("text", "first", "last"), PLANNED)
async def test_a_plan_holds_from_when_it_was_told_until_its_day_is_over(
    text: str, first: tuple[int, int], last: tuple[int, int]
) -> None:
    memory = await told(text)
    assert memory.kind is Kind.EVENT
    assert memory.valid_from == SAID
    assert memory.occurred_at == datetime(2023, *first, tzinfo=UTC)
    assert memory.valid_to == datetime(2023, *last, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "zone", "first"),
    [
        ("我昨天参加了面试", "Asia/Shanghai", datetime(2023, 5, 23, tzinfo=ZoneInfo("Asia/Shanghai"))),
        (
            "I went to the dentist yesterday",
            "America/New_York",
            datetime(2023, 5, 23, tzinfo=ZoneInfo("America/New_York")),
        ),
        (
            "I went to the dentist yesterday",
            "Pacific/Auckland",
            datetime(2023, 5, 24, tzinfo=ZoneInfo("Pacific/Auckland")),
        ),
    ],
)
async def test_yesterday_is_the_speakers_own(text: str, zone: str, first: datetime) -> None:
    memory = await told(text, zone=zone)
    assert memory.occurred_at == first


@pytest.mark.parametrize(
    "text",
    [
        "我去过巴黎",
        "I have been to Paris",
        "我对花生过敏",
        "I'm allergic to nuts",
        "我每天早上跑步",
        "I run every morning",
    ],
)
async def test_without_a_time_it_counts_as_said(text: str) -> None:
    memory = await told(text)
    assert memory.occurred_at == SAID
    assert (memory.valid_from, memory.valid_to) == (None, None)

"""Times in the zone of the speaker: two users at one moment, days of 23 and 25 hours, leap days, ends of years."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from hindsight.errors import InvalidInput
from hindsight.language.time import find_times
from tests.language.time.reading import cases, read

# One moment, two users: half past eleven at night in Shanghai, the afternoon of the same day in London.
MOMENT = datetime(2024, 5, 14, 15, 30, tzinfo=UTC)
SHANGHAI, LONDON, AUCKLAND, BERLIN = (
    ZoneInfo(name) for name in ("Asia/Shanghai", "Europe/London", "Pacific/Auckland", "Europe/Berlin")
)
EACH_ONES_OWN = [
    ("yesterday", "2024-05-13", "2024-05-14"),
    ("昨天", "2024-05-13", "2024-05-14"),
    ("today", "2024-05-14", "2024-05-15"),
    ("今天", "2024-05-14", "2024-05-15"),
    ("tomorrow", "2024-05-15", "2024-05-16"),
    ("明天", "2024-05-15", "2024-05-16"),
    ("last night", "2024-05-13T18:00/2024-05-14", "2024-05-14T18:00/2024-05-15"),
    ("昨晚", "2024-05-13T18:00/2024-05-14", "2024-05-14T18:00/2024-05-15"),
    ("three days ago", "2024-05-11", "2024-05-12"),
    ("三天前", "2024-05-11", "2024-05-12"),
    ("the past 7 days", "2024-05-07/2024-05-15", "2024-05-08/2024-05-16"),
    ("最近一周", "2024-05-07/2024-05-15", "2024-05-08/2024-05-16"),
]


@pytest.mark.parametrize(("text", "in_shanghai", "in_auckland"), EACH_ONES_OWN)
def test_each_users_yesterday_is_their_own(text: str, in_shanghai: str, in_auckland: str) -> None:
    assert read(text, MOMENT.astimezone(SHANGHAI)) == [in_shanghai]
    assert read(text, MOMENT.astimezone(AUCKLAND)) == [in_auckland]


@pytest.mark.parametrize("text", [text for text, *_ in EACH_ONES_OWN])
def test_half_past_eleven_at_night_is_still_the_same_local_day(text: str) -> None:
    late = datetime(2024, 5, 14, 23, 30, tzinfo=SHANGHAI)
    assert read(text, late) == read(text, late.replace(hour=9))


def test_an_interval_is_in_the_zone_of_the_speaker() -> None:
    (mention,) = find_times("yesterday", MOMENT.astimezone(SHANGHAI))
    assert mention.start == datetime(2024, 5, 13, tzinfo=SHANGHAI) == datetime(2024, 5, 12, 16, tzinfo=UTC)
    assert mention.start.tzinfo is SHANGHAI


def test_an_event_of_last_week_is_of_the_week_before_it_was_said() -> None:
    said = datetime(2023, 5, 24, 12, tzinfo=SHANGHAI)
    assert read("我去过巴黎，上周去的", said) == ["2023-05-15/2023-05-22"]
    assert read("I went to Paris last week", said) == ["2023-05-15/2023-05-22"]


def test_a_named_zone_is_turned_into_that_of_the_speaker() -> None:
    now = datetime(2024, 1, 10, 12, tzinfo=LONDON)
    assert read("tomorrow at 9am PST", now) == ["2024-01-11T17:00"]
    assert read("北京时间明天20:00", now) == ["2024-01-11T12:00"]
    assert read("2024-01-11T08:00:00+08:00", now) == ["2024-01-11T00:00"]


@pytest.mark.parametrize(
    ("day", "hours"),
    [(datetime(2024, 3, 31, 9, tzinfo=BERLIN), 23), (datetime(2024, 10, 27, 9, tzinfo=BERLIN), 25)],
)
@pytest.mark.parametrize("text", ["today", "今天"])
def test_a_day_on_which_the_clocks_change_is_whole(day: datetime, hours: int, text: str) -> None:
    (mention,) = find_times(text, day)
    assert mention.start is not None
    assert mention.end is not None
    assert mention.end.astimezone(UTC) - mention.start.astimezone(UTC) == timedelta(hours=hours)


@pytest.mark.parametrize("text", ["in 2 hours", "两小时后"])
def test_hours_are_real_hours_over_a_change_of_the_clocks(text: str) -> None:
    (mention,) = find_times(text, datetime(2024, 3, 31, 1, 30, tzinfo=BERLIN))
    assert mention.start == datetime(2024, 3, 31, 4, 30, tzinfo=BERLIN)
    (mention,) = find_times(text, datetime(2024, 10, 27, 1, 30, tzinfo=BERLIN))
    assert mention.start is not None
    assert mention.start.astimezone(UTC) == datetime(2024, 10, 27, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize("text", ["tomorrow at 9am", "明天上午九点"])
def test_a_clock_time_stays_on_the_clock_over_a_change(text: str) -> None:
    assert read(text, datetime(2024, 3, 30, 12, tzinfo=BERLIN)) == ["2024-03-31T09:00"]


LEAP_DAY = datetime(2024, 2, 29, 10, tzinfo=SHANGHAI)
ON_A_LEAP_DAY = """
last year | 2023-01-01/2024-01-01
two years ago | 2022-02-28
a month ago | 2024-01-29
tomorrow | 2024-03-01
end of the month | 2024-02-21/2024-03-01
两年前 | 2022-02-28
四年前 | 2020-02-29
一个月后 | 2024-03-29
明天 | 2024-03-01
月底 | 2024-02-21/2024-03-01
去年今天 |
"""


@pytest.mark.parametrize(("text", "times"), cases(ON_A_LEAP_DAY.replace("去年今天 |\n", "")))
def test_a_leap_day_counts_by_the_calendar(text: str, times: list[str]) -> None:
    assert read(text, LEAP_DAY) == times


def test_a_day_that_last_year_did_not_have_is_not_read() -> None:
    assert read("去年今天", LEAP_DAY) == []


NEW_YEARS_EVE = datetime(2024, 12, 31, 23, 30, tzinfo=SHANGHAI)
AT_THE_END_OF_A_YEAR = """
tomorrow | 2025-01-01
next week | 2025-01-06/2025-01-13
this week | 2024-12-30/2025-01-06
next month | 2025-01-01/2025-02-01
in 2 hours | 2025-01-01T01:30
next quarter | 2025-01-01/2025-04-01
明天 | 2025-01-01
下周五 | 2025-01-10
下个月 | 2025-01-01/2025-02-01
明年 | 2025-01-01/2026-01-01
半小时后 | 2025-01-01T00:00
上个月 | 2024-11-01/2024-12-01
"""


@pytest.mark.parametrize(("text", "times"), cases(AT_THE_END_OF_A_YEAR))
def test_a_year_ends_where_the_speaker_is(text: str, times: list[str]) -> None:
    assert read(text, NEW_YEARS_EVE) == times


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="reference"):
        find_times("yesterday", datetime(2024, 5, 15))  # noqa: DTZ001  without a zone is the point

"""Times that come again: what a rule means, also where clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.errors import InvalidInput
from hindsight.upkeep.cron import parse

BERLIN, SHANGHAI = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Shanghai")
MONDAY = datetime(2024, 1, 15, 9, 30, tzinfo=UTC)


def times(rule: str, count: int = 3, start: datetime = MONDAY, zone: tzinfo = UTC) -> list[str]:
    cron = parse(rule)
    assert cron is not None
    found = []
    for _ in range(count):
        start = cron.after(start, zone)
        found.append(f"{start.astimezone(zone):%a %m-%d %H:%M}")
    return found


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("*/20 * * * *", ["Mon 01-15 09:40", "Mon 01-15 10:00", "Mon 01-15 10:20"]),
        ("30 9 * * *", ["Tue 01-16 09:30", "Wed 01-17 09:30", "Thu 01-18 09:30"]),
        ("0 4 * * sun", ["Sun 01-21 04:00", "Sun 01-28 04:00", "Sun 02-04 04:00"]),
        ("0 4 * * 7", ["Sun 01-21 04:00", "Sun 01-28 04:00", "Sun 02-04 04:00"]),
        ("0 8-18/5 * * mon-fri", ["Mon 01-15 13:00", "Mon 01-15 18:00", "Tue 01-16 08:00"]),
        ("0 0 31 * *", ["Wed 01-31 00:00", "Sun 03-31 00:00", "Fri 05-31 00:00"]),
        ("0 0 1,20 * *", ["Sat 01-20 00:00", "Thu 02-01 00:00", "Tue 02-20 00:00"]),
        ("0 0 13 * fri", ["Fri 01-19 00:00", "Fri 01-26 00:00", "Fri 02-02 00:00"]),
        ("0 0 29 feb *", ["Thu 02-29 00:00", "Tue 02-29 00:00", "Sun 02-29 00:00"]),
        ("5/25 10 * * *", ["Mon 01-15 10:05", "Mon 01-15 10:30", "Mon 01-15 10:55"]),
        ("@weekly", ["Sun 01-21 00:00", "Sun 01-28 00:00", "Sun 02-04 00:00"]),
        (" @Hourly ", ["Mon 01-15 10:00", "Mon 01-15 11:00", "Mon 01-15 12:00"]),
    ],
)
def test_a_rule_comes_when_it_says(rule: str, expected: list[str]) -> None:
    assert times(rule) == expected


def test_times_are_on_the_clock_of_the_zone() -> None:
    assert times("0 3 * * *", 1, zone=SHANGHAI) == ["Tue 01-16 03:00"]


def test_an_hour_that_is_skipped_comes_right_after_and_one_that_comes_twice_comes_once() -> None:
    spring = datetime(2024, 3, 30, 12, tzinfo=UTC)
    assert times("30 2 * * *", 2, spring, BERLIN) == ["Sun 03-31 03:30", "Mon 04-01 02:30"]
    autumn = datetime(2024, 10, 26, 12, tzinfo=UTC)
    assert times("30 2 * * *", 2, autumn, BERLIN) == ["Sun 10-27 02:30", "Mon 10-28 02:30"]


def test_off_never_comes() -> None:
    assert parse("off") is None


@pytest.mark.parametrize(
    "rule",
    ["", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *",
     "a * * * *", "* * * foo *", "1,,2 * * * *", "@reboot", "-1 * * * *", "1.5 * * * *"],
)  # fmt: skip
def test_what_is_no_rule_is_refused_by_name(rule: str) -> None:
    with pytest.raises(InvalidInput, match="schedule"):
        parse(rule, field="schedule.purge")


def test_a_date_that_never_comes_is_refused() -> None:
    cron = parse("0 0 31 feb *")
    assert cron is not None
    with pytest.raises(InvalidInput):
        cron.after(MONDAY, UTC)


@given(st.integers(0, 5_000_000), st.sampled_from(("*/7 * * * *", "15 3 * * 1", "@daily")))
def test_the_next_time_is_later_and_no_earlier_one_is_passed_over(minutes: int, rule: str) -> None:
    cron = parse(rule)
    assert cron is not None
    start = MONDAY + timedelta(minutes=minutes)
    found = cron.after(start, UTC)
    assert found > start
    assert cron.after(found - timedelta(microseconds=1), UTC) == found

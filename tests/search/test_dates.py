"""The times a question speaks of."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from hindsight.search.dates import nearness, windows_of

ASKED = datetime(2024, 3, 20, 9, 30, tzinfo=timezone(timedelta(hours=8)))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we do in February?", date(2024, 2, 1), date(2024, 3, 1)),
        ("我们2月做了什么", date(2024, 2, 1), date(2024, 3, 1)),
        ("昨天吃了什么", date(2024, 3, 19), date(2024, 3, 20)),
        ("what did I eat yesterday?", date(2024, 3, 19), date(2024, 3, 20)),
    ],
)
def test_a_question_names_its_time_on_the_askers_clock(text: str, first: date, last: date) -> None:
    ((start, end),) = windows_of(text, ASKED)
    assert (start.date(), end.date()) == (first, last)
    assert start.utcoffset() == timedelta(hours=8)


@pytest.mark.parametrize(
    "text", ["in April, which song is sung?", "4月的晚餐", "who comes at Christmas?", "在10月15日"]
)
def test_a_name_that_comes_again_every_year_may_be_of_the_past_one(text: str) -> None:
    (ahead, _), (before, _) = windows_of(text, ASKED)
    assert ahead > ASKED > before
    assert (ahead.year - before.year, ahead.month, ahead.day) == (1, before.month, before.day)


@pytest.mark.parametrize("text", ["what is on next week?", "明天做什么", "下个月的计划", "plans for April 2024"])
def test_a_time_that_says_which_one_it_is_lies_ahead_only(text: str) -> None:
    assert len(windows_of(text, ASKED)) == 1


@pytest.mark.parametrize(
    "text", ["which cities did she visit?", "她去过哪些城市", "请列举两点", "since 1990, who was it?"]
)
def test_a_question_without_a_telling_time_has_no_window(text: str) -> None:
    assert windows_of(text, ASKED) == ()


def test_recently_yields_to_a_time_that_is_named_beside_it() -> None:
    assert len(windows_of("recently", ASKED)) == 1
    windows = windows_of("In January 2024, what did Ann say had happened recently?", ASKED)
    assert [start.date() for start, _ in windows] == [date(2024, 1, 1)]


def test_nearness_falls_with_the_distance_and_inside_is_half_open() -> None:
    start, end = datetime(2024, 1, 10, tzinfo=UTC), datetime(2024, 1, 11, tzinfo=UTC)
    times = [start, end, end + timedelta(days=7), start - timedelta(days=7), start - timedelta(days=90)]
    near, inside = nearness([(start, end)], np.array([moment.timestamp() for moment in times] + [np.nan]))
    assert inside.tolist() == [1, 0, 0, 0, 0, 0]
    assert near[:4] == pytest.approx([1, 1, np.exp(-1), np.exp(-1)])
    assert near[4] < 1e-5
    assert near[5] == 0


def test_of_several_windows_the_nearest_counts() -> None:
    windows = [(datetime(2024, month, 1, tzinfo=UTC), datetime(2024, month, 2, tzinfo=UTC)) for month in (1, 6)]
    _, inside = nearness(windows, np.array([start.timestamp() for start, _ in windows]))
    assert inside.tolist() == [1, 1]

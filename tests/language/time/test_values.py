"""Calendar arithmetic."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.time.values import GRAINS, Grain, Interval, add, floor, nth, part, unit

MOMENTS = st.datetimes(datetime(1700, 1, 1), datetime(2400, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  bounds have no zone
GRAIN = st.sampled_from(GRAINS)


@given(MOMENTS, GRAIN)
def test_a_unit_holds_its_moment_and_the_next_one_begins_where_it_ends(at: datetime, grain: Grain) -> None:
    this, following = unit(at, grain), unit(at, grain, 1)
    assert this.start is not None
    assert this.end is not None
    assert this.start <= at < this.end == following.start
    assert floor(this.start, grain) == this.start


@pytest.mark.parametrize(
    ("day", "count", "grain", "expected"),
    [
        ("2024-01-31", 1, "month", "2024-02-29"),
        ("2023-01-31", 1, "month", "2023-02-28"),
        ("2024-02-29", -1, "year", "2023-02-28"),
        ("2024-11-30", 1, "quarter", "2025-02-28"),
        ("2024-12-31", 1, "day", "2025-01-01"),
        ("2024-03-15", -3, "month", "2023-12-15"),
        ("2024-05-15", 2, "week", "2024-05-29"),
        ("2024-05-15", -1, "decade", "2014-05-15"),
        ("2024-08-31", -6, "month", "2024-02-29"),
        ("2024-05-15", 1, "century", "2124-05-15"),
    ],
)
def test_months_that_are_too_short_give_their_last_day(day: str, count: int, grain: Grain, expected: str) -> None:
    assert add(datetime.fromisoformat(day).replace(tzinfo=UTC), count, grain).date().isoformat() == expected


def test_the_calendar_ends_with_an_error() -> None:
    with pytest.raises(OverflowError):
        add(datetime(9999, 6, 1, tzinfo=UTC), 1, "year")


@given(MOMENTS, st.sampled_from(("week", "month", "quarter", "half", "year", "decade", "century")))
def test_the_thirds_of_a_period_make_up_the_whole(at: datetime, grain: Grain) -> None:
    whole = unit(at, grain)
    early, mid, late = (part(whole, which) for which in ("early", "mid", "late"))
    assert early is not None
    assert mid is not None
    assert late is not None
    assert (early.start, early.end, mid.end, late.end) == (whole.start, mid.start, late.start, whole.end)


@given(MOMENTS, st.integers(0, 6))
def test_the_first_and_the_last_weekday_of_a_month_are_in_it(at: datetime, day: int) -> None:
    month = unit(at, "month")
    first, last = nth(month, 1, "day", day), nth(month, -1, "day", day)
    assert first is not None
    assert last is not None
    assert month.start is not None
    assert month.end is not None
    assert first.start is not None
    assert last.end is not None
    assert month.start <= first.start < month.start + timedelta(days=7)
    assert month.end - timedelta(days=7) < last.end <= month.end
    assert nth(month, 6, "day", day) is None


def test_weeks_belong_to_the_year_of_their_thursday() -> None:
    year = unit(datetime(2015, 6, 1, tzinfo=UTC), "year")
    assert nth(year, 1, "week") == Interval(
        datetime(2014, 12, 29, tzinfo=UTC), datetime(2015, 1, 5, tzinfo=UTC), "week"
    )

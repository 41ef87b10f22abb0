"""Days with a name, and the lunar calendar, against dates that almanacs agree on."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.time.festivals import easter, lunar_day, orthodox_easter, solar_term


@pytest.mark.parametrize(
    ("year", "day"),
    [(1900, date(1900, 1, 31)), (1949, date(1949, 1, 29)), (1976, date(1976, 1, 31)), (1985, date(1985, 2, 20)),
     (2000, date(2000, 2, 5)), (2013, date(2013, 2, 10)), (2020, date(2020, 1, 25)), (2023, date(2023, 1, 22)),
     (2024, date(2024, 2, 10)), (2033, date(2033, 1, 31)), (2034, date(2034, 2, 19)), (2050, date(2050, 1, 23))],
)  # fmt: skip
def test_the_lunar_year_begins_on_the_known_day(year: int, day: date) -> None:
    assert lunar_day(year, 1, 1) == day


def test_leap_months_stand_after_the_month_they_double() -> None:
    assert lunar_day(2023, 2, 1, leap=True) == date(2023, 3, 22)
    assert lunar_day(2020, 4, 1, leap=True) == date(2020, 5, 23)
    assert lunar_day(2033, 11, 1, leap=True) == date(2033, 12, 22)


@pytest.mark.parametrize(
    ("year", "month", "day", "leap"),
    [(2024, 13, 1, False), (2024, 2, 1, True), (2024, 1, 31, False), (1899, 1, 1, False), (2051, 1, 1, False)],
)
def test_a_lunar_day_that_does_not_exist_is_refused(year: int, month: int, day: int, leap: bool) -> None:
    with pytest.raises(ValueError, match=r"lunar|leap"):
        lunar_day(year, month, day, leap=leap)


@pytest.mark.parametrize(
    ("year", "day"),
    [(1961, (4, 2)), (2000, (4, 23)), (2008, (3, 23)), (2024, (3, 31)), (2025, (4, 20)), (2038, (4, 25))],
)
def test_easter_falls_on_the_known_day(year: int, day: tuple[int, int]) -> None:
    assert easter(year) == date(year, *day)


@pytest.mark.parametrize(
    ("year", "day"), [(2013, (5, 5)), (2018, (4, 8)), (2020, (4, 19)), (2024, (5, 5)), (2025, (4, 20))]
)
def test_orthodox_easter_falls_on_the_known_day(year: int, day: tuple[int, int]) -> None:
    assert orthodox_easter(year) == date(year, *day)


@pytest.mark.parametrize(
    ("year", "longitude", "day"),
    [(2024, 15, (4, 4)), (2023, 15, (4, 5)), (2021, 270, (12, 21)), (2023, 270, (12, 22)), (2021, 315, (2, 3)),
     (2025, 315, (2, 3)), (2024, 90, (6, 21)), (2020, 285, (1, 6)), (2022, 180, (9, 23)), (2000, 0, (3, 20))],
)  # fmt: skip
def test_a_solar_term_falls_on_the_known_day(year: int, longitude: int, day: tuple[int, int]) -> None:
    assert solar_term(year, longitude) == date(year, *day)


@given(st.integers(1900, 2099))
def test_easter_is_a_sunday_in_spring(year: int) -> None:
    for day in (easter(year), orthodox_easter(year)):
        assert day.weekday() == 6
        assert date(year, 3, 22) <= day <= date(year, 5, 10)


@given(st.integers(1901, 2050), st.sampled_from(range(0, 360, 15)))
def test_a_solar_term_is_in_the_year_asked_for(year: int, longitude: int) -> None:
    assert solar_term(year, longitude).year == year

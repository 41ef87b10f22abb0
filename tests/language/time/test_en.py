"""Times in English, said on Wednesday 15 May 2024 at half past two in the afternoon."""

import pytest

from tests.language.time.reading import cases, read

DAYS = """
today | 2024-05-15
yesterday | 2024-05-14
Tomorrow | 2024-05-16
the day before yesterday | 2024-05-13
the day after tomorrow | 2024-05-17
I went there yesterday | 2024-05-14
see you tomorrow! | 2024-05-16
three days ago | 2024-05-12
in two days | 2024-05-17
two days after tomorrow | 2024-05-18
three weeks from tomorrow | 2024-06-06
"""
WEEKDAYS = """
next Friday | 2024-05-24
this Friday | 2024-05-17
last Friday | 2024-05-10
Friday | 2024-05-17
I went to the dentist on Friday | 2024-05-10
I will see her on Friday | 2024-05-17
Wednesday | 2024-05-22
next week on Tuesday | 2024-05-21
tuesday of last week | 2024-05-07
Monday of next week | 2024-05-20
coming Thursday | 2024-05-16
past Monday | 2024-05-13
friday after next | 2024-05-24
from Monday to Wednesday | 2024-05-20/2024-05-23
the third Thursday of November | 2024-11-21
first Monday of last month | 2024-04-01
last Friday of October 2023 | 2023-10-27
3 fridays from now | 2024-05-31
"""
WEEKS = """
last week | 2024-05-06/2024-05-13
this week | 2024-05-13/2024-05-20
next week | 2024-05-20/2024-05-27
the week after next | 2024-05-27/2024-06-03
this weekend | 2024-05-18/2024-05-20
last weekend | 2024-05-11/2024-05-13
next weekend | 2024-05-25/2024-05-27
the weekend before last | 2024-05-04/2024-05-06
the week of June 10 | 2024-06-10/2024-06-17
first week of 2021 | 2021-01-04/2021-01-11
the last week of last month | 2024-04-22/2024-04-29
end of next week | 2024-05-24/2024-05-27
the weekend of June 5 | 2024-06-08/2024-06-10
rest of the week | 2024-05-15/2024-05-20
"""
MONTHS = """
last month | 2024-04-01/2024-05-01
next month | 2024-06-01/2024-07-01
March | 2025-03-01/2025-04-01
in September | 2024-09-01/2024-10-01
We met in March | 2024-03-01/2024-04-01
this September | 2024-09-01/2024-10-01
October 2014 | 2014-10-01/2014-11-01
early March | 2025-03-01/2025-03-11
mid-June | 2024-06-11/2024-06-21
late last month | 2024-04-21/2024-05-01
the end of April 2023 | 2023-04-21/2023-05-01
from April to June 2017 | 2017-04-01/2017-07-01
Nov-Feb 2019 | 2018-11-01/2019-03-01
end of the month | 2024-05-21/2024-06-01
EOM | 2024-05-21/2024-06-01
"""
YEARS = """
last year | 2023-01-01/2024-01-01
next year | 2025-01-01/2026-01-01
in 2014 | 2014-01-01/2015-01-01
end of last year | 2023-09-01/2024-01-01
beginning of 2017 | 2017-01-01/2017-05-01
the 90s | 1990-01-01/2000-01-01
in the eighties | 1980-01-01/1990-01-01
the 21st century | 2000-01-01/2100-01-01
nineteen ninety six | 1996-01-01/1997-01-01
from 2014 to 2018 | 2014-01-01/2019-01-01
between 2007 and 2009 | 2007-01-01/2009-01-01
18q4 | 2018-10-01/2019-01-01
third quarter | 2024-07-01/2024-10-01
last quarter | 2024-01-01/2024-04-01
2019-H2 | 2019-07-01/2020-01-01
last summer | 2023-06-01/2023-09-01
spring 2020 | 2020-03-01/2020-06-01
next winter | 2024-12-01/2025-03-01
"""
DATES = """
May 9 | 2025-05-09
I saw him on May 9 | 2024-05-09
March 3rd, 2015 | 2015-03-03
14 april 2015 | 2015-04-14
the first of june | 2024-06-01
2015-03-03 | 2015-03-03
3/5/2021 | 2021-03-05
25/12/2020 | 2020-12-25
8/20 | 2024-08-20
on the 20th | 2024-05-20
20th of next month | 2024-06-20
1-8 September | 2024-09-01/2024-09-09
July 13 - July 15 | 2024-07-13/2024-07-16
Fri, Jul 18 | 2025-07-18
Thursday the 16th | 2024-05-16
May 7 to 10, 2020 | 2020-05-07/2020-05-11
20161016 | 2016-10-16
Feb 29 | 2028-02-29
January twenty five nineteen eighty six | 1986-01-25
"""
HOURS = """
at 3pm | 2024-05-15T15:00
tomorrow at noon | 2024-05-16T12:00
yesterday at 9:15 am | 2024-05-14T09:15
Friday at 4pm | 2024-05-17T16:00
tonight at 8 | 2024-05-15T20:00
9 tomorrow morning | 2024-05-16T09:00
half past three pm | 2024-05-15T15:30
a quarter to noon tomorrow | 2024-05-16T11:45
15:30 | 2024-05-15T15:30
tomorrow from 9:30 to 11:00 | 2024-05-16T09:30/2024-05-16T11:00
3-4pm | 2024-05-15T15:00/2024-05-15T16:00
8:00 GMT on Thursday | 2024-05-16T16:00
7:45pm EST tomorrow | 2024-05-17T08:45
2024-05-15T10:30:00Z | 2024-05-15T18:30
tonight at midnight | 2024-05-16T00:00
between 2 and 4:30pm tomorrow | 2024-05-16T14:00/2024-05-16T16:30
"""
DAY_PARTS = """
this morning | 2024-05-15/2024-05-15T12:00
tomorrow afternoon | 2024-05-16T12:00/2024-05-16T18:00
last night | 2024-05-14T18:00/2024-05-15
tonight | 2024-05-15T18:00/2024-05-16
Monday morning | 2024-05-20/2024-05-20T12:00
yesterday evening | 2024-05-14T18:00/2024-05-15
late last night | 2024-05-14T21:00/2024-05-15
monday early in the morning | 2024-05-20/2024-05-20T09:00
in the afternoon | 2024-05-15T12:00/2024-05-15T18:00
morning of the 20th of may | 2024-05-20/2024-05-20T12:00
tomorrow at lunch | 2024-05-16T12:00/2024-05-16T14:00
"""
DISTANCES = """
in 2 hours | 2024-05-15T16:30
half an hour ago | 2024-05-15T14:00
5 minutes from now | 2024-05-15T14:35
a week ago | 2024-05-08
three months ago | 2024-02-15
two years ago | 2022-05-15
in a couple of hours | 2024-05-15T16:30
a fortnight ago | 2024-05-01
half a year ago | 2023-11-15
two weeks from Friday | 2024-05-31
2 days before Christmas | 2024-12-23
Monday two weeks from now | 2024-05-27
"""
SPANS = """
the past 7 days | 2024-05-08/2024-05-16
last 3 months | 2024-02-15/2024-05-16
over the last two weeks | 2024-05-01/2024-05-16
next 3 days | 2024-05-16/2024-05-19
the next two weeks | 2024-05-16/2024-05-30
past 10 years | 2014-05-15/2024-05-16
last 2 hours | 2024-05-15T12:30/2024-05-15T14:30
within 9 months | 2024-05-15T14:30/2025-02-16
last 2 quarters | 2023-10-01/2024-04-01
next 4 business days | 2024-05-16/2024-05-22
a few days ago | 2024-05-09/2024-05-14
recently | 2024-04-15/2024-05-16
a week starting tomorrow | 2024-05-16/2024-05-23
"""
OPEN = """
since Monday | 2024-05-13/..
by Friday | ../2024-05-18
until tomorrow | ../2024-05-17
before 2020 | ../2020-01-01
after 2010 | 2011-01-01/..
after June 15 | 2024-06-15/..
since August | 2023-08-01/..
no later than January 1, 2010 | ../2010-01-02
2012 or later | 2012-01-01/..
by the end of next month | ../2024-07-01
before the end of June | ../2024-07-01
tomorrow before 5pm | ../2024-05-16T17:00
next Monday later than 10 in the morning | 2024-05-20T10:00/..
from 10/1 to 11/7 | 2024-10-01/2024-11-08
from May 1 to May 20 | 2024-05-01/2024-05-21
ages ago | ../2023-05-15
from now on | 2024-05-15T14:30/..
starting on January 7th | 2024-01-07/..
"""
FESTIVALS = """
Christmas | 2024-12-25
last Christmas | 2023-12-25
on Christmas Eve | 2024-12-24
easter 2018 | 2018-04-01
Thanksgiving | 2024-11-28
black friday 2017 | 2017-11-24
orthodox easter 2018 | 2018-04-08
chinese new year | 2025-01-29
labor day | 2024-09-02
good friday | 2025-04-18
halloween | 2024-10-31
next new year's day | 2025-01-01
"""


@pytest.mark.parametrize(
    ("text", "times"),
    [
        case
        for table in (DAYS, WEEKDAYS, WEEKS, MONTHS, YEARS, DATES, HOURS, DAY_PARTS, DISTANCES, SPANS, OPEN, FESTIVALS)
        for case in cases(table)
    ],
)
def test_english_times_are_read_by_the_documented_convention(text: str, times: list[str]) -> None:
    assert read(text) == times


@pytest.mark.parametrize(
    "text",
    [
        "May I ask what this is for?",
        "They march on.",
        "I have second thoughts",
        "This may or may not be right.",
        "One may ask a question",
        "He is 45",
        "version 3.11",
        "call 555-1234",
        "I paid $2000",
        "1/2 cup of sugar",
        "open 24/7",
        "every Monday at 9am",
        "it took two hours",
        "I've lived here for three years",
        "on the 3rd floor",
        "in the first place",
        "we fall asleep",
        "the sun sat low",
        "Good night",
        "There are 10 students.",
        "a 4:3 ratio",
        "192.168.1.1",
        "day after day",
        "one day I will",
        "up to date",
        "a second round",
        "the present",
    ],
)
def test_english_texts_without_a_time_are_left_alone(text: str) -> None:
    assert read(text) == []


def test_several_times_of_one_text_come_in_order() -> None:
    text = "We met last Friday at 3pm, talked about her move in 2019, and she leaves the day after tomorrow."
    assert read(text) == ["2024-05-10T15:00", "2019-01-01/2020-01-01", "2024-05-17"]
    assert read("between Monday and Friday or next month") == ["2024-05-20/2024-05-25", "2024-06-01/2024-07-01"]

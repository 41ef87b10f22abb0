"""What holds for every text, whatever it says."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight.language.time import find_times
from hindsight.language.time.values import GRAINS
from tests.language.time.reading import NOW, read

ENGLISH = (
    "next last this past the of in at on by before after since until from to between and every early mid late end week "
    "month year day days weeks ago Friday monday March may noon tonight 90s first third two half quarter hour 9pm 18q4"
)
CHINESE = (
    "上 下 这 前 后 周 星期 月 年 日 号 天 点 半 分 一 三 十 二零一八 今 明 昨 晚 早 下午 初 底 旬 农历 正 世纪 年代 "
    "之 以 内 到 至 和 间 起 了 要 差 刻 秒"
)
EITHER = "3 15 2019 2024 1/2 12:30 3-4 , . - ~ / : 。 ，"
WORDS = [word for words in (ENGLISH, CHINESE, EITHER) for word in words.split()]
PHRASES = st.lists(st.sampled_from(WORDS), max_size=12).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda glue: glue.join(words))
)
ZONES = st.sampled_from(["UTC", "Asia/Shanghai", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"]).map(ZoneInfo)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=ZONES)  # noqa: DTZ001  bounds have no zone


@given(PHRASES | st.text(max_size=40), MOMENTS)
def test_any_text_at_any_moment_is_read_without_a_fault(text: str, now: datetime) -> None:
    end = 0
    for mention in find_times(text, now):
        first, last = mention.span
        assert end <= first < last <= len(text)
        assert mention.text == text[first:last]
        assert mention.grain in GRAINS
        assert mention.start is not None or mention.end is not None
        for side in (mention.start, mention.end):
            assert side is None or side.tzinfo is now.tzinfo
        assert mention.start is None or mention.end is None or mention.start <= mention.end
        end = last


@given(PHRASES)
def test_the_same_text_at_the_same_moment_gives_the_same(text: str) -> None:
    assert find_times(text, NOW) == find_times(text, NOW)


@given(st.integers(1, 27), st.integers(1, 12), st.integers(1990, 2040))
def test_a_full_date_is_the_same_in_both_languages(day: int, month: int, year: int) -> None:
    name = datetime(year, month, day, tzinfo=UTC).strftime("%B")
    date = f"{year:04}-{month:02}-{day:02}"
    assert read(f"{year}年{month}月{day}日") == read(f"{day} {name} {year}") == read(date) == [date]


@given(st.integers(1, 400))
def test_days_back_and_on_count_from_the_day_of_speaking(count: int) -> None:
    back, on = (NOW.date() + timedelta(days=sign * count) for sign in (-1, 1))
    assert read(f"{count} days ago") == read(f"{count}天前") == [back.isoformat()]
    assert read(f"in {count} days") == read(f"{count}天后") == [on.isoformat()]


def test_mixed_text_is_read_by_both_grammars() -> None:
    text = "我们上周五在 Starbucks 讨论了 API，deadline 是 next Friday，别忘了"
    assert read(text) == ["2024-05-10", "2024-05-24"]
    assert [mention.text for mention in find_times(text, NOW)] == ["上周五", "next Friday"]


def test_the_span_is_that_of_the_original_words() -> None:
    text = "我們決定在下週五，２０２４年６月３日也可以"
    assert [mention.text for mention in find_times(text, NOW)] == ["下週五", "２０２４年６月３日"]


@pytest.mark.parametrize(
    "text",
    ["ages ago", "几天前", "early March", "月底", "recently", "最近", "两年前", "半年前", "late last year", "年初"],
)
def test_what_is_said_loosely_is_marked_as_vague(text: str) -> None:
    (mention,) = find_times(text, NOW)
    assert mention.vague


@pytest.mark.parametrize(
    "text",
    ["昨天", "last week", "2019年", "in 2 hours", "三天前", "at 3pm", "上半年", "1-8 September", "五月中旬", "下周五"],
)
def test_what_is_said_exactly_is_not_vague(text: str) -> None:
    (mention,) = find_times(text, NOW)
    assert not mention.vague


def test_a_festival_is_marked() -> None:
    assert [mention.festival for mention in find_times("Christmas", NOW)] == [True]
    assert [mention.festival for mention in find_times("中秋节晚上八点", NOW)] == [True]
    assert [mention.festival for mention in find_times("明天", NOW)] == [False]


@pytest.mark.parametrize(
    ("text", "grain"),
    [
        ("明年", "year"),
        ("next month", "month"),
        ("两年前", "year"),
        ("3pm", "hour"),
        ("3:15pm", "minute"),
        ("上世纪80年代", "decade"),
        ("下周", "week"),
        ("第三季度", "quarter"),
        ("昨天", "day"),
        ("two weeks ago", "week"),
        ("今天14:30:05", "second"),
    ],
)
def test_the_grain_says_how_exactly_it_was_said(text: str, grain: str) -> None:
    assert [mention.grain for mention in find_times(text, NOW)] == [grain]

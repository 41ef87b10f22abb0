"""Times as short strings, so that a case is one line: a day by its date, a moment as such, else `start/end`."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from hindsight.language.time import TimeMention, find_times

# A Wednesday afternoon.
NOW = datetime(2024, 5, 15, 14, 30, tzinfo=ZoneInfo("Asia/Shanghai"))


def read(text: str, now: datetime = NOW) -> list[str]:
    """The times of a text, each as a string."""
    return [shown(mention) for mention in find_times(text, now)]


def shown(mention: TimeMention) -> str:
    """«2024-05-24» for that day, «2024-05-24T15:00» for a moment, «2024-05-20/2024-05-27», an open side as «..»."""
    start, end = mention.start, mention.end
    if start is not None and end is not None:
        if start == end:
            return _moment(start, whole=False)
        if end - start == timedelta(days=1) and start.hour == start.minute == 0:
            return start.date().isoformat()
    return f"{_moment(start)}/{_moment(end)}"


def _moment(at: datetime | None, *, whole: bool = True) -> str:
    if at is None:
        return ".."
    text = at.replace(tzinfo=None).isoformat(timespec="seconds" if at.second else "minutes")
    return text.removesuffix("T00:00") if whole else text


def cases(table: str) -> list[tuple[str, list[str]]]:
    """Lines «text | time ; time» as parameters of a test."""
    rows = (line.split(" | ") for line in table.strip().splitlines() if line.strip())
    return [(text.strip(), [time.strip() for time in times.split(";")]) for text, times in rows]

"""Whether two claims speak of different times."""

from __future__ import annotations

from hindsight.language.statement.claim import Claim

_ONCE = frozenset(["visit", "buy", "graduate", "born", "study", "happen"])
# Times since which something may have been given up.
_BEGAN = frozenset(["yesterday", "beforeyesterday", "lastweek", "lastmonth", "lastyear", "beforelastyear"])
_HALVES = {"am": "am", "morning": "am", "pm": "pm", "noon": "pm", "afternoon": "pm", "evening": "pm"}


def by_kind(times: frozenset[str]) -> dict[str, frozenset[str]]:
    kinds: dict[str, set[str]] = {}
    clocked = any(time[0] == "t" and time[1:2].isdigit() for time in times)
    for time in times:
        head = time.rstrip("0123456789:")
        name = head if head != time and head in ("y", "m", "d", "t", "wd") else "word"
        if time in _HALVES:
            kinds.setdefault("half", set()).add(_HALVES[time])
            if clocked:
                continue  # beside a clock time a part of the day only tells its half
        kinds.setdefault(name, set()).add(time)
    return {name: frozenset(found) for name, found in kinds.items()}


def times_differ(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether a kind of time named by both is not the same, nor more of the same."""
    mine, theirs = by_kind(a), by_kind(b)
    return any(not (mine[kind] <= theirs[kind] or theirs[kind] <= mine[kind]) for kind in mine.keys() & theirs.keys())


def narrower(a: Claim, b: Claim) -> bool:
    """Whether `b` denies only for some times what `a` says in general: today, in the evening, on Mondays, every day."""
    if "stop" in b.verbs:
        return False  # then it tells when it was stopped
    dated = ("y", "m", "d")
    more = {time for time in b.times - a.times if time not in _BEGAN and time.rstrip("0123456789") not in dated}
    return bool(more or (b.every and b.every != a.every))


def apart_in_time(a: Claim, b: Claim) -> bool:
    """Two intervals that do not meet, or something past beside something present."""
    if b.turn is not None and not (a.turn is b.turn and a.slot == b.slot):
        return False
    if times_differ(a.subject_times, b.subject_times) and not (a.single and b.single and a.slot == "happen"):
        return True
    if a.past and not b.past and b.turn is None and a.slot not in _ONCE:
        return True
    if a.past and a.times and not b.past and not b.times:
        return True
    if b.past and not b.now and not a.past and (b.times or b.slot in ("reside", "work", "like", "use")):
        return a.slot == b.slot and b.slot not in _ONCE
    return times_differ(a.times, b.times) and not (a.single and b.single)

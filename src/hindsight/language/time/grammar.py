"""How a text is read, whatever the language: pieces → chains → ranges → open sides.

A rule finds a piece («March», «next week», «at 5») and says how it narrows an interval. Pieces side by side form a
chain that is narrowed from the largest to the smallest («5pm» in «tomorrow»). Two chains with a «to» between them are
a range, each lending the other what it lacks («April to June 2017»). What stands before or after a chain changes it
(«before», «since», «3 days after»). Where two rules overlap, the longer text wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from hindsight.language.time.values import FUTURE, OPEN, PAST, Interval, Narrow, Now, add

ERA, YEAR, SEASON, MONTH, WEEK, DAY, PART, CLOCK, PORTION = range(9)
_NAMED_WEEK = -1  # `Piece.day` of a weekday whose week was said
_REACH = 48  # characters looked at before and after a chain for what changes it
_SENTENCE_END = re.compile(r"[.!?;](?=\s|$)|[。！？；\n]")


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of an expression. `weak`: means a time only beside another piece.

    `day`: the number of a weekday (-1 for «next Friday» and the like), which yields to a date beside it. `loose`: a
    date whose year is open, so that a weekday beside it decides. `distance`: «now», «in two weeks»: from the moment
    of speaking; a weekday beside it is taken of its week. `bound`: what it means as the side of a range or after
    «before» («the end of May» is then a moment).
    """

    rank: int
    narrow: Narrow
    weak: bool = False
    day: int | None = None
    loose: bool = False
    distance: bool = False
    festival: bool = False
    bound: Narrow | None = None


Build: TypeAlias = Callable[["re.Match[str]"], Piece | None]
Effect: TypeAlias = Callable[[Interval], Interval | None]


@dataclass(frozen=True, slots=True)
class Change:
    """What a word before or after a chain does, and the direction it gives to a name that recurs."""

    effect: Effect
    lean: int = OPEN


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and what it means."""

    pattern: re.Pattern[str]
    build: Build


class Rulebook:
    """Collects the rules of a module, in the order in which they are written there."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []

    def __call__(self, pattern: str) -> Callable[[Build], Build]:
        def keep(build: Build) -> Build:
            self.rules.append(Rule(re.compile(pattern, re.IGNORECASE), build))
            return build

        return keep


@dataclass(frozen=True, slots=True)
class Modifier:
    """A pattern before or after a chain and the change it makes."""

    pattern: re.Pattern[str]
    build: Callable[[re.Match[str]], Change | None]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules of one language. `hint` finds whether a text can hold a time at all: most turns end there.

    `glue`: what may stand between pieces of a chain. `descending`: larger units come first. `join`: between the sides
    of a range; `between`: (before, join, after), for a join that alone means «and». `never`: what before a chain makes
    it recur («every»), which is not one time. `past`, `future`: words by which a sentence looks back or ahead.
    """

    hint: re.Pattern[str]
    rules: tuple[Rule, ...]
    glue: re.Pattern[str]
    join: re.Pattern[str]
    opening: re.Pattern[str]
    between: tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]
    before: tuple[Modifier, ...]
    after: tuple[Modifier, ...]
    never: re.Pattern[str]
    past: re.Pattern[str]
    future: re.Pattern[str]
    descending: bool
    calendar: bool


@dataclass(frozen=True, slots=True)
class Found:
    """An interval with the characters it was read from."""

    start: int
    end: int
    interval: Interval
    festival: bool


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    piece: Piece


@dataclass(frozen=True, slots=True)
class _Chain:
    """Pieces side by side; `to`: the other side of a range, `upto`: its end is not inside («between A and B»).

    `inner`: a change in the middle («tomorrow before 5 pm»).
    """

    start: int
    end: int
    pieces: tuple[Piece, ...]
    to: tuple[Piece, ...] = ()
    upto: bool = False
    inner: Change | None = None

    @property
    def certain(self) -> bool:
        """Whether it surely is a time: not made of one weak piece."""
        every = (*self.pieces, *self.to)
        return len(every) > 1 or not every[0].weak


def read(grammar: Grammar, text: str, reference: datetime) -> list[Found]:
    """The times of `text`, in order."""
    if not grammar.hint.search(text):
        return []
    chains = _joined(grammar, text, _chains(grammar, text, _hits(grammar, text)))
    found = (_found(grammar, text, chain, reference) for chain in chains if chain.certain)
    return [item for item in found if item is not None]


def _hits(grammar: Grammar, text: str) -> list[_Hit]:
    every = []
    for rule in grammar.rules:
        for match in rule.pattern.finditer(text):
            piece = rule.build(match)
            if piece is not None:
                every.append(_Hit(match.start(), match.end(), piece))
    every.sort(key=lambda hit: hit.start - hit.end)
    taken: list[_Hit] = []
    for hit in every:
        if all(hit.end <= other.start or hit.start >= other.end for other in taken):
            taken.append(hit)
    return sorted(taken, key=lambda hit: hit.start)


def _chains(grammar: Grammar, text: str, hits: list[_Hit]) -> list[_Chain]:
    chains: list[_Chain] = []
    for hit in hits:
        last = chains[-1] if chains else None
        change = _between(grammar, text, last, hit) if last else None
        fits = last and _extends(grammar, last.pieces, hit.piece)
        if last and fits and (change or grammar.glue.fullmatch(text, last.end, hit.start)):
            inner = change or last.inner
            chains[-1] = _Chain(last.start, hit.end, (*last.pieces, hit.piece), inner=inner)
        else:
            chains.append(_Chain(hit.start, hit.end, (hit.piece,)))
    return chains


def _between(grammar: Grammar, text: str, last: _Chain, hit: _Hit) -> Change | None:
    """What stands between a day and a clock time and changes it: «before», «no later than»."""
    if hit.piece.rank != CLOCK or not any(piece.rank == DAY for piece in last.pieces):
        return None
    for modifier in grammar.before:
        match = modifier.pattern.search(text, last.end, hit.start)
        if match and not text[last.end : match.start()].strip(" ,"):
            return modifier.build(match)
    return None


def _extends(grammar: Grammar, pieces: tuple[Piece, ...], piece: Piece) -> bool:
    ranks = {other.rank for other in pieces if other.day is None}
    if piece.day is not None:
        return all(other.day is None for other in pieces)
    if piece.rank in ranks:
        return False
    if grammar.descending and any(other.day == _NAMED_WEEK for other in pieces) and piece.rank < DAY:
        return False  # «下周五，2024年6月3日»: two days
    return not (grammar.descending and ranks) or piece.rank > max(ranks)


def _joined(grammar: Grammar, text: str, chains: list[_Chain]) -> list[_Chain]:
    made: list[_Chain] = []
    for chain in chains:
        last = made[-1] if made else None
        if last and not last.to and (how := _join(grammar, text, last, chain)):
            start, end, upto = how
            made[-1] = _Chain(start, end, last.pieces, chain.pieces, upto)
        else:
            made.append(chain)
    return made


def _join(grammar: Grammar, text: str, left: _Chain, right: _Chain) -> tuple[int, int, bool] | None:
    opened = grammar.opening.search(text, max(0, left.start - _REACH), left.start)
    start = opened.start() if opened else left.start
    head, middle, tail = grammar.between
    before = head.search(text, max(0, left.start - _REACH), left.start)
    after = tail.match(text, right.end)
    if before and after and (middle.fullmatch(text, left.end, right.start)):
        return min(before.start(), left.start), after.end(), True
    return (start, right.end, False) if grammar.join.fullmatch(text, left.end, right.start) else None


def _found(grammar: Grammar, text: str, chain: _Chain, reference: datetime) -> Found | None:
    start, end = chain.start, chain.end
    if grammar.never.search(text, max(0, start - _REACH), start):
        return None
    changes = [chain.inner] if chain.inner else []
    for modifiers, ahead in ((grammar.after, False), (grammar.before, True)):
        for modifier in modifiers:
            match = (
                modifier.pattern.search(text, max(0, start - _REACH), start)
                if ahead
                else modifier.pattern.match(text, end, min(len(text), end + _REACH))
            )
            change = modifier.build(match) if match else None
            if match and change:
                start, end = min(start, match.start()), max(end, match.end())
                changes.append(change)
                break
    lean = next((change.lean for change in changes if change.lean), _lean(grammar, text, chain.start, chain.end))
    now = Now(reference, lean, grammar.calendar)
    try:
        pieces = as_bounds(chain.pieces) if changes else chain.pieces
        interval = _range(chain, now) if chain.to else narrowed(pieces, now)
        for change in changes:
            interval = change.effect(interval) if interval else None
    except (OverflowError, ValueError):  # before year 1 or after 9999
        return None
    if interval is None or not _sound(interval):
        return None
    return Found(start, end, interval, any(piece.festival for piece in (*chain.pieces, *chain.to)))


def _lean(grammar: Grammar, text: str, start: int, end: int) -> int:
    """Where the sentence looks: back, ahead, or neither."""
    begin = max((match.end() for match in _SENTENCE_END.finditer(text, 0, start)), default=0)
    stop = _SENTENCE_END.search(text, end)
    finish = stop.start() if stop else len(text)
    around = text[begin:start] + " " + text[end:finish]
    if grammar.future.search(around):
        return FUTURE
    return PAST if grammar.past.search(around) else OPEN


def narrowed(pieces: tuple[Piece, ...], now: Now) -> Interval | None:
    """The interval of a chain: each piece within the larger ones."""
    dates = [piece for piece in pieces if piece.rank == DAY and piece.day is None]
    if dates and any(piece.day is not None for piece in pieces):
        weekday = next(piece.day for piece in pieces if piece.day is not None)
        if not dates[0].distance:
            pieces = tuple(piece for piece in pieces if piece.day is None)
            now = replace(now, weekday=weekday if dates[0].loose and weekday >= 0 else None)
    interval: Interval | None = None
    for piece in sorted(pieces, key=lambda piece: (piece.rank, piece.day is not None)):
        interval = piece.narrow(interval, now)
        if interval is None:
            return None
    return interval


def _range(chain: _Chain, now: Now) -> Interval | None:
    left, right = as_bounds(chain.pieces), as_bounds(chain.to)
    largest = min(piece.rank for piece in right)
    smaller = min(piece.rank for piece in left)
    first = narrowed((*(piece for piece in right if piece.rank < smaller), *left), now)
    last = narrowed((*(piece for piece in left if piece.rank < largest), *right), now)
    if first is None or last is None or first.start is None or last.start is None:
        return None
    dated = not all(piece.loose for piece in right)
    if all(piece.loose for piece in left) and (dated or not now.calendar):
        first = narrowed(left, Now(last.start, PAST)) or first  # «Nov-Feb 2017»: the year stands at the end
    elif _disordered(first, last) and first.start and not any(piece.distance for piece in right):
        last = narrowed(right, Now(first.start, FUTURE)) or last
    if _disordered(first, last) and last.start:
        first = narrowed(left, Now(last.start, PAST)) or first
    if _disordered(first, last):
        return None
    end = last.start if chain.upto and last.grain in ("month", "quarter", "year") else last.end
    return Interval(first.start, end, last.grain, first.vague or last.vague)


def _disordered(first: Interval, last: Interval) -> bool:
    return first.start is None or last.end is None or last.end <= first.start


def as_bounds(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The pieces as they are meant when they bound something."""
    return tuple(replace(piece, narrow=piece.bound) if piece.bound else piece for piece in pieces)


def _sound(interval: Interval) -> bool:
    start, end = interval.start, interval.end
    return not (start is None and end is None) and (start is None or end is None or start <= end)


def until_start(interval: Interval) -> Interval | None:
    """«before»: open, up to the beginning."""
    return replace(interval, start=None, end=interval.start)


def until_end(interval: Interval) -> Interval | None:
    """«by», «until»: open, up to the end."""
    return replace(interval, start=None)


def from_start(interval: Interval) -> Interval | None:
    """«since»: from the beginning on."""
    return replace(interval, end=None)


def from_end(interval: Interval) -> Interval | None:
    """«after»: from the end of a longer period on, but from a day itself, whose later hours are after it too."""
    short = interval.start and interval.end and interval.end <= add(interval.start, 1, "day")
    return replace(interval, start=interval.start if short else interval.end, end=None)


BEFORE, UNTIL = Change(until_start), Change(until_end, FUTURE)
AFTER, SINCE = Change(from_end), Change(from_start, PAST)

"""Texts and questions for growth: those of the retrieval sets, in a fixed mixed order, and recombined beyond them.

Sessions stay whole, so that a small store has the same mix of turns, messages and phone records as a large one. The
development sets have about 30,000 distinct texts; what is needed beyond is made by joining the first half of one
session's turns with the second half of another's, turn by turn. Such texts are real words in a real mix, but not real
memories: they measure growth, never quality.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from bench.data import Corpus, DataError

SEED = 20261130
SESSION_MAX = 40  # turns; a phone's records without a session would otherwise be one session of thousands


def growing(corpora: Sequence[Corpus]) -> Iterator[dict[str, object]]:
    """Arguments of a write, without end and all with distinct texts."""
    dice = random.Random(SEED)
    sessions = in_sessions(corpora)
    dice.shuffle(sessions)
    seen: set[str] = set()
    for session in sessions:
        yield from _fresh(session, seen)
    if len(sessions) < 2:
        raise DataError("data: fewer than two sessions can't be recombined")
    turn = 0
    while True:
        before = len(seen)
        for _ in sessions:
            turn += 1
            first, second = dice.sample(sessions, 2)
            yield from _fresh(_crossed(first, second, turn), seen)
        if len(seen) == before:
            raise DataError("data: too few texts to make more that are distinct")


def questions(corpora: Sequence[Corpus]) -> list[str]:
    """Every distinct question of the sets, mixed in a fixed order."""
    distinct = dict.fromkeys(one.query for corpus in corpora for asked in corpus.questions.values() for one in asked)
    mixed = list(distinct)
    random.Random(SEED).shuffle(mixed)
    return mixed


def in_sessions(corpora: Sequence[Corpus]) -> list[list[dict[str, object]]]:
    """All items as arguments of a write, session by session, at most `SESSION_MAX` to one."""
    found: dict[str, list[dict[str, object]]] = defaultdict(list)
    for corpus in corpora:
        for item in corpus.items:
            name = f"{item.scope}/{item.session_id or 'none'}"
            found[name].append(item.arguments() | {"session_id": name})
    return [
        turns[start : start + SESSION_MAX] for turns in found.values() for start in range(0, len(turns), SESSION_MAX)
    ]


def _fresh(session: Iterable[dict[str, object]], seen: set[str]) -> Iterator[dict[str, object]]:
    for turn in session:
        text = str(turn["content"])
        if text not in seen:
            seen.add(text)
            yield turn


def _crossed(
    first: Sequence[dict[str, object]], second: Sequence[dict[str, object]], number: int
) -> Iterator[dict[str, object]]:
    for head, tail in zip(first, second, strict=False):
        text = _half(str(head["content"]), 0) + " " + _half(str(tail["content"]), 1)
        yield head | {"content": text.strip(), "session_id": f"{head['session_id']}+{number}"}


def _half(text: str, side: int) -> str:
    """The first or second half of a text, cut at a space where there is one near the middle."""
    middle = len(text) // 2
    space = text.find(" ", middle, middle + 20)
    cut = space if space >= 0 else middle
    return text[cut:].strip() if side else text[:cut].strip()

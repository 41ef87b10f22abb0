"""Replays and explanations as lines for a person to read."""

from __future__ import annotations

from collections.abc import Iterator

from hindsight.domain.memory import short_id
from hindsight.domain.replay import Explanation, Move, Place, Replay
from hindsight.errors import shorten

INDENT = "    "
SHOWN = 60  # characters of a memory


def replay_lines(replay: Replay) -> Iterator[str]:
    """The question, then each that moved: where from, where to, what it says and why."""
    store = "as of then" if replay.as_of_then else "on the store of now"
    since = f"{replay.changes} change{'s' if replay.changes != 1 else ''} since"
    yield f"{shorten(replay.query, 100)[1:-1]}  asked {replay.asked_at:%Y-%m-%d %H:%M}  {store}, {since}"
    if replay.same:
        yield f"the same ranking: {len(replay.after)} hits, {replay.depth} places compared"
    for move in replay.moves:
        yield f"{_place(move.before)} → {_place(move.after)}  {short_id(move.memory_id)}  {_words(move)}"
        yield f"{INDENT}{move.reason}"


def replay_notes(replay: Replay) -> Iterator[str]:
    """What a person should know beside the moves."""
    if replay.moves:
        yield "* is among the hits; - is not among the compared"
    if replay.degraded:
        yield f"not comparable: one of the two searches went without {', '.join(replay.degraded)}"


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """The memory, the stage that lost it, why, and the numbers."""
    words = f"  {_short(explanation.content)}" if explanation.content else ""
    yield f"{short_id(explanation.memory_id)}  {explanation.stage.value}{words}"
    yield f"{INDENT}{explanation.reason}"
    known = {name: ", ".join(fact) if isinstance(fact, list) else fact for name, fact in explanation.facts.items()}
    told = [f"{name} {fact}" for name, fact in known.items() if fact not in (0, None, "")]
    if told:
        yield f"{INDENT}{'  '.join(told)}"


def _place(place: Place | None) -> str:
    return "  -" if place is None else f"{place.place:>2}{'*' if place.given else ' '}"


def _words(move: Move) -> str:
    return _short(move.content) if move.content else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"

"""What a block says of the running task: the variables of its session, and its last turns."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from hindsight.domain.episode import Episode, JsonValue
from hindsight.domain.session import Working
from hindsight.language.tokens import Ruler
from hindsight.search.excerpt import shortened
from hindsight.search.wording import Wording

IDLE = timedelta(minutes=30)  # SPEC §1: a session that was quiet for longer is over
WORKING_TOKENS = 200
TURNS = 3
LONGEST_VALUE, LONGEST_TURN = 300, 120  # characters


def awake(working: Working | None, now: datetime, idle: timedelta) -> Working | None:
    """The working memory of a session that goes on; `None` for one that is over."""
    if working is None or working.session.ended_at is not None or now - working.session.active_at >= idle:
        return None
    return working


def value_text(value: JsonValue) -> str:
    """A variable as a person reads it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def working_lines(
    working: Working, words: Wording, clean: Callable[[str], str], ruler: Ruler, slot: int, shown: Collection[str]
) -> list[str]:
    """Lines within `slot` tokens: the variables, those noted last first; then turns, the newest kept, in their order.

    `shown`: turns that stand among the hits already.
    """
    lines: list[str] = []
    room = float(slot)

    def fits(line: str) -> bool:
        nonlocal room
        room -= ruler.cost(line) * ruler.margin + ruler.joint
        return room >= 0

    latest = sorted(working.variables.items(), key=lambda one: (one[1].set_at, one[0]), reverse=True)
    for name, variable in latest:
        text = shortened(clean(value_text(variable.value)), LONGEST_VALUE)
        line = f"[{words.working}] - {clean(name)}{words.between}{text}"
        if not fits(line):
            return lines
        lines.append(line)
    turns: list[str] = []
    for turn in reversed([one for one in working.turns if one.id not in shown]):
        line = f"[{words.turn}] - {_turn(turn, words, clean)}"
        if not fits(line):
            break
        turns.append(line)
    return [*lines, *reversed(turns)]


def _turn(turn: Episode, words: Wording, clean: Callable[[str], str]) -> str:
    said = shortened(clean(turn.content), LONGEST_TURN)
    return f"{shortened(clean(turn.speaker or turn.role.value), LONGEST_TURN)}{words.between}{said}"

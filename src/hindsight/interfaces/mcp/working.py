"""`working_memory`: what a running task has noted, as text inside a fence and as a shape beside it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from hindsight.interfaces.shapes import Shape
from hindsight.interfaces.shapes_session import session_shape
from hindsight.language.markers import FENCE_CLOSE, FENCE_OPEN

if TYPE_CHECKING:
    from hindsight.domain.session import Working

_BREAKS = re.compile(r"\s+")
_BRACKETS = str.maketrans("<>", "\u2039\u203a")  # nothing that was noted may look like the end of the fence


def working_text(working: Working) -> str:
    """The variables and last turns, one a line, fenced: they are data, not instructions."""
    lines = [f"{name} = {_value(variable.value)}" for name, variable in working.variables.items()]
    lines += [f"{turn.speaker or turn.role.value}: {turn.content}" for turn in working.turns]
    shown = [_BREAKS.sub(" ", line).translate(_BRACKETS) for line in lines]
    return "\n".join([f'{FENCE_OPEN} type="data">', *(shown or ["Nothing is noted."]), FENCE_CLOSE])


def working_reply(working: Working) -> Shape:
    """The session and the names of its variables; their values stand in `context` alone."""
    return {
        **session_shape(working.session),
        "names": list(working.variables),
        "expires": {
            name: one.expires_at.isoformat() for name, one in working.variables.items() if one.expires_at is not None
        },
        "context": working_text(working),
    }


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

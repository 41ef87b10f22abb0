"""Keys by which the same thing is known again: an episode on a second import, a statement said once more."""

from __future__ import annotations

import hashlib
import json
import re

from hindsight.domain.episode import Episode
from hindsight.domain.experience import Experience
from hindsight.language.fold import fold

_EDGES = " \t\n\r.。!！,，;；、~～…"
_SPACES = re.compile(r"\s+")
_JSON = json.JSONEncoder(ensure_ascii=False)


def digest(*parts: str | int | None) -> str:
    """128 bits of SHA-256 over the parts, in hex; parts can't run into each other."""
    return hashlib.sha256(_JSON.encode(parts).encode()).hexdigest()[:32]


def statement_key(subject: str | None, content: str) -> str:
    """Key of a semantic memory: the same words about the same subject, wherever they were said."""
    return digest("statement", subject, plain(content))


def turn_key(session_id: str | None, speaker: str | None, content: str) -> str:
    """Key of a turn kept word for word: the same words in two sessions stay two memories."""
    return digest("turn", session_id, speaker and fold(speaker), plain(content))


def experience_key(body: Experience) -> str:
    """Equal for experiences that say the same: trigger, steps in order, outcome."""
    steps = [plain(step) for step in body.action.steps]
    return digest("experience", plain(body.trigger.context), body.outcome.status, *steps)


def episode_key(episode: Episode, *, moment: str, occurrence: int) -> str:
    """Key of an episode. `moment`: the time its caller gave, else something that never comes again.

    `occurrence` counts the episodes before it in the same write that are equal in everything else.
    """
    return digest(
        "episode", episode.session_id, episode.role.value, episode.speaker, moment, episode.content, occurrence
    )


def plain(content: str) -> str:
    """A text as its key sees it: folded, single spaces, no punctuation at the edges."""
    folded = _SPACES.sub(" ", fold(content))
    return folded.strip(_EDGES) or folded.strip()

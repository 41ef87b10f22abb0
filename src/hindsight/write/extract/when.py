"""When a statement's matter happened or will be: relative time made absolute, seen from the moment it was said.

What was said stays in the words of the statement; the interval it was read as stands in the memory's metadata under
`when`. A past event happened at the beginning of its interval. A plan holds from when it was said to the end of its
interval. A change of state («搬到了上海», "bought a car") is dated by its interval and holds from when it was said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hindsight.domain.episode import EMPTY, Episode, JsonValue, Metadata
from hindsight.domain.memory import Kind
from hindsight.errors import InvalidInput
from hindsight.language.time import TimeMention, find_times
from hindsight.write.extract import Slot
from hindsight.write.extract.clause import Understood
from hindsight.write.request import zone_of

# Without one of these there is no time in a text, and looking for one costs more than all the rules together.
_HINT = re.compile(
    r"\d|[天周期月年时钟][前后]|[今明昨前后上下这本去当][天日晚早年周个星礼月半午]|[周星期礼拜月年日号点]|最近|刚|"
    r"春节|国庆|五一|中秋|元旦|"
    r"端午|清明|假|"
    r"\b(?:today|tonight|tomorrow|yesterday|now|last|next|this|ago|week|month|year|day|morning|afternoon|evening|night|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|since|spring|summer|autumn|fall|winter|recently)",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"搬|买|养|入职|结婚|离婚|订婚|领养|离开|辞|毕业|确诊|戒|换|跳槽|加入|"
    r"\b(?:moved|bought|adopted|rescued|got|left|quit|started|joined|graduated|diagnosed|stopped|gave up|been)\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\bsince\b|从.*(?:起|开始)|自.*(?:起|以来)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Moment:
    """The times of a memory: when it happened, `None` for when it was said, and when it holds."""

    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    metadata: Metadata = field(default_factory=lambda: EMPTY)


NOTHING_SAID = Moment()


def moment(found: Understood, episode: Episode) -> Moment:
    """The times of one statement of an episode."""
    words = episode.content[found.start : found.end]
    state = found.kind is not Kind.EVENT
    if state and not (_CHANGE.search(words) or _SINCE.search(words)):
        return NOTHING_SAID
    if not _HINT.search(words):
        return NOTHING_SAID
    try:
        said_at = episode.occurred_at.astimezone(zone_of("timezone", episode.timezone))
    except InvalidInput:  # a zone of an older import that this system does not know
        said_at = episode.occurred_at
    mention = _telling(find_times(words, said_at), said_at, future=found.slot is Slot.PLAN)
    if mention is None or mention.start is None:
        return NOTHING_SAID
    kept: Metadata = {"when": _noted(mention)}
    if found.slot is Slot.PLAN:
        return Moment(mention.start, episode.occurred_at, _over(mention), kept)
    if mention.start > said_at:
        return NOTHING_SAID
    if state:
        # What changed then is known to hold since it was told; before that, what was told earlier may have held.
        return Moment(None if _SINCE.search(words) else mention.start, episode.occurred_at, None, kept)
    return Moment(mention.start, mention.start, None, kept)


def _telling(mentions: list[TimeMention], said_at: datetime, *, future: bool) -> TimeMention | None:
    """The mention that says when: the first that lies on the right side of now, sharp ones before vague ones."""
    fitting = [
        one
        for one in mentions
        if one.start is not None and ((one.end is None or one.end >= said_at) if future else one.start <= said_at)
    ]
    sharp = [one for one in fitting if not one.vague]
    return next(iter(sharp or fitting), None)


def _over(mention: TimeMention) -> datetime:
    """When a plan is over: with its interval, and that of an hour with its day."""
    end = mention.end or mention.start
    assert end is not None  # a mention without a beginning was passed over
    if mention.grain in ("second", "minute", "hour"):
        return end.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return end


def _noted(mention: TimeMention) -> dict[str, JsonValue]:
    return {
        "said": mention.text,
        "start": mention.start.isoformat() if mention.start else None,
        "end": mention.end.isoformat() if mention.end else None,
        "grain": mention.grain,
    }

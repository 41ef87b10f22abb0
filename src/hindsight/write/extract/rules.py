"""The default extractor: rules of both languages over each episode; no model, no network, never a word not said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindsight.domain.episode import Episode, Role
from hindsight.domain.memory import Layer, Statement
from hindsight.language.fold import fold
from hindsight.write.extract import USER, Candidate, Extraction, rules_en, rules_zh
from hindsight.write.extract.clause import Speaking, Understood

MAX_TURN = 1_000  # characters; what is longer is a document or a paste, whose «I» may be anybody

_HAN = re.compile("[\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z]{2}")
# Code, quoted mail and mark-up: their «I» is not the speaker's.
_FOREIGN = re.compile(r"```|^\s*>|</\w+>|^\s*(?:def|class|import|SELECT)\b", re.MULTILINE)
_GREETING = re.compile(
    r"(?:hi|hey|hello|yo|thanks?|thank you|thx|ok|okay|bye|goodbye|see you|good (?:morning|evening|night|afternoon)|"
    r"cheers|you(?:'re| are) welcome|sure|great|cool|"
    "你好|您好|谢谢|多谢|好的|好|再见|拜拜|早|早安|晚安|早上好|晚上好|嗯|哦|行|没事|不客气)"
    r"(?:[\s,，]+\w{0,20})?[\s!.！。~～]*",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？][\s\"”]*\Z|(?:吗|呢)[。.\s]*\Z")


class RuleExtractor:
    """Reads statements by rule. What it does not understand is left for the pipeline to keep word for word."""

    quick = True

    async def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """The statements of these episodes, in order."""
        return Extraction(tuple(candidate for episode in episodes for candidate in candidates(episode)))


def candidates(episode: Episode) -> list[Candidate]:
    """The statements of one episode."""
    text = episode.content
    if episode.role in (Role.DOCUMENT, Role.SYSTEM) or len(text) > MAX_TURN or _FOREIGN.search(text):
        return []
    speaking = _speaking(episode)
    found: list[Understood] = []
    if _HAN.search(text):
        found += rules_zh.read(text, speaking)
    if _LATIN.search(text):
        found += rules_en.read(text, speaking)
    found.sort(key=lambda one: one.start)
    unique = {fold(one.content): one for one in reversed(found)}
    return [_candidate(episode, one) for one in reversed(unique.values())]


def is_remark(text: str) -> bool:
    """Whether a text only asks or greets, and so states nothing."""
    return _ASKS.search(text) is not None or (len(text) <= 60 and _GREETING.fullmatch(text.strip()) is not None)


def _speaking(episode: Episode) -> Speaking:
    """Who «I» is. What an assistant or a tool says of itself is not the user's."""
    if episode.role is not Role.USER:
        return Speaking(me=None)
    return Speaking(me=fold(episode.speaker) if episode.speaker else USER, speaker=episode.speaker)


def _candidate(episode: Episode, found: Understood) -> Candidate:
    return Candidate(
        episode_id=episode.id,
        start=found.start,
        end=found.end,
        content=found.content,
        kind=found.kind,
        layer=Layer.SEMANTIC,
        body=Statement(found.subject, found.slot.value, found.value, found.negated),
    )

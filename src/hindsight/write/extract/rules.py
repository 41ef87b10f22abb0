"""The default extractor: rules of both languages over each episode; no model, no network, never a word not said."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from hindsight.domain.episode import Episode, Role
from hindsight.domain.experience import Experience, rendered
from hindsight.domain.memory import Kind, Layer, Statement
from hindsight.language.fold import fold
from hindsight.write.extract import (
    USER,
    Candidate,
    Extraction,
    Slot,
    experience_text,
    rules_en,
    rules_zh,
    word_for_word,
)
from hindsight.write.extract.clause import Speaking, Understood
from hindsight.write.extract.voice import inserted, voices
from hindsight.write.extract.when import moment
from hindsight.write.vague import is_vague, sharpened

BETWEEN = 25  # episodes read before others have their turn: a few milliseconds
MAX_TURN = 1_000  # characters; what is longer is a document or a paste, whose «I» may be anybody

_HAN = re.compile("[\u4e00-\u9fff]")
_LATIN = re.compile("[A-Za-z]{2}")
_GREETING = re.compile(
    r"(?:hi|hey|hello|yo|thanks?|thank you|thx|ok|okay|bye|goodbye|see you|good (?:morning|evening|night|afternoon)|"
    r"cheers|you(?:'re| are) welcome|sure|great|cool|"
    "你好|您好|谢谢|多谢|好的|好|再见|拜拜|早|早安|晚安|早上好|晚上好|嗯|哦|行|没事|不客气)"
    r"(?:[\s,，]+\w{0,20})?[\s!.！。~～]*",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？][\s\"”]*\Z|(?:吗|呢)[。.\s]*\Z")


# An event that ends a state («辞职了», "sold my car") is a fact, so that it meets the fact it ends.
_CHANGES = re.compile(
    r"搬到|搬去|加入了|卖了|卖掉|丢了|弄丢|辞职|离职|离婚|结婚|分手|退休|毕业|去世|过世|被裁|升职|转正|搬家|入职|"
    r"换了|戒了|停了|取消|"
    r"出院|"
    r"\b(?:moved|relocated|joined|left (?-i:[A-Z])\w+|sold|lost|gave (?:away|up)|broke up|retired|resigned|fired|"
    r"laid off|promoted|switched|migrated|stopped|quit|"
    r"passed away|died|graduated|got (?:married|engaged|divorced)|cancel+ed|returned|replaced)\b",
    re.IGNORECASE,
)


class RuleExtractor:
    """Reads statements by rule. What it does not understand is left for the pipeline to keep word for word."""

    quick = True

    async def extract(self, episodes: Sequence[Episode]) -> Extraction:
        """The statements of these episodes, in order."""
        found: list[Candidate] = []
        for number, episode in enumerate(episodes):
            if number and number % BETWEEN == 0:
                await asyncio.sleep(0)  # others' questions are answered in between
            found += candidates(episode)
        return Extraction(tuple(found))


def candidates(episode: Episode) -> list[Candidate]:
    """The statements of one episode."""
    text = episode.content
    if episode.role is not Role.SYSTEM and (told := experience_text.read(text)) is not None:
        return [_experience(episode, told) or _too_vague(episode)]
    if episode.role in (Role.DOCUMENT, Role.SYSTEM) or len(text) > MAX_TURN:
        return []
    for start, end in inserted(text):
        text = text[:start] + " " * (end - start) + text[end:]
    found: list[Understood] = []
    for start, end, speaking in voices(text, _speaking(episode)):
        if _HAN.search(text, start, end):
            found += rules_zh.read(text, start, end, speaking)
        if _LATIN.search(text, start, end):
            found += rules_en.read(text, start, end, speaking)
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


def _experience(episode: Episode, told: experience_text.Told) -> Candidate | None:
    body: Experience | None = told.experience
    if is_vague(told.experience.trigger.context):
        body = sharpened(told.experience)
    if body is None:
        return None
    return Candidate(
        episode_id=episode.id,
        start=0,
        end=len(episode.content),
        content=rendered(body),
        kind=Kind.EXPERIENCE,
        layer=Layer.PROCEDURAL,
        experience=body,
        tags=told.tags,
    )


def _too_vague(episode: Episode) -> Candidate:
    """What describes an experience whose situation fits everything: kept word for word, and the receipt says why."""
    whole = word_for_word(episode, remark=False)
    return replace(whole, importance=0.5, reasons=("no experience, as its trigger is too vague to be known again",))


def _candidate(episode: Episode, found: Understood) -> Candidate:
    when = moment(found, episode)
    kind = Kind.FACT if found.slot is Slot.EVENT and _CHANGES.search(found.content) else found.kind
    return Candidate(
        episode_id=episode.id,
        start=found.start,
        end=found.end,
        content=found.content,
        kind=kind,
        layer=Layer.EPISODIC if kind is Kind.EVENT else Layer.SEMANTIC,
        body=Statement(found.subject, found.slot.value, found.value, found.negated),
        occurred_at=when.occurred_at,
        valid_from=when.valid_from,
        valid_to=when.valid_to,
        metadata=when.metadata,
    )

"""What is said in English of the speaker's pets and things, and of work that is shared."""

from __future__ import annotations

import re

from hindsight.domain.memory import Kind
from hindsight.write.extract import Slot
from hindsight.write.extract.clause import Speaking, Subject, Understood
from hindsight.write.extract.patterns_en import PROJECT, SHARED, THINGS_SAID
from hindsight.write.extract.sentence_en import CLOSING, TITLE, stands_alone
from hindsight.write.extract.voice import english

_NAMED = re.compile(
    rf"(?:['’]s name is|\s+(?:is|are) (?:named|called)|"
    rf"\s+name is)\s+(?P<value>{TITLE}(?: and {TITLE})?)",
    re.IGNORECASE,
)
_PET_SAID = re.compile(
    r"\s+(?:is|has|loves|likes|hates|needs|eats|sleeps|weighs|died|passed away|"
    r"was diagnosed)\s*(?P<value>.{0,60})",
    re.IGNORECASE,
)
_THING_SAID = re.compile(r"(?:\s+(?:is|are|was)|['’]s)\s+(?:now |currently |also )?(?P<value>.{2,70})", re.IGNORECASE)
_FAVOURITE_SAID = re.compile(
    r"\s+(?P<value>[\w ]{2,30}? (?:is|are) (?!what|that|this|it\b|when|how|the (?:one|part|"
    r"moment)).{2,60})",
    re.IGNORECASE,
)
_UNTOLD = re.compile(
    r"(?:the (?:next|same|whole|best|worst)|going|to (?:make sure|get it|see)|so|very|really|a bit|"
    r"about to|not)\b"
)


def of_thing(said: str, subject: Subject, speaking: Speaking) -> Understood | None:
    """What is said of a pet or thing of the speaker's."""
    thing = subject.thing or ""
    slot, kind = THINGS_SAID.get(thing, (Slot.FAVOURITE, Kind.PREFERENCE))
    said = CLOSING.sub("", said)
    if thing == "pet":
        slot, kind = Slot.PET, Kind.FACT
        match = _NAMED.fullmatch(said) or _PET_SAID.fullmatch(said)
    elif thing == "favourite":
        match = _FAVOURITE_SAID.fullmatch(said)
    else:
        match = _THING_SAID.fullmatch(said)
    if match is None or _UNTOLD.match(match["value"]) or not stands_alone(said, own=thing != "pet"):
        return None
    word = subject.who.word
    content = word + english(said, speaking, own=True)
    return Understood(content, 0, 0, kind, slot, subject.who.name, match["value"].strip())


def of_work(said: str, subject: Subject) -> Understood | None:
    """What is said of work that is shared: what it runs on, when it is due."""
    bare = CLOSING.sub("", said).strip()
    slot = Slot.PROJECT
    if subject.thing == "due":
        slot = Slot.DEADLINE
        match = re.fullmatch(
            r"(?:is|was moved to|['’]s) (?:on |due )?(?P<value>(?=.*(?:\d|\w+day\b|week|month|"
            r"(?-i:[A-Z]))).{2,50})",
            bare,
        )
    elif subject.thing == "we":
        match = re.fullmatch(
            rf"(?:now |currently |also |mainly )?(?:use|deploy|run|host|switched to|migrated to|chose|develop in)\s+"
            rf"(?P<value>(?=.*?(?-i:[A-Z]|\d|\bfor\b|\bin (?:the|our)\b|\bthe (?:{SHARED})\b|\bour\b)).{{2,70}})",
            bare,
            re.IGNORECASE,
        )
    else:
        match = PROJECT.fullmatch(bare)
    if match is None or re.search(r"\b(?:it|this|that|these|those|you|your|them)\b", bare, re.IGNORECASE):
        return None
    return Understood(f"{subject.who.word} {bare}", 0, 0, Kind.FACT, slot, subject.who.name, match["value"])

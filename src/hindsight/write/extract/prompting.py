"""The questions put to a language model: prompts in both languages, each a file with its version, and their schemas."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hindsight.domain.episode import JsonValue
from hindsight.domain.memory import Kind
from hindsight.write.extract import Slot
from hindsight.write.extract.items import schema_of

LANGUAGES = ("en", "zh")
_VERSION = re.compile(r"version: (\d+)\n")
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile("[A-Za-z]+")

# A slot counts only where the words of the statement bear it out: in a single-valued slot a new value ends the old one.
_BORNE_OUT = {
    Slot.RESIDENCE: r"\b(?:live|lives|living|moved|reside|resides|based|home)\b|住|搬|定居|家在",
    Slot.ORIGIN: r"\b(?:from|born|grew up|hometown)\b|来自|老家|出生|家乡|籍贯",
    Slot.JOB: r"\b(?:work|works|working|job|employed|profession)\b|工作|上班|任职|就职|职业|当",
    Slot.NAME: r"\b(?:name|named|called)\b|叫|名字|姓",
    Slot.AGE: r"\b(?:years? old|age|aged)\b|岁|年龄",
    Slot.BIRTHDAY: r"\b(?:birthday|born)\b|生日|出生",
    Slot.FAMILY: (
        r"\b(?:wife|husband|son|daughter|mother|father|mom|mum|dad|brother|sister|child|children|kids?|married|partner)\b|"
        "妻|老婆|老公|丈夫|儿子|女儿|孩子|爸|妈|哥|弟|姐|妹|爷|奶|结婚"
    ),
    Slot.PET: (
        r"\b(?:dogs?|cats?|pets?|puppy|kitten|rabbit|hamster|parrot|turtle|fish)\b|猫|狗|宠物|兔|仓鼠|鹦鹉|乌龟|鱼"
    ),
    Slot.HEALTH: (
        r"\b(?:allerg\w*|diabet\w*|asthma\w*|pregnan\w*|disease|ill|sick|intoleran\w*)\b|过敏|病|哮喘|怀孕|血压|不耐"
    ),
    Slot.DIET: r"\b(?:eat|eats|drink|drinks|vegetarian|vegan|diet|halal|kosher)\b|吃|喝|素|忌口|清真",
    Slot.LIKE: r"\b(?:dis)?likes?\b|\b(?:love|hate|enjoy|prefer)s?\b|喜欢|爱|讨厌|偏好",
    Slot.FAVOURITE: r"\bfavou?rite\b|最喜欢|最爱",
}
SLOTS = tuple(_BORNE_OUT)


def slot_holds(slot: Slot, said: str) -> bool:
    """Whether the words bear a slot out."""
    pattern = _BORNE_OUT.get(slot)
    return pattern is not None and re.search(pattern, said, re.IGNORECASE) is not None


@dataclass(frozen=True, slots=True)
class Step:
    """One question. `kind`: what its items are, where the model is not asked for it."""

    name: str
    fields: Sequence[str]
    kinds: Sequence[Kind] = ()
    kind: Kind | None = None

    @property
    def label(self) -> str:
        """Name and version, for the trace."""
        return version_of(self.name)

    @property
    def schema(self) -> Mapping[str, JsonValue]:
        """JSON schema of the answer."""
        return schema_of(self.name, self.fields, self.kinds, SLOTS)

    def prompt(self, language: str) -> str:
        """The rules for the model, in the language of the turns."""
        text = prompt_of(self.name, language)
        return f"{text}\n\nslot: {', '.join((*SLOTS, 'other'))}" if "slot" in self.fields else text


def prompt_of(name: str, language: str) -> str:
    """The text of a prompt."""
    return _prompt(name, language)[1]


def version_of(name: str) -> str:
    """A prompt's name and version, for the trace."""
    return f"{name} {_prompt(name, LANGUAGES[0])[0]}"


@cache
def _prompt(name: str, language: str) -> tuple[int, str]:
    """Version and text of a prompt file."""
    whole = files(__package__).joinpath("prompts", f"{name}.{language}.txt").read_text(encoding="utf-8")
    head = _VERSION.match(whole)
    if head is None:
        raise ValueError(f"prompt {name}.{language} has no version in its first line")
    return int(head[1]), whole[head.end() :].strip()


def language_of(text: str) -> str:
    """`zh` where at least a fifth of the words are Chinese, a character counting as half a word; else `en`."""
    chinese = len(_HAN.findall(text)) / 2
    return "zh" if chinese > 0.2 * (chinese + len(_LATIN.findall(text))) else "en"


_CORE = ("turn", "quote", "statement")
_WEIGHT = ("matters", "why")
STEPWISE = (
    Step(
        "attributes",
        (*_CORE, "kind", "subject", "slot", "value", "entities", *_WEIGHT),
        (Kind.FACT, Kind.CONSTRAINT),
    ),
    Step("relations", (*_CORE, "subject", "value"), kind=Kind.RELATION),
    Step("events", (*_CORE, "kind", "subject", *_WEIGHT), (Kind.EVENT, Kind.PREFERENCE, Kind.CONSTRAINT, Kind.RULE)),
)
JOINED = (
    Step(
        "joined",
        (*_CORE, "kind", "subject", "slot", "value", "entities", *_WEIGHT),
        (Kind.FACT, Kind.PREFERENCE, Kind.CONSTRAINT, Kind.EVENT, Kind.RELATION, Kind.RULE),
    ),
)

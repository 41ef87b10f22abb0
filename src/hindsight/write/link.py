"""Which named things a statement speaks of, and which of their names are one thing's.

A name is what was written, with the figure that tells it from its like («Room 101», «3号楼», UA123).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from hindsight.domain.memory import Body, Memory, Statement
from hindsight.language.names import COMMON, SURNAMES, aliases

MAX_ENTITIES = 20
MAX_NAME = 60
MAX_ALIASES = 10  # statements looked at for one name

# What must not stand before a word is asked behind its first letter: a pattern that begins with a letter is found by
# looking for the letter, one that begins with a question is tried at every character.
_CAPITAL = r"[A-Z][\w'’-]*[a-z0-9][\w'’-]*|[A-Z]{2,}[\w-]*"
_BEGINS = r"[A-Z](?<![A-Za-z0-9][A-Z])"
_FIGURE = r"#?\d[A-Za-z0-9_-]*"
_ENGLISH = re.compile(
    rf"{_BEGINS}(?:[\w'’-]*[a-z0-9][\w'’-]*|[A-Z]+[\w-]*)(?:[ ](?:{_CAPITAL})){{0,3}}(?:[ ]{_FIGURE})?"
)
_CODE = re.compile(rf"{_BEGINS}[A-Z]{{0,4}}-?\d{{2,}}[A-Za-z0-9_-]*")
_DIGIT = re.compile("[0-9]")
_QUOTED = re.compile(r"《([^《》\n]{1,40})》|「([^「」\n]{1,20})」")
_CALLED = re.compile(r"(?:名叫|叫做|名字叫|名字是|叫)([\u4e00-\u9fff]{2,4}|[A-Z][a-z]+)(?=$|[的，。,.!！、\s])")
_PLACE_ZH = "会议室|教室|机房|车间|仓库|病房|房间|号楼|楼|航班|订单|工单|合同|发票|型号|机床|服务器"
_NUMBERED = re.compile(
    rf"(?:{_PLACE_ZH})\s?[A-Za-z]{{0,4}}-?\d[\w-]*|[A-Za-z]?\d+\s?(?:{_PLACE_ZH}|号(?:{_PLACE_ZH})?)|第\d+[章节期册卷集]",
    re.ASCII,
)
_FAMILIAR = re.compile(
    rf"[小老阿](?:(?<![\u4e00-\u9fff][小老阿])|(?<=[和跟与同的给让][小老阿]))[{SURNAMES}](?=$|[^子师虎板百姓乡家])"
)


class Known(Protocol):
    """What linking reads from the store."""

    async def about(self, namespace: str, topics: Sequence[str], *, limit: int) -> Mapping[str, Sequence[str]]:
        """Ids of active memories by what they are about, newest first."""
        ...

    async def memories(self, namespace: str, ids: Sequence[str]) -> Mapping[str, Memory]:
        """Memories by whole id."""
        ...


def entities(content: str, speakers: Collection[str] = ()) -> tuple[str, ...]:
    """The names in a text as they are written, each once."""
    found = [speaker for speaker in speakers if _stands_in(speaker, content)]
    if not content.islower():
        found += (name for match in _ENGLISH.finditer(content) if (name := _trimmed(match[0])))
        found += (match[0] for match in _CODE.finditer(content))
    if not content.isascii():
        if "《" in content or "「" in content:
            found += (match[1] or match[2] for match in _QUOTED.finditer(content))
        if _DIGIT.search(content):
            found += (match[0] for match in _NUMBERED.finditer(content))
        found += (match[0] for match in _FAMILIAR.finditer(content))
    if "叫" in content or "名字" in content:
        found += (match[1] for match in _CALLED.finditer(content))
    found += (name for pair in aliases(content) for name in pair)
    return tuple(name for name in dict.fromkeys(found) if len(name) <= MAX_NAME)[:MAX_ENTITIES]


def subject_named(body: Body, content: str) -> tuple[str, ...]:
    """Whom a statement is about, where that is a Chinese name: «王芳» has no mark of one but the place it stands in."""
    subject = body.subject if isinstance(body, Statement) else None
    unmarked = subject is not None and not subject.isascii() and len(subject) <= MAX_NAME and "'s " not in subject
    return (subject,) if subject is not None and unmarked and subject in content else ()


def alias_topics(content: str) -> tuple[str, ...]:
    """Keys under which a statement that joins two names is found by either."""
    return tuple(f"alias:{name}" for pair in aliases(content) for name in pair)


async def linked(known: Known, namespace: str, memories: Sequence[Memory]) -> list[Memory]:
    """The memories with the other names of what they speak of, as far as something said before joins them."""
    named = list(dict.fromkeys(name for memory in memories for name in (*memory.entities, *_acting(memory))))
    if not named:
        return list(memories)
    about = await known.about(namespace, [f"alias:{name}" for name in named], limit=MAX_ALIASES)
    said = await known.memories(namespace, list({one for ids in about.values() for one in ids})) if about else {}
    joined = [pair for memory in said.values() for pair in aliases(memory.content)]
    done: list[Memory] = []
    for memory in memories:
        joined += aliases(memory.content)
        done.append(_with_aliases(memory, joined) if joined else memory)
    return done


def _acting(memory: Memory) -> list[str]:
    """Who or what the clauses of a Chinese statement are about; a name only where another statement joins it to one."""
    topics = memory.body.topics if isinstance(memory.body, Statement) else ()
    subjects = (topic.partition("|")[0] for topic in topics if "|" in topic)
    return [subject for subject in subjects if not subject.isascii() and subject in memory.content]


def _with_aliases(memory: Memory, joined: Sequence[tuple[str, str]]) -> Memory:
    names = {*memory.entities, *_acting(memory)}
    others = [name for pair in joined if names.intersection(pair) for name in pair]
    entities = tuple(dict.fromkeys((*memory.entities, *others)))[:MAX_ENTITIES]
    return memory if entities == memory.entities else replace(memory, entities=entities)


def _stands_in(name: str, content: str) -> bool:
    """Whether a name stands in a text as a word of its own: Ann is not in «Anna»."""
    at = content.find(name)
    while at >= 0:
        before, after = content[at - 1 : at], content[at + len(name) : at + len(name) + 1]
        inside = (before.isascii() and before.isalnum() and name[0].isascii()) or (
            after.isascii() and after.isalnum() and name[-1].isascii()
        )
        if not inside:
            return True
        at = content.find(name, at + 1)
    return False


def _trimmed(name: str) -> str:
    """A run of capitalised words without common ones at its edges; a figure alone is no name."""
    words = [word.removesuffix("'s").removesuffix("’s") for word in name.split(" ")]
    while words and words[0] in COMMON:
        words.pop(0)
    while words and words[-1] in COMMON:
        words.pop()
    return " ".join(words) if words and not words[0].lstrip("#")[:1].isdigit() else ""

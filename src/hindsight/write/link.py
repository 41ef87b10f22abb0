"""Which named things a statement speaks of, and which of their names are one thing's.

A name is what was written, with the figure that tells it from its like («Room 101», «3号楼», UA123). Two names are
joined where a statement says that they are one («小张就是张伟», "Bob, also known as Robert"), never because they are
alike: Tigran is not Iran, and Dr John Richardson not Dr Jane.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from hindsight.domain.memory import Memory

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
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎"
    "余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
_FAMILIAR = re.compile(
    rf"[小老阿](?:(?<![\u4e00-\u9fff][小老阿])|(?<=[和跟与同的给让][小老阿]))[{_SURNAMES}](?=$|[^子师虎板百姓乡家])"
)

_A_NAME = r"[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3}|[\u4e00-\u9fff]{2,4}"
# Each form with words of which one stands in whatever it fits: looking for these is far cheaper than the form.
_SAYS_ONE: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (tuple(words.split("|")), re.compile(form))
    for words, form in (
        (
            "就是|又名|又叫|也叫|别名|外号|小名|昵称|人称",
            rf"(?P<a>{_A_NAME})(?:就是|其实就是|也就是|又名|又叫|也叫|别名是?|外号是?|小名是?|昵称是?|人称)(?P<b>{_A_NAME})"
            r"(?=$|[，。,.!！；;\s])",
        ),
        (
            "|".join(
                bracket + word
                for bracket in "(（"
                for word in ("又名", "又叫", "即", "也就是", "昵称", "a", "nicknamed")
            ),
            rf"(?P<a>{_A_NAME}) ?[（(](?:又名|又叫|即|也就是|昵称|a\.?k\.?a\.?|alias|also known as|nicknamed) ?"
            rf"(?P<b>{_A_NAME})[）)]",
        ),
        ("(小|(老|(阿|（小|（老|（阿", rf"(?P<a>[\u4e00-\u9fff]{{2,4}})[（(](?P<b>[小老阿][{_SURNAMES}])[）)]"),
        (
            "aka |a.k.a. |also known as |also called |alias |better known as |nicknamed ",
            rf"(?P<a>{_A_NAME}),? (?:aka|a\.k\.a\.|also known as|also called|alias|better known as|nicknamed) "
            rf"(?P<b>{_A_NAME})",
        ),
        (
            " are the same person|是同一个人|指的是同一个人",
            rf"(?P<a>{_A_NAME})(?: and |和)(?P<b>{_A_NAME})(?: are the same person|是同一个人|指的是同一个人)",
        ),
        (" is short for ", rf"(?P<a>{_A_NAME}) is short for (?P<b>{_A_NAME})"),
        ("叫", rf"(?:管|把)(?P<a>{_A_NAME})叫(?:做|作)?(?P<b>{_A_NAME})(?=$|[，。,.!！；;\s])"),
    )
)
# Words that are written large for their place, or name no one thing.
_COMMON_WORDS = """
    A About After All Also Always Am An And Any Anything Are As Ask At Awesome Be Because Been Before But By Bye Can
    Come Congrats Could Did Do Does Don't Don’t Every Everyone Everything For From Get Glad Go Good Got Great Had Has
    Have He Hello Her Here Hey Hi His How However I I'd I'll I'm I've I’d I’ll I’m I’ve If In Is It It's It’s Its Just
    Keep Let Let's Let’s Like Look Love Make Maybe Me My Never Nice No Not Nothing Now Of Oh OK Okay On Once One Or
    Our Please Really Remember Remind Same She So Some Sorry Sounds Still Such Sure Take Thank Thanks That That's
    That’s The Their Then There These They This Those Though To Today Tomorrow Too Try Two Until Use User Very Was Way
    We Well Were What What's What’s When Where Which While Who Why Will With Would Wow Yeah Yes Yesterday You You're
    You’re Your Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May June July
    August September October November December
"""
_COMMON = frozenset(_COMMON_WORDS.split())


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


def aliases(content: str) -> tuple[tuple[str, str], ...]:
    """Pairs of names that a text says are one thing's."""
    forms = [form for words, form in _SAYS_ONE if any(map(content.__contains__, words))]
    if not forms:
        return ()
    pairs = ((match["a"], match["b"]) for form in forms for match in form.finditer(content))
    return tuple(dict.fromkeys((a, b) for a, b in pairs if a != b and a not in _COMMON and b not in _COMMON))


def alias_topics(content: str) -> tuple[str, ...]:
    """Keys under which a statement that joins two names is found by either."""
    return tuple(f"alias:{name}" for pair in aliases(content) for name in pair)


async def linked(known: Known, namespace: str, memories: Sequence[Memory]) -> list[Memory]:
    """The memories with the other names of what they speak of, as far as something said before joins them."""
    named = list(dict.fromkeys(name for memory in memories for name in memory.entities))
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


def _with_aliases(memory: Memory, joined: Sequence[tuple[str, str]]) -> Memory:
    names = set(memory.entities)
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
    while words and words[0] in _COMMON:
        words.pop(0)
    while words and words[-1] in _COMMON:
        words.pop()
    return " ".join(words) if words and not words[0].lstrip("#")[:1].isdigit() else ""

"""Who stands how to whom: the chain of relations in a question, and the relation that a statement tells.

«用户的同事的上级是谁» asks for what is two steps from the user: a colleague, and that one's superior.
«李雷的上级是韩梅梅» tells one such step. Relations are the words of kinship, work and the like that the lexicon knows
in both languages; anything else is no step. What a question asks beyond its chain is its rest («…住在哪», "… live").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from hindsight.language.fold import fold
from hindsight.language.names import COMMON
from hindsight.language.statement.lexicon import lexicon

USER = "user"
MOST_STEPS = 4
_LONGEST = 160  # characters; a longer text is a story, not a question about somebody's relations
_LONGEST_TOLD = 1_000  # characters; a longer text is no statement about one thing
_KINDS = ("kin", "kin-many")

# What each relation is from the other side; those that are the same from both sides stand for themselves.
_TURNED = {
    "boss": "subordinate",
    "subordinate": "boss",
    "mentor": "student",
    "assistant": "boss",
} | {one: one for one in ("spouse", "lover", "fiance", "colleague", "classmate", "roommate", "neighbour", "friend")}
_SUBORDINATE = ("下属", "下级", "手下", "部下", "subordinate", "direct report")

# Relations told or asked by a verb: {n} the one it starts from, {x} the one it leads to.
_BY_VERB = {
    "boss": (
        r"{n}(?:直接)?(?:向|跟|对){x}(?:汇报|负责|报告)",
        r"{n}(?:归|由){x}(?:管|领导|带)",
        r"{x}(?:管理|领导|管着|带着?){n}",
        r"{n} reports? (?:directly )?to {x}",
        r"{n} works? (?:for|under) {x}",
        r"{n} is (?:managed|supervised|led) by {x}",
        r"{x} (?:manages|supervises|leads) {n}",
    ),
    "spouse": (
        r"{n}(?:和|跟|与|同){x}(?:结了?婚|是夫妻|领了?证)",
        r"{n}嫁给了?{x}",
        r"{n}娶了?{x}",
        r"{x}嫁给了?{n}",
        r"{x}娶了?{n}",
        r"{n} (?:is|got|was) married to {x}",
        r"{n} married {x}",
        r"{x} (?:is|got|was) married to {n}",
        r"{x} married {n}",
    ),
    "colleague": (r"{n}(?:和|跟|与){x}是同事", r"{x}(?:和|跟|与){n}是同事", r"{n} and {x} are colleagues"),
}
_VERBS_OF = {
    "boss": ("汇报", "负责", "领导", "管理", "reports", "works", "managed", "supervised", "leads"),
    "spouse": ("结婚", "嫁给", "领证", "夫妻", "married"),
    "colleague": ("是同事", "colleagues"),
}
_ASKED_BY_VERB = (
    (
        "boss",
        re.compile(
            r"(?:直接)?(?:向|跟|对)谁(?:汇报|负责|报告)|汇报给谁|归谁(?:管|领导)|由谁(?:管|领导)|谁的手下"
            r"|\b(?:reports? (?:directly )?to|works? under|(?:managed|supervised) by)\b",
            re.IGNORECASE,
        ),
    ),
    ("spouse", re.compile(r"嫁给了?谁|(?:和|跟|与)谁结了?婚|娶了?谁|\bmarried to\b|\bmarry\b", re.IGNORECASE)),
)

_VERBS_EN = ("report", "reports", "under", "managed", "supervised", "married", "marry", "works")
_VERBS_ZH = ("谁",)
_LATIN_WORD = re.compile("[a-z]+")

# Before a text is read, the one a step starts from, the words of the relation and those of its other side are put as
# signs of their own: so the forms are the same for all names and relations, and made once.
_START, _RELATION, _OTHER_SIDE = "\ue000", "\ue001", "\ue002"

_ME_ZH = "用户|我们|咱们|我|咱|俺"
_ME_EN = r"my|our|the user['’]s|user['’]s"
_LATIN_NAME = r"[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3}"
_HAN = "[\u4e00-\u9fff·]"
# A Chinese name ends before a small word, a sign, or the end.
_HAN_NAME = (
    rf"(?![在也的不很去来说做要会有喜想没比对给从]){_HAN}{{1,4}}?"
    r"(?=$|[^\u4e00-\u9fff·]|[的是在叫住和跟与也就都，]|今年|目前|现在|喜欢|负责|工作|汇报|报告|管|领|结|嫁|娶)"
)
_SMALL_ZH = frozenset(("谁", "什么", "哪", "哪位", "一个", "一位", "一名", "个", "位", "我", "他", "她", "我们", "人"))


@dataclass(frozen=True, slots=True)
class Chain:
    """A question's chain. `starts`: names it may start from, or `USER` alone. `steps`: relations, in order.

    `rest`: what is asked beyond the chain, empty for the one it leads to.
    """

    starts: tuple[str, ...]
    steps: tuple[str, ...]
    rest: str


def chain_of(question: str) -> Chain | None:
    """The longest chain of relations in a question; `None` without one."""
    if len(question) > _LONGEST or "\n" in question or not _may_ask(question):
        return None
    asked = next(((one, match) for one, form in _ASKED_BY_VERB if (match := form.search(question))), None)
    form, _ = _all_words()
    said = form.findall(question)
    marked = form.sub(_RELATION, question)
    found = [*_english(marked), *_chinese(marked)] if said else []
    if not found and asked is not None and (starts := _subject(question, asked[1])):
        found, marked = [(starts, (), (0, asked[1].start()))], question
    if not found:
        return None
    starts, places, (begin, end) = max(found, key=lambda one: (len(one[1]), one[2][0]))
    steps = tuple(_concept(said[place]) for place in places)
    before, behind = marked[:begin], marked[end:]
    if asked is not None and asked[1][0] in behind:
        steps = (*steps, asked[0])
        behind = behind.replace(asked[1][0], " ")
    left = iter([*said[: before.count(_RELATION)], *said[len(said) - behind.count(_RELATION) :]])
    rest = "".join(next(left) if sign == _RELATION else sign for sign in f"{before} {behind}")
    return Chain(starts, steps, _rest(rest)) if 1 <= len(steps) <= MOST_STEPS else None


def telling_words(relation: str) -> tuple[str, ...]:
    """Words of which one stands in a statement that tells this relation, from either side."""
    return (*words_of(relation), *words_of(_TURNED.get(relation, relation)), *_VERBS_OF.get(relation, ()))


@cache
def words_of(relation: str) -> tuple[str, ...]:
    """The words for a relation in both languages; of a wide one those of its kinds too («哥哥» of brother)."""
    known = lexicon()
    latin = (
        " ".join(words)
        for words, entry in known.exact.items()
        if entry.kind in _KINDS and _alike(entry.concept, relation)
    )
    han = (word for word, entry in known.chinese.items() if entry.kind in _KINDS and _alike(entry.concept, relation))
    own = _SUBORDINATE if relation == "subordinate" else ()
    return tuple(dict.fromkeys((*latin, *han, *own)))


def other_end(content: str, names: Sequence[str], relation: str, *, mine: bool) -> tuple[str, ...] | None:
    """Whom a statement calls this relation of `names`; `None` where it tells no such thing.

    Empty: it tells of the relation, but not by name. `mine`: «我» and "I" in it are the one started from.
    """
    if len(content) > _LONGEST_TOLD or not _speaks_of(content, relation):
        return None
    marked = _marked(content, names, mine=mine)
    if _START not in marked:
        return None
    for form in _verbs(relation):
        if found := [_name(match) for match in form.finditer(marked)]:
            return tuple(dict.fromkeys(name for name in found if name))
    turned = _TURNED.get(relation, "")
    marked = _words_form(relation).sub(_RELATION, marked)
    if turned and turned != relation:
        marked = _words_form(turned).sub(_OTHER_SIDE, marked)
    for form in _forms(turned == relation):
        if found := [_name(match) for match in form.finditer(marked)]:
            return tuple(dict.fromkeys(name for name in found if name))
    return () if _OWNED.search(marked) else None


def _speaks_of(content: str, relation: str) -> bool:
    folded = fold(content)
    words = (*words_of(relation), *words_of(_TURNED.get(relation, relation)))
    return any(word in folded for word in words) or relation in _BY_VERB


def _alike(concept: str, relation: str) -> bool:
    return concept == relation or concept.startswith(f"{relation}:") or relation.startswith(f"{concept}:")


@cache
def _all_words() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """Any word for a relation, the longest first, and the relation of each."""
    known = lexicon()
    words = {" ".join(words): one.concept for words, one in known.exact.items() if one.kind in _KINDS}
    words |= {word: one.concept for word, one in known.chinese.items() if one.kind in _KINDS}
    words |= dict.fromkeys(_SUBORDINATE, "subordinate")
    words = {f"{word}s": relation for word, relation in words.items() if word.isascii()} | words
    listed = sorted(words, key=len, reverse=True)
    latin = "|".join(re.escape(word).replace(r"\ ", "[ -]") for word in listed if word.isascii())
    han = "|".join(re.escape(word) for word in listed if not word.isascii())
    return re.compile(rf"\b(?:{latin})\b|{han}", re.IGNORECASE), words


def _concept(word: str) -> str:
    words, folded = _all_words()[1], fold(word)
    return words[folded] if folded in words else words[folded.replace("-", " ")]


@cache
def _hints() -> tuple[frozenset[str], tuple[str, ...]]:
    """Words of which one stands in every question with a chain; of English phrases the last."""
    known = lexicon()
    latin = {words[-1] for words, one in known.exact.items() if one.kind in _KINDS}
    han = [word for word, one in known.chinese.items() if one.kind in _KINDS]
    least = [word for word in han if not any(other in word and other != word for other in han)]
    return frozenset(latin | {f"{word}s" for word in latin} | set(_VERBS_EN)), (*least, *_SUBORDINATE, *_VERBS_ZH)


def _may_ask(question: str) -> bool:
    """Told by looking for whole words: a fiftieth of the time that the forms take."""
    latin, han = _hints()
    folded = question.lower()
    if not latin.isdisjoint(_LATIN_WORD.findall(folded)):
        return True
    return not question.isascii() and any(word in question for word in han)


_Found: TypeAlias = tuple[tuple[str, ...], tuple[int, ...], tuple[int, int]]
"""Whom a chain starts from, which of the words for relations are its steps, and where it stands."""

_AHEAD_EN = re.compile(
    rf"(?:\b(?P<me>{_ME_EN})|(?P<s>['’]s?)) (?P<ahead>{_RELATION}(?:['’]s? {_RELATION})*)", re.IGNORECASE
)
_BACK_EN = re.compile(rf"(?:(?:\bthe )?{_RELATION} of )+$", re.IGNORECASE)
_ENDING_EN = re.compile(
    rf"(?P<back>{_RELATION}(?: of (?:the )?{_RELATION})*) of "
    r"(?P<of>me\b|the user\b|[A-Za-z][\w-]*(?: [A-Za-z][\w-]*){0,2})",
    re.IGNORECASE,
)


def _english(marked: str) -> list[_Found]:
    found: list[_Found] = []
    for match in _AHEAD_EN.finditer(marked):
        begin = match.start()
        starts: tuple[str, ...] = (USER,)
        if match["s"]:
            before = _last_words(marked[:begin])
            if not before:
                continue
            starts = tuple(" ".join(before[at:]) for at in range(len(before)))
            begin -= _name_length(before)
        led = _BACK_EN.search(marked[:begin])
        begin = led.start() if led else begin
        steps = [*_signs(marked, *match.span("ahead")), *reversed(_signs(marked, *led.span()) if led else ())]
        found.append((starts, tuple(steps), (begin, match.end())))
    for match in _ENDING_EN.finditer(marked):
        words = match["of"].split()
        mine = match["of"].lower() in ("me", "the user")
        starts = (USER,) if mine else tuple(" ".join(words[:length]) for length in range(len(words), 0, -1))
        if words[0].lower() not in ("my", "our", "the", "a", "an", "his", "her", "their"):
            found.append((starts, tuple(reversed(_signs(marked, *match.span("back")))), match.span()))
    return found


def _signs(marked: str, begin: int, end: int) -> range:
    """The numbers of the words for relations that stand between two places."""
    return range(marked[:begin].count(_RELATION), marked[:end].count(_RELATION))


def _last_words(text: str) -> list[str]:
    """The last three words, of which a name is made."""
    match = re.search(r"(?:[A-Za-z][\w-]* ){0,2}[A-Za-z][\w-]*$", text)
    return match[0].split() if match else []


def _name_length(words: Sequence[str]) -> int:
    """Characters of the name that these words end in: those written large, and the last in any case."""
    large = 1
    while large < len(words) and words[-large - 1][0].isupper():
        large += 1
    return len(" ".join(words[-large:]))


_CHAIN_ZH = re.compile(
    rf"(?P<bare>{_RELATION}(?:的{_RELATION})+)"
    rf"|(?:(?P<me>{_ME_ZH})的?|(?P<name>(?:(?!{_ME_ZH}){_HAN}){{2,8}}?|{_LATIN_NAME}|[A-Za-z]+) ?(?:的|[他她]的?))"
    rf"(?P<ahead>{_RELATION}(?:的?{_RELATION})*)"
)


def _chinese(marked: str) -> list[_Found]:
    found: list[_Found] = []
    for match in _CHAIN_ZH.finditer(marked):
        name = match["name"] or ""
        if name and not name.isascii():
            starts = tuple(name[at:] for at in range(max(0, len(name) - 4), len(name) - 1))
        else:
            starts = (name,) if name else (USER,)
        steps = _signs(marked, *match.span("ahead" if match["ahead"] else "bare"))
        found.append((starts, tuple(steps), match.span()))
    return found


def _subject(question: str, verb: re.Match[str]) -> tuple[str, ...]:
    """The names before a verb that asks for a relation: «李雷向谁汇报», "Who does Li Lei report to"."""
    before = question[: verb.start()].strip()
    if re.search(rf"(?:{_ME_ZH})$|\b(?:do I|am I|does the user)$", before, re.IGNORECASE):
        return (USER,)
    if words := _last_words(before):
        return tuple(" ".join(words[at:]) for at in range(len(words)))
    match = re.search(rf"{_HAN}{{2,4}}$", before)
    return tuple(match[0][at:] for at in range(len(match[0]) - 1)) if match else ()


_ASKING = re.compile(
    r"请问|告诉我|你知道|你还记得|还记得|是谁|叫什么名字|叫什么|叫啥|什么名字|名字|是哪位|谁是|哪位|谁|是|的|呢|吗|[?？。，,.!！]"
    r"|\b(?:who|whom|what|which|whose|is|are|was|were|the|names?|of|called|do|does|did|person|remember|know|tell|me|you|"
    r"please|can|could|s)\b|['’]s?\b",
    re.IGNORECASE,
)


def _rest(text: str) -> str:
    """What is asked beyond who it is."""
    text = re.sub(r"\s+(?:['’]s?)?\s+", " ", text)  # what is left of «Ann's husband's dog»
    return text.strip(" ?？。.") if _ASKING.sub("", text).strip() else ""


_USER = re.compile(r"用户|\b(?:the )?user\b", re.IGNORECASE)
_MINE = re.compile(r"我们|我|\b(?:my|our|I)\b", re.IGNORECASE)


def _marked(content: str, names: Sequence[str], *, mine: bool) -> str:
    for name in sorted(names, key=len, reverse=True):
        if name == USER:
            content = _USER.sub(_START, content)
        elif name and name in content:
            edge = "[A-Za-z]" if name.isascii() else "(?!)"
            content = re.sub(rf"(?<!{edge}){re.escape(name)}(?!{edge})", _START, content)
    return _MINE.sub(_START, content) if mine else content


@cache
def _verbs(relation: str) -> tuple[re.Pattern[str], ...]:
    """Forms of words that tell a relation by a verb, each with the other one as `x`."""
    x = rf"(?P<x>{_LATIN_NAME}|{_HAN_NAME})"
    return tuple(re.compile(form.format(n=_START, x=x)) for form in _BY_VERB.get(relation, ()))


@cache
def _forms(alike: bool) -> tuple[re.Pattern[str], ...]:
    """Forms of words that tell a relation. `alike`: it is the same from both sides."""
    n, rel, turned = _START, _RELATION, _RELATION if alike else _OTHER_SIDE
    last = "(?!['’`]s|的)"  # «Max is my mother's cat» tells no mother
    x = rf"(?P<x>{_LATIN_NAME}|{_HAN_NAME})"
    told = (
        rf"{n}(?:的|[他她]的?|['’]s?)? ?{rel}(?:的名字|名字|['’]s name)?,? ?"
        rf"(?:就?是|叫做?|名叫|为|姓|[：:]|is called|is named|is|was|named|called|,|，)? ?{x}",
        rf"{x}(?:就?是|担任|当了?|做了?| ?is| ?was|, ?) ?(?:the |a |an )?{n}(?:的|['’]s?)? ?{rel}{last}",
        rf"{x} (?:is|was|works as) (?:the |a |an )?{rel} (?:of|to|for) {n}",
        rf"{rel} of {n} (?:is|was) {x}",
        rf"{n} (?:has|have|had) (?:a|an|two|three)? ?{rel} ?(?:named|called|,)? {x}",
        rf"{n}有(?:一?个|一?位)?(?:{rel})?(?:叫|名叫){x}",
        rf"{n}(?:就?是| is | was )(?:the |a |an )?{x}(?:的|['’]s?)? ?{turned}{last}",
        rf"{x}(?:的|['’]s?) ?{turned}(?:就?是|叫做?|名叫| is | was ) ?{n}",
        rf"{n} (?:is|was) (?:the |a |an )?{turned} (?:of|to|for) {x}",
    )
    return tuple(map(re.compile, told))


_OWNED = re.compile(rf"{_START}(?:的|[他她]的?|['’]s?)? ?{_RELATION}|{_RELATION} of {_START}")


@cache
def _words_form(relation: str) -> re.Pattern[str]:
    """Any of the words for a relation, whole where they are in letters, whatever their case."""
    listed = sorted(words_of(relation), key=len, reverse=True)
    latin = "|".join(re.escape(word) for word in listed if word.isascii())
    han = [re.escape(word) for word in listed if not word.isascii()]
    return re.compile("|".join([*([rf"\b(?:{latin})s?\b"] if latin else []), *han]) or "(?!)", re.IGNORECASE)


def _name(match: re.Match[str]) -> str:
    name = match["x"].strip(".,-'’ ")
    name = re.sub(r"['’]s$", "", name)
    return "" if name in _SMALL_ZH or name in COMMON or fold(name) in ("i", "the", "my", "user", "the user") else name

"""What sort of thing a question asks for: a kind of memory, what was mentioned before, whatever happened at a time.

«用户之前提到的那个偏好» has no word that the preference itself has. Its words of mentioning are taken away; what is
left names a kind, and the newest of that kind are what is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hindsight.domain.memory import Kind
from hindsight.language.segment import query_terms

# Characters, a Chinese one counted as three: a longer question says itself what it is about, and «…提到的那套邮票» only
# tells which.
LONGEST = 100

# Only kinds that people name: an «event» or a «fact» is as often a word of the answer.
_KINDS: tuple[tuple[Kind, tuple[str, ...], str], ...] = (
    (
        Kind.PREFERENCE,
        ("偏好", "喜好", "喜恶", "口味", "preference", "likes and dislikes"),
        r"偏好|喜好|喜恶|口味|\bpreferences?\b|\blikes and dislikes\b",
    ),
    (
        Kind.CONSTRAINT,
        ("约束", "限制", "禁忌", "忌口", "constraint", "restriction"),
        r"约束(?:条件)?|限制(?:条件)?|禁忌|忌口|\b(?:constraints?|restrictions?)\b",
    ),
    (Kind.RULE, ("规则", "规矩", "规范", "rule"), r"规则|规矩|规范|\brules?\b"),
    (
        Kind.EXPERIENCE,
        ("经验", "教训", "lessons learn", "past experience"),
        r"经验教训|经验|教训|\blessons learn(?:ed|t)\b|\bpast experiences?\b",
    ),
)
_KIND_FORMS = tuple((kind, words, re.compile(form, re.IGNORECASE)) for kind, words, form in _KINDS)

_WHO_ZH = "用户|我们|咱们|我|咱|你|您|他们|她们|他|她"
_WHO_EN = "the user|i|we|you|he|she|they"
_BEFORE_ZH = "之前|以前|先前|此前|上次|上回|刚才|刚刚|曾经|曾|早些时候|前面|那时|当时"
_BEFORE_EN = "earlier|before|previously|last time|once|the other day|a while ago|in the past|already|just"
_SAID_ZH = "提到|提起|提及|提过|说到|说起|说过|讲到|讲过|谈到|谈起|谈过|聊到|聊起|聊过|告诉你|告诉过你|说|讲|提"
_SAID_EN = (
    r"mentioned|talked about|told you(?: about)?|told me(?: about)?|brought up|referred to|spoke (?:of|about)|said|"
    r"shared|was talking about|were talking about"
)
_MENTION_ZH = re.compile(
    rf"(?:(?P<who>{_WHO_ZH})?(?:(?:{_BEFORE_ZH})(?:跟你|和你|对你|向你|有)?(?:{_SAID_ZH})|(?:跟你|和你|对你|向你)(?:{_SAID_ZH})"
    rf"|(?:提到|提及|提起|说起|谈到|聊到)))(?:过)?的?(?:那|这)?(?:一?[个些件次家本位条种项款部首道])?"
)
_MENTION_EN = re.compile(
    rf"\b(?:that|which)? ?(?P<who>{_WHO_EN}) (?:had |have |has |'d |'ve )?(?:(?:{_BEFORE_EN}) )?(?:{_SAID_EN})\b"
    rf"(?: to you| to me)?(?: (?:{_BEFORE_EN}))?",
    re.IGNORECASE,
)
_MENTION_HINTS = (
    "提",
    "说",
    "讲",
    "谈",
    "聊",
    "告诉",
    "mention",
    "talk",
    "told",
    "brought",
    "refer",
    "spoke",
    "said",
    "share",
)
_SAID = re.compile(rf"{_SAID_ZH}|\b(?:mention|say|tell|{_SAID_EN})\b", re.IGNORECASE)
# What a question says around what it asks; none of it is in an answer.
_IDLE = re.compile(
    rf"{_WHO_ZH}|{_BEFORE_ZH}|所有|全部|一些|哪些|哪个|什么|都|有|是|的|那|这|个|些|条|种|吗|呢|还|记得|列出|列举|告诉|一下|请问|请|来着|关于|在|过"
    rf"|\b(?:{_WHO_EN}|{_BEFORE_EN}|my|our|your|their|his|her|the|user|users|that|this|those|these|which|what|is|are|was|"
    r"were|do|does|did|have|has|had|all|any|some|list|show|tell|me|of|for|about|again|please|remember|recall|there|one|"
    r"ones|know|s)\b",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"发生(?:了|过)?|事情|事儿|事|情况|做(?:了|过)?|干(?:了|过)?|经历(?:了|过)?|忙|活动|近况|怎么样|怎样|如何|啥|期间|那段时间|时候"
    "|时间"
    r"|\b(?:happen(?:ed|ing|s)?|going on|went on|go on|happening|up to|events?|things?|anything|everything|something|"
    r"new|doing|done|life|week|summary|summari[sz]e|recap|overview|been|in|on|at|during|over|with|us|happenings)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """`text`: the question without its words of mentioning. `kinds`: those it names.

    `bare`: it names a kind, and nothing beside that a memory could have in common with it. `mentioned`: it asks for
    something as mentioned before.
    """

    text: str
    kinds: tuple[Kind, ...] = ()
    bare: bool = False
    mentioned: bool = False


def asked_for(text: str) -> Asked:
    """What sort of thing a question asks for."""
    if len(text) > LONGEST or len(text.encode()) > LONGEST:
        return Asked(text)
    folded = text.lower()
    plain = _without_mention(text) if any(map(folded.__contains__, _MENTION_HINTS)) else text
    if plain != text:
        folded = plain.lower()
        if not query_terms(_IDLE.sub(" ", folded)):  # nothing would be left to look for
            return Asked(text)
    named = [one for one in _KIND_FORMS if any(map(folded.__contains__, one[1])) and one[2].search(folded)]
    if not named:
        return Asked(plain, mentioned=plain != text)
    for _, _, form in named:
        folded = form.sub(" ", folded)
    bare = not query_terms(_IDLE.sub(" ", _SAID.sub(" ", folded)))
    return Asked(plain, tuple(kind for kind, _, _ in named), bare=bare, mentioned=plain != text)


def asks_what_happened(text: str) -> bool:
    """Whether a question, its times taken away, asks for nothing but what happened."""
    return not query_terms(_IDLE.sub(" ", _HAPPENED.sub(" ", text)))


def _without_mention(text: str) -> str:
    found = (None if text.isascii() else _MENTION_ZH.search(text)) or _MENTION_EN.search(text)
    if found is None or not _points(text, found):
        return text
    who = found["who"] or ""
    kept = who if who in ("用户", "我", "他", "她") else ""
    return " ".join((text[: found.start()] + f"{kept} " + text[found.end() :]).split())


def _points(text: str, found: re.Match[str]) -> bool:
    """Whether something mentioned is pointed at («那个…», "that … she mentioned"), not asked what was said of it."""
    if re.search("[那这]", found[0]) or found[0].endswith("的"):
        return bool(text[found.end() :].strip(" ?？。.!！"))
    before = text[: found.start()]
    return re.search(r"\b(?:that|the|this|those|these)(?: [\w-]+){1,4} ?$", before, re.IGNORECASE) is not None

"""What a question asks of somebody, whatever words it was told in, and the tags it names.

«我住哪» and "Where do I live?" ask for what is kept of the user's residence, also where all that was ever said is
"moved to Lisbon", which shares no word and little meaning with them. A statement is kept under keys of what it is
about (`Store.about`); a question has one only where it is nothing but such a question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from hindsight.language.fold import fold
from hindsight.language.relations import USER
from hindsight.language.statement.words import words

LONGEST = 60  # characters; a longer question asks for something special
MOST_TAGS = 4

_ME_EN, _ME_ZH = frozenset({"i", "my", "the user", "the user's", "the user’s"}), frozenset({"我", "咱", "用户"})
_WHO_EN = r"(?P<who>i|the user|[a-z][\w-]*(?: [a-z][\w-]*)?)"
_WHOSE_EN = r"(?P<who>my|(?:the user|[a-z][\w-]*(?: [a-z][\w-]*)?)['’]s)"
_WHO_ZH = r"(?P<who>我|咱|用户|[\u4e00-\u9fff]{2,4}?|[a-z][\w-]*)"
_NOW_EN = r"(?: now| currently| these days| at the moment| at present| today| again)?"
_NOW_ZH = "(?:现在|目前|如今|眼下|到底|究竟)?"
_WHAT_ZH = "(?:什么|啥|哪个|哪些)"

# The relations that the reader of statements knows (`language.statement`), and questions that ask for them. {who}
# stands for whom they ask about, {whose} for the same as an owner, {now} for words like "currently".
_FORMS: Mapping[tuple[str, ...], tuple[str, ...]] = MappingProxyType(
    {
        ("reside",): (
            r"where (?:do|does) {who} (?:currently |now )?(?:live|reside){now}",
            r"where (?:am|is) {who} (?:currently |now )?(?:living|based|residing){now}",
            r"(?:which|what) (?:city|town|country|place|district|part of town) (?:do|does) {who} live in{now}",
            r"what(?: is|['’]s) {whose} (?:current |home |new |present )?address{now}",
            r"where(?: is|['’]s) {whose} (?:home|house|place|flat|apartment){now}",
            r"{who}{now}(?:住|居住|住在|居住在|家住|家在)(?:哪(?:里|儿|个城市|座城市)?|什么地方|何处|什么城市)",
            r"{who}{now}的?(?:家|住址|地址|住处|家庭住址|居住地)(?:{now}(?:是|在)?(?:哪(?:里|儿)?|什么(?:地方)?))?",
            r"{who}(?:现在|目前)的(?:家|住址|地址|住处|居住地)(?:(?:是|在)(?:哪(?:里|儿)?|什么(?:地方)?))?",
        ),
        ("work",): (
            r"what(?: is|['’]s) {whose} (?:current |new )?(?:job|occupation|profession|work|line of work){now}",
            r"what (?:do|does) {who} (?:currently )?do (?:for a living|for work){now}",
            r"(?:where|who) (?:do|does) {who} (?:currently )?work(?: at| for)?{now}",
            r"{who}{now}(?:是)?(?:做|干|从事)(?:{what}|哪行|哪一行)(?:工作|职业|行业|行当)?(?:的)?",
            r"{who}{now}的?(?:工作|职业|职位|岗位)(?:是)?{what}",
            r"{who}{now}在?哪(?:里|儿|家公司|个单位)?(?:上班|工作|任职|就职)",
        ),
        ("own_name",): (
            r"what(?: is|['’]s) {whose} (?:full |real )?name",
            r"what am i called",
            r"{who}(?:的(?:名字|姓名|全名)(?:是|叫)?|叫){what}(?:名字|名)?",
        ),
        ("age", "birthday"): (
            r"how old (?:am|is) {who}{now}",
            r"{who}(?:今年|现在|目前)?(?:多大(?:年纪|岁数)?|几岁|多少岁)了?",
        ),
        ("birthday", "age"): (
            r"when(?: is|['’]s) {whose} birthday",
            r"when (?:was|were) {who} born",
            r"{who}的?生日(?:是)?(?:在)?(?:哪(?:一)?天|什么时候|几号|几月几[号日]|什么日子)",
            r"{who}(?:是)?(?:什么时候|哪(?:一)?[年天]|几[月几]号)(?:出生|生)的?",
        ),
    }
)
_MARKS = re.compile(
    r"^(?:请问|告诉我|so|and|please|ok|okay)[,，]?\s*|[\s?？。.!！]+$|(?:呢|啊|呀|来着)[?？]?$", re.IGNORECASE
)


def _read(form: str) -> re.Pattern[str]:
    chinese = not form.isascii() and max(form) >= "\u4e00"
    who, whose = (_WHO_ZH, _WHO_ZH) if chinese else (_WHO_EN, _WHOSE_EN)
    filled = form.replace("{whose}", whose).replace("{who}", who)
    return re.compile(filled.replace("{now}", _NOW_ZH if chinese else _NOW_EN).replace("{what}", _WHAT_ZH))


_AGES = (":elder", ":younger")
_MINE = re.compile(r"^(?:my |the user['’]s |我的?|咱的?|用户的?)")
_READ = tuple((slots, tuple(map(_read, forms))) for slots, forms in _FORMS.items())
# One of these is in every question that asks so: looking for them is far cheaper than the forms.
_HINTS = (
    "live", "resid", "living", "based", "address", "home", "house", "place", "flat", "apartment", "job", "occupation",
    "profession", "work", "living", "name", "called", "old", "birthday", "born", "住", "家", "址", "居", "做", "干",
    "从事", "职", "岗", "工作", "上班", "叫", "名", "多大", "几岁", "多少岁", "生",
)  # fmt: skip

_QUOTE = "\"'“”‘’「」『』《》"
_TAG = rf"[{_QUOTE}]?(?P<tag>[\w\u4e00-\u9fff/.-]{{1,40}}?)[{_QUOTE}]?"
_TAGS = (
    re.compile(r"(?<![\w#&/])#(?P<tag>[^\W\d_][\w/-]{1,40})"),
    re.compile(
        rf"\b(?:tagged|labelled|labeled)(?: as| with)?:? {_TAG}(?=$|[\s?.,;!])"
        rf"|\b(?:tag|label):? (?:is |named |called )?{_TAG.replace('tag>', 'tag2>')}(?=$|[\s?.,;!])",
        re.IGNORECASE,
    ),
    re.compile(
        rf"标签(?:是|为|叫|：|:|包含|含有)\s?{_TAG}(?=$|的|[\s？?，,。])"
        rf"|(?:带有|带着|带|打了|打上|加了|贴了|标了|有)[{_QUOTE}]?(?P<tag2>[^\\s{_QUOTE}带有打加贴标了的没]{{1,20}})[{_QUOTE}]?"
        rf"(?:这个|的)?标签"
    ),
)
_TAG_HINTS = ("#", "tag", "label", "标签")


def topics_asked(text: str) -> tuple[str, ...]:
    """The keys of what a question asks about somebody; empty where it asks anything beside or else."""
    asked = fold(text).strip()
    if len(asked) > LONGEST or not any(map(asked.__contains__, _HINTS)):
        return ()
    while (plain := _MARKS.sub("", asked).strip()) != asked:
        asked = plain
    for slots, forms in _READ:
        for form in forms:
            if found := form.fullmatch(asked):
                who = found.groupdict().get("who") or "i"
                return tuple(f"{subject}|{slot}" for slot in slots for subject in _subjects(who))
    return ()


def tags_named(text: str) -> tuple[str, ...]:
    """The tags that a text names as such («#ops», «标签是采购的»), each in the cases it may be kept in."""
    if not any(map(text.lower().__contains__, _TAG_HINTS)):
        return ()
    found = (match["tag"] or match.groupdict().get("tag2") for form in _TAGS for match in form.finditer(text))
    named = list(dict.fromkeys(tag for tag in found if tag))[:MOST_TAGS]
    return tuple(dict.fromkeys(case for tag in named for case in in_every_case(tag)))


def in_every_case(name: str) -> tuple[str, ...]:
    """A name as it was written, and as it may be written elsewhere: filters compare letter by letter."""
    plain = name.strip()
    return tuple(dict.fromkeys((plain, plain.lower(), plain.upper(), plain.capitalize(), plain.title())))


def _subjects(who: str) -> tuple[str, ...]:
    """Under which keys statements about someone are kept: their name, and its words as a statement is read."""
    if who in _ME_EN or who in _ME_ZH:
        return (USER,)
    name = who.removesuffix("'s").removesuffix("’s")
    mine = _MINE.sub("", name)
    read = "+".join(sorted({word.concept for word in words(mine) if word.carries}))
    if mine == name:
        return tuple(dict.fromkeys(filter(None, (name, read))))
    # «哥哥» says that he is the elder one, "brother" does not.
    kin, _, _ = read.partition(":")
    return (f"{USER}/{read}", *(f"{USER}/{one}" for one in (kin, *(kin + age for age in _AGES)) if one != read))

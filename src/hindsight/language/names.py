"""Names of people and things: which words are none, and which statements say that two names are one's.

Two names are joined where a statement says so («小张就是张伟», "Bob, also known as Robert"), never because they are
alike: Tigran is not Iran, and Dr John Richardson not Dr Jane.
"""

from __future__ import annotations

import re

SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎"
    "余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
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
        ("(小|(老|(阿|（小|（老|（阿", rf"(?P<a>[\u4e00-\u9fff]{{2,4}})[（(](?P<b>[小老阿][{SURNAMES}])[）)]"),
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
_LARGE = """
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
COMMON = frozenset(_LARGE.split())


def aliases(content: str) -> tuple[tuple[str, str], ...]:
    """Pairs of names that a text says are one thing's."""
    forms = [form for words, form in _SAYS_ONE if any(map(content.__contains__, words))]
    if not forms:
        return ()
    pairs = ((match["a"], match["b"]) for form in forms for match in form.finditer(content))
    return tuple(dict.fromkeys((a, b) for a, b in pairs if a != b and a not in COMMON and b not in COMMON))

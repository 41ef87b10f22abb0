"""Which named things a statement speaks of. First form: speakers, quoted names, capitalised English names, «叫…»."""

from __future__ import annotations

import re
from collections.abc import Collection

MAX_ENTITIES = 20
MAX_NAME = 60

_CAPITAL = r"[A-Z][\w'’-]*[a-z0-9][\w'’-]*|[A-Z]{2,}[\w-]*"
_ENGLISH = re.compile(rf"(?<![A-Za-z0-9])(?:{_CAPITAL})(?:[ ](?:{_CAPITAL})){{0,3}}")
_QUOTED = re.compile(r"《([^《》\n]{1,40})》|「([^「」\n]{1,20})」")
_CALLED = re.compile(r"(?:名叫|叫做|名字叫|名字是|叫)([\u4e00-\u9fff]{2,4}|[A-Z][a-z]+)(?=$|[的，。,.!！、\s])")
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


def entities(content: str, speakers: Collection[str] = ()) -> tuple[str, ...]:
    """The names in a text as they are written, in order, each once."""
    found = [speaker for speaker in speakers if speaker in content]
    if not content.islower():
        found += (name for match in _ENGLISH.finditer(content) if (name := _trimmed(match[0])))
    if not content.isascii():
        found += (match[1] or match[2] for match in _QUOTED.finditer(content))
    if "叫" in content or "名字" in content:
        found += (match[1] for match in _CALLED.finditer(content))
    return tuple(name for name in dict.fromkeys(found) if len(name) <= MAX_NAME)[:MAX_ENTITIES]


def _trimmed(name: str) -> str:
    """A run of capitalised words without common ones at its edges."""
    words = [word.removesuffix("'s").removesuffix("’s") for word in name.split(" ")]
    while words and words[0] in _COMMON:
        words.pop(0)
    while words and words[-1] in _COMMON:
        words.pop()
    return " ".join(words)

"""Whose «I» it is: pasted transcripts cut by speaker, and the speaker's pronouns put into words that stand alone.

Nothing else of the wording changes: "I love my dog" of a user without a name becomes "The user loves their dog", of
Gina "Gina loves their dog"; «我喜欢我的狗» becomes «用户喜欢用户的狗».
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hindsight.language.fold import fold
from hindsight.write.extract.clause import Speaking, Who
from hindsight.write.extract.patterns_zh import SURNAMES

USER_EN, USER_ZH = "The user", "用户"

# A line that begins with who says it.
_TURN = re.compile(
    r"^(?:(?P<own>我|用户|本人|me|user|human)|"
    r"(?P<agent>助手|助理|机器人|智能助手|AI|ChatGPT|Claude|assistant|bot|system|系统|客服)|"
    rf"(?P<name>[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|[小老阿][\u4e00-\u9fff]{{1,2}}|"
    r"(?-i:[A-Z])[a-z]+(?: (?-i:[A-Z])[a-z]+){0,2}))\s*[:：]\s*",
    re.MULTILINE | re.IGNORECASE,
)
# Words that open a line in the same way and are no one's name.
_LABEL_WORDS = """
    note notes location title summary content today update edit question answer name date time goal task plan reminder
    warning result results step steps tags tag example background context problem solution trigger outcome info details
    conclusion price address phone email status topic agenda reason tip important fact facts hint todo done next ps
"""
_LABELS = frozenset(_LABEL_WORDS.split())
# «发给李秀英的短信：…», "Text message from Ann: …": a record of a message. Only one that was sent is the user's own.
_RECORD = re.compile(
    r"(?P<sent>发给[^：:\n]{1,30}的(?:短信|消息|邮件|微信)|(?:text |direct )?messages? to [^:\n]{1,40})[:：]\s*"
    r"|(?:[^：:\n]{0,30}(?:短信|推送|通知|消息|邮件|照片|日程|通话|来电)|(?:text |direct )?messages? from [^:\n]{1,40}|"
    r"(?:push )?notification[^:\n]{0,40}|photo|call|calendar(?: event)?|[\w ]{2,20} push(?: notification)?)[:：]",
    re.IGNORECASE,
)
_SIGNATURE = re.compile(r"\s*【[^】\n]{1,20}】")
# Code, quoted mail, mark-up, logs and letters that are drafted: their «I» is not the speaker's.
_FOREIGN = re.compile(
    r"```|^\s*>|</\w+>|^\s*(?:def|class|import|SELECT|Subject|Re|To|From|Title|主题|标题)\b.*[:(：]|^\s*(?:def|class|"
    r"import|"
    r"SELECT|#include)\b|^\s*(?:Dear|Sincerely|Best regards|Kind regards|尊敬的|此致)|^\s*(?:INT|EXT)\. |"
    r"^\[.*\]$|^\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d",
    re.MULTILINE,
)
# What a program wrote into a turn: captions, attachments.
_INSERTED = re.compile(
    r"\[(?:image|photo|video|audio|file|sticker|图片|照片|视频|语音|文件|"
    r"表情)[^\]\n]*\]?",
    re.IGNORECASE,
)

_ENGLISH = re.compile(
    r"\bI(?P<contracted>['’](?:m|ve|d|ll))?(?P<be> am| was)?\b(?![-.&/]\w)|\b(?P<word>my|mine|myself|me)\b(?![-/]\w)",
    re.IGNORECASE,
)
_CHINESE = re.compile(r"(?<![自唯无忘])(?:我自己|本人|我)(?!们|国|方|校|市|省|司|院)")
_CONTRACTED = {"m": "'re", "ve": "'ve", "d": "'d", "ll": "'ll"}
_THEIRS = {"my": "their", "mine": "theirs", "myself": "themselves", "me": "them"}


def voices(text: str, speaking: Speaking) -> Iterator[tuple[int, int, Speaking]]:
    """Spans of a text with who speaks in each; what nobody's «I» can be read out of is left out."""
    if _FOREIGN.search(text):
        return
    start = 0
    if record := _RECORD.match(text):
        if not record["sent"]:
            return
        signature = _SIGNATURE.match(text, record.end())
        start = signature.end() if signature else record.end()
    mark, begin, offset = None, start, start
    for turn in _TURN.finditer(text[start:]) if ":" in text or "：" in text else ():
        if turn["name"] and turn["name"].split(" ")[0].lower() in _LABELS:
            continue
        if turn.start() > 0:
            yield begin, offset + turn.start(), _voice(mark, speaking)
        mark, begin = turn, offset + turn.end()
    yield begin, len(text), _voice(mark, speaking)


def _voice(mark: re.Match[str] | None, speaking: Speaking) -> Speaking:
    if mark is None or mark["own"]:
        return speaking
    if mark["agent"] or speaking.me is None:
        return Speaking(me=None)
    name = mark["name"]
    # The user's own record names its writer: nobody else speaks in what they sent.
    return replace(speaking, me=fold(name), speaker=name)


def inserted(text: str) -> list[tuple[int, int]]:
    """Spans that a program put between the words of a speaker."""
    return [match.span() for match in _INSERTED.finditer(text)] if "[" in text else []


def english(words: str, speaking: Speaking, *, own: bool) -> str:
    """Words with the speaker's pronouns resolved. `own`: they are said of the speaker, who has been named before."""
    label = speaking.label("the user")

    def put(match: re.Match[str]) -> str:
        if word := match["word"]:
            if own:
                return _THEIRS[word.lower()]
            return f"{label}'s" if word.lower() in ("my", "mine") else label
        if own:
            tail = {" am": " are", " was": " were"}.get((match["be"] or "").lower(), "")
            return "they" + (_CONTRACTED[match["contracted"][1:].lower()] if match["contracted"] else tail)
        tail = {" am": " is", " was": " was"}.get((match["be"] or "").lower(), "")
        return label + (match["contracted"] or tail).replace("'m", "'s").replace("’m", "’s")

    return _ENGLISH.sub(put, words)


def chinese(words: str, speaking: Speaking) -> str:
    """Words with «我» put into the name of the speaker; «我们» stays, as nobody knows who is meant."""
    return _CHINESE.sub(speaking.label(USER_ZH), words) if "我" in words or "本人" in words else words


def me(speaking: Speaking, unnamed: str) -> Who | None:
    """The speaker as the subject of a statement."""
    return None if speaking.me is None else Who(speaking.label(unnamed), speaking.me, own=True)


def relative(owner: str, kin: str) -> str:
    """What statements about a person of somebody's share: «user's wife», in every language."""
    return f"{owner}'s {kin}"

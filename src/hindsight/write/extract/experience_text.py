"""Text that describes an experience becomes one: trigger, steps, outcome, tags (SPEC §3.2).

Three forms are read, in Chinese and English. Labelled parts, in any order, on lines of their own or in one line:

    触发场景：… 操作步骤：… 结果：… 标签：…
    Trigger: … Steps: … Outcome: … Tags: …

The same labels in this order without their colons («触发场景 … 操作步骤 1. … 结果 success 标签 …»), where the
outcome says plainly how it ended. And the sentence «当…时，先…再…，结果…», "When …, do … then …; result: …". What is
short of a trigger with steps, and for the latter two of an outcome, is left to the other rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hindsight.domain.experience import Action, Experience, Outcome, OutcomeStatus, Trigger
from hindsight.write.sign import lowered, sign

MAX_TEXT = 6_000  # characters; what is longer is a report
MAX_STEPS, MAX_TAGS, MAX_TOOLS = 100, 50, 50
_SHORT, _LONG = 4, 4_000  # characters of a trigger and of a step

_LABELS = {
    "trigger": r"触发场景|触发条件|触发情境|适用场景|应用场景|使用场景|触发|场景|情境|情形|trigger(?: (?:context|"
    r"scenario|condition))?|situation|"
    r"scenario|context|when to use",
    "steps": r"操作步骤|解决步骤|处理步骤|执行步骤|步骤|操作|做法|解决方法|处理方法|解决方案|(?:action )?steps|"
    r"actions?|procedure|what (?:i|we) did|"
    r"solution",
    "outcome": r"执行结果|最终结果|结果|效果|结局|outcome(?: status)?|results?",
    "tags": r"标签|关键词|关键字|tags?|keywords?|labels?",
    "tools": r"使用工具|所用工具|工具|tools?(?: used)?",
}
_LABEL = re.compile(
    r"(?:^|(?<=[\n。；;.,，】\]*)|\s])|(?=[【「]))[ \t]*(?:[-*#>]+[ \t]*)?(?:\*\*|【|\[|「)?(?:"
    + "|".join(f"(?P<{name}>{form})" for name, form in _LABELS.items())
    + r")(?:\*\*[ \t]*[:：]|[ \t]*[:：][ \t]*(?:\*\*)?|[】\]」][ \t]*[:：]?|是(?=成功|失败))[ \t]*",
    re.IGNORECASE,
)
# Of these one stands in every text that tells of steps or of an outcome.
_HINTS = (
    *("步骤", "操作", "做法", "方法", "方案", "结果"),
    *("steps", "action", "procedure", "solution", "what i did", "what we did", "result", "outcome"),
)
_OPENS = sign(
    r"(?:触发\w{0,2}|场景|情境|情形|trigger(?: \w+)?|situation|scenario|context|when to use)(?:\*\*)?[ \t]*[:：】\]」]",
    "触发|场景|情境|情形|trigger|situation|scenario|context|when to use",
)
_NUMBERED = re.compile(
    r"(?:^|(?<=[\s;；,，。.]))(?:\(?\d{1,2}[.)、）](?!\d)|[（(]\d{1,2}[)）]|[①-⑳]|step \d{1,2}[:.]|"
    r"第[一二三四五六七八九十]步[:：，,]?)[ \t]*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[ \t]*[-*+•·][ \t]+", re.MULTILINE)
_ARROW = re.compile(r"\s*(?:→|⇒|=>|->|-->|>>)\s*")
_BETWEEN = re.compile(r"\s*[;；]\s*|\s*\n+\s*")
_THEN_ZH = re.compile(r"[，,。]?\s*(?:然后|接着|随后|最后|再(?!次|也|见)|之后)\s*")
_THEN_EN = re.compile(r",?\s*(?:and then|then|after that|finally|next),?\s+", re.IGNORECASE)
_FAILED = re.compile(
    r"失败|不成功|没(?:有)?成功|未成功|无效|没(?:有)?(?:解决|用|效果)|未能|报错|崩溃|超时|"
    r"\b(?:fail(?:s|ed|ure)?|did ?n['’]?o?t (?:work|help)|unsuccessful|without success|broke|crashed|made it worse|"
    r"no effect)\b",
    re.IGNORECASE,
)
_SUCCEEDED = re.compile(
    r"^\W*(?:成功|已?解决|有效|正常|通过|好了|完成|恢复|success|succeeded|worked|works|fixed|passed|ok\b|resolved|"
    r"solved)|"
    r"不再(?:报错|失败|崩溃|超时)|没有?(?:再)?(?:报错|失败|崩溃)|no (?:more )?(?:errors?|failures?|crash)|"
    r"without (?:errors?|failures?)",
    re.IGNORECASE,
)
_SENTENCE_ZH = re.compile(
    r"\s*(?:当|每当|遇到|如果|碰到)(?P<trigger>[^\n]{4,200}?)(?:的?时候?，|的?时(?:候)?,|[，,:：])\s*(?P<steps>(?:先|"
    r"首先|要先|应先|可以先|请先|"
    r"需要先|用|执行|运行)[^\n]{4,600}?)"
    r"[，,。；;]\s*(?:结果|最后结果|最终)(?:是|为|[:：，,])?\s*(?P<outcome>[^\n]{2,200})",
)
_SENTENCE_EN = re.compile(
    r"\s*when(?:ever)?\s+(?P<trigger>[^\n]{6,200}?)[,:]\s*"
    r"(?:(?:you (?:should|can)|i|we|do the following|do|first)[:,]?\s+)*(?P<steps>[^\n]{6,600}?)"
    r"[.,;]\s*(?:the |as a )?(?:result|outcome)(?:\s+(?:is|was)|:|,)?\s*(?P<outcome>[^\n]{2,200})",
    re.IGNORECASE,
)
_SAYS_HOW = r"成功|失败|有效|无效|已?解决|success|succeeded|failure|failed|worked|fixed"
_BARE_ZH = re.compile(
    r".{0,30}?触发(?:场景|条件|情境)[:：\s是为]*(?P<trigger>.{4,600}?)[\s，,。；;]*(?:操作|执行|解决|处理)步骤[:：\s是为]*"
    rf"(?P<steps>.+?)[\s，,。；;]*(?:执行|最终)?结果[:：\s是为]*(?P<outcome>(?:{_SAYS_HOW})[^\n]*?)"
    r"(?:[\s，,。；;]*标签[:：\s是为]*(?P<tags>.+?))?\s*",
    re.DOTALL | re.IGNORECASE,
)
_BARE_EN = re.compile(
    r".{0,40}?\btrigger(?: (?:context|scenario|condition))?[:\s]+(?P<trigger>.{4,600}?)[\s.,;]*"
    r"\b(?:action )?steps[:\s]+(?P<steps>(?=\(?1[.)]|[-*] ).+?)[\s.,;]*\b(?:outcome|result)(?: status)?[:\s]+"
    rf"(?P<outcome>(?:{_SAYS_HOW})[^\n]*?)"
    r"(?:[\s.,;]*\btags[:\s]+(?P<tags>.+?))?\s*",
    re.DOTALL | re.IGNORECASE,
)
_MOST_LABELS = 3  # a text that says «steps» more often tells of something else, and would be tried at each
_SPACED = re.compile(r"\s+")
_ENDINGS = ("结果", "最终", "result", "outcome")  # one stands in either sentence
_TAGGED = re.compile(
    r"[\s.。;；,，]*(?:标签|关键词|tags?|"
    r"keywords?)\s*[:：]\s*(?P<tags>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_LIST = re.compile(r"[,，、;；|/\n]+|\s+#|\s{2,}")
_EDGES = " \t\r\n。；;，,.*】]「」"


@dataclass(frozen=True, slots=True)
class Told:
    """An experience read out of a text, and the tags that stood with it."""

    experience: Experience
    tags: tuple[str, ...] = ()


def read(text: str) -> Told | None:
    """The experience that a whole text describes, or `None`."""
    if len(text) > MAX_TEXT:
        return None
    low = lowered(text)
    if not any(map(low.__contains__, _HINTS)):
        return None
    return _labelled(text, low) or _bare(text, low) or _sentence(text, low)


def _labelled(text: str, low: str) -> Told | None:
    if not _OPENS.stands_in(text, low):
        return None
    parts: dict[str, str] = {}
    marks = [match for match in _LABEL.finditer(text) if match.lastgroup]
    if len(marks) < 2 or text[: marks[0].start()].count("\n") > 2:
        return None
    for mark, end in zip(marks, [one.start() for one in marks[1:]] + [len(text)], strict=True):
        name = mark.lastgroup or ""
        said = text[mark.end() : end].strip(_EDGES)
        if said and name not in parts:
            parts[name] = said
    if "trigger" not in parts or "steps" not in parts or not ("outcome" in parts or "tags" in parts):
        return None
    return _told(
        parts["trigger"], parts["steps"], parts.get("outcome", ""), parts.get("tags", ""), parts.get("tools", "")
    )


def _bare(text: str, low: str) -> Told | None:
    """Labels without colons, in the order of the form: less sure, so nothing may be missing or out of place."""
    for form, opening, steps, outcomes in (
        (_BARE_ZH, "触发", ("步骤",), ("结果",)),
        (_BARE_EN, "trigger", ("steps",), ("outcome", "result")),
    ):
        if opening not in low or not any(word in low for word in outcomes):
            continue
        if not all(0 < low.count(word) <= _MOST_LABELS for word in steps):
            continue
        if sum(map(low.count, outcomes)) > _MOST_LABELS:
            continue
        match = form.fullmatch(text)
        if match is not None:
            tags = match["tags"] or ""
            several = tags if _LIST.search(tags.strip()) else _SPACED.sub(",", tags.strip())
            return _told(match["trigger"].strip(_EDGES), match["steps"], match["outcome"], several, "")
    return None


def _sentence(text: str, low: str) -> Told | None:
    if not any(map(low.__contains__, _ENDINGS)):
        return None
    tagged = _TAGGED.search(text)
    said = text[: tagged.start()] if tagged else text
    match = _SENTENCE_ZH.fullmatch(said.strip()) or _SENTENCE_EN.fullmatch(said.strip())
    if match is None:
        return None
    return _told(match["trigger"], match["steps"], match["outcome"], tagged["tags"] if tagged else "", "")


def _told(trigger: str, steps: str, outcome: str, tags: str, tools: str) -> Told | None:
    context = " ".join(trigger.split())
    done = steps_of(steps)
    if not _SHORT <= len(context) <= _LONG or not done or any(len(step) > _LONG for step in done):
        return None
    failed = _FAILED.search(outcome) is not None and _SUCCEEDED.search(outcome) is None
    experience = Experience(
        trigger=Trigger(context),
        action=Action(done[:MAX_STEPS], _items(tools)[:MAX_TOOLS]),
        outcome=Outcome(OutcomeStatus.FAILURE if failed else OutcomeStatus.SUCCESS),
    )
    return Told(experience, _items(tags)[:MAX_TAGS])


def steps_of(text: str) -> tuple[str, ...]:
    """Steps as they are written: numbered, bulleted, with arrows, by lines or semicolons, or joined by «then»."""
    for border in (_NUMBERED, _BULLET, _ARROW, _BETWEEN, _THEN_ZH, _THEN_EN):
        parts = [part.strip(_EDGES) for part in border.split(text)]
        kept = [part for part in parts if part]
        if len(kept) > 1 or (border in (_NUMBERED, _BULLET) and border.search(text) and kept):
            return tuple(" ".join(part.removeprefix("先").split()) for part in kept)
    whole = " ".join(text.strip(_EDGES).split())
    return (whole,) if whole else ()


def _items(text: str) -> tuple[str, ...]:
    parts = (part.strip(" \t#`'\"。.[]【】") for part in _LIST.split(text))
    found = [part for part in parts if part and len(part) <= 100]
    if len(found) == 1 and " " in found[0] and "#" in text:
        found = [part.strip("#") for part in found[0].split()]
    return tuple(dict.fromkeys(found))

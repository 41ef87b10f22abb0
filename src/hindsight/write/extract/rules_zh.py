"""Chinese statements by rule: sentence → clauses → subject (own, or carried over) → one pattern for the predicate.

Plain forms only: a missed fact is still found word for word, a wrong one misleads. A subject is carried only over
clauses that were themselves understood, so what is said of a friend does not fall to the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hindsight.domain.memory import Kind
from hindsight.language.fold import fold
from hindsight.write.extract import USER, Slot
from hindsight.write.extract.clause import Pattern, Speaking, Subject, Understood, Who
from hindsight.write.extract.patterns_zh import (
    ANIMALS,
    DEADLINE,
    EVENTS,
    KIN,
    KIN_FORM,
    OFTEN,
    PLANS,
    PROJECT,
    STATES,
    SURNAMES,
    THINGS_SAID,
    WHEN,
)
from hindsight.write.extract.voice import USER_ZH, chinese, me, relative

MAX_CLAUSE = 60  # characters; a longer one says more than a pattern sees

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]?")
_CLAUSE = re.compile(r"[^，,]+")
_QUESTION = re.compile(
    r"[?？]$|[吗嘛呢么]$|什么(?!都)|怎么|哪里|哪个|哪儿|谁|几点|多少|是不是|有没有|能不能|会不会|要不要|可不可以|"
    r"为何|如何|是否|对吧$|好吧$|行吧$|没有$"
)
# What is only supposed, past, wished or somebody's opinion states nothing about now.
_UNSURE = re.compile(
    "如果|要是|假如|假设|万一|可能|也许|大概|好像|似乎|或许|以为|觉得|希望|想要|曾经|以前(?!$)|之前|过去(?!了)|"
    "小时候|原来|本来|"
    "的时候|的话|差点|据说|听说|假装|梦见|开玩笑|应该|估计|恐怕|难道|莫非|比如|例如|仿佛|就像|除非|无论|不管|只要|"
    "哪怕|即使|万一"
)
_REPORT = r"(?:说|表示|提到|提过|告诉我|告诉你|透露)(?:过)?(?:[:：])?(?:他自己|她自己|他|她|自己|我|其)?"
_OWN = "|".join(sorted(THINGS_SAID, key=len, reverse=True))
# No name goes on with these; they belong to what is said of it.
_NAME = (
    r"(?:(?![明今昨后前上下现最正刚每也还都要会想说很就已一又不在从和跟对把被给让喜讨是])[\u4e00-\u9fff]){1,3}?|"
    r"[A-Z][a-z]+"
)
_WHO = re.compile(
    rf"(?P<whose>用户|我|俺|本人)(?:家)?(?:的)?(?P<kin>{KIN_FORM})(?!圈|们|店|家|节|"
    rf"[吃喝]?的时候)(?P<called>(?:叫)?(?:{_NAME})(?=在|是|对|"
    rf"住|喜欢|今年|也|不|讨厌|最|养|有|会|叫|上周|昨天|去))?(?P<kr>{_REPORT})?"
    rf"|(?P<owner>用户|我|俺|本人)(?:家)?(?:的)?(?P<thing>{_OWN})(?=是|叫|在|为)"
    rf"|(?P<animals>用户|我|俺)(?:家)?(?:的)?(?P<pet>(?:小)?(?:{ANIMALS}))(?P<petname>[\u4e00-\u9fff]{{2}}(?=今年|是|"
    rf"喜欢|对|最|不))?"
    rf"|(?P<word>用户|我|俺|本人)(?!们|国|方|校|自己的)(?:自己)?(?P<report>{_REPORT})?"
)
_PERSON = re.compile(
    rf"(?:[小老阿](?:[{SURNAMES}]|[\u4e00-\u9fff])|[{SURNAMES}][\u4e00-\u9fff]{{1,2}}|"
    rf"[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
)
_PERSON_VERB = re.compile(
    r"(?:现在|目前|也|都|还|已经|最|很|非常|特别|一直|今年)*(?:住在|就职于|任职于|喜欢|不喜欢|讨厌|对.{1,10}过敏|"
    r"在.{2,12}(?:工作|上班|读书|上学)|是(?:一名|一位|个|我|用户|"
    r".{2,6}人$|.{0,8}"
    r"(?:师|员|医生|护士|经理|教授|律师|学生))|毕业于|来自|养了|患有|搬到|不吃|离开了|离职|出生|\d+岁|今年\d+岁)"
)
_LEAD = re.compile(
    r"(?:\s|另外|还有|而且|并且|同时|其实|对了|顺便说一下|顺便说|记住|请记住|记一下|记得|不过|但是|但|因为|所以|哦|"
    r"嗯|你好|您好|大家好|更正一下|补充一下|"
    r"说实话|老实说|毕竟|反正|总之|首先|其次|然后|主要是|确实|是的|没错|哈哈|好的|嗨|更正)*[：:\s]*"
)
_TIME = re.compile(WHEN)
_FUTURE = re.compile(
    r"明[天早晚年]|后[天年]|大后天|下(?:个)?(?:下)?(?:周|星期|礼拜|月|季度|学期)|[天周月年时]后|"
    r"(?:今晚|今天(?:下午|晚上))|月底|年底|周末|"
    r"\d{1,2}[日号]|"
    r"(?:这|本)?(?:周|星期|礼拜)[一二三四五六日天末]|\d{1,2}月|春节|国庆|五一|中秋|元旦|端午|寒假|"
    r"暑假|过年"
)
_PAST = re.compile(r"昨|前[天晚年]|上(?:个)?(?:上)?(?:周|星期|礼拜|月|季度|学期)|去年|[天周月年时钟]前|刚才|刚刚")
_ADVERBS = re.compile(
    "(?:现在|目前|平时|一直|一向|从小|就|也|还|都|最|很|非常|特别|超级|超|挺|真的|真|比较|更|尤其|确实|其实|已经|"
    "刚刚|刚|天生|从来|"
    "终于|又|正好|正|自己|主要|只|才|最近|近期|一般|有点|有些|实在|特地|专门|顺便|一个人|这边|偶尔|绝对|完全|再也|,|"
    "，)*"
)
_POINTING = re.compile(
    "(?:这|那)(?!个?(?:周|星期|月|季度|学期|里$)|么多年)|它|他们|她们|您|你|大家|咱|如下|以下|以上|上面|下面|前者|"
    "后者|其中|某|之类|等等|"
    "此|该(?!死)|对方|我们|别人|人家|刚说|所说|啥|什么|(?<!吉)他|她"
)
_CLOSING = re.compile(r"(?:了?(?:啊|呀|哦|哈|呢|吧|啦|嘛|哒|呐|的说|喔|～|~|…|\.{3})+|[。！!；;\s]+)$")
_TIME_ONLY = re.compile(
    rf"(?:是|就是|也就是)?(?:在)?(?:{WHEN})(?:去|买|做|到|看|参加|办|搬|结|考|"
    rf"回来)?(?:的)(?:时候)?"
)
_ORDER = re.compile("要|别|用|必须|勿|禁止|务必|一律|先|请|不能|不准|不得|叫我|称呼")
# Only orders to an agent: among people «千万» and «必须» comfort and suppose more often than they rule.
_RULE = re.compile(
    "(?:请|麻烦)?(?:你)?(?:记住)?[，,:：]?"
    "(?P<value>(?:以后|今后|往后|从现在起|从现在开始|从今以后|永远|总是|一律|每次|绝不|切勿|禁止|任何时候|(?:所有|"
    "凡是)(?:的)?(?:回复|回答|代码|文件|文档|输出|报告|邮件|日期|时间|"
    "金额|价格|提交|变更|函数|变量|测试|注释|表格|翻译))"
    "(?:都|请|就|你|要|不要|别|用|不能|不准|不得|禁止|一律|务必|先|再也不要)*[^了吧啊]{2,60})"
)
_NOT_RULE = re.compile(
    "坚持|努力|常来|一起|家里|我要|自己|我会|我们|咱|加油|多陪|再聊|再说|再约|继续|注意安全|我得|"
    "孩子|多多|好好|妈|爸|小心点"
)
_OFTEN = re.compile(OFTEN)
# Kinds of deed or thing that a predicate can be about at all: a quick look before the patterns.
_ANY = re.compile(
    "我|俺|本人|用户|以后|今后|往后|从现在|从今|永远|总是|一律|每次|绝不|切勿|禁止|过敏|项目|团队|公司|"
    "截止|deadline|预算|代号|数据库|明|后天|下周|下个?月|所有|"
    "任何|凡是|[A-Z]|"
    f"[{SURNAMES}]|[小老阿]"
)


def read(text: str, start: int, end: int, speaking: Speaking) -> Iterator[Understood]:
    """The statements of characters `[start, end)` of a text, in order."""
    carried: Who | None = None
    last: Understood | None = None
    for sentence in _SENTENCE.finditer(text, start, end):
        said = sentence[0]
        if _QUESTION.search(said.strip()) or not _ANY.search(said) or _in_quotes(text, start, sentence.start()):
            carried = None
            continue
        if rule := _rule(sentence, speaking):
            yield rule
            carried = None
            continue
        if _UNSURE.search(said):
            carried = None
            continue
        last = None
        for clause in _CLAUSE.finditer(said.rstrip("。！!；;\n")):
            offset = sentence.start() + clause.start()
            if last is not None and last.kind is Kind.EVENT and _TIME_ONLY.fullmatch(clause[0].strip()):
                # «我去过巴黎，上周去的»: the second clause only says when.
                last = replace(last, content=f"{last.content}，{clause[0].strip()}", end=offset + len(clause[0]))
                continue
            found, carried = _understand(clause[0], offset, speaking, carried)
            if last is not None:
                yield last
            last = found
        if last is not None:
            yield last


def _in_quotes(text: str, start: int, at: int) -> bool:
    """Whether a place lies inside a quotation, whose «我» is somebody else's."""
    before = text[start:at]
    return (
        before.count("“") > before.count("”")
        or before.count("「") > before.count("」")
        or before.count("‘") > before.count("’")
    )


def _understand(
    clause: str, offset: int, speaking: Speaking, carried: Who | None
) -> tuple[Understood | None, Who | None]:
    """One clause, and the subject that the next one may take over."""
    lead = _LEAD.match(clause)
    begin = at = lead.end() if lead else 0
    if len(clause) - begin > MAX_CLAUSE:
        return None, None
    closing = _CLOSING.search(clause)
    said = clause[: closing.start()] if closing else clause.rstrip()
    when = _TIME.match(said, at)
    if when is not None:
        at = when.end()
        while at < len(said) and said[at] in " 的，":
            at += 1
    if (work := _of_work(said, begin, offset, speaking)) is not None:
        return work, None
    told = _subject(said, at, speaking)
    if told is None and carried is not None:
        told = Subject(carried, at)
    before = said[begin:at]
    if told is None:
        return _bare(said, begin, at, offset, speaking, before), None
    if told.at >= len(said):
        return None, None
    found = _predicate(said, told, before, speaking)
    if found is None:
        return None, None
    return replace(found, start=offset + begin, end=offset + len(said)), told.who if told.thing is None else None


def _predicate(said: str, told: Subject, before: str, speaking: Speaking) -> Understood | None:
    predicate = said[told.at :]
    if told.thing is not None and told.thing != "person":
        return _of_thing(predicate, told, before, speaking)
    found = _matched(predicate, before, told.thing == "person", bare=False)
    if found is None:
        return None
    pattern, value, negated = found
    if _POINTING.search(predicate):
        return None
    content = before + told.who.word + chinese(predicate, speaking)
    return Understood(content, 0, 0, pattern.kind, pattern.slot, told.who.name, chinese(value, speaking), negated)


def _matched(predicate: str, before: str, of_other: bool, *, bare: bool) -> tuple[Pattern, str, bool] | None:
    """The first pattern that understands a predicate, its value and whether it denies."""
    at, times = _skip(predicate)
    rest = predicate[at:]
    if not rest:
        return None
    when = before + times
    often = _OFTEN.search(before + predicate[:at]) is not None
    later = when + predicate
    future = not often and _FUTURE.search(later) is not None and _PAST.search(later) is None
    tables = [PLANS, STATES, EVENTS] if future else [STATES, EVENTS]
    for table in tables:
        for pattern in table:
            if (of_other and not pattern.of_others) or (bare and not pattern.bare):
                continue
            # Habits have their own adverbs («每天», «一般»), so they see the whole predicate.
            part = predicate if pattern.slot is Slot.HABIT else rest
            match = pattern.form.fullmatch(part)
            if match is None or (pattern.slot is Slot.EVENT and (future or often)):
                continue
            return pattern, match["value"].strip(), bool(match.groupdict().get("no")) or "不过敏" in part
    return None


def _skip(predicate: str) -> tuple[int, str]:
    """Past adverbs and times at the beginning of a predicate; and the times."""
    at, times = 0, ""
    while True:
        begin = at
        if (adverbs := _ADVERBS.match(predicate, at)) is not None:
            at = adverbs.end()
        if (when := _TIME.match(predicate, at)) is not None:
            times += when[0]
            at = when.end()
        if at == begin or at >= len(predicate):
            return at, times


def _bare(said: str, begin: int, at: int, offset: int, speaking: Speaking, before: str) -> Understood | None:
    """A clause without a subject that can only be meant of the speaker («对花生过敏», «明天要出差»)."""
    who = me(speaking, USER_ZH)
    if who is None or _POINTING.search(said):
        return None
    found = _matched(said[at:], before, of_other=False, bare=True)
    if found is None:
        return None
    pattern, value, negated = found
    if pattern.slot is Slot.PLAN and not re.match(r"(?:要|得|将要|打算|准备|就要|有)", said[at:]):
        return None
    if pattern.slot is Slot.DIET and not re.match(r"不吃|不喝|从不|从来不|忌", said[at:]):
        return None
    content = before + who.word + chinese(said[at:], speaking)
    return Understood(
        content,
        offset + begin,
        offset + len(said),
        pattern.kind,
        pattern.slot,
        who.name,
        chinese(value, speaking),
        negated,
    )


def _of_thing(predicate: str, told: Subject, before: str, speaking: Speaking) -> Understood | None:
    """What is said of a pet or thing of the speaker's."""
    if told.thing == "pet":
        slot, kind = Slot.PET, Kind.FACT
        match = re.fullmatch(
            r"(?:名字)?(?:叫做?|名叫|是|今年|喜欢|最喜欢|对|最爱|不吃|"
            r"爱吃)(?P<value>[^这那它你您]{1,20})",
            predicate,
        )
    else:
        slot, kind = THINGS_SAID[told.thing or ""]
        match = re.fullmatch(r"(?:就|也|现在)*(?:是|叫做?|在|为)(?P<value>[^这那它你您]{1,24})", predicate)
    if match is None or _POINTING.search(predicate):
        return None
    content = before + told.who.word + chinese(predicate, speaking)
    return Understood(content, 0, 0, kind, slot, told.who.name, chinese(match["value"].strip(), speaking))


def _of_work(said: str, begin: int, offset: int, speaking: Speaking) -> Understood | None:
    """What is said of work that is shared: what it runs on, when it is due."""
    if speaking.me is None:
        return None
    for slot, form in ((Slot.DEADLINE, DEADLINE), (Slot.PROJECT, PROJECT)):
        match = form.fullmatch(said, begin)
        if match is None or (
            slot is Slot.PROJECT and not match["what"].startswith(("我们", "咱们", "本", "公司", "团队", "项目"))
        ):
            continue
        if slot is Slot.PROJECT and not re.search(r"[A-Za-z0-9]", match["value"]):
            continue
        if re.search(r"[这那它你您]", match[0]):
            continue
        noun = match["noun"] if slot is Slot.PROJECT else match["what"]
        return Understood(
            said[begin:],
            offset + begin,
            offset + len(said),
            Kind.FACT,
            slot,
            _WORK.get(noun, fold(noun)),
            match["value"],
        )
    return None


_WORK = {
    "项目": "project", "团队": "team", "公司": "company", "数据库": "database", "后端": "backend", "前端": "frontend",
    "网站": "website", "服务": "service", "产品": "product", "应用": "app", "部门": "department",
}  # fmt: skip


def _subject(said: str, at: int, speaking: Speaking) -> Subject | None:
    """The clause's own subject, and where its predicate begins."""
    match = _WHO.match(said, at)
    if match is None:
        return _person(said, at, speaking)
    first = match["whose"] or match["owner"] or match["animals"] or match["word"]
    owner = USER if first == USER_ZH else speaking.me
    if owner is None:
        return Subject(Who("", ""), len(said))
    label = USER_ZH if first == USER_ZH else speaking.label(USER_ZH)
    possessed = match[0][len(first) :]
    if match["kin"]:
        possessed = possessed.removesuffix(match["kr"] or "\0")
        return Subject(Who(label + possessed, relative(owner, KIN[match["kin"]])), match.end())
    if match["pet"]:
        return Subject(Who(label + possessed, owner), match.end(), "pet")
    if match["thing"]:
        return Subject(Who(label + possessed, owner), match.end(), match["thing"])
    end = match.end()
    if said.startswith("的", end):
        return Subject(Who("", ""), len(said))  # «我的…» of a thing that no pattern knows
    return Subject(Who(label, owner, own=True), end)


def _person(said: str, at: int, speaking: Speaking) -> Subject | None:
    """A named person, where what follows can only be said of one."""
    if speaking.speaker and said.startswith(speaking.speaker, at):
        return Subject(Who(speaking.speaker, fold(speaking.speaker), own=True), at + len(speaking.speaker))
    match = _PERSON.match(said, at)
    if match is None or speaking.me is None:
        return None
    for name in dict.fromkeys((match[0], match[0][:2])):
        if len(name) >= 2 and _PERSON_VERB.match(said, at + len(name)):
            return Subject(Who(name, fold(name)), at + len(name), "person")
    return None


def _rule(sentence: re.Match[str], speaking: Speaking) -> Understood | None:
    """A standing instruction to the agent: the whole sentence, as said."""
    if speaking.me is None or speaking.speaker is not None:
        return None
    text = sentence[0].rstrip("。！!；;\n ")
    begin = len(text) - len(text.lstrip())
    match = _RULE.fullmatch(text, begin)
    if match is None or not _ORDER.search(match["value"]) or _NOT_RULE.search(text) or "这" in text:
        return None
    return Understood(
        content=text[begin:],
        start=sentence.start() + begin,
        end=sentence.start() + len(text),
        kind=Kind.RULE,
        slot=Slot.RULE,
        subject="agent",
        value=match["value"],
    )

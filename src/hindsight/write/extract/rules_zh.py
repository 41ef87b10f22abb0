"""Chinese statements by rule: sentence → clauses → subject (own, or carried over) → one pattern for the predicate.

Few kinds, and of these only plain forms: a missed fact is still found word for word, a wrong one misleads. A subject is
carried only over clauses that were themselves understood, so what is said of a friend does not fall to the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hindsight.domain.memory import Kind
from hindsight.write.extract import USER, Slot
from hindsight.write.extract.clause import Speaking, Understood, Who

MAX_CLAUSE = 60  # characters; a longer one says more than a pattern sees

_SENTENCE = re.compile(r"[^。！？!?；;\n]+[。！？!?；;\n]?")
_CLAUSE = re.compile(r"[^，,]+")
_QUESTION = re.compile(
    r"[?？]$|[吗嘛呢么]$|什么|怎么|哪里|哪个|哪儿|谁|几点|多少|是不是|有没有|能不能|会不会|要不要|可不可以|为何|如何"
)
# What is only supposed, past, wished or somebody's opinion states nothing about now.
_UNSURE = re.compile(
    "如果|要是|假如|假设|万一|可能|也许|大概|好像|似乎|或许|以为|觉得|希望|想要|打算|曾经|以前|之前|过去|小时候|"
    "原来|本来|"
    "不再|已经不|的时候|的话|差点|据说|听说|假装|梦见|开玩笑"
)

_KIN = (
    "妻子|老婆|太太|丈夫|老公|先生|爱人|儿子|女儿|孩子|宝宝|妈妈|母亲|爸爸|父亲|哥哥|弟弟|姐姐|妹妹|爷爷|奶奶|"
    "外公|外婆|姥姥|姥爷|"
    "男朋友|女朋友|男友|女友|未婚妻|未婚夫|室友|老板"
)
_REPORT = r"(?:说|表示|提到|提过|告诉我|告诉你|透露)(?:过)?(?:[:：])?"
_WHO = re.compile(
    rf"(?P<word>(?:用户|我)(?:家)?(?:的)?(?P<kin>{_KIN})|用户|我)(?!们)(?:(?P<report>{_REPORT})(?:他自己|她自己|"
    rf"他|她|自己|我|其)?)?"
    rf"(?:的(?=名字|生日|职业|工作|老家|家))?"
)
_LEAD = re.compile(
    r"(?:\s|另外|还有|而且|并且|同时|其实|对了|顺便说一下|记住|请记住|不过|但是|但|因为|所以|哦|嗯|你好|您好|"
    r"大家好)*[：:\s]*"
)
_ADVERBS = (
    "(?:现在|目前|平时|一直|一向|从小|就|也|还|都|最|很|非常|特别|超级|超|挺|真的|真|比较|更|尤其|确实|其实|已经|刚刚|刚|"
    "天生|从来)*"
)

_ANIMAL = (
    "猫|狗|犬|兔|仓鼠|鹦鹉|乌龟|金鱼|金毛|柯基|泰迪|柴犬|布偶|哈士奇|拉布拉多|边牧|英短|美短|橘猫|豚鼠|龙猫|蜥蜴|宠物"
)
_ILLNESS = (
    "糖尿病|高血压|低血压|低血糖|哮喘|心脏病|冠心病|痛风|癫痫|胃病|胃溃疡|肾病|肝病|乙肝|贫血|甲亢|甲减|抑郁症|"
    "焦虑症|鼻炎|湿疹|"
    "乳糖不耐受|乳糖不耐症|麸质不耐受|蚕豆病|偏头痛|关节炎|恐高症|幽闭恐惧症"
)
_TRADE = (
    "工程师|程序员|医生|护士|老师|教师|教授|律师|会计|设计师|产品经理|项目经理|经理|学生|研究生|博士生|大学生|"
    "记者|编辑|作家|翻译|"
    "厨师|司机|警察|公务员|销售|顾问|研究员|科学家|架构师|分析师|摄影师|画家|演员|歌手|运动员|教练|自由职业者|"
    "创业者|药剂师|飞行员|"
    "建筑师|数据科学家|运维|测试|客服|主管|总监|店长|农民|军人|导游|牙医|兽医"
)
_CITY = (
    "北京|上海|广州|深圳|杭州|南京|成都|重庆|武汉|西安|苏州|天津|长沙|郑州|青岛|厦门|大连|宁波|沈阳|济南|合肥|"
    "福州|昆明|香港|台北|澳门|"
    "东京|首尔|新加坡|伦敦|巴黎|柏林|纽约|旧金山|洛杉矶|悉尼|墨尔本|多伦多|温哥华"
)
_NOT_A_THING = "(?!.{0,8}[这那])(?!你|您|他|她|它|这|那|此|的|了|过|上了|就|吗|什么|怎么)"
_COUNT = r"(?:[一两二三四五六七八九十几\d]+)?(?:只|条|个|头|匹|群|缸)?"


@dataclass(frozen=True, slots=True)
class _Pattern:
    slot: Slot
    kind: Kind
    form: re.Pattern[str]
    bare: bool = False  # understood of the speaker even where no subject was said


def _pattern(slot: Slot, kind: Kind, form: str, *, bare: bool = False) -> _Pattern:
    return _Pattern(slot, kind, re.compile(_ADVERBS + form), bare)


_FACT, _CONSTRAINT, _PREFERENCE = Kind.FACT, Kind.CONSTRAINT, Kind.PREFERENCE
_PATTERNS = (
    _pattern(
        Slot.HEALTH,
        _CONSTRAINT,
        r"(?P<no>不)?对(?P<value>.{1,16}?)(?:严重|重度|轻微|有点|有些|也|都|会|不)*过敏",
        bare=True,
    ),
    _pattern(
        Slot.HEALTH,
        _CONSTRAINT,
        rf"(?P<no>没)?(?:有|患有|得了|患了|患|被?确诊了?|确诊为)(?:了)?(?P<value>.{{0,6}}?(?:{_ILLNESS}).{{0,6}})",
        bare=True,
    ),
    _pattern(Slot.HEALTH, _CONSTRAINT, r"(?P<value>乳糖不耐受?|麸质不耐受?|怀孕了?|色盲|色弱|恐高)", bare=True),
    _pattern(
        Slot.DIET,
        _CONSTRAINT,
        r"(?:是(?:一个|个|一名)?)?(?P<value>(?:纯)?(?:素食主义者|素食者|素食|吃素|吃全素|清真饮食|纯素))",
        bare=True,
    ),
    _pattern(
        Slot.DIET,
        _CONSTRAINT,
        rf"(?P<no>不能|不可以|不吃|不喝|从不吃|从不喝|忌|戒)(?:再)?(?:吃|喝|碰)?{_NOT_A_THING}(?P<value>.{{1,14}})",
    ),
    _pattern(
        Slot.RESIDENCE,
        _FACT,
        r"(?:住在|住|定居在|定居于|定居|居住在|居住于|搬到了?|搬去了?|搬家到了?|家住)(?P<value>(?!了|得|着|的|"
        r"宿舍楼下)[^了着过的]{2,24})",
    ),
    _pattern(
        Slot.RESIDENCE,
        _FACT,
        rf"(?:家|人)?在(?P<value>(?:{_CITY})(?:市)?[^的工上出开做读旅玩当]{{0,8}}[区县市镇街路里]?)",
    ),
    _pattern(Slot.ORIGIN, _FACT, r"(?:老家在|老家是|出生在|出生于|来自|是(?=[^是]{2,6}人$))(?P<value>[^的]{2,16})"),
    _pattern(
        Slot.JOB,
        _FACT,
        r"(?:在|就职于|任职于|供职于)(?P<value>[^在的家]{2,20}?)(?:工作|上班|任职|当.{2,10}|做.{2,10}|实习|教书)",
    ),
    _pattern(Slot.JOB, _FACT, r"(?:就职于|任职于|供职于|入职了?)(?P<value>.{2,20})"),
    _pattern(
        Slot.JOB, _FACT, rf"(?:是|当|做|职业是|工作是|从事)(?:一名|一位|一个|个|名|位)?(?P<value>.{{0,12}}(?:{_TRADE}))"
    ),
    _pattern(
        Slot.PET,
        _FACT,
        rf"(?:家里|家中|家)?(?:还)?(?P<no>没)?(?:有|养了|养着|养过|养)(?:了)?{_COUNT}(?P<value>.{{0,6}}?(?:{_ANIMAL})"
        rf".{{0,14}})",
    ),
    _pattern(Slot.PET, _FACT, rf"(?:家)?(?:的)?(?P<value>(?:{_ANIMAL}).{{0,4}}(?:叫|名叫|名字叫|名字是).{{1,8}})"),
    _pattern(
        Slot.NAME,
        _FACT,
        r"(?:的)?(?:名叫|叫做|叫|名字叫做|名字叫|名字是|姓名是|全名是|英文名是|英文名叫|昵称是)(?!我|你|他|她|车|"
        r"外卖|人|醒|停|住|不)"
        r"(?P<value>[\w·. ]{2,20})",
    ),
    _pattern(Slot.AGE, _FACT, r"(?:今年|年龄是|快|刚满)?(?P<value>[一二三四五六七八九十百\d]{1,4}岁(?:了|半)?)"),
    _pattern(Slot.BIRTHDAY, _FACT, r"(?:的)?(?:生日是|生日在|出生日期是|生于)(?P<value>.{2,16})"),
    _pattern(
        Slot.FAMILY,
        _FACT,
        rf"(?:家里|家中|家)?(?P<no>没)?有(?:了)?{_COUNT}(?P<value>.{{0,6}}?(?:{_KIN}|双胞胎).{{0,14}})",
    ),
    _pattern(Slot.FAMILY, _FACT, r"(?P<value>结婚.{0,8}|已婚.{0,4}|离婚了|离异|单身|未婚|订婚了)"),
    _pattern(
        Slot.LIKE,
        _PREFERENCE,
        rf"(?:喜欢|爱吃|爱喝|爱看|爱听|爱玩|热爱|钟爱|偏爱|偏好|喜爱|迷上了?){_NOT_A_THING}(?P<value>.{{1,24}})",
    ),
    _pattern(
        Slot.LIKE,
        _PREFERENCE,
        rf"(?P<no>不太喜欢|不喜欢|不怎么喜欢|不爱吃|不爱喝|不爱看|不爱|讨厌|厌恶|受不了|"
        rf"不习惯){_NOT_A_THING}(?P<value>.{{1,24}})",
    ),
    _pattern(Slot.FAVOURITE, _PREFERENCE, rf"(?:最爱|最爱的|最喜欢的){_NOT_A_THING}(?P<value>.{{1,24}})"),
)
_ORDER = re.compile("要|别|用|必须|勿|禁止|务必|一律|先|请|不能|不准|不得")
# Only orders to an agent: among people «千万» and «必须» comfort and suppose more often than they rule.
_RULE = re.compile(
    "(?:请|麻烦)?(?:你)?(?:记住)?[，,:：]?"
    "(?P<value>(?:以后|今后|从现在起|从今以后|永远|总是|一律|每次|绝不|切勿|禁止)"
    "(?:都|请|就|你|要|不要|别|用|不能|不准|不得|禁止|一律|务必|先|再也不要)*[^了吧啊]{2,50})"
)
_ANY = re.compile(
    "住|搬|家|在|来自|出生|过敏|不耐|有|患|确诊|怀孕|色盲|色弱|恐高|素|清真|吃|喝|碰|是|当|做|养|叫|名|岁|生日|"
    "生于|婚|单身|离异|"
    "喜|爱|讨厌|厌恶|受不了|不习惯|偏好|迷|职|以后|今后|从现在|从今|永远|总是|一律|务必|每次|绝不|切勿|禁止"
)


def read(text: str, speaking: Speaking) -> Iterator[Understood]:
    """The statements of a text, in order."""
    carried: Who | None = None
    for sentence in _SENTENCE.finditer(text):
        if _QUESTION.search(sentence[0].strip()) or not _ANY.search(sentence[0]):
            carried = None
            continue
        unsure = _UNSURE.search(sentence[0]) is not None
        if not unsure and (rule := _rule(sentence, speaking)):
            yield rule
            carried = None
            continue
        for clause in _CLAUSE.finditer(sentence[0].rstrip("。！!；;\n")):
            offset = sentence.start() + clause.start()
            found, carried = _understand(clause[0], offset, speaking, carried)
            if found is not None and not unsure:
                yield found


def _understand(
    clause: str, offset: int, speaking: Speaking, carried: Who | None
) -> tuple[Understood | None, Who | None]:
    """One clause, and the subject that the next one may take over."""
    lead = _LEAD.match(clause)
    begin = lead.end() if lead else 0
    who, predicate_at = _subject(clause, begin, speaking)
    own = who is not None
    who = who or carried
    end = len(clause.rstrip())
    if end - begin > MAX_CLAUSE:
        return None, None
    for pattern in _PATTERNS:
        match = pattern.form.fullmatch(clause, predicate_at, end)
        if match is None:
            continue
        subject = who or (Who("", speaking.me) if pattern.bare and speaking.me else None)
        if subject is None:
            return None, None
        said = clause[predicate_at:end] if own or subject.word else clause[begin:end]
        found = Understood(
            content=_joined(subject.word, clause[begin:predicate_at], said),
            start=offset + begin,
            end=offset + end,
            kind=pattern.kind,
            slot=pattern.slot,
            subject=subject.name,
            value=match["value"].strip(),
            negated=bool(match.groupdict().get("no")) or "不过敏" in said,
        )
        return found, subject if subject.word else None
    return None, None


def _joined(word: str, introduction: str, predicate: str) -> str:
    """Subject and predicate; «的» between them stays where it was said («我的生日是…»)."""
    return word + ("的" if word and introduction.endswith("的") else "") + predicate


def _subject(clause: str, begin: int, speaking: Speaking) -> tuple[Who | None, int]:
    """The clause's own subject, and where its predicate begins."""
    match = _WHO.match(clause, begin)
    if match is not None:
        first = match["word"].startswith("我")
        owner = speaking.me if first else USER
        if owner is None:
            return None, len(clause)
        name = f"{owner}的{match['kin']}" if match["kin"] else owner
        return Who(match["word"], name), match.end()
    if speaking.speaker and clause.startswith(speaking.speaker, begin):
        return Who(speaking.speaker, speaking.speaker), begin + len(speaking.speaker)
    return None, begin


def _rule(sentence: re.Match[str], speaking: Speaking) -> Understood | None:
    """A standing instruction to the agent: the whole sentence, as said."""
    if speaking.me is None or speaking.speaker is not None:
        return None
    text = sentence[0].rstrip("。！!；;\n ")
    begin = len(text) - len(text.lstrip())
    match = _RULE.fullmatch(text, begin)
    if match is None or not _ORDER.search(match["value"]):
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

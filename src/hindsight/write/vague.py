"""Triggers that fit everything: sharpened by what the steps name, or told what is missing.

«用户要求处理文件», "the user asks to handle a file": once the words that any task has are taken away, nothing is left
by which the situation could be known again. What the steps and tools name (formats, systems, programs) may stand in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hindsight.domain.experience import Experience
from hindsight.language.fold import fold
from hindsight.language.products import FORMATS
from hindsight.language.situation import read

MAX_MARKS = 6  # names that a sharpened trigger takes from the steps
LONGEST_MARK = 40
CODE = 3  # digits
SHARPENED = "its situation fits everything, so what the steps name was added to it"
LONGEST_VAGUE = 200  # characters; a longer trigger says something of its own

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d+|[^\W_a-z\d]+")
_PROGRAM = re.compile(r"(?<![\w./-])[A-Za-z][A-Za-z0-9+#]*(?:[-_.][A-Za-z0-9]+)*(?![\w/])")
_NAMED = re.compile(r"[0-9_.+#-]|(?<=[a-z])[A-Z]|^[A-Z]{2,}$")  # told from a word: pip3, jq_run, CamelCase, PDF

# Words that any task may have. Chinese ones are taken away wherever they stand, the longer ones first.
_ZH = """
    用户 客户 对方 别人 有人 我们 我 你 他 她 它 要求 请求 需要 需求 希望 想要 想 让 叫 请 提出 提到 提问 说 问
    询问 遇到 碰到 出现 发生 有 存在 处理 操作 解决 完成 执行 进行 做 搞 弄 办 干 帮助 帮忙 协助 帮 使用 支持 应对
    面对 开始 工作 任务 文件 文档 资料 数据 内容 信息 东西 事情 事 问题 错误 异常 情况 情形 场景 系统 项目 功能
    程序 代码 工具 方法 步骤 流程 相关 各种 某些 某个 某种 一些 一个 一份 一下 一种 这个 那个 这种 那种 这些 那些
    其他 任何 什么 时候 时 当 如果 每当 在 把 将 被 对 对于 给 为 与 和 或 及 以 从 到 向 的 了 着 过 地 得 是 会
    能 要 可以 应该 并 且 很 都 也 就 才 再 来 去 上 下 中 里 些 个 份 件 次 种
"""
_EN = """
    a an the some any this that these those it its them they he she his her their my our your we i you me us user
    users client customer someone somebody person people asks ask asked asking wants want wanted wish needs need
    needed requests request requested requires require required says said tells to for of on in at with from by
    about into and or when whenever while if as is are was were be been being has have had do does did done doing
    make made get gets got occur occurs occurred happen happens happened goes went wrong handle handles handled handling
    process processes processed processing deal deals dealing work works working worked manage help helps helping
    assist solve solves solving fix perform execute run use using used file files document documents data content
    contents information info thing things stuff something anything everything task tasks job jobs problem problems
    issue issues error errors case cases situation situations project projects system systems code tool tools way
    ways kind kinds sort certain various general generic other please can could should would will must there here
    one two
"""
_ANY_ZH = re.compile("|".join(sorted(_ZH.split(), key=len, reverse=True)))
_ANY_EN = frozenset(_EN.split())

_MISSING_ZH = (
    "能再次认出的情形；它太笼统，请至少补充一项：具体目标（要得到什么）、对象的格式（如 PDF、CSV）、工具或系统的名称、"
    "错误信息的原文，例如「用户要求把 PDF 转换成 Markdown」"
)
_MISSING_EN = (
    "a situation that can be known again; this one fits everything. Add at least one of: the goal (what is to come "
    "out), the format of what is worked on (PDF, CSV), the tool or system by name, the words of the error; for example "
    '"the user asks to convert a PDF to Markdown"'
)


def is_vague(context: str) -> bool:
    """Whether a trigger consists of nothing but words that any task has."""
    if len(context) > LONGEST_VAGUE:
        return False
    left = _ANY_ZH.sub(" ", fold(context))
    return not any(_tells(word) for word in _WORD.findall(left))


def without_any(folded: str) -> str:
    """A folded trigger without the words that any task has."""
    return " ".join(word for word in _WORD.findall(_ANY_ZH.sub(" ", folded)) if word not in _ANY_EN)


def _tells(word: str) -> bool:
    """Whether a word tells of a situation: one of its own, or a number as long as the code of an error."""
    return word not in _ANY_EN if _LETTERS.search(word) else len(word) >= CODE


def sharpened(body: Experience) -> Experience | None:
    """The experience with a trigger that names what its steps and tools name; `None` where they name nothing."""
    named = marks([*body.action.tools_used, *body.action.steps])
    if not named:
        return None
    context = body.trigger.context.rstrip(" .。!！,，;；:：")
    chinese = _HAN.search(context) is not None
    told = f"{context}（{'、'.join(named)}）" if chinese else f"{context} ({', '.join(named)})"
    keywords = tuple(dict.fromkeys((*body.trigger.keywords, *named)))
    return replace(body, trigger=replace(body.trigger, context=told, keywords=keywords))


def missing(context: str) -> str:
    """What a vague trigger lacks, in its language, for whoever is to write it again."""
    return _MISSING_ZH if _HAN.search(context) else _MISSING_EN


def marks(texts: Sequence[str]) -> tuple[str, ...]:
    """Names of formats, systems and programs in these texts, as they are written, in order of appearance."""
    found: dict[str, str] = {}
    for text in texts:
        for name in _marks(text):
            found.setdefault(fold(name), name)
    return tuple(found.values())[:MAX_MARKS]


def _marks(text: str) -> Iterator[str]:
    """Whole texts that are one name are one; in Chinese text any Latin word; in English only what is written as one."""
    chinese = _HAN.search(text) is not None
    situation = read(text)
    systems = {name for name, _ in situation.systems}
    alone = len(text.split()) == 1
    for match in _PROGRAM.finditer(text):
        name = match[0]
        folded = fold(name)
        if not 1 < len(name) <= LONGEST_MARK or folded in _ANY_EN:
            continue
        known = folded in FORMATS or folded in systems
        if known or alone or chinese or _NAMED.search(name) is not None or folded in situation.means:
            yield name

"""What a failure was about: what was run, whose mistake it was, what it is worth to whoever meets it again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from hindsight.experience.reflect.commands import is_check
from hindsight.experience.reflect.draft import DraftStep
from hindsight.experience.reflect.structure import Step, Trouble
from hindsight.experience.reflect.wording import command_text

MAX_GOAL = 90  # characters of a command that stands for itself

ASSERTION = re.compile(r"assert|expected|left:|right:|to (?:equal|be|match)\b|断言|期望", re.IGNORECASE)
SLIP = re.compile(
    r"SyntaxError|IndentationError|NameError|UnboundLocal|unexpected token|unterminated|undefined (?:name|"
    r"variable|function)|"
    r"is not defined|unused (?:variable|import|alias)|cannot find name|undeclared|mismatched|missing terminator|"
    r"parse error|unexpected (?:end|indent)|语法错误|未定义",
    re.IGNORECASE,
)
_WORLD = re.compile(
    r"command not found|not recognized as|permission|denied|no such file|not found|no module named|cannot find module|"
    r"not installed|version|incompatib|require|connect|refused|timed? ?out|unreachable|already in use|address in use|"
    r"unauthori|forbidden|credential|token|certificate|ssl|proxy|not formatted|hook|config|environment|variable|quota|"
    r"disk|memory|lock|could not start|start application|invalid (?:argument|option|value|format|date)|unknown option|"
    r"unsupported|must be|rate limit|未找到|找不到|不存在|权限|拒绝|超时|未安装|版本|依赖|配置|环境变量|端口|占用|连接|"
    r"格式|必须|不支持|缺少|磁盘|内存|锁|证书|过期|无效",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because|the (?:issue|problem|cause|reason|bug|error) (?:is|was|here is)|so [`\w.()]+ (?:returns|"
    r"needs|expects|requires)|"
    r"turns out|it seems|expects?|requires?|instead of|not wrapped|isn'?t|doesn'?t|should be|that'?s (?:the bug|"
    r"why)|root cause)\b|"
    r"原因|因为|由于|问题(?:在于|是)|应该(?:是|用)|需要(?:先)?|而不是|其实|原来",
    re.IGNORECASE,
)
_INTENT = re.compile(
    r"^(?:let me|now|i'?ll|i will|i need to|first|next|让我|我来|现在|接下来|下面|先)\b", re.IGNORECASE
)


def cause_in(text: str) -> str:
    """The first sentence that gives a cause, without what the agent is about to do."""
    for sentence in re.split(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+", text.strip()):
        bare = sentence.strip().rstrip(":：")
        if 20 <= len(bare) <= 260 and _CAUSE.search(bare) and not _INTENT.match(bare):
            return bare
    return ""


def goal_of(step: Step) -> str:
    """What was run, for a trigger: program and subcommand, or the command where that is no program's name."""
    if step.command is None:
        return step.act.tool.rsplit("__", 1)[-1]
    if len(step.command.doing) <= 1 or " " in step.family:
        known = re.fullmatch(r"[a-z][a-z0-9.+-]*(?: [\w.:-]+)*", step.family)
        if (known and len(step.command.parts) == len(step.command.doing)) or " " in step.family:
            return step.family
    return re.split(r"\s\|\s", command_text(step, 4_000))[0][:MAX_GOAL].rstrip()


def worth_of(trouble: Trouble, steps: Sequence[DraftStep]) -> float:
    """How much a failure of the kind is worth to whoever meets it again, 0 to 1."""
    told = trouble.last.told
    worth = 0.75 if _WORLD.search(told.text) else 0.55
    worth -= 0.15 if told.weight < 60 else 0.0
    worth += 0.1 if told.hint else 0.0
    worth += 0.1 if len(trouble.failures) >= 3 else 0.0
    worth -= 0.1 if len(steps) > 4 else 0.0
    worth -= 0.1 if trouble.fixed is not trouble.proven else 0.0
    worth -= 0.1 if is_check(trouble.family) and trouble.last.reading.counted else 0.0
    return round(min(1.0, worth), 2)


def tools_of(steps: Iterable[Step]) -> tuple[str, ...]:
    """Programs that were run, and other tools by name."""
    found: dict[str, None] = {}
    for step in steps:
        if step.command is not None:
            found |= dict.fromkeys(part.family.split(" ")[0] for part in step.command.doing)
        else:
            found[step.act.tool.rsplit("__", 1)[-1]] = None
    return tuple(name for name in found if re.fullmatch(r"[\w.+:-]{2,60}", name))[:12]


def keywords_of(step: Step) -> tuple[str, ...]:
    """Names of the kind of error, and what it was about."""
    text = step.told.text
    found = re.findall(r"\b[A-Z]\w*(?:Error|Exception|Warning)\b|\b[A-Z]{2,}\d{2,}\b|\bE\d{3,}\b|\[([A-Z]{3,})\]", text)
    names = re.findall(r"\b[A-Z]\w*(?:Error|Exception)\b|\b[A-Z]{1,4}\d{3,}\b", text)
    labels = [word for word in found if word]
    return tuple(dict.fromkeys((step.family, *names, *labels)))[:8]


def refs_of(*steps: Step) -> tuple[str, ...]:
    pairs = (ref for step in steps for ref in (step.act.ref, step.act.result_ref, *step.also) if ref)
    return tuple(dict.fromkeys(pairs))

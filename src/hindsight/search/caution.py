"""What a reader of a hit should be warned of: text that reads like an instruction, and experiences that failed.

A memory is what somebody once wrote, and that somebody may be a web page. Finding such text does not make it safe to
leave out the rest of the defence: a hit is always quoted on a labelled line inside a fence, warned of or not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.language.fold import fold
from hindsight.search.wording import wording

LONGEST_KEPT = 1_000  # characters of a text for which it is remembered whether it reads like an instruction


@dataclass(frozen=True, slots=True)
class _Sign:
    """A form of words that addresses a model. `needs`: one of these is in every text that has it."""

    needs: tuple[str, ...]
    form: re.Pattern[str]

    def stands_in(self, folded: str) -> bool:
        # Looking for a plain word costs a hundredth of trying the form at each place.
        return any(word in folded for word in self.needs) and self.form.search(folded) is not None


_SIGNS_EN = (
    _Sign(
        ("instruction", "prompt", "rules", "guidelines", "directives", "everything above", "everything before"),
        re.compile(
            r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}"
            r"\b(?:instructions?|prompts?|rules|guidelines|directives|everything (?:above|before))\b"
        ),
    ),
    _Sign(
        ("you are now", "from now on", "new instruction", "system prompt", "developer mode", "jailbreak"),
        re.compile(
            r"\b(?:new instructions?:|(?:you are now|from now on,? you (?:are|must|will)|system prompt|"
            r"developer mode|jailbreak)\b)"
        ),
    ),
    _Sign(
        ("system prompt", "api key", "password", "credentials", "secret", "~/", "/etc/", ".ssh", ".env"),
        re.compile(
            r"\b(?:reveal|print|leak|exfiltrate|send|list|output)\b.{0,40}"
            r"(?:\b(?:system prompt|api keys?|passwords?|credentials|secrets?)|~/|/etc/|\.ssh\b|\.env\b)"
        ),
    ),
    _Sign(("the user",), re.compile(r"\bdo not (?:tell|inform|mention (?:this )?to) the user\b")),
    _Sign(
        ("command", "code", "script"),
        re.compile(r"\b(?:run|execute) (?:the )?(?:following )?(?:commands?|code|script)\b"),
    ),
    _Sign(
        ("im_start", "im_end", "system", "endoftext", "inst]", "assistant"),
        re.compile(r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?inst\]|^\s*(?:system|assistant)\s*:"),
    ),
)
_SIGNS_ZH = (
    _Sign(
        ("指令", "指示", "提示", "规则", "要求", "命令", "约束", "设定"),
        re.compile(
            r"(?:忽略|无视|忘记|忘掉|不要理会|不用管|跳过|绕过).{0,16}(?:指令|指示|提示词?|规则|要求|命令|约束|设定)"
        ),
    ),
    _Sign(
        ("你现在是", "从现在", "接下来你", "指令", "系统提示", "开发者模式", "越狱"),
        re.compile(
            r"(?:你现在是|从现在(?:开始|起),?你|接下来你(?:要|必须|将)|新的?指令[:：]|系统提示词?|开发者模式|越狱)"
        ),
    ),
    _Sign(
        ("系统提示", "密钥", "密码", "凭证", "口令", "api"),
        re.compile(r"(?:泄露|透露|输出|打印|列出|发送|告诉我).{0,16}(?:系统提示|密钥|密码|凭证|口令|api ?key)"),
    ),
    _Sign(("用户",), re.compile(r"(?:不要|别|不得)(?:告诉|让|通知)用户")),
    _Sign(("执行", "运行"), re.compile(r"(?:执行|运行)(?:以下|下面|下列|如下)(?:的)?(?:命令|代码|脚本|指令)")),
)


def reads_like_instruction(text: str) -> bool:
    """Whether a text addresses the model that reads it, in English or Chinese."""
    return _kept(text) if len(text) <= LONGEST_KEPT else _instructs(text)


@lru_cache(maxsize=2048)
def _kept(text: str) -> bool:
    """The same memories come up again and again; some 2 MB when full."""
    return _instructs(text)


def _instructs(text: str) -> bool:
    folded = fold(text)
    signs = _SIGNS_EN if folded.isascii() else _SIGNS_EN + _SIGNS_ZH
    return any(sign.stands_in(folded) for sign in signs)


def warning_for(
    text: str, experience: Experience | None = None, differs: Sequence[str] = (), since: date | None = None
) -> str | None:
    """What to be careful with in a hit, in the language of its text; `None` for nothing.

    `differs`: what makes the situation of an experience another one than the present. `since`: the day it was last
    confirmed, where that is too long ago.
    """
    words = wording(text)
    warnings = []
    if experience is not None:
        text = "\n".join((text, experience.trigger.context, *experience.action.steps))
        if experience.outcome.status is OutcomeStatus.FAILURE:
            warnings.append(words.failed)
        warnings += [words.other.format(what=words.others[what]) for what in differs]
    if since is not None:
        warnings.append(words.stale.format(date=since.isoformat()))
    if reads_like_instruction(text):
        warnings.append(words.instruction)
    return words.also.join(warnings) or None

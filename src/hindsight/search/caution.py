"""What a reader of a hit should be warned of: text that reads like an instruction, and experiences that failed.

A memory is what somebody once wrote, and that somebody may be a web page. Finding such text does not make it safe to
leave out the rest of the defence: a hit is always quoted on a labelled line inside a fence, warned of or not.
"""

from __future__ import annotations

import re

from hindsight.domain.experience import Experience, OutcomeStatus
from hindsight.language.fold import fold
from hindsight.search.wording import wording

_INSTRUCTION_EN = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines|directives|"
    r"everything (?:above|before))\b"
    r"|\b(?:you are now|from now on,? you (?:are|must|will)|new instructions?:|system prompt|"
    r"developer mode|jailbreak)\b"
    r"|\b(?:reveal|print|leak|exfiltrate|send|list|output)\b.{0,40}\b(?:system prompt|api keys?|passwords?|credentials|"
    r"secrets?|~/|/etc/|\.ssh|\.env)"
    r"|\bdo not (?:tell|inform|mention (?:this )?to) the user\b"
    r"|\b(?:run|execute) (?:the )?(?:following )?(?:commands?|code|script)\b"
    r"|<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?inst\]|^\s*(?:system|assistant)\s*:",
)
_INSTRUCTION_ZH = re.compile(
    r"(?:忽略|无视|忘记|忘掉|不要理会|不用管|跳过|绕过).{0,16}(?:指令|指示|提示词?|规则|要求|命令|约束|设定)"
    r"|(?:你现在是|从现在(?:开始|起),?你|接下来你(?:要|必须|将)|新的?指令[:：]|系统提示词?|开发者模式|越狱)"
    r"|(?:泄露|透露|输出|打印|列出|发送|告诉我).{0,16}(?:系统提示|密钥|密码|凭证|口令|api ?key)"
    r"|(?:不要|别|不得)(?:告诉|让|通知)用户"
    r"|(?:执行|运行)(?:以下|下面|下列|如下)(?:的)?(?:命令|代码|脚本|指令)"
)


def reads_like_instruction(text: str) -> bool:
    """Whether a text addresses the model that reads it, in English or Chinese."""
    folded = fold(text)
    return _INSTRUCTION_EN.search(folded) is not None or _INSTRUCTION_ZH.search(folded) is not None


def warning_for(text: str, experience: Experience | None = None) -> str | None:
    """What to be careful with in a hit, in the language of its text; `None` for nothing."""
    words = wording(text)
    warnings = []
    if experience is not None:
        text = "\n".join((text, experience.trigger.context, *experience.action.steps))
        if experience.outcome.status is OutcomeStatus.FAILURE:
            warnings.append(words.failed)
    if reads_like_instruction(text):
        warnings.append(words.instruction)
    return words.also.join(warnings) or None

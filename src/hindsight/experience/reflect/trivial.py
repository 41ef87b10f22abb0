"""Repairs that nobody needs to remember: what the error message itself says to do, and scripts made for one moment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hindsight.domain.episode import JsonValue
from hindsight.experience.reflect.commands import Part
from hindsight.experience.reflect.repair import call_of
from hindsight.experience.reflect.signs import Verdict, plain_text
from hindsight.experience.reflect.structure import Kind, Step, Trouble, message_of
from hindsight.experience.reflect.wording import sides

MIN_LINES = 4  # lines or parts from which commands that stand for no program are a script
LONG_CODE = 160  # characters from which a script in the command line is one

# What a program says before what should be done.
_SUGGESTS = re.compile(
    r"\b(?:(?:re-?)?run(?:ning)?|try(?:ing)?|us(?:e|ing)|execut(?:e|ing)|install(?:ing)?|did you mean|"
    r"(?:perhaps|maybe) you (?:meant|want(?:ed)?)|you (?:may|might|can|could|should|need to|probably want to)|consider|"
    r"call(?:ing)?|retry|(?:most )?similar (?:command|name|word|option)s?(?: \w+)?|add(?:ing)?|set(?:ting)?|"
    r"replace (?:it )?(?:with|by)|rename (?:it )?to|fix (?:it |this )?(?:with|by)|chang(?:e|ing) (?:it )?to|"
    r"pass(?:ing)?|instead)\b|(?:^|\s)(?:hint|help|tip|suggestion|note)\s*:|"
    r"请(?:先|用|改用|使用|运行|执行|安装|尝试|添加|设置|改为|改成|调用|输入)|(?:你|您)?是(?:不是|否)(?:想|要|指)|"
    r"(?:你|您)(?:想|要)(?:找|输入)的(?:是|可能是)|(?:可以?|应该?|建议|需要?|须|试试|尝试)(?:先)?"
    r"(?:用|为|使用|运行|执行|安装|改用|改为|改成|写成|添加|设置)|(?:改用|改为|改成|运行|执行)|(?:提示|建议)\s*[:：]",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"[^\w./:@=+\-]+")
_AROUND = "./:-=+"
# Parts of a command line that only make room for the one that it is for.
_BESIDE = frozenset(("git add", "cd", "set", "export"))

# Code that is given to an interpreter in the command line.
_INLINE = re.compile(
    r"\b(?:python|pypy)[\d.]*\s+(?:-\w+\s+)*-\w*c\b|\b(?:node|deno|bun|ruby|perl|php|lua|Rscript|elixir|mix run|iex)\s+"
    r"(?:-\w+\s+)*(?:eval\b|-\w*[erp]\b|--eval\b|--print\b)|\b(?:bash|sh|zsh|dash|ksh)\s+(?:-\w+\s+)*-\w*c\b|"
    r"\b(?:pwsh|powershell)\b.*\s-c(?:ommand)?\b|\b(?:python|pypy)[\d.]*\s+-(?:\s|$)",
    re.IGNORECASE,
)
_HEREDOC = re.compile(r"<<-?\s*['\"]?\w+")
_LOOP = re.compile(r"(?:^|[;\n]\s*|&&\s*)(?:for|while|until|if|case)\b[^\n;]*(?:;|\n)", re.MULTILINE)
# What stays when the script is over: a file, a setting, something installed.
_REDIRECTED = re.compile(r"(?<![0-9&>=-])>{1,2}\s*(?!/dev/null|&|=|\d|\()[\w./~\"'$]|\btee\s|\bsed\s+-\w*i")
_LASTS = re.compile(
    r"\bopen\([^)]*,\s*(?:mode\s*=\s*)?['\"][wax]|write_?text|write_?file|\.(?:write|dump|save|download|install)\(|"
    r"(?<![.\w])(?:(?:un)?install|upgrade|download|config|configure|migrate|chmod|chown|mkdir|mv|cp|ln|rm|setx|ulimit|"
    r"sysctl|systemctl|p?kill|defaults write|(?:alter|create|drop) \w+|grant|insert into|update \w+ set)\b|--global\b",
    re.IGNORECASE,
)
_SHELL_CODE = re.compile(r"\b(?:bash|sh|zsh|dash|ksh)\b")


def is_told(trouble: Trouble, steps: Sequence[Step], earlier: Sequence[Step]) -> bool:
    """Whether all that repaired a failure stands in its own message as what to do, and had not failed before.

    `earlier`: the calls from the first failure on, up to the repair.
    """
    advice = _advice(trouble.last)
    if not advice or not steps or any(_in_vain(step, trouble, earlier) for step in steps):
        return False
    judged = [_as_advised(step, trouble.last, advice) for step in steps]
    return any(judged) and all(one is not False for one in judged)


def _in_vain(step: Step, trouble: Trouble, earlier: Sequence[Step]) -> bool:
    """Whether the same was done before, and failed or did not help."""
    alike = [one for one in earlier if one.place < step.place and _same(one, step, trouble.family)]
    failures = {one.place for one in trouble.failures}
    return any(
        one.verdict is Verdict.FAILED or one.place < trouble.last.place for one in alike if one.place not in failures
    )


def _same(one: Step, other: Step, family: str) -> bool:
    """Whether two calls are one; of another kind than what failed, in whatever way it was called."""
    if one.kind is not other.kind:
        return False
    return call_of(one) == call_of(other) or (one.command is not None and one.family == other.family != family)


def _advice(failed: Step) -> str:
    """What the message of a failure says behind words that suggest: the rest of the line, or the next lines."""
    lines = [line.strip() for line in plain_text(message_of(failed.act.result or "")).splitlines() if line.strip()]
    found = []
    for place, line in enumerate(lines):
        match = _SUGGESTS.search(line)
        if match is None:
            continue
        rest = line[match.end() :]
        found.append(rest)
        if not _words(rest) or line.rstrip().endswith((":", "：", "?", "？")):
            found += lines[place + 1 : place + 3]
    return "\n".join(found)


def _words(text: str) -> frozenset[str]:
    """Words of code, and names between words of another script."""
    apart = re.sub("[\u3400-\u4dbf\u4e00-\u9fff]+", " ", text.lower())
    return frozenset(word for one in _SPLIT.split(apart) if (word := one.strip(_AROUND) or one) and word.strip("-."))


def _as_advised(step: Step, failed: Step, advice: str) -> bool | None:
    """Whether what is new in a step is what was advised; `None` where nothing is new."""
    if step.kind is Kind.EDIT:
        old, new = sides(step)
        come = _words(new) - _words(old or "")
        return come <= _words(advice) if come else None
    if step.command is None:
        return _call_as_advised(step.act.tool, step.act.given, failed, advice)
    before = failed.command.doing if failed.command is not None else ()
    known = {part.text for part in before}
    new_parts = [part for part in step.command.doing if part.text not in known and part.family not in _BESIDE]
    judged = [_part_as_advised(part, before, advice) for part in new_parts]
    return all(one is not False for one in judged) if any(one is not None for one in judged) else None


def _part_as_advised(part: Part, failed: Sequence[Part], advice: str) -> bool | None:
    """Files to work on and short options may be added to what was advised."""
    told = _words(advice)
    before = frozenset(word for one in failed for word in _options(one.text))
    come = _options(part.text) - before
    if any(one.family == part.family for one in failed):
        return all(word in told for word in come) if come else None
    program = _words(part.family.split(" ")[0])
    return program <= told and all(word in told or _bare(word) in told or _is_slight(word) for word in come)


def _is_slight(word: str) -> bool:
    return len(word) <= 2 or re.search(r"[/.]", word) is not None


def _options(text: str) -> frozenset[str]:
    return _words(re.sub(r"(\s(?:-\w*m|--message)[ =])(\"(?:[^\"\\]|\\.)*\"|'[^']*')", r"\1", text, flags=re.DOTALL))


def _bare(word: str) -> str:
    return re.split(r"[=<>@\[]", word)[0]


def _call_as_advised(tool: str, given: Mapping[str, JsonValue], failed: Step, advice: str) -> bool | None:
    told = advice.lower()
    if tool != failed.act.tool:
        return tool.rsplit("__", 1)[-1].lower() in told
    new = {name: value for name, value in given.items() if failed.act.given.get(name) != value}
    olds = list(failed.act.given.values())
    judged = [
        name.lower() in told if name not in failed.act.given and value in olds else _stands(value, told)
        for name, value in new.items()
    ]
    return all(judged) if judged else None


def _stands(value: JsonValue, told: str) -> bool:
    text = str(value).strip().lower()
    return bool(text) and re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", told) is not None


# Scripts of one moment --------------------------------------------------------------------------------------------


def is_one_off(step: Step, failed: Step) -> bool:
    """Whether a command is a script in the command line that leaves nothing to be used again.

    The same code as in the failure under another program or option is a change of tool, and may be.
    """
    if step.command is None or not _is_script(step.command.text) or _lasts(step.command.text):
        return False
    return failed.command is None or _code_of(step.command.text) != _code_of(failed.command.text)


def _lasts(text: str) -> bool:
    """Whether something stays of it. In code of other languages than the shell's, `>` compares."""
    outside = text if _SHELL_CODE.search(text) else _without_code(text)
    return _LASTS.search(text) is not None or _REDIRECTED.search(outside) is not None


def _without_code(text: str) -> str:
    bare = re.sub(r"(<<-?\s*['\"]?(\w+)['\"]?[^\n]*)\n.*?^\s*\2\s*$", r"\1", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", "''", bare, flags=re.DOTALL)


def _is_script(text: str) -> bool:
    if _INLINE.search(text) or (_HEREDOC.search(text) and not re.search(r"-F\s*-|\$\(cat\s*<<", text)):
        return True
    loops = _LOOP.search(text) is not None
    return len(text) >= LONG_CODE and loops and len(re.findall(r"[\n;]|&&", text)) >= MIN_LINES


def _code_of(text: str) -> str:
    """The code in a command line: its longest quotation, or what stands behind a `<<`."""
    here = re.search(r"<<-?\s*['\"]?(\w+)['\"]?\s*\n(.*?)^\s*\1\s*$", text, re.DOTALL | re.MULTILINE)
    quoted = [here[2]] if here else re.findall(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"", text, re.DOTALL)
    texts = [one if isinstance(one, str) else one[0] or one[1] for one in quoted]
    return " ".join(max(texts, key=len, default=text).split())

"""How a call ended, told by its result: whether it failed, and the lines that say why. Chinese and English."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum

MAX_LINE = 220  # characters of a line that tells
LISTED = (82, 84)  # weights of lines that list one thing each: two of them are told
BACKSLASH = "\\"
SENTENCE = 4  # lines that a message may go on for after the place it speaks of
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07")
_BOX = re.compile(r"^[\s│┃|▎▌>*•◦·✖✗✘×❌➜→└├─┌┐┘=]+")
_POINTS = re.compile(r"[~^_=\-─━╌.│┃\s]*")
_PLACE = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[\w./\\@~+-]*[\w-]+\.[A-Za-z]\w{0,5})(?:[:(](?P<line>\d+)(?:[:,](?P<column>\d+))?\)?)"
)
_PYTHON_FRAME = re.compile(r'File "([^"]+)", line \d+')
_STAMP = re.compile(r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b|\b\d{4}-\d{2}-\d{2}[T ]?")


class Verdict(StrEnum):
    """How a call ended."""

    WORKED = "worked"
    FAILED = "failed"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Reading:
    """A verdict, whether a count or a plain word of success bears it out, and whether counts were what told it."""

    verdict: Verdict
    plain: bool = False
    counted: bool = False


# Counts -----------------------------------------------------------------------------------------------------------

_COUNT = re.compile(
    r"(?P<n>\d+)\s+(?:[a-z]+\s+){0,2}?(?:failed|failures?|failing|errors?|problems?|issues?|opportunit(?:y|ies)|"
    r"suggestions?)\b"
    r"|\b(?:failures?|errors?|failed|total errors)\s*[:=]\s*(?P<m>\d+)"
    r"|(?P<k>\d+)\s*(?:个|项|处|条)?\s*(?:测试|用例|检查)?\s*(?:失败|错误|问题)"
    r"|(?:失败|错误)\s*[:：]?\s*(?P<j>\d+)",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"\b\d+\s+(?:tests?|passed|passing|doctests?|examples?|specs?|assertions?)\b|\btests?:\s+\d|\bfound \d+ |"
    r"\btotal errors\b|\bno issues\b|test result:|\bran \d+ tests?|通过\s*[:：]?\s*\d+|\d+\s*(?:个|"
    r"项)?\s*(?:测试|用例)?\s*通过|"
    r"\b\d+ (?:errors?|problems?)\b(?=[,. (]|$)",
    re.IGNORECASE,
)
_PASSED = re.compile(
    r"\b[1-9]\d* (?:passed|passing)\b|\bfound no issues\b|\bno issues found\b|passed successfully|Success: no issues|"
    r"All checks passed|All tests passed|BUILD SUCCESS|test result: ok|^OK\b|\b0 (?:failures|failed|errors|problems)\b|"
    r"(?:全部|所有)?(?:测试|用例|检查)?(?:均|都)?(?:已)?(?:通过|成功)(?!率)",
    re.IGNORECASE | re.MULTILINE,
)
_VULNERABLE = re.compile(r"vulnerabilit", re.IGNORECASE)

# Signs ------------------------------------------------------------------------------------------------------------

_EXIT = re.compile(
    r"\b(?:exit(?:ed with)?(?: code| status)|exit status|returned? (?:a )?non-zero exit status|returncode|code:)"
    r"[\"']?\s*[:=]?\s*(?P<code>-?\d+)\b|退出(?:码|状态)[^\d]{0,6}(?P<code_zh>\d+)",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"^Traceback \(most recent call last\)|^[\w.]*(?:Error|Exception)\b.*:|^\s*\*\* \(\w|^(?:fatal|panic|"
    r"error)(?:\[\w+\])?:"
    r"|^ERROR\b|^npm (?:ERR!|error)|^make(?:\[\d+\])?: \*\*\*|\bBUILD FAILED\b|^FAILED\b|^FAIL\b|^Halting VM"
    r"|\bcommand not found\b|: No such file or directory|: Permission denied|: permission denied"
    r"|is not recognized as (?:an|the name)|^(?:错误|异常|报错|失败)[:：]|(?:未找到命令|命令未找到|"
    r"没有那个文件或目录|权限不够|拒绝访问)"
    r"|validation failed",
    re.MULTILINE | re.IGNORECASE,
)
_SAYS_FAILED = re.compile(
    r"\s*(?:<tool_use_error>|\W{0,4}(?:error|exception|failed|failure|traceback|fatal|unable to|could ?n[o']t|"
    r"cannot|invalid)\b|"
    r"(?:错误|失败|异常|报错|无法|操作失败|执行失败|调用失败|请求失败))",
    re.IGNORECASE,
)
NOTHING = re.compile(
    r"\s*(?:no (?:output|content|files? found|matches found|results?)|\(no output\)|无输出)?\.?\s*", re.I
)


def plain_text(text: str) -> str:
    """A result without colours; line breaks that a program wrote as `\\n` are breaks again."""
    shown = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return shown.replace("\\n", "\n") if shown.count("\\n") > shown.count("\n") or "\\n\\n" in shown else shown


def of_command(result: str, *, flag: bool | None, masked: bool, looks: bool) -> Reading:
    """How a shell command ended. `masked`: its exit code says nothing of its first parts."""
    text = plain_text(result)
    if looks:
        return Reading(_of_look(text, flag))
    counted = _counts(text)
    if counted is not None and counted > 0:
        return Reading(Verdict.FAILED, counted=True)
    if flag:
        return Reading(Verdict.FAILED)
    codes = [int(found["code"] or found["code_zh"]) for found in _EXIT.finditer(text)]
    if flag is None or masked:
        if any(codes):
            return Reading(Verdict.FAILED)
        if counted != 0 and _FAILS.search(text):
            return Reading(Verdict.FAILED)
    elif _FAILS.search(text):
        return Reading(Verdict.UNCLEAR)  # it says so itself, and yet ended well
    return Reading(
        Verdict.WORKED, plain=counted == 0 or _PASSED.search(text) is not None or (flag is False and not masked)
    )


def _of_look(text: str, flag: bool | None) -> Verdict:
    if re.search(r"command not found|未找到命令|is not recognized as", text):
        return Verdict.FAILED
    if flag or NOTHING.fullmatch(text):
        return Verdict.UNCLEAR
    return Verdict.WORKED


def of_call(result: str, *, flag: bool | None) -> Reading:
    """How a call of any other tool ended."""
    if flag is not None and flag:
        return Reading(Verdict.FAILED)
    told = _told(result)
    if told is not None:
        return Reading(Verdict.FAILED if told else Verdict.WORKED, plain=not told)
    if flag is None and _SAYS_FAILED.match(plain_text(result)):
        return Reading(Verdict.FAILED)
    return Reading(Verdict.WORKED, plain=flag is False)


def _told(result: str) -> bool | None:
    """Whether a JSON result says that the call failed; `None` where it does not say."""
    text = result.strip()
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if value.get("error") or value.get("errors") or value.get("is_error") is True:
        return True
    for name in ("ok", "success", "succeeded"):
        if isinstance(value.get(name), bool):
            return not value[name]
    status = value.get("status", value.get("code"))
    if isinstance(status, int) and not isinstance(status, bool) and 100 <= status < 600:
        return status >= 400
    if isinstance(status, str):
        if status.lower() in ("error", "failed", "failure", "fail"):
            return True
        if status.lower() in ("ok", "success", "succeeded", "done", "completed"):
            return False
    return None


def _counts(text: str) -> int | None:
    """Failures that the last summary of a check counts; `None` where there is none."""
    last = None
    for line in text.splitlines():
        if not _SUMMARY.search(line) or _VULNERABLE.search(line):
            continue
        numbers = [int(next(filter(None, found.groups()))) for found in _COUNT.finditer(line)]
        if numbers:
            last = sum(numbers)
        elif _PASSED.search(line):
            last = 0
    return last


# Lines that tell why ----------------------------------------------------------------------------------------------

_WEIGHTS = (
    (re.compile(r"^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Fault|Exit|Interrupt|Warning)\b(?=\s*[:(]|$)"), 100),
    (re.compile(r"^\*\* \(\w[\w.]*\)\s*\S|^(?:Caused by|Uncaught|Unhandled)\b"), 100),
    (re.compile(r"command not found|is not recognized as|No such file or directory|Permission denied|未找到命令|"
                r"命令未找到"
                r"|没有那个文件或目录|权限不够|拒绝访问", re.I), 96),
    (re.compile(r"^(?:fatal|panic|error|err|npm ERR!|npm error)(?:\[\w+\]|\s\w+\d+)?\s*[:!]?\s+\S|^E\s{2,}\S|"
                r"error TS\d+:", re.I), 90),
    (re.compile(r"^\[[A-Z][A-Z_ -]{2,}\]\s+\S"), 84),
    (re.compile(r"^(?:错误|异常|报错|失败)[:：]\s*\S"), 90),
    (re.compile(r"^\[[A-Z]\]\s*[^\w\s]?\s*\S"), 82),
    (re.compile(r"(?:找不到|不存在|未找到|无法|不能|不支持|拒绝|超时|没有权限|缺少|非法|无效|失败|错误|已被占用|"
                r"冲突|必须|不允许)"), 66),
    (re.compile(r"\b(?:fail(?:ed|s|ure)?|error|cannot|can't|could not|couldn't|unable|invalid|not found|denied|refused|"
                r"timed out|missing|undefined|unexpected|unsupported|unknown|conflict|already (?:exists|in use)|never|"
                r"must(?: be)?|required|not (?:formatted|allowed|supported|installed|defined|permitted)|"
                r"mismatch)\b", re.I), 60),
)  # fmt: skip
_HINT = re.compile(
    r"^(?:hint|help|note|tip|suggestion|提示|建议)\s*[:：]|\b(?:run|try|use|install|did you mean|consider)\b\s+[`'\"“]|"
    r"\btry (?:running|again with)\b|\byou (?:may|can|should|need to|must)\b|请(?:先|使用|运行|安装|执行|检查)",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r"^(?:at |File \"|in |from )\S+|^\(\w[\w.-]* [\d.]+\) |^\s*\d+ [│|]|^\[?\d*(?:warning|warn|info|debug)\]?\b|"
    r"\[(?:warning|info|debug|warn)\]|^please report|^\d+ (?:passed|tests?)|output truncated|^use `|^run with|^-{3,}",
    re.IGNORECASE,
)


_WORDS = re.compile(r"[\w\[`'\"(]")
_LABEL = re.compile(r"\[[A-Z][A-Z0-9_ -]{1,30}\]")
_STACK = re.compile(r"/\d+(?: \(test\))?$|^#?\(|^in \w")


@dataclass(frozen=True, slots=True)
class Telling:
    """The lines that say why something failed, at most two, and a hint of the program's own; `weight` of the best."""

    lines: tuple[str, ...] = ()
    hint: str = ""
    weight: int = 0

    @property
    def text(self) -> str:
        """As one line."""
        return " ".join((*self.lines, *((self.hint,) if self.hint else ())))


def telling(result: str) -> Telling:
    """What a failed result says of its reason."""
    lines = [_bare(line) for line in plain_text(result).replace("<tool_use_error>", "").splitlines()]
    lines = [line for line in lines if line and not _POINTS.fullmatch(line)]
    scored = [(_weight(line), place) for place, line in enumerate(lines)]
    places = [(_located(lines, place), place) for place in range(len(lines))]
    scored += [(80, place) for told, place in places if told]
    best = max((weight for weight, _ in scored), default=0)
    if best < 60:
        short = [line for line in lines if not _EXIT.search(line)]
        return Telling((short[0][:MAX_LINE],), weight=40) if len(short) == 1 else Telling()
    top = [place for weight, place in scored if weight == best]
    # Of several exceptions the last is the one that was not caught; in other output the first is what began it.
    chosen = top[:2] if best in LISTED else top[:1] if best < 100 else list(dict.fromkeys((top[0], top[-1])))
    if best == 100 and len(chosen) == 2 and "Traceback (most recent call last)" in result:
        chosen = chosen[-1:]
    told = [_labelled(lines, place) for place in chosen]
    hint = next((line for line in lines[chosen[0] + 1 : chosen[0] + 4] if _HINT.search(line) and line not in told), "")
    return Telling(tuple(dict.fromkeys(told))[:2], hint[:MAX_LINE], best)


def _bare(line: str) -> str:
    return " ".join(_STAMP.sub("", _BOX.sub("", line) if not line.lstrip().startswith("**") else line).split())


def _weight(line: str) -> int:
    if (
        _FRAME.search(line)
        or (_EXIT.fullmatch(line.strip()) is not None)
        or re.search(r"\b0 (?:errors|failures)\b", line)
    ):
        return 0
    if _SUMMARY.search(line) or re.search(r"\btotal errors\b", line, re.IGNORECASE):
        return 0
    return next((weight for form, weight in _WEIGHTS if form.search(line)), 0)


def _located(lines: list[str], place: int) -> bool:
    """Whether a line begins with a place in a file and says, itself or with the next, what is wrong there."""
    found = _PLACE.match(lines[place])
    if found is None:
        return False
    said = lines[place][found.end() :].strip(" :-")
    if len(said.split()) >= 3:
        return _WORDS.match(said) is not None and not _STACK.search(said)
    if said and not re.fullmatch(r"[a-z][\w-]*", said):
        return False  # the name of a function, not of what is wrong: a frame of a stack
    before = _weight(lines[place - 1]) if place else 0
    following = lines[place + 1] if place + 1 < len(lines) else ""
    return (
        not before and len(following.split()) >= 3 and _PLACE.match(following) is None and not _FRAME.search(following)
    )


def _whole(lines: list[str], place: int) -> str:
    """A line, with the next where it only says where, or ends in a colon."""
    line = lines[place]
    found = _PLACE.match(line)
    if found is not None:
        said = line[found.end() :].strip(" :-")
        line = f"{found['path'].replace(BACKSLASH, '/').rsplit('/', 1)[-1]}: {said}".strip(": ")
        if len(said.split()) < 3:
            line = " ".join((line, *_sentence(lines[place + 1 : place + 1 + SENTENCE])))
    elif line.endswith(":") and place + 1 < len(lines):
        line = f"{line} {lines[place + 1]}"
    return line[:MAX_LINE]


def _labelled(lines: list[str], place: int) -> str:
    """A line with the label under which a program that runs several others shows the output of one («[LINT]»)."""
    told = _whole(lines, place)
    label = next((line for line in reversed(lines[:place]) if _LABEL.fullmatch(line)), None)
    return f"{label} {told}" if label is not None and not told.startswith("[") else told


def _sentence(lines: list[str]) -> list[str]:
    """The first lines, up to one that ends a sentence."""
    end = next((place for place, line in enumerate(lines, 1) if line.endswith((".", "。", "!", "！"))), 1)
    return lines[:end]


def signature(told: Telling) -> frozenset[str]:
    """The same for the same reason, whatever numbers and places stand in it."""
    return frozenset(re.sub(r"\d+|0x[0-9a-f]+", "#", line.lower()) for line in told.lines)


def paths_in(text: str) -> tuple[str, ...]:
    """Files that a result names with a line, in order."""
    shown = _PYTHON_FRAME.sub(r"\1:1", plain_text(text))
    found = (match["path"].replace(BACKSLASH, "/") for match in _PLACE.finditer(shown))
    return tuple(dict.fromkeys(found))[:40]

"""What happened in a session, seen from outside: which calls failed, what changed between, and what then worked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hindsight.domain.episode import JsonValue, Role
from hindsight.experience.reflect.commands import Command, read_command
from hindsight.experience.reflect.signs import (
    Reading,
    Telling,
    Verdict,
    of_call,
    of_command,
    paths_in,
    plain_text,
    signature,
    telling,
)
from hindsight.experience.reflect.transcript import Act, Event, Said, Transcript

_SHELL = re.compile(r"(?:^|[_.-])(?:bash|shell|sh|terminal|cmd|powershell|console|exec(?:ute)?|run)(?:$|[_.-])", re.I)
_EDITS = re.compile(
    r"(?:^|[_-])(?:edit|write|multi_?edit|notebook_?edit|str_?replace|apply|patch|create|insert|replace|diff|append|"
    r"save|update)(?:$|[_-])",
    re.IGNORECASE,
)
_FILES = ("file_path", "path", "filename", "file", "notebook_path", "target_file", "filepath")
_EDIT_WORDS = (
    "new_string",
    "new_str",
    "content",
    "contents",
    "patch",
    "diff",
    "edits",
    "file_text",
    "code_edit",
    "text",
)
_LOOKS = re.compile(
    r"^(?:read|grep|glob|ls|list|view|search|find|fetch|look|open|cat|show|describe|web_?search|web_?fetch|"
    r"todo\w*|task|"
    r"agent|skill|think|plan|exit_?plan\w*|ask\w*|tool_?search|kill\w*|bash_?output)(?:$|[_-])",
    re.IGNORECASE,
)
_OWN = re.compile(r"(?:^|__|\b)(?:memory_(?:write|search|update|forget|summarize|feedback|prune|reflect|answer)|"
                  r"experience_write|working_memory)$")  # fmt: skip


class Kind(StrEnum):
    """What sort of call it was."""

    RUN = "run"  # a shell command
    EDIT = "edit"  # of a file
    LOOK = "look"  # changes nothing
    CALL = "call"  # any other tool
    OWN = "own"  # hindsight's own tools


@dataclass(frozen=True, slots=True)
class Step:
    """A call, what it was for, and how it ended. `place`: its number among the steps of its lane.

    `also`: refs of later calls that were taken together with it.
    """

    act: Act
    place: int
    kind: Kind
    family: str
    reading: Reading
    command: Command | None = None
    told: Telling = field(default_factory=Telling)
    also: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """How it ended."""
        return self.reading.verdict

    @property
    def changes(self) -> bool:
        """Whether it may have changed how things stand."""
        if self.kind is Kind.RUN:
            return self.command is not None and bool(self.command.doing)
        return self.kind in (Kind.EDIT, Kind.CALL)

    @property
    def path(self) -> str | None:
        """The file it edits."""
        found = next((self.act.given[name] for name in _FILES if isinstance(self.act.given.get(name), str)), None)
        return str(found).replace("\\", "/") if found else None

    def goes_for(self, family: str) -> bool:
        """Whether it runs, among others, a command of this family."""
        if self.command is None:
            return self.family == family
        return any(part.family == family for part in self.command.doing or self.command.parts)


@dataclass(frozen=True, slots=True)
class Task:
    """What a person asked for, the steps until they asked for something else, and what they said of it."""

    request: Said | None
    steps: tuple[Step, ...]
    said: tuple[Said, ...]
    reply: Said | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """One reason for which a kind of call failed, until it no longer did.

    `failures`: with this reason, in order. `fixed`: the call of the kind that then worked, or failed for another
    reason; `proven`: the one that worked in the end. `None`: never in this session.
    """

    family: str
    failures: tuple[Step, ...]
    fixed: Step | None
    proven: Step | None

    @property
    def last(self) -> Step:
        """The last failure."""
        return self.failures[-1]


# Steps ------------------------------------------------------------------------------------------------------------


def lanes(transcript: Transcript) -> dict[str, tuple[Event, ...]]:
    """The events of the session itself and of each sub-agent."""
    found: dict[str, list[Event]] = {}
    for event in transcript.events:
        found.setdefault(event.lane, []).append(event)
    return {name: tuple(events) for name, events in found.items()}


def steps_of(events: Sequence[Event]) -> tuple[Step, ...]:
    """The calls that were answered, judged; those a person refused say nothing."""
    done = [event for event in events if isinstance(event, Act) and event.result is not None and not event.refused]
    return tuple(judged(act, place) for place, act in enumerate(done))


def judged(act: Act, place: int) -> Step:
    """A call with what it was and how it ended."""
    result = act.result or ""
    line = command_line(act)
    if line is not None:
        command = read_command(line)
        goal = command.goal
        reading = of_command(result, flag=act.failed, masked=command.masked, looks=not command.doing)
        told = telling(result) if reading.verdict is Verdict.FAILED else Telling()
        return Step(act, place, Kind.RUN, goal.family if goal else act.tool, reading, command, told)
    kind = _kind(act)
    reading = of_call(result, flag=act.failed)
    told = telling(message_of(result)) if reading.verdict is Verdict.FAILED else Telling()
    return Step(act, place, kind, act.tool, reading, None, told)


def command_line(act: Act) -> str | None:
    """What a shell was told to run; `None` for other tools."""
    for name in ("command", "cmd", "shell_command", "script", "commandLine", "command_line"):
        found = act.given.get(name)
        if isinstance(found, list) and found and all(isinstance(one, str) for one in found):
            words = [str(one) for one in found]
            return words[-1] if words[0].rsplit("/", 1)[-1] in ("bash", "sh", "zsh") else " ".join(words)
        if isinstance(found, str) and found.strip() and not any(name in act.given for name in _FILES):
            return found
    found = act.given.get("input")
    return found if isinstance(found, str) and found.strip() and _SHELL.search(act.tool) else None


def _kind(act: Act) -> Kind:
    if _OWN.search(act.tool):
        return Kind.OWN
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", act.tool.rsplit("__", 1)[-1])
    if _LOOKS.search(name) or act.given.get("command") == "view":
        return Kind.LOOK
    has_file = any(isinstance(act.given.get(field), str) for field in _FILES)
    if (
        _EDITS.search(name)
        and (has_file or any(field in act.given for field in ("patch", "diff")))
        and any(field in act.given for field in ("old_string", "old_str", "input", *_EDIT_WORDS))
    ):
        return Kind.EDIT
    return Kind.CALL


def message_of(result: str) -> str:
    """What a JSON result gives as its error, else the result itself."""
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        return result
    found = _named_message(value)
    return found if found else result


def _named_message(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        for name in ("error", "message", "detail", "msg", "error_message", "errors", "reason"):
            if value.get(name):
                return _named_message(value[name])
    if isinstance(value, list) and value:
        return _named_message(value[0])
    return ""


# Tasks ------------------------------------------------------------------------------------------------------------

_GO_ON = re.compile(
    r"\s*(?:(?:please\s+)?(?:continue|go on|go ahead|proceed|carry on|keep going|resume|next|ok(?:ay)?|yes|yep|sure|"
    r"try again|retry|do it|y)\b.{0,60}|(?:好的?|可以|嗯|行|是的?|对)?[,，。 ]{0,2}(?:请)?(?:继续|接着|下一步|"
    r"再试|重试|"
    r"往下).{0,20}|好的?|可以|嗯|行|是的?)[.!。！~ ]*",
    re.IGNORECASE | re.DOTALL,
)
_PLEASED = re.compile(
    r"\b(?:thanks|thank you|thx|perfect|great|excellent|awesome|nice(?: work| job)?|well done|(?:it|"
    r"that) (?:now )?works?"
    r"(?! on)|works (?:now|great|fine|perfectly)|looks good|lgtm|that'?s (?:it|right|correct)|solved|fixed now)\b|"
    r"谢谢|感谢|多谢|太好了|太棒了|很好|不错|完美|可以了|好了|搞定|没问题|成功了|解决了|正确|就是这样|辛苦",
    re.IGNORECASE,
)
_DISPLEASED = re.compile(
    r"\b(?:(?:this|that|it)(?:'s| is) (?:wrong|not (?:right|correct|what))|wrong|incorrect|not what i|"
    r"does(?:n'?t| not) work|"
    r"did(?:n'?t| not) work|is(?:n'?t| not) work(?:ing)?|still (?:fails?|failing|broken|not|the same|wrong|get)|broke|"
    r"revert|undo (?:that|this|it))\b|不对|错了|不行|不是(?:这样|我要|我想)|没(?:有)?(?:成功|用|生效|解决)|"
    r"还是(?:报错|失败|不|错|没)|"
    r"有问题|撤销|回滚|弄错|搞错",
    re.IGNORECASE,
)
_NOT_PLEASED = re.compile(r"\bnot (?:great|perfect|good)|不太好|不好|no thanks|不谢", re.IGNORECASE)


def pleased(text: str) -> bool:
    """Whether a person accepts what was done."""
    return bool(_PLEASED.search(text[:200])) and not displeased(text)


def displeased(text: str) -> bool:
    """Whether a person says that what was done is wrong."""
    return bool(_DISPLEASED.search(text[:300]) or _NOT_PLEASED.search(text[:200]))


def tasks_of(events: Sequence[Event], steps: Sequence[Step]) -> tuple[Task, ...]:
    """The session by what was asked for. To go on, to answer a question and to judge what was done asks nothing new."""
    step_of = {id(step.act): step for step in steps}
    found: list[Task] = []
    request: Said | None = None
    held: list[Step] = []
    said: list[Said] = []
    last: Said | None = None
    for event in events:
        if isinstance(event, Act):
            step = step_of.get(id(event))
            held += [step] if step is not None else []
        elif event.role is Role.USER and _asks(event, last, started=bool(held)):
            if request is not None or held:
                found.append(Task(request, tuple(held), tuple(said), event))
            request, held, said = event, [], []
            last = event
        else:
            said.append(event)
            last = event
    found.append(Task(request, tuple(held), tuple(said)))
    return tuple(found)


def _asks(said: Said, before: Said | None, *, started: bool) -> bool:
    if _GO_ON.fullmatch(said.text):
        return False
    question = before is not None and before.role is Role.ASSISTANT and before.text.rstrip().endswith(("?", "？"))
    judges = started and len(said.text) < 200 and (pleased(said.text) or displeased(said.text))
    return not question and not judges


# Troubles ---------------------------------------------------------------------------------------------------------


def troubles(steps: Sequence[Step]) -> Iterator[Trouble]:
    """Each reason for which a kind of call failed, in order of its first failure."""
    families = dict.fromkeys(step.family for step in steps if step.verdict is Verdict.FAILED and _can_fail(step))
    found = [trouble for family in families for trouble in _of_family(family, steps)]
    yield from sorted(found, key=lambda trouble: trouble.failures[0].place)


def _can_fail(step: Step) -> bool:
    """A failed edit or look is between the agent and its tools; it says nothing of the task."""
    return step.kind in (Kind.RUN, Kind.CALL) and bool(step.told.lines)


@dataclass(slots=True)
class _Open:
    """A reason that has come up. `gone`: the first call of the kind since that failed for other reasons alone."""

    failures: list[Step]
    gone: Step | None = None

    def fails_in(self, step: Step) -> bool:
        return not signature(self.failures[-1].told).isdisjoint(signature(step.told))


def _of_family(family: str, steps: Sequence[Step]) -> Iterator[Trouble]:
    """A reason that does not come up again until the call works was fixed when it first was not there."""
    pending: list[_Open] = []
    for step in steps:
        if step.verdict is Verdict.FAILED and step.family == family and _can_fail(step):
            same = next((one for one in pending if one.fails_in(step)), None)
            for one in pending:
                if one is not same and one.gone is None:
                    one.gone = step
            if same is None:
                pending.append(_Open([step]))
            else:
                same.failures.append(step)
                same.gone = None
        elif step.verdict is Verdict.WORKED and step.goes_for(family) and pending:
            over = [one for one in pending if _enough(step, one.failures[-1])]
            yield from (Trouble(family, tuple(one.failures), one.gone or step, step) for one in over)
            pending = [one for one in pending if one not in over]
    yield from (Trouble(family, tuple(one.failures), None, None) for one in pending)


def _enough(step: Step, failed: Step) -> bool:
    """Whether a call that worked shows that the failure is over: where counts told of it, a count must again."""
    return step.reading.plain or not failed.reading.counted


def files_named(step: Step) -> frozenset[str]:
    """Names of the files that a failure speaks of, without their folders."""
    return frozenset(path.rsplit("/", 1)[-1] for path in paths_in(step.act.result or ""))


def words_named(step: Step) -> frozenset[str]:
    """Names in a failure that hardly stand there by chance."""
    text = plain_text(step.act.result or "")
    found = re.findall(r"[A-Za-z_][\w]*(?:[._-]\w+)*", text)
    parts = {part for word in found for part in (word, *re.split(r"[.]", word))}
    named = frozenset(word.lower() for word in parts if len(word) >= 5 and re.search(r"[_\d-]|[a-z][A-Z]", word))
    return named | frozenset(re.findall(r"(?<![\w.])\d{3,6}(?![\w.])", text))

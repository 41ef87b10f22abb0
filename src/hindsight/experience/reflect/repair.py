"""Which of the things done between a failure and what then worked belong to the repair."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hindsight.experience.reflect.commands import distinctive
from hindsight.experience.reflect.signs import plain_text
from hindsight.experience.reflect.structure import Kind, Step, files_named, words_named
from hindsight.experience.reflect.wording import call_text, command_text, sides

MAX_CHANGES = 4  # steps of a repair; where more remain it can't be told which of them mattered
MAX_ASIDE = 2  # commands without a tie that are told beside a repair
MAX_UNTOLD = 1  # commands that nothing ties to the failure and that are still taken for its repair

# By these a change comes into force.
_BRINGS = re.compile(
    r"\b(?:install|restart|reload|rebuild|build|up|migrate|sync|deps|compile|apply|update|generate|prune|clean|"
    r"daemon-reload|source)\b",
    re.IGNORECASE,
)
_ENVIRONMENTS = {
    "test": ("test", "tests", "testing"),
    "dev": ("dev", "develop", "development"),
    "prod": ("prod", "production"),
    "staging": ("staging", "preprod"),
}
_TESTERS = re.compile(r"\b(?:pytest|jest|vitest|mocha|rspec|phpunit|unittest)\b")
# «if env == "prod"», «when :prod», «[production]»
_UNDER = re.compile(
    r"\b(?:if|unless|when|case|elif|else if)\b[^\n]{0,60}?(?:==|===|\bis\b|\bin\b|eq)\s*[:'\"]{1,2}(\w+)|"
    r"^\s*\[(?:\w+\.)?(\w+)\]\s*$|^\s*(?:when|in)\s+[:'\"](\w+)",
    re.MULTILINE | re.IGNORECASE,
)

_TAKES_BACK = re.compile(r"\s*(?:cd \S+\s*&&\s*)?(?:git (?:rm|checkout|restore|reset|clean)|rm|del|unlink|trash)\s")


def that_tell(changes: Sequence[Step], failed: Step) -> tuple[list[Step] | None, bool]:
    """The changes that the failure speaks of, and whether it does; `None` where it can't be told which mattered."""
    files, words = files_named(failed), words_named(failed)
    text = plain_text(failed.act.result or "").lower()
    near = [step for step in changes if _named(step, files, text)]
    if not near:
        near = [step for step in changes if _words_of(step) & words]
    if near:
        tied = _tied(near, changes, text)
        tied = tied if len(netted(tied)) <= MAX_CHANGES else near
        return (tied, True) if len(netted(near)) <= MAX_CHANGES else (None, False)
    lone = len(changes) <= MAX_UNTOLD and all(step.kind is Kind.RUN for step in changes)
    return (list(changes), False) if lone and not passes_by_itself(failed) else (None, False)


def _tied(near: Sequence[Step], changes: Sequence[Step], text: str) -> list[Step]:
    """What the failure speaks of, and what touches the same files or names, or brings them into force."""
    paths = {step.path for step in near if step.path}
    words = frozenset(word for step in near for word in _changed_words(step))
    first = min(step.place for step in near)
    return [
        step
        for step in changes
        if step in near
        or step.path in paths
        or (step.path is not None and step.path.rsplit("/", 1)[-1].lower() in text)
        or _changed_words(step) & words
        or (step.place > first and step.command is not None and _BRINGS.search(step.command.text))
    ]


def aside_of(changes: Sequence[Step], told: Sequence[Step]) -> list[Step]:
    """Commands that nothing ties to the repair; that they were run is said at the end. Other edits are left out."""
    aside = [step for step in changes if step.kind is not Kind.EDIT and step not in told]
    return aside if len(aside) <= MAX_ASIDE else []


def of_the_run(told: Sequence[Step], failed: Step, fixed: Step) -> list[Step]:
    """What the call that worked can have read: not what holds in another environment, unless the failure names it."""
    own = environment_of(fixed)
    text = plain_text(failed.act.result or "").lower()
    kept = [
        step
        for step in told
        if own is None
        or _elsewhere(step) in (None, own)
        or (step.path is not None and step.path.rsplit("/", 1)[-1].lower() in text)
    ]
    return kept or list(told)


def environment_of(step: Step) -> str | None:
    """The environment that a command runs in, where it says so."""
    if step.command is None or step.command.goal is None:
        return None
    text = step.command.goal.text
    said = re.search(r"\b[A-Z_]*ENV(?:IRONMENT)?\s*=\s*['\"]?(\w+)", step.command.text)
    said = said or re.search(r"(?:--env(?:ironment)?|--mode|--profile|--stage)[= ](\w+)", text)
    if said:
        return _environment(said[1])
    family = step.command.goal.family
    words = [*re.split(r"[\s:_-]", family), *(_TESTERS.findall(family) and ("test",))]
    return next((found for word in words if (found := _environment(word))), None)


def _environment(word: str) -> str | None:
    bare = word.lower()
    return next((name for name, words in _ENVIRONMENTS.items() if bare in words), None)


def _elsewhere(step: Step) -> str | None:
    """The environment that an edit is for, by the name of its file or the one condition that its text stands under."""
    if step.kind is not Kind.EDIT:
        return None
    name = (step.path or "").rsplit("/", 1)[-1].lower()
    named = next((found for word in re.split(r"[._-]", name) if (found := _environment(word))), None)
    if named is not None:
        return named
    old, new = sides(step)
    held = set(map(str.strip, (old or "").splitlines()))
    lines = [line for line in new.splitlines() if line.strip()]
    place = next((place for place, line in enumerate(lines) if line.strip() not in held), 0)
    for line in reversed(lines[:place]):
        under = _UNDER.search(line)
        if under is None or (under[2] is None and _indent(line) >= _indent(lines[place])):
            continue
        environment = _environment(next(filter(None, under.groups())))
        if environment is not None:
            return environment
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def takes_back(step: Step, written: Sequence[Step]) -> bool:
    """Whether a command only removes what was written since the failure: an attempt that is given up."""
    if step.command is None or not _TAKES_BACK.match(step.command.text):
        return False
    names = {one.path.rsplit("/", 1)[-1] for one in written if one.kind is Kind.EDIT and one.path}
    return any(word.rsplit("/", 1)[-1].strip("'\"") in names for word in step.command.text.split())


def _changed_words(step: Step) -> frozenset[str]:
    """Names in what a step changes, not in what only stands beside it."""
    words = _words_of(step)
    if step.kind is not Kind.EDIT:
        return words
    old, new = sides(step)
    before, after = (set(map(str.strip, text.splitlines())) for text in (old or "", new))
    return frozenset(_distinctive(" ".join(before ^ after)))


def _named(step: Step, files: frozenset[str], text: str) -> bool:
    if step.kind is Kind.EDIT:
        return step.path is not None and step.path.rsplit("/", 1)[-1] in files
    if step.kind is Kind.RUN and step.command is not None:
        doing = step.command.doing
        return any(part.family.lower() in text and len(part.family) > 3 for part in doing) or _installs(step, text)
    return step.act.tool.lower() in text


def _installs(step: Step, text: str) -> bool:
    """Whether a command brings something that the failure names."""
    if step.command is None or not re.search(
        r"\b(?:install|add|get|require|upgrade|update|chmod|mkdir)\b", step.command.text
    ):
        return False
    last = [word.strip("'\"").lower() for word in step.command.text.split() if not word.startswith("-")]
    return any(len(word) > 2 and re.split(r"[=<>@\[]", word)[0] in text for word in last[1:])


def _words_of(step: Step) -> frozenset[str]:
    if step.kind is Kind.EDIT:
        old, new = sides(step)
        text = f"{old or ''} {new}"
    else:
        text = call_of(step)
    return _distinctive(text)


def _distinctive(text: str) -> frozenset[str]:
    found = re.findall(r"[A-Za-z_]\w*(?:[-]\w+)*", text)
    named = frozenset(word.lower() for word in found if len(word) >= 5 and re.search(r"[_\d-]|[a-z][A-Z]", word))
    return named | frozenset(re.findall(r"(?<![\w.])\d{3,6}(?![\w.])", text))


def netted(changes: Sequence[Step]) -> list[Step]:
    """Edits of one place as one: what was written first and changed again never held."""
    found: list[Step] = []
    for step in changes:
        before = next((one for one in reversed(found) if one.path == step.path and one.kind is Kind.EDIT), None)
        if step.kind is Kind.EDIT and before is not None:
            (old, new), (old_again, new_again) = sides(before), sides(step)
            if old_again and old_again in new:
                given = {**before.act.given, "new_string": new.replace(old_again, new_again, 1)}
                given = given if old is not None else {**before.act.given, "content": given["new_string"]}
                refs = (*before.also, step.act.ref, *((step.act.result_ref,) if step.act.result_ref else ()))
                merged = replace(before, act=replace(before.act, given=given), also=refs)
                found[found.index(before)] = merged
                continue
        found.append(step)
    return [step for step in found if not _nothing_left(step)]


def _nothing_left(step: Step) -> bool:
    if step.kind is not Kind.EDIT:
        return False
    old, new = sides(step)
    return old is not None and " ".join(old.split()) == " ".join(new.split())


def only_checks(step: Step) -> bool:
    return step.command is not None and step.command.checks


def call_of(step: Step) -> str:
    return command_text(step, 4_000) if step.kind is Kind.RUN else call_text(step)


def same_call(before: Step, after: Step) -> bool:
    """Whether two calls differ only in what does not matter: messages, files to be added, more commands beside."""
    if call_of(before) == call_of(after):
        return True
    if before.command is None or after.command is None:
        return False
    ours = {part.text for part in before.command.doing if part.family == before.family}
    theirs = {part.text for part in after.command.doing if part.family == before.family}
    flags = [_flags(" ".join(texts)) for texts in (ours, theirs)]
    return flags[0] == flags[1] and before.family.split(" ")[0] in ("git", "gh", "glab")


def _flags(text: str) -> frozenset[str]:
    bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", "", text, flags=re.DOTALL)
    return frozenset(re.findall(r"(?<!\S)--?[A-Za-z][\w-]*", bare)) - {"-m", "-am", "--message"}


def given_words(step: Step) -> frozenset[str]:
    """What a call was given that hardly stands there by chance."""
    if step.command is not None:
        return distinctive(step.command.text)
    return frozenset(
        str(value).strip().lower()
        for value in step.act.given.values()
        if isinstance(value, str | int) and len(str(value)) >= 3
    )


# What may be otherwise the next time without anybody's doing.
_PASSES = re.compile(
    r"tim(?:ed|e)[ -]?out|connection (?:reset|aborted)|temporar|rate.?limit|too many requests|\b(?:429|502|503|504)\b|"
    r"EAI_AGAIN|network|try again|unavailable|超时|稍后|繁忙|限流|网络",
    re.IGNORECASE,
)
_USAGE = re.compile(
    r"unknown (?:option|flag|argument|command)|unrecognized|usage:|invalid|must\b|required|missing|expected|format|"
    r"unexpected|not allowed|unsupported|格式|必须|缺少|参数|不支持|无效|选项",
    re.IGNORECASE,
)
# Words by which a program says that a name was not there.
_ABSENT = re.compile(
    r"cannot import name ['\"]?(\w+)|no module named ['\"]?([\w.]+)|cannot find (?:module|name) ['\"]?([\w./@-]+)|"
    r"has no attribute ['\"]?(\w+)|undefined (?:function|variable|name|method|symbol)[: ]+['\"`]?([\w.]+)|"
    r"name ['\"](\w+)['\"] is not defined|(\w+) is not defined|unresolved (?:import|reference)[: ]+['\"`]?([\w:.]+)",
    re.IGNORECASE,
)


def passes_by_itself(failed: Step) -> bool:
    """Whether a failure is of those that may be gone the next time whatever is done."""
    return _PASSES.search(failed.told.text) is not None


def was_unwritten(failed: Step, told: Sequence[Step]) -> bool:
    """Whether what was missing is what the repair wrote: it was not there yet, and nobody learns from that."""
    absent = {name for found in _ABSENT.findall(failed.told.text) for name in found if name}
    ends = {re.split(r"[./:]", name)[-1] for name in absent if name}
    for step in told:
        if step.kind is not Kind.EDIT:
            continue
        _, new = sides(step)
        stem = (step.path or "").rsplit("/", 1)[-1].split(".")[0]
        if stem in ends or any(
            re.search(
                rf"(?:def|class|function|const|let|var|fn|func|type)\s+{re.escape(end)}\b|^\s*{re.escape(end)}\s*=",
                new,
                re.MULTILINE,
            )
            for end in ends
        ):
            return True
    return False


def does_the_same(step: Step) -> bool:
    """Whether a call may stand in for another: not one that looks, removes, or makes room for it."""
    if step.command is None:
        return re.match(r"(?:get|find|list|look|query|check|search|transfer|think)", step.act.tool.lower()) is None
    programs = {part.family.split(" ")[0] for part in step.command.doing}
    return programs.isdisjoint(("rm", "mv", "cp", "chmod", "chown", "mkdir", "touch", "git", "kill", "pkill", "ln"))


def same_goal(before: Step, after: Step) -> bool:
    """Whether two calls of one kind are for the same thing, so that the second shows how the first should have been."""
    usage = _USAGE.search(before.told.text) is not None
    if before.command is not None and after.command is not None:
        ours, theirs = set(command_text(before, 4_000).split()), set(command_text(after, 4_000).split())
        return len(ours & theirs) * 2 >= max(len(ours), len(theirs)) or (usage and len(ours & theirs) > 1)
    one, other = before.act.given, after.act.given
    kept = [name for name in one if name in other and one[name] == other[name]]
    if usage and (kept or len(one) <= 1 or len(other) > len(one)):
        return True
    moved = [name for name in one if name in other and one[name] != other[name]]
    return bool(kept or moved) and all(_alike(str(one[name]), str(other[name])) for name in moved)


def _alike(one: str, other: str) -> bool:
    """Whether two values are one, written otherwise."""
    ours, theirs = (re.sub(r"[\W_]", "", text.lower()) for text in (one, other))
    return bool(ours) and bool(theirs) and (ours in theirs or theirs in ours)

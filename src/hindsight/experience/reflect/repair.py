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
MAX_UNTOLD = 2  # changes that nothing ties to the failure and that are still taken for its repair


def that_tell(changes: Sequence[Step], failed: Step) -> tuple[list[Step] | None, bool]:
    """The changes that the failure speaks of, and whether it does; `None` where it can't be told which mattered."""
    files, words = files_named(failed), words_named(failed)
    text = plain_text(failed.act.result or "").lower()
    near = [step for step in changes if _named(step, files, text)]
    if not near:
        near = [step for step in changes if _words_of(step) & words]
    if near and len(netted(changes)) <= MAX_CHANGES:
        return list(changes), True  # what was changed in one go belongs together
    if near:
        return (near, True) if len(netted(near)) <= MAX_CHANGES else (None, False)
    return (list(changes), False) if len(changes) <= MAX_UNTOLD else (None, False)


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
    found = re.findall(r"[A-Za-z_]\w*(?:[-]\w+)*", text)
    return frozenset(word.lower() for word in found if len(word) >= 5 and re.search(r"[_\d-]|[a-z][A-Z]", word))


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

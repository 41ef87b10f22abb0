"""Sets of experiences and situations: read from JSON lines, or made up from planted truths.

A set is a folder with `experiences.jsonl[.gz]`, `queries` and, where nothing kept is right, `queries_null`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from bench.data import DataError, Row, read_rows
from hindsight.errors import shorten

FAILED = "failure"
SEED = 20240229


@dataclass(frozen=True, slots=True)
class Kept:
    """An experience to write. `group`: that of all which are right for the same situations."""

    trigger: str
    steps: tuple[str, ...]
    tools: tuple[str, ...]
    group: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """A situation to search with. `group` is `None` where nothing that is kept is right."""

    text: str
    group: str | None
    lookalikes: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Library:
    """One set."""

    key: str
    kept: tuple[Kept, ...]
    asked: tuple[Situation, ...]


def read_libraries(data: Path, only: Sequence[str] = ()) -> list[Library]:
    """The sets in `data`, itself a set or a folder of sets; `only` picks by name. Raises `DataError`."""
    if not data.is_dir():
        raise DataError(f"data: {shorten(str(data))} is not a folder; allowed: one set, or a folder of sets")
    folders = [data] if _file(data, "experiences") else sorted(path for path in data.iterdir() if path.is_dir())
    found = [_library(folder) for folder in folders if _file(folder, "experiences")]
    if not found:
        raise DataError(f"data: {shorten(str(data))} holds no experiences.jsonl, nor does a folder in it")
    known = {library.key for library in found}
    unknown = sorted(set(only) - known)
    if unknown:
        raise DataError(f"sets: {unknown[0]!r} is not in {data}; allowed: {', '.join(sorted(known))}")
    return [library for library in found if not only or library.key in only]


def _library(folder: Path) -> Library:
    experiences = _file(folder, "experiences")
    queries = _file(folder, "queries")
    if experiences is None or queries is None:
        raise DataError(f"{folder.name}: holds experiences, but no queries.jsonl")
    kept = tuple(_kept(row) for row in read_rows(experiences))
    groups = {one.group for one in kept}
    asked = [_situation(row, groups) for row in read_rows(queries)]
    null = _file(folder, "queries_null")
    if null is not None:
        asked += [_situation(row, groups) for row in read_rows(null)]
    return Library(folder.name, kept, tuple(asked))


def _file(folder: Path, stem: str) -> Path | None:
    return next((path for end in (".jsonl", ".jsonl.gz") if (path := folder / f"{stem}{end}").is_file()), None)


def _kept(row: Row) -> Kept:
    return Kept(
        row.text("trigger"), row.texts("steps"), row.texts("tools"), row.text("group"), row.text("outcome") == FAILED
    )


def _situation(row: Row, groups: set[str]) -> Situation:
    group = row.text_or_none("group")
    if group is not None and group not in groups:
        raise row.error("group", "null, or the group of an experience of this set")
    return Situation(
        row.text("situation"), group, frozenset(row.texts("lookalike_groups")), frozenset(row.texts("partial_groups"))
    )


# What lessons are made of: a goal, what it is done to, where. Of the last two goals nothing is ever kept.
_GOALS = {
    "en": (
        "export the {thing} from {system}", "delete the {thing} in {system}", "restore the {thing} of {system}",
        "move the {thing} into {system}", "share the {thing} on {system} with the team",
        "print forty copies of the {thing} on the third floor", "explain to a new colleague what the {thing} is for",
    ),
    "zh": (
        "从{system}导出{thing}", "在{system}里删除{thing}", "恢复{system}的{thing}", "把{thing}迁移到{system}",
        "在{system}上把{thing}共享给团队", "到三楼把{thing}打印四十份", "向新同事讲解{thing}有什么用",
    ),
}  # fmt: skip
_NEVER_KEPT = 2
_THINGS = {
    "en": ("sales report", "customer list", "meeting notes", "photo archive"),
    "zh": ("销售报表", "客户名单", "会议纪要", "照片归档"),
}
_SYSTEMS = {
    "en": ("Northwind", "Bluebird", "Harborview", "Pinecone Hill"),
    "zh": ("青松系统", "白鹭平台", "远山后台", "星河云盘"),
}
_ASKED = {
    "en": ("I have to {task} before noon", "please {task}", "the manager wants me to {task}"),
    "zh": ("中午之前要{task}", "请帮我{task}", "经理让我{task}"),
}
_STEPS = {
    "en": {
        False: ("ask the owner", "use the bulk tool", "compare the counts"),
        True: ("do it by hand", "skip the check"),
    },
    "zh": {False: ("先问负责人", "用批量工具", "核对数量"), True: ("手工逐条操作", "跳过检查")},
}


def lessons() -> Library:
    """Failures and successes whose truth was planted, in both languages, always the same."""
    chance = random.Random(SEED)
    kept: list[Kept] = []
    asked: list[Situation] = []
    for language in ("en", "zh"):
        for number, (goal, thing, system) in enumerate(_tasks(language)):
            task, group = goal.format(thing=thing, system=system), f"{language}/{number}"
            told = chance.choice(_ASKED[language]).format(task=task)
            if goal in _GOALS[language][-_NEVER_KEPT:]:
                asked.append(Situation(told, None))
                continue
            failed = chance.random() < 0.5
            kept.append(Kept(task, _STEPS[language][failed], ("bulk",) if not failed else (), group, failed))
            asked.append(Situation(told, group))
    groups = frozenset(one.group for one in kept)
    whole = [Situation(one.text, one.group, groups - {one.group or ""}) for one in dict.fromkeys(asked)]
    return Library("lessons", tuple(kept), tuple(whole))


def _tasks(language: str) -> Iterator[tuple[str, str, str]]:
    return product(_GOALS[language], _THINGS[language], _SYSTEMS[language])

"""What is remembered in a namespace, as Markdown for reading: by subject, then by kind, with dates and ids.

Only what answers about now: no history, no turns. Headings are in the language that most memories are in.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from zoneinfo import ZoneInfo

from hindsight.app import SystemClock, make_archive, open_store
from hindsight.config import Settings
from hindsight.domain.experience import Experience, OutcomeStatus, plan
from hindsight.domain.kept import KeptMemory
from hindsight.domain.memory import Kind, Memory, Statement, Status
from hindsight.errors import InvalidInput, NotFound, StorageUnavailable

_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#])")
_UNFIT = re.compile(r"[^\w.-]+")
USER = ("user", "用户")

CHINESE: Mapping[str, str] = MappingProxyType(
    {
        "title": "记忆", "user": "用户", "others": "其他", "as of": "截至", "count": "共", "since": "自",
        "works": "有效", "fails": "教训：会失败", "trust": "可信度", "pinned": "置顶",
        Kind.CONSTRAINT: "限制", Kind.PREFERENCE: "偏好", Kind.FACT: "事实", Kind.RELATION: "关系", Kind.RULE: "规则",
        Kind.EVENT: "事件", Kind.SUMMARY: "摘要", Kind.EXPERIENCE: "经验",
    }
)  # fmt: skip
ENGLISH: Mapping[str, str] = MappingProxyType(
    {
        "title": "Memory", "user": "The user", "others": "Other", "as of": "as of", "count": "memories:",
        "since": "since", "works": "works", "fails": "lesson: this fails", "trust": "trust", "pinned": "pinned",
        Kind.CONSTRAINT: "Constraints", Kind.PREFERENCE: "Preferences", Kind.FACT: "Facts", Kind.RELATION: "Relations",
        Kind.RULE: "Rules", Kind.EVENT: "Events", Kind.SUMMARY: "Summaries", Kind.EXPERIENCE: "Experiences",
    }
)  # fmt: skip
ORDER = (
    Kind.CONSTRAINT, Kind.PREFERENCE, Kind.FACT, Kind.RELATION, Kind.RULE, Kind.EVENT, Kind.SUMMARY, Kind.EXPERIENCE,
)  # fmt: skip


async def export_markdown(settings: Settings, target: Path, *, namespace: str | None = None) -> list[Path]:
    """Write one file (`….md`: one namespace, by default the settings'), or a folder with one for each namespace."""
    one_file = target.suffix == ".md"
    wanted = settings.namespace if one_file and namespace is None else namespace
    if not settings.database.exists():
        raise NotFound("the store", str(settings.database))
    store = await open_store(settings)  # brings it to this release's form
    await store.aclose()
    found: dict[str, list[Memory]] = {}
    async for part in make_archive(settings).records(namespace=wanted, vectors=False):
        for held, record in part:
            if isinstance(record, KeptMemory) and record.memory.status is Status.ACTIVE:
                found.setdefault(held, []).append(record.memory)
    if wanted is not None and not found:
        raise NotFound("namespace", wanted)
    now = SystemClock().now()
    zone = ZoneInfo(settings.timezone)
    pages = {name: "\n".join(page(name, memories, now, zone)) + "\n" for name, memories in sorted(found.items())}
    return await asyncio.to_thread(_write, target, pages, one_file=one_file)


def page(name: str, memories: Sequence[Memory], now: datetime, zone: ZoneInfo) -> Iterator[str]:
    """The lines of one namespace."""
    words = _words(memories)
    yield f"# {words['title']}: {_safe(name)}"
    yield ""
    yield f"{words['as of']} {now.astimezone(zone):%Y-%m-%d %H:%M} ({zone.key}), {words['count']} {len(memories)}"
    groups: dict[str, list[Memory]] = {}
    for memory in memories:
        groups.setdefault(_subject(memory, words), []).append(memory)
    first, last = words["user"], words["others"]
    for subject in sorted(groups, key=lambda one: (one != first, one == last, one.casefold())):
        yield from ("", f"## {_safe(subject)}")
        for kind in ORDER:
            held = [memory for memory in groups[subject] if memory.kind is kind]
            if held:
                yield from ("", f"### {words[kind]}", "")
                for memory in sorted(held, key=lambda one: (not one.pinned, -one.importance, one.occurred_at, one.id)):
                    yield from _item(memory, words)


def _words(memories: Sequence[Memory]) -> Mapping[str, str]:
    chinese = sum(1 for memory in memories if _HAN.search(memory.content))
    return CHINESE if 2 * chinese > len(memories) else ENGLISH


def _subject(memory: Memory, words: Mapping[str, str]) -> str:
    if not isinstance(memory.body, Statement):
        return words["others"]
    subject = memory.body.subject
    if subject is None or not subject.strip():
        return words["others"]
    return words["user"] if subject.casefold() in USER else subject


def _item(memory: Memory, words: Mapping[str, str]) -> Iterator[str]:
    notes = [f"`{memory.short_id}`", _day(memory.occurred_at, memory.timezone)]
    if memory.valid_from is not None and memory.valid_from != memory.occurred_at:
        notes.append(f"{words['since']} {_day(memory.valid_from, memory.timezone)}")
    if memory.pinned:
        notes.append(words["pinned"])
    body = memory.body
    if not isinstance(body, Experience):
        yield f"- {_safe(memory.content)} ({', '.join(notes)})"
        return
    ends = words["works"] if body.outcome.status is OutcomeStatus.SUCCESS else words["fails"]
    notes += [ends, f"{words['trust']} {body.outcome.confidence / 100:.2f}"]
    yield f"- {_safe(body.trigger.context)} ({', '.join(notes)})"
    yield from (f"  {number}. {_safe(step)}" for number, step in enumerate(plan(body), 1))


def _day(moment: datetime, timezone: str) -> str:
    try:
        zone = ZoneInfo(timezone)
    except (KeyError, ValueError, OSError):  # what was valid where it was written
        zone = ZoneInfo("UTC")
    return f"{moment.astimezone(zone):%Y-%m-%d}"


def _safe(text: str) -> str:
    """One line, in which nothing is read as Markdown or HTML."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _write(target: Path, pages: Mapping[str, str], *, one_file: bool) -> list[Path]:
    if target.exists() and target.is_dir() is one_file:
        raise InvalidInput("--markdown", str(target), "a name that ends in .md for one file, or a folder")
    folder = target.parent if one_file else target
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for name, text in pages.items():
            path = target if one_file else _name(folder, name, written)
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise StorageUnavailable(
            f"{folder} can't be written: {error.strerror}", hint="Choose another place."
        ) from error
    return written


def _name(folder: Path, namespace: str, taken: Sequence[Path]) -> Path:
    """A file name that any system takes, another for each namespace."""
    stem, number = _UNFIT.sub("-", namespace).strip(".-")[:80] or "namespace", 2
    path = folder / f"{stem}.md"
    while path in taken:
        path, number = folder / f"{stem}-{number}.md", number + 1
    return path

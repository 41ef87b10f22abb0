"""Reads retrieval sets in the uniform format: JSON lines, plain or gzipped, checked row by row.

A set is a folder with `memories*.jsonl[.gz]` and `queries*.jsonl[.gz]`. The suffixes pair them: `memories_zh` goes
with `queries_zh` and `queries_abstain_zh`. Questions of `queries_crosslingual` go with the file of their scope, under a
key with the language of the question first: `crosslingual_zh_en` asks in Chinese over what is stored in English.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hindsight.errors import HindsightError, shorten

FILE_NAME = re.compile(r"(?P<stem>memories|queries_abstain|queries)(?P<suffix>_\w+)?\.jsonl(?:\.gz)?")
CROSSLINGUAL = "_crosslingual"
ABSTAIN = "queries_abstain"
ROLES = {"user": "user", "assistant": "assistant"}  # speakers that are roles, not people


class DataError(HindsightError):
    """A file is missing or a row of it can't be used: names file, line, field and what is allowed."""

    code = "bench_data"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to write: a turn, a message, a phone record. `occurred_at` is aware."""

    id: str
    scope: str
    text: str
    session_id: str | None = None
    occurred_at: datetime | None = None
    speaker: str | None = None

    def arguments(self) -> dict[str, object]:
        """As arguments of a write, fit for JSON. A speaker that is only a role is given as the role."""
        role = ROLES.get((self.speaker or "").lower())
        given = {
            "content": self.text,
            "session_id": self.session_id,
            "occurred_at": self.occurred_at.isoformat() if self.occurred_at else None,
            "role": role,
            "speaker": None if role else self.speaker,
        }
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Question:
    """One question. `gold`: the items that answer it; empty where nothing stored does, and saying so is right.

    `midway`: it was asked in the middle of the history, so that only what is earlier than `asked_at` may be searched.
    """

    id: str
    scope: str
    query: str
    category: str
    language: str
    gold: frozenset[str] = frozenset()
    asked_at: datetime | None = None
    gold_sessions: frozenset[str] = frozenset()
    exclude_sessions: tuple[str, ...] = ()
    midway: bool = False

    @property
    def abstain(self) -> bool:
        """Whether nothing stored answers it."""
        return not self.gold


@dataclass(frozen=True, slots=True)
class Corpus:
    """One file of memories with the question sets that are asked over it, by key such as `lifebench_zh`."""

    folder: str
    key: str
    items: tuple[Item, ...]
    questions: Mapping[str, tuple[Question, ...]]


def read_corpora(data: Path, only: Sequence[str] = ()) -> list[Corpus]:
    """The retrieval sets in `data`, itself a set or a folder of sets; `only` picks by folder or by key.

    Raises `DataError` where there is none, a name in `only` is unknown, or a row is wrong.
    """
    folders = set_folders(data)
    wanted = set(only)
    # A folder none of whose keys can be wanted is not even read: the files are large.
    picked = [folder for folder in folders if not wanted or any(_may_hold(folder, name) for name in wanted)]
    corpora = [corpus for folder in picked for corpus in read_set(folder)]
    known = {folder.name for folder in folders} | {key for corpus in corpora for key in corpus.questions}
    unknown = sorted(wanted - known)
    if unknown:
        raise DataError(f"sets: {unknown[0]!r} is not in {data}; allowed: {', '.join(sorted(known))}")
    chosen = [_narrowed(corpus, wanted) for corpus in corpora]
    return [corpus for corpus in chosen if corpus.questions]


def set_folders(data: Path) -> list[Path]:
    """The folders that are retrieval sets: `data` itself, or those directly in it."""
    if not data.is_dir():
        raise DataError(f"data: {shorten(str(data))} is not a folder; allowed: one set, or a folder of sets")
    if _set_files(data, "memories"):
        return [data]
    folders = sorted(path for path in data.iterdir() if path.is_dir() and _set_files(path, "memories"))
    if not folders:
        raise DataError(f"data: {shorten(str(data))} holds no memories*.jsonl, nor does a folder in it")
    return folders


def read_set(folder: Path) -> list[Corpus]:
    """The corpora of one set, one for every file of memories."""
    corpora: list[tuple[str, tuple[Item, ...]]] = []
    for suffix, path in sorted(_set_files(folder, "memories").items()):
        items = tuple(_item(row) for row in read_rows(path))
        _must_be_unique(path, [item.id for item in items])
        corpora.append((suffix, items))
    owner = {item.scope: suffix for suffix, items in corpora for item in items}
    scope_of = {item.id: item.scope for _, items in corpora for item in items}
    asked: dict[str, dict[str, list[Question]]] = defaultdict(lambda: defaultdict(list))
    for key, path in _question_files(folder):
        for row in read_rows(path):
            question = _question(row)
            _must_fit(row, question, scope_of, owner)
            suffix = owner[question.scope]
            asked[suffix][_key_of(key, row, question)].append(question)
    return [
        Corpus(folder.name, folder.name + suffix, items, {key: tuple(qs) for key, qs in sorted(asked[suffix].items())})
        for suffix, items in corpora
    ]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a file, and where it stands."""

    path: Path
    line: int
    values: Mapping[str, object]

    def error(self, field: str, allowed: str) -> DataError:
        """What to raise where a field is not as it must be."""
        place = f"{self.path.parent.name}/{self.path.name} line {self.line}"
        return DataError(f"{place}: {field}: {shorten(self.values.get(field))} is not accepted; allowed: {allowed}")

    def text(self, field: str) -> str:
        """A string that is not blank."""
        value = self.values.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self.error(field, "a string that is not blank")
        return value

    def text_or_none(self, field: str) -> str | None:
        """A string that is not blank, or nothing."""
        return None if self.values.get(field) is None else self.text(field)

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of strings; empty where the field is absent."""
        value = self.values.get(field, [])
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise self.error(field, "a list of strings")
        return tuple(value)

    def moment(self, field: str) -> datetime | None:
        """An aware moment, or nothing."""
        text = self.text_or_none(field)
        if text is None:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise self.error(field, "ISO 8601 with an offset, or null") from error
        if moment.tzinfo is None:
            raise self.error(field, "ISO 8601 with an offset, or null")
        return moment


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a JSON lines file; blank lines are left out."""
    opened: Callable[..., Iterable[bytes]] = gzip.open if path.suffix == ".gz" else open
    place = f"{path.parent.name}/{path.name}"
    try:
        # The stream closes with the generator: a reader that stops early must not leave the file open.
        with opened(path, "rb") as lines:  # type: ignore[attr-defined]  # both openers give a context manager
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield Row(path, number, _object(place, number, line))
    except (OSError, EOFError) as error:
        raise DataError(f"{place}: can't be read: {error}") from error


def _object(place: str, number: int, line: bytes) -> dict[str, object]:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise DataError(f"{place} line {number}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f"{place} line {number}: {shorten(value)} is not accepted; allowed: a JSON object")
    return value


def _item(row: Row) -> Item:
    return Item(
        id=row.text("id"),
        scope=row.text("scope"),
        text=row.text("text"),
        session_id=row.text_or_none("session_id"),
        occurred_at=row.moment("occurred_at"),
        speaker=row.text_or_none("speaker"),
    )


def _question(row: Row) -> Question:
    return Question(
        id=row.text("id"),
        scope=row.text("scope"),
        query=row.text("query"),
        category=row.text("category"),
        language=row.text("language"),
        gold=frozenset(row.texts("gold")),
        asked_at=row.moment("asked_at"),
        gold_sessions=frozenset(row.texts("gold_sessions")),
        exclude_sessions=row.texts("exclude_sessions"),
        midway="exclude_sessions" in row.values,
    )


def _must_fit(row: Row, question: Question, scope_of: Mapping[str, str], owner: Mapping[str, str]) -> None:
    if question.scope not in owner:
        raise row.error("scope", "a scope of the memories in this set")
    if any(scope_of.get(gold) != question.scope for gold in question.gold):
        raise row.error("gold", "ids of memories in the same scope")
    if question.abstain != row.path.name.startswith(ABSTAIN):
        raise row.error("gold", "no id in queries_abstain, one or more elsewhere")
    if question.midway and question.asked_at is None:
        raise row.error("asked_at", "a time, where exclude_sessions is given")


def _must_be_unique(path: Path, ids: Sequence[str]) -> None:
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise DataError(f"{path.parent.name}/{path.name}: id: {shorten(name)} stands there twice")
        seen.add(name)


def _question_files(folder: Path) -> list[tuple[str, Path]]:
    """Suffix and path of every file of questions; those that abstain share the key of the others."""
    found = [*_set_files(folder, "queries").items(), *_set_files(folder, ABSTAIN).items()]
    if not found:
        raise DataError(f"{folder.name}: holds memories*.jsonl, but no queries*.jsonl")
    return sorted(found)


def _set_files(folder: Path, stem: str) -> dict[str, Path]:
    """Suffix → file, for the files of one stem."""
    matches = [(FILE_NAME.fullmatch(path.name), path) for path in sorted(folder.iterdir())]
    return {match["suffix"] or "": path for match, path in matches if match and match["stem"] == stem}


def _key_of(suffix: str, row: Row, question: Question) -> str:
    folder = row.path.parent.name
    if suffix != CROSSLINGUAL:
        return folder + suffix
    return f"{folder}{CROSSLINGUAL}_{question.language}_{row.text('memory_language')}"


def _may_hold(folder: Path, name: str) -> bool:
    return name == folder.name or name.startswith(folder.name + "_")


def _narrowed(corpus: Corpus, wanted: set[str]) -> Corpus:
    if not wanted or corpus.folder in wanted:
        return corpus
    questions = {key: asked for key, asked in corpus.questions.items() if key in wanted}
    return Corpus(corpus.folder, corpus.key, corpus.items, questions)

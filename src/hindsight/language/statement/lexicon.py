"""The words that the analysis knows, in both languages, read from `lexicon.txt` once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hindsight.language.fold import fold
from hindsight.language.stem import stem

_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a word stands for, and its class: the section it stands in."""

    concept: str
    kind: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """English entries by their words as they stand and by the stems of these, Chinese by their characters."""

    exact: dict[tuple[str, ...], Entry]
    english: dict[tuple[str, ...], Entry]
    chinese: dict[str, Entry]
    longest_english: int
    longest_chinese: int


@cache
def lexicon() -> Lexicon:
    """The lexicon, parsed at the first call. Where a word stands twice, its first place counts.

    `=word` is known as it stands only, since its stem belongs to another («=manager», "manages").
    """
    exact: dict[tuple[str, ...], Entry] = {}
    english: dict[tuple[str, ...], Entry] = {}
    chinese: dict[str, Entry] = {}
    kind = ""
    for line in files(__package__).joinpath("lexicon.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            kind = line.strip("[] ")
        elif "=" in line and not line.startswith("#"):
            concept, _, words = line.partition(" = ")
            latin, _, han = words.partition("|")
            entry = Entry(concept.strip(), kind)
            for phrase in latin.split(","):
                if plain := tuple(_WORD.findall(fold(phrase))):
                    exact.setdefault(plain, entry)
                    if "=" not in phrase:
                        english.setdefault(stems(phrase), entry)
            for word in han.split():
                own = Entry(fold(word), kind) if concept == "." else entry  # a word of its own, kept in one piece
                chinese.setdefault(fold(word), own)
    return Lexicon(exact, english, chinese, max(map(len, exact)), max(map(len, chinese)))


@cache
def relatives() -> frozenset[str]:
    """The concepts of kinship and the like."""
    known = lexicon()
    entries = (*known.exact.values(), *known.chinese.values())
    return frozenset(entry.concept for entry in entries if entry.kind in ("kin", "kin-many"))


def stems(phrase: str) -> tuple[str, ...]:
    """The words of an English phrase as they are looked up."""
    return tuple(stem(word) for word in _WORD.findall(fold(phrase)))

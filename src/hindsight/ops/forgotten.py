"""Looks through every file of a data folder for words that were purged, byte by byte.

The database file too: so no store may be open on it in this process, as a second handle on a file drops SQLite's locks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PART = 4 * 1024 * 1024  # bytes read at once


@dataclass(frozen=True, slots=True)
class Held:
    """A file that holds some of the words."""

    path: Path
    words: tuple[str, ...]


def files_with(folder: Path, words: Sequence[str]) -> tuple[list[Held], int]:
    """The files under a folder that hold any of these words, and how many files were read."""
    wanted = {word: word.encode() for word in words if word}
    held: list[Held] = []
    read = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        read += 1
        found = tuple(_found(path, wanted)) if wanted else ()
        if found:
            held.append(Held(path, found))
    return held, read


def _found(path: Path, wanted: dict[str, bytes]) -> Iterator[str]:
    left = dict(wanted)
    overlap = max(map(len, wanted.values())) - 1
    end = b""
    with path.open("rb") as file:
        while left and (part := file.read(PART)):
            text = end + part
            for word in [word for word, sought in left.items() if sought in text]:
                del left[word]
                yield word
            end = text[-overlap:] if overlap else b""

"""A summary that is kept in place of many memories: sentences that name their originals, and what is left of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date

from hindsight.domain.episode import JsonValue, Metadata
from hindsight.domain.memory import Kind, Memory, Source

SENTENCES, ORIGINALS = "sentences", "originals"  # in the metadata of a summary


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence of a summary: the ids it rests on, and the day of the first of these."""

    text: str
    ids: tuple[str, ...]
    day: date


def content_of(told: Sequence[Told]) -> str:
    """The words of a summary: a line for each sentence, with its day."""
    return "\n".join(f"{one.day.isoformat()} {one.text}" for one in told)


def metadata_of(told: Sequence[Told], originals: Sequence[str]) -> Metadata:
    """What a summary keeps beside its words: which sentence rests on what, and everything it stands for."""
    sentences: list[JsonValue] = [{"text": one.text, "ids": list(one.ids), "day": one.day.isoformat()} for one in told]
    return {SENTENCES: sentences, ORIGINALS: list(originals)}


def told_in(memory: Memory) -> tuple[Told, ...]:
    """The sentences of a summary; none for any other memory."""
    rows = memory.metadata.get(SENTENCES)
    if memory.kind is not Kind.SUMMARY or not isinstance(rows, list):
        return ()
    return tuple(told for row in rows if (told := _told(row)) is not None)


def originals_of(memory: Memory) -> tuple[str, ...]:
    """The ids of the memories that a summary stands for."""
    ids = memory.metadata.get(ORIGINALS)
    if memory.kind is not Kind.SUMMARY or not isinstance(ids, list):
        return ()
    return tuple(one for one in ids if isinstance(one, str))


def without(memory: Memory, gone: Collection[str], episode_ids: Collection[str] = ()) -> Memory | None:
    """A summary without the sentences that rest on any of these memories; `None` where nothing is left of it.

    `episode_ids`: turns it may rest on no more. The version is the caller's to raise.
    """
    kept = tuple(one for one in told_in(memory) if not set(one.ids) & set(gone))
    if not kept:
        return None
    left = tuple(one for one in originals_of(memory) if one not in gone)
    sources: tuple[Source, ...] = tuple(one for one in memory.sources if one.episode_id not in episode_ids)
    metadata = {**memory.metadata, **metadata_of(kept, left)}
    return replace(memory, content=content_of(kept), metadata=metadata, sources=sources)


def _told(row: JsonValue) -> Told | None:
    if not isinstance(row, dict):
        return None
    text, ids, day = row.get("text"), row.get("ids"), row.get("day")
    if not isinstance(text, str) or not isinstance(ids, list) or not isinstance(day, str):
        return None
    try:
        when = date.fromisoformat(day)
    except ValueError:  # metadata of a summary that somebody wrote themselves
        return None
    return Told(text, tuple(one for one in ids if isinstance(one, str)), when)

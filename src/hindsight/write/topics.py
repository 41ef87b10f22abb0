"""Keys under which a statement's rivals are found in the store, whatever their words and without a vector."""

from __future__ import annotations

from collections.abc import Iterable

from hindsight.domain.episode import Origin
from hindsight.domain.memory import Layer, Memory, Statement
from hindsight.language.fold import fold
from hindsight.language.statement.claim import LIGHT, SORTS, Claim, Reading
from hindsight.language.statement.claims import read
from hindsight.language.statement.turns import ends_of

MAX_READ = 300  # characters; what is longer says too much for one analysis
MAX_TOPICS = 24
_MAX_KEY = 80


def reading_of(memory: Memory) -> Reading | None:
    """What a memory says; `None` for what is no short statement."""
    if memory.layer is not Layer.SEMANTIC or not isinstance(memory.body, Statement) or len(memory.content) > MAX_READ:
        return None
    return read(memory.content, speaker_of(memory.speaker, memory.origin))


def speaker_of(speaker: str | None, origin: Origin) -> str:
    """Whom «我» and "I" stand for: who is named, else the user; in what a tool or document says, neither."""
    if speaker:
        return fold(speaker)
    return "user" if origin is Origin.USER else origin.value


def topics_of(reading: Reading | None) -> tuple[str, ...]:
    """The keys a statement is stored under."""
    return _first(key for claim in reading.claims for key in _keys(claim)) if reading is not None else ()


def rivals_of(reading: Reading) -> tuple[str, ...]:
    """The keys under which what it may repeat, change or end is stored."""
    return _first(key for claim in reading.claims for key in (*_ended(claim), *_keys(claim)))


def _keys(claim: Claim) -> Iterable[str]:
    yield from (f"{subject}|{claim.slot}" for subject in _subjects(claim))
    yield from (f"sort:{kind}" for _, kind in claim.kinds if kind in SORTS)
    for word in dict.fromkeys((*claim.value, *claim.subject, *claim.dropped, *sorted(claim.verbs))):
        if word != "user" and word not in LIGHT:
            yield word
    yield from claim.numbers


def _ended(claim: Claim) -> Iterable[str]:
    return (f"{subject}|{slot}" for subject in _subjects(claim) for slot in sorted(ends_of(claim)))


def _subjects(claim: Claim) -> tuple[str, ...]:
    """The person it is about; the thing, and the person whose it is."""
    if claim.owner:
        return (claim.owner,)
    thing = "+".join(sorted(set(claim.subject) - {"user"}))
    return tuple(one for one in (thing, "user" if "user" in claim.subject else "") if one)


def _first(keys: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key[:_MAX_KEY] for key in keys))[:MAX_TOPICS]

"""What every store refuses at its door, so that all backends refuse the same: `InvalidInput` names the field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import UTC, datetime
from enum import Enum
from json import dumps
from math import isfinite
from sys import float_info
from typing import Any

import numpy as np
import orjson

from hindsight.domain.change import Batch, Embedding, NewJob, Put
from hindsight.domain.kept import Kept
from hindsight.domain.purge import Purge
from hindsight.domain.query import Filters
from hindsight.domain.schedule import Due
from hindsight.errors import InvalidInput

EARLIEST = datetime(1, 1, 1, tzinfo=UTC)
LATEST = datetime.max.replace(tzinfo=UTC)
UNIT_TOLERANCE = 0.01  # float16 rounding and sloppy providers stay far below it
INT64 = 2**63
_ONLY_JSON = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
DEEPEST = 100  # levels of metadata; the JSON parser of Python ends at about a thousand


def check_batch(batch: Batch) -> None:
    """`InvalidInput` for a batch that no store takes."""
    check_text("namespace", batch.namespace, empty=False)
    check_text("key", batch.key, empty=False)
    for name in ("episodes", "puts", "jobs", "done", "receipt", "episode_states", "ends", "at", "kept"):
        _check(name, getattr(batch, name))
    for embedding in batch.embeddings:
        _check_embedding(embedding)
    for number, episode in enumerate(batch.episodes):
        if episode.namespace != batch.namespace:
            raise InvalidInput(f"episodes[{number}].namespace", episode.namespace, f"{batch.namespace!r}, the batch's")
    versions: dict[str, int] = {}
    for number, put in enumerate(batch.puts):
        _check_put(f"puts[{number}]", put, batch.namespace, versions)
    if batch.kept is not None:
        _check_kept(batch.kept, batch.namespace)


def _check_kept(kept: Kept, namespace: str) -> None:
    named = [(f"kept.episodes[{number}].episode", one.episode.namespace) for number, one in enumerate(kept.episodes)]
    for number, memory in enumerate(kept.memories):
        named.append((f"kept.memories[{number}].memory", memory.memory.namespace))
        for place, state in enumerate(memory.revisions):
            named.append((f"kept.memories[{number}].revisions[{place}].memory", state.memory.namespace))
    for name, found in named:
        if found != namespace:
            raise InvalidInput(f"{name}.namespace", found, f"{namespace!r}, the batch's")


def check_purge(purge: Purge) -> None:
    """`InvalidInput` for a purge that no store takes."""
    check_text("namespace", purge.namespace, empty=False)
    check_text("key", purge.key, empty=False)
    if not purge.ids:
        raise InvalidInput("ids", [], "at least one id")
    for name in ("ids", "at", "jobs", "done"):
        _check(name, getattr(purge, name))


def check_scheduled(entry: Due, expected: datetime | None, jobs: Sequence[tuple[str, NewJob]]) -> None:
    """`InvalidInput` for an entry of the schedule that no store takes."""
    _check("entry", entry)
    _check("expected", expected)
    _check("jobs", tuple(jobs))


def _check_put(name: str, put: Put, namespace: str, versions: dict[str, int]) -> None:
    memory = put.memory
    if memory.namespace != namespace:
        raise InvalidInput(f"{name}.memory.namespace", memory.namespace, f"{namespace!r}, the batch's")
    if memory.version != (put.expected_version or 0) + 1:
        raise InvalidInput(
            f"{name}.memory.version", memory.version, f"{(put.expected_version or 0) + 1}, one above expected_version"
        )
    if memory.id in versions and put.expected_version != versions[memory.id]:
        raise InvalidInput(
            f"{name}.expected_version", put.expected_version, f"{versions[memory.id]}, as put before in this batch"
        )
    versions[memory.id] = memory.version


def _check_embedding(embedding: Embedding) -> None:
    check_text("embeddings.entry_id", embedding.entry_id, empty=False)
    check_text("embeddings.model", embedding.model, empty=False)
    vector = np.asarray(embedding.vector)
    if vector.ndim != 1 or vector.size == 0:
        raise InvalidInput("embeddings.vector", vector.shape, "the shape (dimensions,)")
    length = float(np.linalg.norm(vector.astype(np.float64)))
    # A text without a word has no direction: the zero vector stands for it.
    if length != 0 and not abs(length - 1) <= UNIT_TOLERANCE:
        raise InvalidInput("embeddings.vector", length, "finite numbers of unit length")


def check_text(name: str, text: str, *, empty: bool = True) -> None:
    """`InvalidInput` for NUL, for half a surrogate pair, and for nothing at all unless that may be."""
    if not isinstance(text, str):
        raise InvalidInput(name, text, "text")
    if "\0" in text:
        raise InvalidInput(name, text, "text without the character NUL")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidInput(name, text, "whole Unicode characters, no half of a surrogate pair") from None
    if not empty and not text:
        raise InvalidInput(name, text, "text that is not empty")


def check_texts(name: str, texts: Iterable[str]) -> None:
    """`check_text` for each."""
    for text in texts:
        check_text(name, text)


def check_filters(filters: Filters) -> None:
    """`InvalidInput` for texts, times and numbers in a filter that no store can compare with."""
    _check("filters", filters)


def check_limit(limit: int) -> None:
    """`InvalidInput` unless the limit of a list is at least 1."""
    if limit < 1 or limit >= INT64:
        raise InvalidInput("limit", limit, "1 or more")


def check_time(name: str, moment: datetime) -> None:
    """`InvalidInput` for a time without a zone, or outside the years 1 to 9999 once in UTC."""
    if moment.utcoffset() is None:
        raise InvalidInput(name, moment, "a time with its zone")
    if not EARLIEST <= moment <= LATEST:
        raise InvalidInput(name, moment, "a time in the years 1 to 9999, in UTC")


def encoded(name: str, value: object) -> str:
    """The value as compact JSON. `InvalidInput` for what JSON has no form for. Quick: each search keeps a record."""
    try:
        text = orjson.dumps(value, option=_ONLY_JSON).decode()
    except orjson.JSONEncodeError:
        return _slowly(name, value)
    # orjson writes null for NaN and infinity.
    return _slowly(name, value) if "null" in text else text


def _slowly(name: str, value: object) -> str:
    try:
        text = dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
        text.encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, value, f"JSON values ({error})") from error
    return text


def _check(name: str, value: Any, *, json: bool = False, depth: int = 0) -> None:
    match value:
        case Enum() | None | bool():
            pass
        case str():
            check_text(name, value)
        case int() | float():
            _check_number(name, value, json)
        case datetime() if not json:
            check_time(name, value)
        case _ if depth > DEEPEST:
            raise InvalidInput(name, "…", f"at most {DEEPEST} levels")
        case _:
            for part, item, inside in _parts(name, value, json):
                if type(item) is not str or "\0" in item or not item.isascii():  # most are plain texts
                    _check(part, item, json=inside, depth=depth + 1)


def _check_number(name: str, value: float, json: bool) -> None:
    # Larger than any float, a whole number stands for infinity to most readers of JSON.
    if (isinstance(value, int) and abs(value) > float_info.max) or not isfinite(value):
        raise InvalidInput(name, value, "a finite number")
    if isinstance(value, int) and not json and not -INT64 <= value < INT64:
        raise InvalidInput(name, value, "a whole number of at most 64 bits")


def _parts(name: str, value: Any, json: bool) -> Iterator[tuple[str, Any, bool]]:
    """What a value is made of: the name of each part, the part, and whether it is JSON."""
    if isinstance(value, list) or (isinstance(value, tuple) and not json):
        inside = json or isinstance(value, list)
        yield from ((f"{name}[{number}]", item, inside) for number, item in enumerate(value))
    elif is_dataclass(value) and not json:
        # `fields()` filters a list anew at each call; the keys of what it filters are enough here.
        yield from ((f"{name}.{field}", getattr(value, field), False) for field in value.__dataclass_fields__)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_text(f"{name} (a key)", key)
            yield f"{name}.{key}", item, True
    else:
        raise InvalidInput(name, value, "text, numbers, true, false, null, and lists and objects of these")

"""One record of an export as one JSON object, and back; a wrong value is named by its field."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from hindsight.domain.change import Embedding, Job, Review, Revision
from hindsight.domain.episode import Episode, EpisodeState
from hindsight.domain.experience import Experience
from hindsight.domain.kept import KeptEpisode, KeptMemory, KeptSession, Record
from hindsight.domain.memory import Memory, Statement
from hindsight.domain.page import Use
from hindsight.domain.session import Session, Variable
from hindsight.errors import InvalidInput

Json: TypeAlias = dict[str, Any]

TYPES: Mapping[str, type[Any]] = {
    "episode": KeptEpisode,
    "memory": KeptMemory,
    "session": KeptSession,
    "review": Review,
    "job": Job,
    "vector": Embedding,
}
_NAMES = {kind: name for name, kind in TYPES.items()}
_SIMPLE = frozenset({str, int, float, bool, NoneType})
_EMPTY: tuple[object, ...] = (None, (), {})
_FORMS = {str: "text", int: "a whole number", bool: "true or false", float: "a number", dict: "an object"}


def line_of(namespace: str, record: Record) -> Json:
    """A record as it stands in a line."""
    return {"type": _NAMES[type(record)], "namespace": namespace, **_plain(record)}


def record_of(line: Mapping[str, Any]) -> tuple[str, Record]:
    """The inverse of `line_of`. `InvalidInput` by field."""
    namespace = _value(str, line.get("namespace"), "namespace")
    kind = TYPES.get(str(line.get("type")))
    if kind is None:
        raise InvalidInput("type", line.get("type"), f"one of {', '.join(TYPES)}")
    if not namespace:
        raise InvalidInput("namespace", namespace, "text that is not empty")
    if kind is Embedding:
        return namespace, _vector(line)
    if kind is KeptMemory:
        return namespace, _memory(namespace, line)
    return namespace, cast("Record", _object(kind, line, "", namespace))


def digest(line: Mapping[str, Any]) -> int:
    """What a record adds to a checksum over content, by its line, as a number of 256 bits; 0 for what is not content.

    Not content: vectors, jobs, use counts, the namespace, and the change numbers of revisions, which are each store's
    own.
    """
    if line["type"] in ("vector", "job"):
        return 0
    told = {name: value for name, value in line.items() if name not in ("namespace", "use")}
    if "history" in told:
        told["history"] = [{name: held for name, held in one.items() if name != "change"} for one in told["history"]]
    text = _canonical.encode(told)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


_canonical = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


# Writing ------------------------------------------------------------------------------------------------------------


def _plain(value: object) -> Any:
    if type(value) in _SIMPLE:
        return value
    match value:
        case Embedding():
            vector = np.asarray(value.vector).astype("<f2").tobytes()
            return {"id": value.entry_id, "model": value.model, "float16": base64.b64encode(vector).decode()}
        case KeptMemory():
            past = [_revision(one, value.memory) for one in value.revisions]
            told = {**_plain(value.memory), "history": past}
            return told if value.use is None else {**told, "use": _plain(value.use)}
        case KeptEpisode():
            told = {**_plain(value.episode), "state": value.state.value, "since": _plain(value.since)}
            return told if value.use is None else {**told, "use": _plain(value.use)}
        case Enum():
            return value.value
        case datetime():
            return value.astimezone(UTC).isoformat()
        case list() | tuple():
            return [_plain(one) for one in value]
        case Mapping():
            return {key: _plain(one) for key, one in value.items()}
        case _ if is_dataclass(value):
            shown = ((name, getattr(value, name), empty) for name, empty in _shown(cast("Hashable", type(value))))
            return {name: _plain(held) for name, held, empty in shown if not empty or held not in _EMPTY}
        case _:
            return value


@cache
def _shown(kind: Hashable) -> tuple[tuple[str, bool], ...]:
    """The fields of a class, and whether each need not be said where it is empty, as it is by default."""
    held = fields(cast("type[Any]", kind))
    return tuple((one.name, _empty_by_default(one)) for one in held if one.name != "namespace")


def _empty_by_default(one: Field[Any]) -> bool:
    return one.default in (None, ()) or one.default_factory is not MISSING


def _revision(revision: Revision, now: Memory) -> Json:
    told: Json = _plain(replace(revision, memory=now))
    if revision.memory == now:
        del told["memory"]  # the last state is the memory as it is
    else:
        told["memory"] = _plain(revision.memory)
    return told


# Reading ------------------------------------------------------------------------------------------------------------


def _memory(namespace: str, line: Mapping[str, Any]) -> KeptMemory:
    memory: Memory = _object(Memory, line, "", namespace)
    past = []
    for number, one in enumerate(_value(list, line.get("history"), "history")):
        name = f"history[{number}]"
        given = dict(_value(dict, one, name))
        state = given.pop("memory", None)
        told = memory if state is None else _object(Memory, _value(dict, state, f"{name}.memory"), name, namespace)
        past.append(_object(Revision, given, f"{name}.", namespace, memory=told))
    use = line.get("use")
    return KeptMemory(memory, tuple(past), None if use is None else _value(Use, use, "use"))


def _vector(line: Mapping[str, Any]) -> Embedding:
    text = _value(str, line.get("float16"), "float16")
    try:
        vector = np.frombuffer(base64.b64decode(text, validate=True), "<f2").astype(np.float32)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput("float16", text, "numbers of 16 bits in base64") from error
    return Embedding(_value(str, line.get("id"), "id"), _value(str, line.get("model"), "model"), vector)


def _object(kind: type[Any], given: Mapping[str, Any], prefix: str, namespace: str = "", **known: object) -> Any:
    """A dataclass by its fields; `known` are not read. An episode's own fields stand beside those of its keeping."""
    hints = _hints(cast("Hashable", kind))
    values: dict[str, object] = dict(known)
    for one in fields(kind):
        name = f"{prefix}{one.name}"
        if one.name in known:
            continue
        if one.name == "namespace":
            values[one.name] = namespace
        elif hints[one.name] is Episode:
            values[one.name] = _object(Episode, given, prefix, namespace)
        elif one.name in given:
            values[one.name] = _value(hints[one.name], given[one.name], name)
        elif one.default is MISSING and one.default_factory is MISSING:
            raise InvalidInput(name, None, "a value: it is missing")
    return kind(**values)


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    # Some of these names are known to type checkers only where the classes stand.
    named = (Episode, EpisodeState, Memory, Revision, Session, Variable, Use)
    known = {"Metadata": dict, "JsonValue": object, **{one.__name__: one for one in named}}
    return get_type_hints(kind, localns=known)


def _value(hint: Any, value: Any, name: str) -> Any:
    """A JSON value as what a field wants."""
    if hint is object:
        return value
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _one_of(get_args(hint), value, name)
    if origin is tuple:
        return _tuple(get_args(hint), value, name)
    if origin is dict or hint is dict:
        return _exact(dict, value, name)
    if hint is datetime:
        return _moment(value, name)
    if issubclass(hint, Enum):
        return _member(hint, value, name)
    if is_dataclass(hint):
        return _object(cast("type[Any]", hint), _exact(dict, value, name), f"{name}.")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _exact(hint, value, name)


def _one_of(choices: tuple[Any, ...], value: Any, name: str) -> Any:
    if NoneType in choices:
        return None if value is None else _value(next(one for one in choices if one is not NoneType), value, name)
    # A memory's body: an experience has a trigger.
    body = Experience if "trigger" in _exact(dict, value, name) else Statement
    return _value(body, value, name)


def _tuple(inside: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    given = _exact(list, value, name)
    if inside[-1] is ...:
        return tuple(_value(inside[0], one, f"{name}[{number}]") for number, one in enumerate(given))
    if len(given) != len(inside):
        raise InvalidInput(name, value, f"a list of {len(inside)}")
    return tuple(_value(one, held, f"{name}[{n}]") for n, (one, held) in enumerate(zip(inside, given, strict=True)))


def _exact(kind: type[Any], value: Any, name: str) -> Any:
    if type(value) is not kind:
        raise InvalidInput(name, value, _FORMS.get(kind, "a list"))
    return value


def _moment(value: Any, name: str) -> datetime:
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(name, value, "a time such as 2024-01-15T12:00:00+00:00") from error
    if found.utcoffset() is None:
        raise InvalidInput(name, value, "a time with its zone")
    return found.astimezone(UTC)


def _member(kind: Callable[[Any], Any], value: Any, name: str) -> Any:
    try:
        return kind(value)
    except ValueError as error:
        raise InvalidInput(name, value, f"one of {', '.join(cast('Any', kind))}") from error

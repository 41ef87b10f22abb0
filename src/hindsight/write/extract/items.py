"""What a language model is asked to return, and reading what it does: repaired where it can be, never guessed."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from hindsight.domain.completion import Completion
from hindsight.domain.episode import JsonValue
from hindsight.domain.memory import Kind
from hindsight.write.extract import Slot

log = logging.getLogger(__name__)

MAX_WHY = 160  # characters of a reason

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SINGLE_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'", re.DOTALL)
_LIST_NAMES = ("items", "facts", "memories", "statements", "results", "data")  # names under which models put their list

_KINDS = {
    **{kind.value: kind for kind in Kind if kind not in (Kind.SUMMARY, Kind.EXPERIENCE)},
    "attribute": Kind.FACT,
    "like": Kind.PREFERENCE,
    "dislike": Kind.PREFERENCE,
    "limit": Kind.CONSTRAINT,
    "relationship": Kind.RELATION,
}


class UnreadableAnswer(ValueError):
    """An answer without a list of statements in it, whatever one does."""


def _kind(value: object) -> Kind:
    return _KINDS.get(str(value).strip().lower(), Kind.FACT)


def _slot(value: object) -> Slot | None:
    try:
        return Slot(str(value).strip().lower())
    except ValueError:
        return None


def _turn(value: object) -> int:
    """The number of a turn; 0 where it is none, and then the quote has to find its turn by itself."""
    found = re.search(r"\d{1,6}", str(value))
    return int(found[0]) if found else 0


def _names(value: object) -> object:
    if value is None:
        return []
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else [str(value)]


def _swing(value: object) -> int:
    """1 for what matters more than usual, -1 for less; 0 for all that says neither."""
    return {"higher": 1, "high": 1, "lower": -1, "low": -1}.get(str(value).strip().lower(), 0)


def _why(value: object) -> str:
    """A reason in one short line."""
    return " ".join(value.split())[:MAX_WHY] if isinstance(value, str) else ""


def _text(value: object) -> object:
    return "" if value is None else value


class Item(BaseModel):
    """One statement as the model gives it; none of it is believed before `said` has checked it."""

    model_config = ConfigDict(extra="ignore", frozen=True, str_strip_whitespace=True, coerce_numbers_to_str=True)

    turn: Annotated[int, BeforeValidator(_turn)] = 0
    quote: str = Field(min_length=1, max_length=2_000)
    statement: Annotated[str, BeforeValidator(_text)] = Field(default="", max_length=1_000)
    kind: Annotated[Kind, BeforeValidator(_kind)] = Kind.FACT
    subject: Annotated[str, BeforeValidator(_text)] = Field(default="", max_length=200)
    slot: Annotated[Slot | None, BeforeValidator(_slot)] = None
    value: Annotated[str, BeforeValidator(_text)] = Field(default="", max_length=500)
    entities: Annotated[list[str], BeforeValidator(_names)] = Field(default_factory=list)
    matters: Annotated[int, BeforeValidator(_swing)] = 0
    why: Annotated[str, BeforeValidator(_why)] = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The items of one answer. `truncated`: it was cut off, and these are the whole ones. `dropped`: reasons."""

    items: tuple[Item, ...]
    truncated: bool = False
    repaired: bool = False
    dropped: tuple[str, ...] = ()


def schema_of(title: str, fields: Sequence[str], kinds: Sequence[Kind], slots: Sequence[Slot]) -> dict[str, JsonValue]:
    """JSON schema of an answer with these fields; all required and no others, as strict servers want it."""
    known: dict[str, JsonValue] = {
        "turn": {"type": "integer"},
        "quote": {"type": "string"},
        "statement": {"type": "string"},
        "kind": {"type": "string", "enum": [kind.value for kind in kinds]},
        "subject": {"type": "string"},
        "slot": {"type": "string", "enum": [*(slot.value for slot in slots), "other"]},
        "value": {"type": "string"},
        "entities": {"type": "array", "items": {"type": "string"}},
        "matters": {"type": "string", "enum": ["usual", "higher", "lower"]},
        "why": {"type": "string"},
    }
    item: dict[str, JsonValue] = {
        "type": "object",
        "properties": {name: known[name] for name in fields},
        "required": list(fields),
        "additionalProperties": False,
    }
    return {
        "title": title,
        "type": "object",
        "properties": {"items": {"type": "array", "items": item}},
        "required": ["items"],
        "additionalProperties": False,
    }


def read_answer(completion: Completion) -> Answer:
    """The valid items of an answer. `UnreadableAnswer` if there is no list in it, or none of its items is one.

    Of a list that was cut off the last item counts only if it is whole: half a quote may still stand in the text.
    """
    rows, truncated, repaired = _read(completion)
    items: list[Item] = []
    dropped: list[str] = []
    for row in rows:
        try:
            items.append(Item.model_validate(row))
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            dropped.append(f"{'.'.join(map(str, fault['loc'])) or 'item'}: {fault['msg']}")
    if dropped and not items:
        raise UnreadableAnswer(f"no item is valid; the first: {dropped[0]}")
    return Answer(tuple(items), truncated, repaired, tuple(dropped))


def rows_of(completion: Completion) -> list[object]:
    """The rows of an answer as they came, without the last where it was cut off. `UnreadableAnswer` without a list."""
    return _read(completion)[0]


def _read(completion: Completion) -> tuple[list[object], bool, bool]:
    """The rows of an answer, whether it was cut off, and whether it had to be repaired."""
    text = _THOUGHT.sub("", completion.text).strip()
    found, repaired = _value(text)
    rows = _rows(found)
    if rows is None or (not rows and "[" not in text):
        raise UnreadableAnswer("no list of statements in the answer")
    truncated = completion.truncated or (repaired and _unclosed(text))
    if truncated:
        whole = _whole_rows(text)
        rows = whole if len(whole) >= len(rows) - 1 else rows[:-1]
    return rows, truncated, repaired


def _value(text: str) -> tuple[object, bool]:
    """The JSON value in a text, and whether it had to be looked for or repaired."""
    try:
        return json.loads(text), False
    except (ValueError, RecursionError):
        pass  # then it is not plain JSON
    whole = [value for value in _values_in(text) if _rows(value) is not None]
    if whole:
        return [row for value in whole for row in _rows(value) or ()], True
    opening = _OPENING.search(text)
    if opening is None:
        return None, True
    import json_repair  # noqa: PLC0415 - only for answers that need it

    try:
        return json_repair.loads(text[opening.start() :]), True
    except (ValueError, RecursionError):
        return None, True


def _values_in(text: str) -> Iterator[object]:
    """Every whole JSON object or array in prose, outermost first."""
    decoder = json.JSONDecoder()
    place = 0
    while (opening := _OPENING.search(text, place)) is not None:
        try:
            value, place = decoder.raw_decode(text, opening.start())
        except RecursionError:
            return
        except ValueError:
            if text[opening.end() :].lstrip()[:1] in ('"', "'", "{", "["):
                return  # JSON began here and is broken: its parts must not be taken for the whole
            place = opening.end()
        else:
            yield value


def _whole_rows(text: str) -> list[object]:
    """The rows of the first array up to where it is cut off or broken."""
    decoder = json.JSONDecoder()
    rows: list[object] = []
    place = text.find("[") + 1
    while place:
        while text[place : place + 1] in (",", " ", "\n", "\t", "\r"):
            place += 1
        try:
            row, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        rows.append(row)
    return rows


def _rows(value: object) -> list[object] | None:
    """The rows that should be items; `None` if there is no list of them."""
    if isinstance(value, dict):
        named = [value[name] for name in _LIST_NAMES if name in value]
        if named:
            return _rows(named[0]) if isinstance(named[0], list) else [named[0]] if _is_row(named[0]) else None
        return [value] if _is_row(value) else None
    if not isinstance(value, list):
        return None
    rows: list[object] = []
    for one in value:
        inner = _rows(one) if isinstance(one, dict) and not _is_row(one) else None
        rows += [one] if inner is None else inner
    return rows if not rows or any(isinstance(row, dict) for row in rows) else None


def _is_row(value: object) -> bool:
    return isinstance(value, dict) and ("quote" in value or "statement" in value)


def _unclosed(text: str) -> bool:
    """Whether a bracket or a string is still open at the end."""
    bare = _SINGLE_QUOTED.sub("", _STRINGS.sub("", text))
    return '"' in bare or bare.count("{") > bare.count("}") or bare.count("[") > bare.count("]")

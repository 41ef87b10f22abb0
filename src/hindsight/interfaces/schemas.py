"""Reads what callers send: one place for MCP, REST and the command line.

`Arguments` reads loosely and refuses exactly. LLMs send numbers as text and lists as JSON inside a string, so both are
accepted; anything else that does not fit is an `InvalidInput` that names the field, the value and what is allowed.
Bounds that belong to the domain are checked by the engine and only repeated here where a schema shows them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar, cast

from hindsight.domain.episode import JsonValue
from hindsight.errors import InvalidInput

Choice = TypeVar("Choice", bound=StrEnum)

TEXTS_MAX = 100  # strings in one list


class Arguments:
    """The arguments of one call, read field by field. `where` is the name of the object they came in, empty at the top.

    A field that is absent, `null` or an empty string counts as not given.
    """

    def __init__(self, raw: Mapping[str, object], known: Sequence[str], *, where: str = "") -> None:
        self._raw = raw
        self._where = where
        for name in raw:
            if name not in known:
                allowed = f"no such field; the fields are {', '.join(known)}"
                raise InvalidInput(self._called(str(name)), raw[name], allowed)

    def given(self, name: str) -> bool:
        """Whether the field holds anything."""
        value = self._raw.get(name)
        return value is not None and value != ""

    def text(self, name: str) -> str | None:
        """A string; a number is taken by its digits."""
        if not self.given(name):
            return None
        value = self._raw[name]
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise InvalidInput(self._called(name), value, "a string")
        return str(value)

    def required_text(self, name: str) -> str:
        """A string that must be there."""
        value = self.text(name)
        if value is None or not value.strip():
            raise InvalidInput(self._called(name), self._raw.get(name), "a string that is not empty; it is required")
        return value

    def whole(self, name: str, low: int, high: int) -> int | None:
        """A whole number within bounds, both included; "8" and 8.0 are 8."""
        value = self._number(name)
        if value is None:
            return None
        if not value.is_integer() or not low <= value <= high:
            raise InvalidInput(self._called(name), self._raw[name], f"a whole number from {low} to {high}")
        return int(value)

    def fraction(self, name: str) -> float | None:
        """A number from 0 to 1."""
        value = self._number(name)
        if value is not None and not 0 <= value <= 1:
            raise InvalidInput(self._called(name), self._raw[name], "a number from 0 to 1")
        return value

    def truth(self, name: str) -> bool | None:
        """true or false, also as text."""
        if not self.given(name):
            return None
        value = self._raw[name]
        word = value.strip().lower() if isinstance(value, str) else value
        if word not in (True, False, "true", "false") or isinstance(word, float):
            raise InvalidInput(self._called(name), value, "true or false")
        return word in (True, "true")

    def choice(self, name: str, words: Iterable[Choice]) -> Choice | None:
        """One word of a closed list."""
        text = self.text(name)
        return None if text is None else _word(self._called(name), text, words)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings: a list, JSON of one, or one bare string. Empty items are left out."""
        if not self.given(name):
            return ()
        value = self._raw[name]
        parsed = _json_in(value, "[") if isinstance(value, str) else value
        items = [parsed] if isinstance(parsed, str) else parsed
        if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
            raise InvalidInput(self._called(name), value, "a list of strings")
        if len(items) > TEXTS_MAX:
            raise InvalidInput(self._called(name), value, f"at most {TEXTS_MAX} strings")
        return tuple(item.strip() for item in items if item.strip())

    def nested(self, name: str, known: Sequence[str]) -> Arguments:
        """An object of fields: an object or JSON of one; empty where it is not given."""
        return Arguments(self.mapping(name), known, where=self._called(name))

    def mapping(self, name: str) -> Mapping[str, object]:
        """A free object: an object or JSON of one; empty where it is not given."""
        if not self.given(name):
            return {}
        value = self._raw[name]
        parsed = _json_in(value, "{") if isinstance(value, str) else value
        if not isinstance(parsed, dict):
            raise InvalidInput(self._called(name), value, "an object")
        return cast("dict[str, object]", parsed)

    def _number(self, name: str) -> float | None:
        if not self.given(name):
            return None
        value = self._raw[name]
        try:
            number = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise InvalidInput(self._called(name), value, "a number")
        return number

    def _called(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where else name


def _word(field: str, text: str, words: Iterable[Choice]) -> Choice:
    folded = text.strip().lower()
    for word in words:
        if word.value == folded:
            return word
    raise InvalidInput(field, text, "one of " + ", ".join(word.value for word in words))


def _json_in(text: str, opening: str) -> object:
    """What a string holds as JSON, if it looks like it; otherwise the string."""
    if not text.lstrip().startswith(opening):
        return text
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value

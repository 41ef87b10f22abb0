"""Between domain values and rows: times, columns, filters as conditions, named statements. Shared by both databases."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from hindsight.domain.entry import Entry, entry_of_episode, text_to_search, trust_in
from hindsight.domain.episode import Episode, EpisodeState, Origin, Role
from hindsight.domain.memory import Kind, Layer, Memory, Status
from hindsight.domain.page import Order
from hindsight.domain.query import Filters, TimeRange
from hindsight.errors import InvalidInput
from hindsight.storage.snapshot import body_json, body_of, dumps, loads, origin_of_text, sources_json, sources_of

Row: TypeAlias = tuple[Any, ...]
Word = TypeVar("Word", bound=StrEnum)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """Whole microseconds since 1970 in UTC."""
    return (moment - EPOCH) // MICROSECOND


def moment(stored: int) -> datetime:
    """The inverse of `micros`, in UTC."""
    return EPOCH + timedelta(microseconds=stored)


def optional_micros(value: datetime | None) -> int | None:
    """`micros` where there is a time."""
    return None if value is None else micros(value)


def optional_moment(stored: int | None) -> datetime | None:
    """`moment` where there is a time."""
    return None if stored is None else moment(stored)


def by_text(words: type[Word]) -> Callable[[str], Word]:
    """A look-up of enum members by their text; an order of magnitude faster than calling the enum."""
    return {word.value: word for word in words}.__getitem__


_layer = by_text(Layer)
_kind = by_text(Kind)
_status = by_text(Status)
_role = by_text(Role)
_state = by_text(EpisodeState)

MEMORY_COLUMNS = (
    "id", "content", "layer", "kind", "occurred_at", "timezone", "created_at", "updated_at", "content_key", "body",
    "status", "importance", "confidence", "strength", "pinned", "verbatim", "origin", "valid_from", "valid_to",
    "superseded_by", "session_id", "speaker", "agent", "tags", "entities", "sources", "metadata", "version",
)  # fmt: skip
"""The order in which `memory_row` gives and `memory_of` takes them."""


def memory_row(memory: Memory) -> Row:
    """A memory by `MEMORY_COLUMNS`."""
    return (
        memory.id, memory.content, memory.layer.value, memory.kind.value, micros(memory.occurred_at), memory.timezone,
        micros(memory.created_at), micros(memory.updated_at), memory.content_key, body_json(memory.body),
        memory.status.value, float(memory.importance), float(memory.confidence), float(memory.strength),
        int(memory.pinned), int(memory.verbatim), memory.origin.value, optional_micros(memory.valid_from),
        optional_micros(memory.valid_to), memory.superseded_by, memory.session_id, memory.speaker, memory.agent,
        dumps(memory.tags), dumps(memory.entities), sources_json(memory.sources), dumps(dict(memory.metadata)),
        memory.version,
    )  # fmt: skip


def memory_of(namespace: str, row: Row) -> Memory:
    """The memory in a row whose first columns are `MEMORY_COLUMNS`."""
    return Memory(
        row[0], namespace, row[1], _layer(row[2]), _kind(row[3]), moment(row[4]), row[5], moment(row[6]),
        moment(row[7]), row[8], body_of(row[9]), _status(row[10]), row[11], row[12], row[13], bool(row[14]),
        bool(row[15]), origin_of_text(row[16]), optional_moment(row[17]), optional_moment(row[18]), row[19], row[20],
        row[21], row[22], texts_of(row[23]), texts_of(row[24]), sources_of(row[25]), mapping_of(row[26]), row[27],
    )  # fmt: skip


def texts_of(stored: str) -> tuple[str, ...]:
    """A JSON array of texts; most are empty, and those cost nothing."""
    return () if stored == "[]" else tuple(loads(stored))


def mapping_of(stored: str) -> dict[str, Any]:
    """A JSON object."""
    return {} if stored == "{}" else loads(stored)


def episode_row(episode: Episode, position: int, since: datetime) -> Row:
    """A new episode, open, in the order of the statement `insert_episode`."""
    return (
        episode.namespace, episode.id, episode.content, micros(episode.occurred_at), micros(episode.recorded_at),
        episode.timezone, episode.key, episode.session_id, position, episode.role.value, episode.speaker,
        episode.agent, episode.tool, dumps(dict(episode.metadata)), EpisodeState.OPEN.value, micros(since),
    )  # fmt: skip


def episode_of(namespace: str, row: Row) -> Episode:
    """The episode in a row of the fragment `episode`."""
    return Episode(
        row[0], namespace, row[1], moment(row[2]), moment(row[3]), row[4], row[5], row[6], row[7], _role(row[8]),
        row[9], row[10], row[11], mapping_of(row[12]),
    )  # fmt: skip


def memory_entry(namespace: str, row: Row) -> Entry:
    """The index entry of a row of the fragment `memory_entry`: what `entry_of_memory` makes of the memory.

    Sixty are read for each search, and to make the memory first would take twice as long.
    """
    (
        identifier, content, layer, kind, occurred_at, status, importance, confidence, valid_from, valid_to,
        session, position, speaker, tags, entities, pinned, sources, origin, body,
    ) = row  # fmt: skip
    said, marks = body_of(body), texts_of(tags)
    return Entry(
        identifier, namespace, text_to_search(said, content, speaker, marks), _layer(layer), _kind(kind),
        moment(occurred_at), _status(status), importance, trust_in(said, confidence), optional_moment(valid_from),
        optional_moment(valid_to), session, position, speaker, marks, texts_of(entities), bool(pinned),
        tuple(dict.fromkeys(source.episode_id for source in sources_of(sources))),
        origin_of_text(origin) is Origin.TOOL,
    )  # fmt: skip


def episode_entry(namespace: str, row: Row) -> Entry | None:
    """The index entry of a row of the fragment `episode`."""
    return entry_of_episode(episode_of(namespace, row), _state(row[13]), moment(row[14]))


# Filters ------------------------------------------------------------------------------------------------------------


Condition: TypeAlias = tuple[str, tuple[Any, ...]]
"""SQL text that is true or false, and the values it binds. Lists are bound as one JSON array."""

_AMONG = "(SELECT value FROM json_each(?))"


def conditions(namespace: str, filters: Filters) -> list[Condition]:
    """`Filters.matches` for rows of `memory AS m`: all of these must hold."""
    found: list[Condition] = [("m.namespace = ?", (namespace,))]
    for column, wanted in (
        ("m.kind", filters.kinds),
        ("m.layer", filters.layers),
        ("m.session_id", filters.session_ids),
        ("m.speaker", filters.speakers),
    ):
        if wanted:
            found.append((f"{column} IN {_AMONG}", (dumps(wanted),)))
    if filters.exclude_sessions:
        found.append((f"(m.session_id IS NULL OR m.session_id NOT IN {_AMONG})", (dumps(filters.exclude_sessions),)))
    for table, column, wanted in (("memory_tag", "tag", filters.tags), ("memory_entity", "entity", filters.entities)):
        if wanted:
            text = f"m.seq IN (SELECT memory FROM {table} WHERE namespace = ? AND {column} IN {_AMONG})"
            found.append((text, (namespace, dumps(wanted))))
    if filters.min_confidence is not None:
        found.append(("(m.kind <> 'experience' OR m.trust >= ?)", (float(filters.min_confidence),)))
    if filters.pinned is not None:
        found.append(("m.pinned = ?", (int(filters.pinned),)))
    return found + _in_time(filters) + _answers(filters)


def _in_time(filters: Filters) -> list[Condition]:
    window = filters.time_range or TimeRange()
    found: list[Condition] = []
    if window.start is not None:
        found.append(("m.occurred_at >= ?", (micros(window.start),)))
    if window.end is not None:
        found.append(("m.occurred_at < ?", (micros(window.end),)))
    return found


def _answers(filters: Filters) -> list[Condition]:
    if filters.as_of is not None:
        text = (
            "m.status NOT IN ('forgotten', 'proposed') AND coalesce(m.valid_from, m.occurred_at) <= ?"
            " AND (m.valid_to IS NULL OR m.valid_to > ?)"
        )
        return [(text, (micros(filters.as_of),) * 2)]
    return [(f"m.status IN {_AMONG}", (dumps(filters.statuses),))] if filters.statuses else []


_ORDERING = {
    Order.NEWEST: ("m.created_at", "DESC", "<"),
    Order.OLDEST: ("m.created_at", "ASC", ">"),
    Order.IMPORTANCE: ("m.importance", "DESC", "<"),
}


def page_query(
    columns: str, namespace: str, filters: Filters, order: Order, *, after: str | None, limit: int
) -> tuple[str, list[Any]]:
    """The statement that reads one page of memories and one row more, which tells whether there is a next page."""
    needed = conditions(namespace, filters)
    column, direction, beyond = _ORDERING[order]
    if after is not None:
        needed.append((f"({column}, m.id) {beyond} (?, ?)", place_of(after, order)))
    return (
        f"SELECT {columns} FROM memory AS m WHERE {' AND '.join(text for text, _ in needed)} "
        f"ORDER BY {column} {direction}, m.id {direction} LIMIT ?",
        [*(value for _, values in needed for value in values), limit + 1],
    )


def place_after(memory: Memory, order: Order) -> str:
    """The `next` of a page that ends with this memory."""
    value = memory.importance if order is Order.IMPORTANCE else micros(memory.created_at)
    return base64.urlsafe_b64encode(dumps([order, value, memory.id]).encode()).decode()


def place_of(after: str, order: Order) -> tuple[float, str]:
    """The ordering value and id in a `next`. `InvalidInput` where it is of another order or no `next` at all."""
    try:
        wanted, value, identifier = json.loads(base64.urlsafe_b64decode(after.encode()))
        str(identifier).encode()
    except (ValueError, binascii.Error, TypeError, RecursionError):  # half a surrogate pair is a `ValueError`
        wanted, value, identifier = None, None, None
    if wanted != order or not _is_place(value, order) or not isinstance(identifier, str):
        raise InvalidInput("after", after, f"the `next` of a page in the order {order.value!r}")
    return value, identifier


def _is_place(value: object, order: Order) -> bool:
    if order is Order.IMPORTANCE:
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


# Statements ---------------------------------------------------------------------------------------------------------

_HEADING = re.compile(r"^-- (name|fragment): ([a-z_]+)$", re.MULTILINE)


def statements(text: str) -> Mapping[str, str]:
    """The named statements of a `.sql` text, with its fragments put in; fragments can be had by their name too."""
    parts = _HEADING.split(text)[1:]
    fragments: dict[str, str] = {}
    named: dict[str, str] = {}
    for what, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        kept = "\n".join(line for line in body.strip().splitlines() if not line.startswith("--")).strip()
        if name in fragments or name in named:
            raise ValueError(f"two statements are called {name!r}")
        (fragments if what == "fragment" else named)[name] = kept
    for name, body in named.items():
        named[name] = re.sub(r"\{([a-z_]+)\}", lambda match: fragments[match[1]], body)
    return fragments | named


def listed(values: Sequence[str]) -> str:
    """Texts as the JSON array that statements bind."""
    return dumps(list(values))

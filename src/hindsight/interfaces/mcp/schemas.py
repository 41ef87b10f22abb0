"""JSON schemas of the MCP tools: plain objects, nesting of at most one, bounds both as keywords and in words.

No `oneOf` and no lists of types: several clients' LLMs stumble over them. What is accepted beyond the schema (numbers
as text, JSON inside a string) is read by `schemas.Arguments`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from hindsight.domain.episode import JsonValue, Role
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Kind
from hindsight.domain.session import LONGEST_TTL
from hindsight.experience.prune import MAX_DAYS, MAX_USES
from hindsight.interfaces.mcp import texts
from hindsight.search.request import MAX_NAMES, MAX_TOP_K
from hindsight.write.request import MAX_CHARACTERS, MAX_TAGS

Schema = dict[str, JsonValue]

WRITE_KINDS = tuple(kind for kind in Kind if kind is not Kind.EXPERIENCE)  # which is written by a tool of its own
WRITE_FIELDS = ("role", "speaker", "occurred_at", "timezone", "tool", "agent", "tags")
FILTER_FIELDS = ("types", "tags", "entities", "exclude_sessions", "min_confidence", "as_of")


def obj(properties: Mapping[str, Schema], required: Sequence[str] = (), description: str = "") -> Schema:
    """An object that takes these properties and no others."""
    schema: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    if required:
        schema["required"] = list(required)
    if description:
        schema["description"] = description
    return schema


def text(description: str, *, least: int = 0) -> Schema:
    """A string."""
    return {"type": "string", "description": description} | ({"minLength": least} if least else {})


def texts_of(description: str, *, least: int = 0) -> Schema:
    """A list of strings."""
    schema: Schema = {"type": "array", "items": {"type": "string"}, "description": description}
    return schema | ({"minItems": least} if least else {})


def choice(description: str, words: Iterable[StrEnum]) -> Schema:
    """One word of a closed list."""
    return {"type": "string", "enum": [word.value for word in words], "description": description}


def whole(description: str, most: int) -> Schema:
    """A whole number from 0."""
    return {"type": "integer", "minimum": 0, "maximum": most, "description": description}


def share(description: str, **default: float) -> Schema:
    """A number from 0 to 1."""
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description, **default}


MEMORY_WRITE = obj(
    {
        "content": text(
            "What to remember, in plain sentences that name their subject. Not empty, at most "
            f"{MAX_CHARACTERS:,} characters.",
            least=1,
        ),
        "session_id": text(texts.SESSION_WRITE),
        "type": choice(
            "Kind of the whole content, which is then kept as one statement. Leave out to have it split and sorted.",
            WRITE_KINDS,
        ),
        "importance": share("How much it matters, from 0 (trifle) to 1 (health, safety). Leave out to have it judged."),
        "metadata": obj(
            {
                "role": choice('Who produced the text. Default "user".', Role),
                "speaker": text("Name of who said it."),
                "occurred_at": text("When it was said, ISO 8601, e.g. 2024-01-15T09:30:00+08:00. Default now."),
                "timezone": text("IANA zone of relative times in the text, e.g. Asia/Shanghai."),
                "tool": text("Name of the tool it came from."),
                "agent": text("Name of the agent that writes."),
                "tags": texts_of(f"Words to filter by, at most {MAX_TAGS}."),
            },
            description="Where it comes from.",
        ),
    },
    ("content",),
)

_EXPERIENCE: dict[str, Schema] = {
    "trigger_context": text(
        "The situation, precise enough to be recognised: goal, system, format, error message. Not empty.", least=1
    ),
    "action_steps": texts_of("What was done, one step each, in order. At least 1 step.", least=1),
    "outcome_status": choice("Whether it worked. A failure is kept as a warning.", OutcomeStatus),
    "tags": texts_of(f'Words to filter by, at most {MAX_TAGS}, e.g. ["deploy", "docker"].'),
}
EXPERIENCE_WRITE_SHORT = obj(_EXPERIENCE, ("trigger_context", "action_steps", "outcome_status"))
EXPERIENCE_WRITE = obj(
    {**_EXPERIENCE, "tools_used": texts_of("Names of the tools the steps used.")},
    ("trigger_context", "action_steps", "outcome_status"),
)


def _top_k(default: str) -> Schema:
    words = f"How many memories at most, a whole number from 1 to {MAX_TOP_K}. {default}"
    return {"type": "integer", "minimum": 1, "maximum": MAX_TOP_K, "description": words}


def memory_search(default_top_k: str) -> Schema:
    """`memory_search` of the layered and the full toolset, which differ in their default for `top_k`."""
    return obj(
        {
            "query": text(
                "What you want to know, as a full question or sentence, in any language. Not empty.", least=1
            ),
            "top_k": _top_k(default_top_k),
            "session_id": text(texts.SESSION_SEARCH),
            "time_range": text(texts.TIME_RANGE),
            "filters": obj(
                {
                    "types": texts_of("Only these kinds: " + ", ".join(Kind) + "."),
                    "tags": texts_of(f"Only memories with one of these tags, at most {MAX_NAMES}."),
                    "entities": texts_of(f"Only memories that name one of these, at most {MAX_NAMES}."),
                    "exclude_sessions": texts_of(f"Leave these sessions out, at most {MAX_NAMES}."),
                    "min_confidence": share("Only experiences trusted at least this much, 0 to 1. Default 0.3."),
                    "as_of": text("What was true at this moment, ISO 8601, instead of now."),
                },
                description="Narrow the search; only when needed.",
            ),
        },
        ("query",),
    )


EXPERIENCE_SEARCH = obj(
    {
        "query": text("The situation you are in: goal, tools, format, error message. Not empty.", least=1),
        "top_k": _top_k("Default 5."),
        "min_confidence": share("Only experiences trusted at least this much, from 0 to 1. Default 0.3."),
    },
    ("query",),
)

MEMORY_UPDATE = obj(
    {
        "memory_id": text(texts.MEMORY_ID, least=1),
        "new_content": text("The corrected statement, whole."),
        "confidence": share("How sure it is, from 0 to 1."),
        "importance": share("How much it matters, from 0 to 1."),
    },
    ("memory_id",),
)

MEMORY_FORGET = obj(
    {
        "memory_id": text(texts.MEMORY_ID, least=1),
        "decay_factor": share(
            "From 0 to 1: strength is multiplied by (1 - decay_factor). Default 1: forget; 0.5 fades it by half."
        ),
        "reason": text("Why, in a few words; kept in the history."),
    },
    ("memory_id",),
)

MEMORY_FEEDBACK = obj(
    {
        "memory_id": text(texts.MEMORY_ID, least=1),
        "outcome": choice("Whether following the experience worked.", OutcomeStatus),
        "note": text("What was different this time, in a sentence; kept in the history."),
    },
    ("memory_id", "outcome"),
)

MEMORY_PRUNE = obj(
    {
        "dry_run": {"type": "boolean", "description": "true (default) only lists them; false archives them."},
        "min_confidence": share("Trusted less than this, from 0 to 1. Default 0.3."),
        "max_age_days": whole(
            f"Older than this, a whole number of days from 0 to {MAX_DAYS}. Default 90; 180 in a small library.",
            MAX_DAYS,
        ),
        "min_uses": whole(
            f"And followed less often than this, a whole number from 0 to {MAX_USES}. Default 3.", MAX_USES
        ),
    }
)

MEMORY_REFLECT = obj(
    {"session_id": text("The finished session, by the name under which it was written. Not empty.", least=1)},
    ("session_id",),
)

WORKING_MEMORY = obj(
    {
        "session_id": text(f"{texts.SESSION_WRITE} Not empty.", least=1),
        "set": {
            "type": "object",
            "properties": {},
            "additionalProperties": True,
            "description": "Names and values to note, at most 50 in a session; null takes one away. Leave out to read.",
        },
        "ttl": {
            "type": "integer",
            "minimum": 1,
            "maximum": LONGEST_TTL,
            "description": f"Seconds these are kept, 1 to {LONGEST_TTL}. Leave out: until the session ends.",
        },
    },
    ("session_id",),
)

MEMORY_SUMMARIZE = obj(
    {
        "session_id": text("The session to tell, by the name under which it was written."),
        "time_range": text(
            'The time to tell, alone or within the session: ISO 8601 "from/to", e.g. "2024-01-01/2024-02-01", or a '
            'phrase such as "last week" or 上周.'
        ),
    }
)

MEMORY_ANSWER = obj(
    {"question": text("What you want answered, as a full question, in any language. Not empty.", least=1)},
    ("question",),
)

_LIST: Schema = {"type": "array", "items": {"type": "object"}}
_STRINGS: Schema = {"type": "array", "items": {"type": "string"}}

RECEIPT: Schema = {
    "type": "object",
    "properties": {
        "outcomes": _LIST,
        "episode_ids": _STRINGS,
        "facts": {"type": "integer"},
        "verbatim": {"type": "boolean"},
        "pending": {"type": "boolean"},
        "degraded": _STRINGS,
    },
    "required": ["outcomes", "episode_ids", "facts", "verbatim", "pending", "degraded"],
}

RESULT: Schema = {
    "type": "object",
    "properties": {
        "hits": _LIST,
        "standing": _LIST,
        "context": {"type": "string"},
        "confident": {"type": "boolean"},
        "tokens": {"type": "integer"},
        "trace_id": {"type": "string"},
        "degraded": _STRINGS,
        "cached": {"type": "boolean"},
    },
    "required": ["hits", "standing", "context", "confident", "tokens", "trace_id", "degraded"],
}

WORKING: Schema = {
    "type": "object",
    "properties": {
        "session_id": {"type": "string"},
        "active_at": {"type": "string"},
        "names": _STRINGS,
        "expires": {"type": "object"},
        "context": {"type": "string"},
    },
    "required": ["session_id", "active_at", "names", "expires", "context"],
}

REFLECTED: Schema = {
    "type": "object",
    "properties": {
        "session_id": {"type": "string"},
        "events": {"type": "integer"},
        "proposals": _LIST,
        "known": {"type": "integer"},
        "left_out": {"type": "integer"},
        "rated": _LIST,
        "degraded": _STRINGS,
    },
    "required": ["session_id", "events", "proposals", "known", "left_out", "rated", "degraded"],
}

DIGEST: Schema = {
    "type": "object",
    "properties": {
        "sentences": _LIST,
        "method": {"type": "string"},
        "context": {"type": "string"},
        "tokens": {"type": "integer"},
        "examined": {"type": "integer"},
        "degraded": _STRINGS,
    },
    "required": ["sentences", "method", "context", "tokens", "examined", "degraded"],
}

ANSWER: Schema = {
    "type": "object",
    "properties": {
        "sentences": _LIST,
        "answered": {"type": "boolean"},
        "confident": {"type": "boolean"},
        "citations": _STRINGS,
        "method": {"type": "string"},
        "context": {"type": "string"},
        "tokens": {"type": "integer"},
        "trace_id": {"type": "string"},
        "degraded": _STRINGS,
    },
    "required": ["sentences", "answered", "method", "context", "tokens", "trace_id", "degraded"],
}

PRUNED: Schema = {
    "type": "object",
    "properties": {
        "dry_run": {"type": "boolean"},
        "rules": {"type": "object"},
        "examined": {"type": "integer"},
        "pruned": _LIST,
        "spared": _LIST,
    },
    "required": ["dry_run", "rules", "examined", "pruned", "spared"],
}

MEMORY: Schema = {
    "type": "object",
    "properties": {
        "memory_id": {"type": "string"},
        "short_id": {"type": "string"},
        "content": {"type": "string"},
        "confidence": {"type": "number"},
        "outcome": {"type": "object"},
    },
    "required": ["memory_id", "short_id", "content", "confidence"],
}

"""The tools of SPEC §7: which toolset offers which, and what each calls. Read the arguments, call, render."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hindsight.config import Toolset
from hindsight.domain.change import OutcomeAction
from hindsight.domain.episode import Message, Role
from hindsight.domain.experience import OutcomeStatus
from hindsight.domain.memory import Kind, short_id
from hindsight.domain.session import LONGEST_TTL
from hindsight.errors import HindsightError, InvalidInput, shorten
from hindsight.experience.prune import MAX_DAYS, MAX_USES
from hindsight.interfaces.mcp import schemas as shapes_in
from hindsight.interfaces.mcp import texts
from hindsight.interfaces.mcp.working import working_reply, working_text
from hindsight.interfaces.schemas import Arguments
from hindsight.interfaces.shapes import Shape, memory_shape, receipt_shape, result_shape
from hindsight.interfaces.shapes_prune import prune_shape, prune_text
from hindsight.interfaces.shapes_reflect import reflection_shape, reflection_text
from hindsight.interfaces.shapes_upkeep import answer_shape, digest_shape
from hindsight.search.request import MAX_TOP_K

if TYPE_CHECKING:
    from hindsight.domain.change import Receipt, WriteOutcome
    from hindsight.domain.query import SearchResult
    from hindsight.embedded import AsyncHindsight

LAYERED_TOP_K = 8
EXPERIENCE_TOP_K = 5
EXPERIENCE_MIN_CONFIDENCE = 0.3
SHOWN = 200  # characters of a new statement in a receipt's text


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers: text made for reading and the same for programs."""

    text: str
    structured: Shape


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as clients see it, and the function behind it. The hints are those of the protocol."""

    name: str
    title: str
    description: str
    input_schema: shapes_in.Schema
    output_schema: shapes_in.Schema
    call: Callable[[AsyncHindsight, Arguments], Awaitable[Reply]]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the parameters."""
        properties = self.input_schema["properties"]
        return tuple(properties) if isinstance(properties, dict) else ()

    async def run(self, memory: AsyncHindsight, arguments: dict[str, object]) -> Reply:
        """Call the tool with what the client sent. Raises `HindsightError`."""
        return await self.call(memory, Arguments(arguments, self.fields))


async def write_memory(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_write`."""
    about = given.nested("metadata", shapes_in.WRITE_FIELDS)
    message = Message(
        content=given.required_text("content"),
        role=about.choice("role", Role) or Role.USER,
        speaker=about.text("speaker"),
        timezone=about.text("timezone"),
        agent=about.text("agent"),
        tool=about.text("tool"),
    )
    receipt = await memory.write(
        [message],
        session_id=given.text("session_id"),
        occurred_at=about.text("occurred_at"),
        kind=given.choice("type", shapes_in.WRITE_KINDS),
        importance=given.fraction("importance"),
        tags=about.texts("tags"),
    )
    return _receipt_reply(receipt)


async def write_experience(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`experience_write`, and `memory_write` of the experience toolset."""
    steps = given.texts("action_steps")
    if not steps:
        raise InvalidInput("action_steps", list(steps), "a list of at least one step, each a string; it is required")
    status = given.choice("outcome_status", OutcomeStatus)
    if status is None:
        raise InvalidInput("outcome_status", None, "success or failure; it is required")
    receipt = await memory.write_experience(
        given.required_text("trigger_context"),
        steps,
        outcome_status=status,
        tags=given.texts("tags"),
        tools_used=given.texts("tools_used"),
    )
    return _receipt_reply(receipt)


async def search_memory(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_search` of the full toolset: the search chooses how many."""
    return await _search(memory, given, None)


async def search_layered(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_search` of the layered toolset."""
    return await _search(memory, given, LAYERED_TOP_K)


async def search_experience(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_search` of the experience toolset."""
    confidence = given.fraction("min_confidence")
    result = await memory.search(
        given.required_text("query"),
        top_k=given.whole("top_k", 1, MAX_TOP_K) or EXPERIENCE_TOP_K,
        filters={
            "types": (Kind.EXPERIENCE.value,),
            "min_confidence": EXPERIENCE_MIN_CONFIDENCE if confidence is None else confidence,
        },
    )
    return _result_reply(result)


async def update_memory(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_update`."""
    receipt = await memory.update(
        _memory_id(given),
        new_content=given.text("new_content"),
        confidence=given.fraction("confidence"),
        importance=given.fraction("importance"),
    )
    return _receipt_reply(receipt)


async def forget_memory(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_forget`."""
    factor = given.fraction("decay_factor")
    receipt = await memory.forget(
        _memory_id(given),
        decay_factor=1.0 if factor is None else factor,
        reason=given.text("reason") or "",
    )
    return _receipt_reply(receipt)


async def give_feedback(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_feedback`."""
    outcome = given.choice("outcome", OutcomeStatus)
    if outcome is None:
        raise InvalidInput("outcome", None, "success or failure; it is required")
    rated = await memory.feedback(_memory_id(given), outcome, note=given.text("note") or "")
    shape = memory_shape(rated)
    return Reply(f"Noted for #{rated.short_id}; confidence is now {shape['confidence']}.", shape)


async def prune_memory(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_prune`."""
    dry_run = given.truth("dry_run")
    report = await memory.prune(
        dry_run=True if dry_run is None else dry_run,
        min_confidence=given.fraction("min_confidence"),
        max_age_days=given.whole("max_age_days", 0, MAX_DAYS),
        min_uses=given.whole("min_uses", 0, MAX_USES),
    )
    return Reply(prune_text(report), prune_shape(report, words=False))


async def reflect_memory(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_reflect`."""
    reflection = await memory.reflect(session_id=given.required_text("session_id"))
    return Reply(reflection_text(reflection), reflection_shape(reflection, words=False))


async def working_memory(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`working_memory`."""
    found = await memory.working(
        given.required_text("session_id"),
        set=given.mapping("set") if given.given("set") else None,
        ttl=given.whole("ttl", 1, LONGEST_TTL),
    )
    return Reply(working_text(found), working_reply(found))


async def summarize_memory(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_summarize`."""
    digest = await memory.summarize(given.text("session_id"), given.text("time_range"))
    return Reply(digest.context + _without(digest.degraded), digest_shape(digest, words=False))


async def answer_question(memory: AsyncHindsight, given: Arguments) -> Reply:
    """`memory_answer`."""
    answer = await memory.answer(given.required_text("question"))
    return Reply(answer.context + _without(answer.degraded), answer_shape(answer, words=False))


def _without(degraded: Sequence[str]) -> str:
    return f"\nDone without: {', '.join(degraded)}." if degraded else ""


def _memory_id(given: Arguments) -> str:
    """Context blocks show short ids with a leading #, so that is how LLMs give them."""
    return given.required_text("memory_id").strip().removeprefix("#")


async def _search(memory: AsyncHindsight, given: Arguments, default_top_k: int | None) -> Reply:
    narrow = given.nested("filters", shapes_in.FILTER_FIELDS)
    confidence = narrow.fraction("min_confidence")
    filters: dict[str, object] = {
        name: names for name in ("types", "tags", "entities", "exclude_sessions") if (names := narrow.texts(name))
    }
    filters["min_confidence"] = EXPERIENCE_MIN_CONFIDENCE if confidence is None else confidence
    filters["as_of"] = narrow.text("as_of")
    result = await memory.search(
        given.required_text("query"),
        top_k=given.whole("top_k", 1, MAX_TOP_K) or default_top_k,
        session_id=given.text("session_id"),
        time_range=given.text("time_range"),
        filters=filters,
    )
    return _result_reply(result)


def _receipt_reply(receipt: Receipt) -> Reply:
    lines = [_outcome_line(outcome) for outcome in receipt.outcomes]
    if receipt.verbatim:
        lines.append(f"facts: {receipt.facts}, kept verbatim")
    if receipt.pending:
        lines.append("Kept; the rest of the work goes on in the background.")
    if receipt.degraded:
        lines.append("Done without: " + ", ".join(receipt.degraded) + ".")
    return Reply("\n".join(lines) or "Nothing to do.", receipt_shape(receipt))


def _outcome_line(outcome: WriteOutcome) -> str:
    """What became of one statement. Only the caller's own new words are shown, quoted: others stand behind a fence."""
    name = f" #{short_id(outcome.memory_id)}" if outcome.memory_id else ""
    words = f" {shorten(outcome.content, SHOWN)}" if outcome.action is OutcomeAction.ADDED else ""
    reason = f" ({outcome.reason})" if outcome.reason else ""
    line = f"{outcome.action.value}{name} [{outcome.kind.value}, importance {outcome.importance:.2f}]{words}{reason}"
    return f"{line} {_question(outcome)}" if outcome.review else line


def _question(outcome: WriteOutcome) -> str:
    others = ", ".join(f"#{short_id(one)}" for one in outcome.other_ids)
    return (
        f"It contradicts {others}, and only the user can say which holds: ask them when it matters, "
        "then memory_forget what does not hold."
    )


def _result_reply(result: SearchResult) -> Reply:
    """The block says itself where nothing fits well."""
    lines = [result.context or "No memory fits."]
    if result.degraded:
        lines.append("Searched without: " + ", ".join(result.degraded) + ".")
    return Reply("\n".join(lines), result_shape(result, words=False))


def error_text(error: HindsightError) -> str:
    """An error as an LLM can act on it: what is wrong, what to do, whether to try again."""
    parts = [f"{error.code}: {error}", error.hint, "Trying again may help." if error.retryable else ""]
    return " ".join(part for part in parts if part)


WRITE = ToolSpec(
    "memory_write", "Remember", texts.MEMORY_WRITE, shapes_in.MEMORY_WRITE, shapes_in.RECEIPT, write_memory
)
EXPERIENCE = ToolSpec(
    "experience_write",
    "Keep an experience",
    texts.EXPERIENCE_WRITE,
    shapes_in.EXPERIENCE_WRITE,
    shapes_in.RECEIPT,
    write_experience,
)
EXPERIENCE_AS_MEMORY = ToolSpec(
    "memory_write",
    "Keep an experience",
    texts.EXPERIENCE_WRITE,
    shapes_in.EXPERIENCE_WRITE_SHORT,
    shapes_in.RECEIPT,
    write_experience,
)
SEARCH = ToolSpec(
    "memory_search",
    "Search memory",
    texts.MEMORY_SEARCH,
    shapes_in.memory_search("Default 3 to 12, by how complex the question is."),
    shapes_in.RESULT,
    search_memory,
    read_only=True,
    idempotent=True,
)
SEARCH_LAYERED = ToolSpec(
    "memory_search",
    "Search memory",
    texts.MEMORY_SEARCH,
    shapes_in.memory_search(f"Default {LAYERED_TOP_K}."),
    shapes_in.RESULT,
    search_layered,
    read_only=True,
    idempotent=True,
)
SEARCH_EXPERIENCE = ToolSpec(
    "memory_search",
    "Search experiences",
    texts.EXPERIENCE_SEARCH,
    shapes_in.EXPERIENCE_SEARCH,
    shapes_in.RESULT,
    search_experience,
    read_only=True,
    idempotent=True,
)
UPDATE = ToolSpec(
    "memory_update",
    "Correct a memory",
    texts.MEMORY_UPDATE,
    shapes_in.MEMORY_UPDATE,
    shapes_in.RECEIPT,
    update_memory,
    idempotent=True,
)
FORGET = ToolSpec(
    "memory_forget",
    "Forget a memory",
    texts.MEMORY_FORGET,
    shapes_in.MEMORY_FORGET,
    shapes_in.RECEIPT,
    forget_memory,
    destructive=True,
)
FEEDBACK = ToolSpec(
    "memory_feedback",
    "Report how it went",
    texts.MEMORY_FEEDBACK,
    shapes_in.MEMORY_FEEDBACK,
    shapes_in.MEMORY,
    give_feedback,
)

PRUNE = ToolSpec(
    "memory_prune",
    "Tidy up experiences",
    texts.MEMORY_PRUNE,
    shapes_in.MEMORY_PRUNE,
    shapes_in.PRUNED,
    prune_memory,
)

REFLECT = ToolSpec(
    "memory_reflect",
    "Learn from a session",
    texts.MEMORY_REFLECT,
    shapes_in.MEMORY_REFLECT,
    shapes_in.REFLECTED,
    reflect_memory,
    idempotent=True,
)

SUMMARIZE = ToolSpec(
    "memory_summarize",
    "Summarise a session or a time",
    texts.MEMORY_SUMMARIZE,
    shapes_in.MEMORY_SUMMARIZE,
    shapes_in.DIGEST,
    summarize_memory,
    read_only=True,
    idempotent=True,
)

ANSWER = ToolSpec(
    "memory_answer",
    "Answer from memory",
    texts.MEMORY_ANSWER,
    shapes_in.MEMORY_ANSWER,
    shapes_in.ANSWER,
    answer_question,
    read_only=True,
    idempotent=True,
)

WORKING = ToolSpec(
    "working_memory",
    "Note for the running task",
    texts.WORKING_MEMORY,
    shapes_in.WORKING_MEMORY,
    shapes_in.WORKING,
    working_memory,
    idempotent=True,
)

TOOLSETS: dict[Toolset, tuple[ToolSpec, ...]] = {
    Toolset.FULL: (WRITE, EXPERIENCE, SEARCH, UPDATE, FORGET, FEEDBACK, PRUNE, REFLECT, SUMMARIZE, ANSWER, WORKING),
    Toolset.LAYERED: (WRITE, SEARCH_LAYERED, UPDATE, FORGET, SUMMARIZE),
    Toolset.EXPERIENCE: (EXPERIENCE_AS_MEMORY, SEARCH_EXPERIENCE, FORGET, FEEDBACK, PRUNE),
}

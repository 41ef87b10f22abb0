"""Results as lines for a person to read; ids without a `#`, which a shell would take for a comment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hindsight.domain.change import Contradiction, Receipt, ReviewState, Revision
from hindsight.domain.confidence import expected, proven
from hindsight.domain.experience import Experience
from hindsight.domain.hit import Hit, MemoryHit
from hindsight.domain.memory import Memory, Status, short_id
from hindsight.domain.page import Page
from hindsight.domain.query import SearchResult
from hindsight.domain.reflection import Proposal
from hindsight.interfaces.shapes import memory_shape
from hindsight.interfaces.shapes_reflect import proposal_lines

INDENT = "    "
DECISIONS = "--new | --old | --both"


def receipt_lines(receipt: Receipt) -> Iterator[str]:
    """What became of each statement, and the token that takes it back."""
    for outcome in receipt.outcomes:
        name = short_id(outcome.memory_id) if outcome.memory_id else "-"
        yield from _item(f"{outcome.action.value}  {name}  {outcome.kind.value}", outcome.content)
        if outcome.reason:
            yield f"{INDENT}({outcome.reason})"
        if outcome.other_ids:
            yield f"{INDENT}with {', '.join(short_id(other) for other in outcome.other_ids)}"
        if outcome.review:
            yield f"{INDENT}waits for your decision: hindsight review {name} {DECISIONS}"
    if receipt.undo:
        yield f"undo  {receipt.undo}"


def receipt_notes(receipt: Receipt) -> Iterator[str]:
    """What a receipt says beside its outcomes."""
    if not receipt.outcomes and not receipt.episode_ids:
        yield "nothing was changed"
    if receipt.verbatim:
        yield "kept word for word: no fact was found in it"
    if receipt.pending:
        yield "kept; the rest of the work goes on in the background"
    if receipt.degraded:
        yield f"done without: {', '.join(receipt.degraded)}"


def review_lines(page: Page[Contradiction | Proposal]) -> Iterator[str]:
    """Both sides of each contradiction, the newer memory first: its id is the one to decide by. Then proposals."""
    for review in page.items:
        if isinstance(review, Proposal):
            yield from proposal_lines(review, INDENT)
            continue
        yield f"{review.new.short_id}  {review.at:%Y-%m-%d}  {review.reason}"
        yield from _side("new", review.new)
        for old in review.old:
            yield from _side("old", old)


def review_notes(page: Page[Contradiction | Proposal], state: str) -> Iterator[str]:
    """How to decide, and how to see more."""
    if not page.items:
        yield "nothing waits for a decision" if state == ReviewState.OPEN else "no review is closed"
    elif state == ReviewState.OPEN:
        if any(isinstance(one, Contradiction) for one in page.items):
            yield f"decide with: hindsight review ID {DECISIONS}"
        if any(isinstance(one, Proposal) for one in page.items):
            yield "decide a proposed experience with: hindsight review ID --accept | --reject"
    if page.next is not None:
        yield f"there are more: --after {page.next}"


def result_lines(result: SearchResult) -> Iterator[str]:
    """Standing memories, then hits, best first; each with short id, score, kind and date."""
    standing = {hit.memory_id for hit in result.standing}
    for constraint in result.standing:
        yield from _hit(constraint, "always")
    for hit in result.hits:
        if hit.memory_id not in standing:
            yield from _hit(hit, f"{hit.score:.2f}")


def result_notes(result: SearchResult) -> Iterator[str]:
    """What a result says beside its hits."""
    if not result.hits and not result.standing:
        yield "nothing found"
    elif result.hits and not result.confident:
        yield "nothing fits well; these are the nearest"
    if result.degraded:
        yield f"searched without: {', '.join(result.degraded)}"
    yield f"trace {result.trace_id}"


def memory_lines(memory: Memory) -> Iterator[str]:
    """One memory as it stands, with its confidence."""
    confidence = memory_shape(memory)["confidence"]
    yield from _item(f"{memory.short_id}  {memory.kind.value}  confidence {confidence}", memory.content)


def experience_lines(memory: Memory, history: Sequence[Revision]) -> Iterator[str]:
    """An experience with its record, who contributed, and what has become of it."""
    yield from memory_lines(memory)
    if not isinstance(memory.body, Experience):
        return
    outcome = memory.body.outcome
    yield (
        f"{INDENT}{memory.status.value}; {outcome.successes} of {outcome.call_count} worked; "
        f"expected {expected(outcome):.2f}, proven {proven(outcome):.2f}"
    )
    names = dict.fromkeys([*([memory.agent] if memory.agent else []), *(one.agent for one in memory.body.credits)])
    if names:
        yield f"{INDENT}by {', '.join(names)}"
    for one in history:
        actor = f" by {one.actor}" if one.actor else ""
        reason = f": {one.reason}" if one.reason else ""
        yield f"{INDENT}{one.at:%Y-%m-%d %H:%M}  {one.act.value}{actor}{reason}"


def _side(name: str, memory: Memory) -> Iterator[str]:
    status = "" if memory.status is Status.ACTIVE else f"  {memory.status.value}"
    head = f"{INDENT}{name}  {memory.short_id}  {memory.origin.value}  {memory.occurred_at:%Y-%m-%d}{status}"
    yield from _item(head, memory.content)


def _hit(hit: Hit, score: str) -> Iterator[str]:
    yield from _item(f"{hit.short_id}  {score}  {hit.kind.value}  {hit.occurred_at:%Y-%m-%d}", hit.content)
    if hit.warning:
        yield f"{INDENT}! {hit.warning}"
    if isinstance(hit, MemoryHit) and hit.outcome is not None:
        yield f"{INDENT}confidence {hit.outcome.confidence / 100}"  # steps and outcome stand in the content


def _item(head: str, content: str) -> Iterator[str]:
    first, *rest = content.splitlines() or [""]
    yield f"{head}  {first}"
    yield from (f"{INDENT}{line}" for line in rest)

"""What reflection answers: the same names over MCP, REST and `--json`, and as text for an LLM and for a person."""

from __future__ import annotations

from collections.abc import Iterator

from hindsight.domain.change import Contradiction
from hindsight.domain.episode import JsonValue
from hindsight.domain.experience import Experience
from hindsight.domain.page import Page
from hindsight.domain.reflection import Proposal, Rated, Reflection
from hindsight.errors import shorten
from hindsight.interfaces.shapes import Shape, memory_shape, receipt_shape, review_shape
from hindsight.language.markers import FENCE_CLOSE, FENCE_OPEN

SHOWN = 400  # characters of a trigger or a step in the text for an LLM
_BRACKETS = str.maketrans("<>\uff1c\uff1e", "\u2039\u203a\u2039\u203a")  # nothing inside may look like the fence


def proposal_shape(proposal: Proposal, *, words: bool = True) -> Shape:
    """A proposal. Without `words` only ids and numbers: the rest stands in the text, inside its fence."""
    body = body_of(proposal)
    shape: Shape = {
        "memory_id": proposal.memory.id,
        "short_id": proposal.memory.short_id,
        "sort": proposal.sort,
        "outcome": body.outcome.status.value,
        "worth": proposal.worth,
        "confidence": proposal.confidence,
        "session_id": proposal.memory.session_id,
        "worded_by": proposal.worded_by or None,
        "at": proposal.memory.created_at.isoformat(),
        "steps_on": [list(refs) for refs in proposal.steps_on],
    }
    if not words:
        return {**shape, "evidence": [one.ref for one in proposal.evidence]}
    return {
        **shape,
        "trigger": {"context": body.trigger.context, "keywords": list(body.trigger.keywords)},
        "steps": list(body.action.steps),
        "tools": list(body.action.tools_used),
        "evidence": [{"ref": one.ref, "text": one.text} for one in proposal.evidence],
    }


def proposal_review_shape(proposal: Proposal) -> Shape:
    """A proposal as a review that waits: decided by `accept` or `reject`."""
    return {
        "kind": "proposal",
        "memory_id": proposal.memory.id,
        "short_id": proposal.memory.short_id,
        "state": "open",
        "reason": proposal.sort,
        "at": proposal.memory.created_at.isoformat(),
        "new": memory_shape(proposal.memory),
        "old": [],
        "proposal": proposal_shape(proposal),
    }


def reviews_shape(page: Page[Contradiction | Proposal]) -> Shape:
    """A page of what waits for a person, or is closed."""
    items: list[JsonValue] = [
        proposal_review_shape(one) if isinstance(one, Proposal) else review_shape(one) for one in page.items
    ]
    return {"items": items, "next": page.next}


def reflection_shape(reflection: Reflection, *, words: bool = True) -> Shape:
    """The outcome of reflecting on a session."""
    return {
        "session_id": reflection.session_id,
        "events": reflection.events,
        "proposals": [proposal_shape(one, words=words) for one in reflection.proposals],
        "known": reflection.known,
        "left_out": reflection.left_out,
        "rated": [_rated_shape(one) for one in reflection.rated],
        "receipts": [receipt_shape(receipt) for receipt in reflection.receipts] if words else [],
        "passed_over": [{"ref": ref, "reason": reason} for ref, reason in reflection.passed_over],
        "unreported": reflection.unreported,
        "dropped": reflection.dropped,
        "degraded": list(reflection.degraded),
    }


def _rated_shape(rated: Rated) -> Shape:
    return {
        "memory_id": rated.memory.id,
        "short_id": rated.memory.short_id,
        "outcome": rated.outcome.value,
        "reason": rated.reason,
    }


def reflection_text(reflection: Reflection) -> str:
    """The outcome for an LLM: what waits, quoted inside a fence."""
    count = len(reflection.proposals)
    if not count:
        again = f" {reflection.known} known before came up again." if reflection.known else ""
        lines = [f"Nothing new to learn from these {reflection.events} turns and calls.{again}"]
    else:
        kept = "kept" if reflection.receipts else "proposed; the user decides (`hindsight review`)"
        lines = [f"{count} experiences {kept}."]
        lines += [f'{FENCE_OPEN} type="data">', *_told(reflection.proposals), FENCE_CLOSE]
    for rated in reflection.rated:
        lines.append(f"#{rated.memory.short_id} was followed: {rated.outcome.value}, by the transcript.")
    if reflection.degraded:
        lines.append("Done without: " + ", ".join(reflection.degraded) + ".")
    return "\n".join(lines)


def _told(proposals: tuple[Proposal, ...]) -> Iterator[str]:
    for proposal in proposals:
        body = body_of(proposal)
        yield f"#{proposal.memory.short_id} [{proposal.sort}] {_quoted(body.trigger.context)}"
        for number, step in enumerate(body.action.steps, 1):
            yield f"  {number}. {_quoted(step)}"
        yield f"  -> {body.outcome.status.value}; evidence {', '.join(one.ref for one in proposal.evidence)}"


def _quoted(text: str) -> str:
    return shorten(text, SHOWN).translate(_BRACKETS)


def proposal_lines(proposal: Proposal, indent: str = "    ") -> Iterator[str]:
    """A proposal for a person, with what it rests on."""
    body = body_of(proposal)
    head = f"{proposal.memory.short_id}  {proposal.memory.created_at:%Y-%m-%d}  proposed experience ({proposal.sort})"
    yield f"{head}  sure {proposal.confidence:.2f}"
    yield f"{indent}{body.trigger.context}"
    for number, step in enumerate(body.action.steps, 1):
        yield f"{indent}{number}. {step}"
    yield f"{indent}→ {body.outcome.status.value}"
    yield f"{indent}evidence: {', '.join(one.ref for one in proposal.evidence)}"


def reflection_lines(reflection: Reflection) -> Iterator[str]:
    """What was proposed, and what the session said of experiences that it followed."""
    for proposal in reflection.proposals:
        yield from proposal_lines(proposal)
    for rated in reflection.rated:
        yield f"{rated.memory.short_id}  {rated.outcome.value}  {rated.reason}"
    for receipt in reflection.receipts:
        if receipt.undo:
            yield f"undo  {receipt.undo}"


def reflection_notes(reflection: Reflection) -> Iterator[str]:
    """What a person must know beside it."""
    if not reflection.proposals:
        yield f"nothing new was learnt from {reflection.events} turns and calls"
    elif not reflection.receipts:
        yield "decide with: hindsight review ID --accept | --reject"
    if reflection.known:
        yield f"{reflection.known} found before came up again"
    if reflection.left_out:
        yield f"{reflection.left_out} of less worth were left out"
    bad = len(reflection.passed_over) + reflection.unreported
    if bad:
        shown = "; ".join(f"{ref}: {reason}" for ref, reason in reflection.passed_over[:5])
        yield f"{bad} lines could not be read ({shown}{'; …' if bad > 5 else ''})"
    if reflection.dropped:
        yield f"the {reflection.dropped} oldest turns and calls were left out"
    if reflection.degraded:
        yield f"done without: {', '.join(reflection.degraded)}"


def body_of(proposal: Proposal) -> Experience:
    """The experience that is proposed."""
    assert isinstance(proposal.memory.body, Experience)
    return proposal.memory.body

"""Commands that tell much in few words, and that keep a namespace small: summarize, answer, profile, clean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from hindsight.interfaces.cli.call import Agent, Call, Session, command
from hindsight.interfaces.schemas import Arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindsight.domain.cleaning import CleanReport
    from hindsight.domain.digest import Sentence
    from hindsight.domain.profile import Profile

app = typer.Typer()

INDENT = "    "
CHOSEN = "chosen as they were said: no language model took part"
MOST = 1_000_000  # tokens; the engine knows the real bound


@command(app)
def summarize(
    call: Call,
    *,
    session: Session = None,
    time_range: Annotated[
        str | None, typer.Option("--time", metavar="RANGE", help="from/to in ISO 8601, or «上周», 'last week'.")
    ] = None,
    max_tokens: Annotated[str | None, typer.Option(metavar="N", help="Longest digest; else 600 tokens.")] = None,
) -> None:
    """Tell a session or a time in few sentences, each with the memories it rests on."""
    from hindsight.interfaces import shapes_upkeep  # noqa: PLC0415 - brings the domain of four commands

    tokens = Arguments({"max_tokens": max_tokens}, ("max_tokens",)).whole("max_tokens", 0, MOST)
    with call.open() as memory:
        digest = memory.summarize(session, time_range, max_tokens=tokens)
    call.answer(shapes_upkeep.digest_shape(digest), _sentences(digest.sentences))
    call.note([_by(digest.written_by), *_without(digest.degraded), f"of {digest.examined} memories"])


@command(app)
def answer(
    call: Call,
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    *,
    session: Session = None,
) -> None:
    """Answer a question from memory, each sentence with the memories it rests on."""
    from hindsight.interfaces import shapes_upkeep  # noqa: PLC0415 - as above

    with call.open(warm=True) as memory:
        found = memory.answer(question, session_id=session)
    call.answer(shapes_upkeep.answer_shape(found), _sentences(found.sentences))
    notes = [] if found.answered else ["nothing in memory answers; these are the nearest, if any"]
    call.note([*notes, _by(found.written_by), *_without(found.degraded), f"trace {found.trace_id}"])


@command(app)
def profile(
    call: Call,
    subject: Annotated[str | None, typer.Argument(help="Of whom; else of the user.")] = None,
) -> None:
    """Show what is known of somebody: limits, facts, tastes, relations, rules, each with how often it was said."""
    from hindsight.interfaces import shapes_upkeep  # noqa: PLC0415 - as above

    with call.open() as memory:
        found = memory.profile(subject)
    call.answer(shapes_upkeep.profile_shape(found), _known(found))
    if found.left_out:
        call.note([f"{found.left_out} more are known"])


@command(app)
def clean(
    call: Call,
    *,
    put_away: Annotated[bool, typer.Option("--apply", help="Do it; without it, it is only shown.")] = False,
    agent: Agent = None,
) -> None:
    """Show what is over, weak, said twice, long past or unconfirmed; put it away with --apply."""
    from hindsight.interfaces import shapes_upkeep  # noqa: PLC0415 - as above

    with call.open(warm=True) as memory:
        report = memory.cleanup(dry_run=not put_away, agent=agent)
    call.answer(shapes_upkeep.clean_shape(report), _cleaned(report))
    call.note(_clean_notes(report))


def _sentences(sentences: Sequence[Sentence]) -> Iterator[str]:
    for one in sentences:
        yield f"{one.at:%Y-%m-%d}  {' '.join(one.text.split())}  {', '.join(one.short_ids)}"


def _by(written_by: str | None) -> str:
    return f"written by {written_by}" if written_by else CHOSEN


def _without(degraded: Sequence[str]) -> list[str]:
    return [f"done without: {', '.join(degraded)}"] if degraded else []


def _known(found: Profile) -> Iterator[str]:
    from hindsight.domain.profile import SECTIONS  # noqa: PLC0415 - as above

    for name, _ in SECTIONS:
        for one in found.section(name):
            doubt = f"  not confirmed since {one.last_verified:%Y-%m-%d}" if one.stale else ""
            said = "once" if one.proofs == 1 else f"{one.proofs} times"
            content = " ".join(one.memory.content.split())
            yield f"{one.memory.short_id}  {one.memory.kind.value}  said {said}  {content}{doubt}"


def _cleaned(report: CleanReport) -> Iterator[str]:
    for entry in report.entries:
        head = f"would be {entry.action.value}" if report.dry_run else entry.action.value
        head = head.replace("would be review", "would be asked about").replace("review", "asked about")
        yield f"{head}  {entry.memory.short_id}  {' '.join(entry.memory.content.split())}"
        yield f"{INDENT}({entry.rule.value}: {entry.reason})"
    for summary in report.added:
        first, *rest = summary.content.splitlines()
        yield f"added  {summary.short_id}  {first}"
        yield from (f"{INDENT}{line}" for line in rest)
    if report.undo:
        yield f"undo  {report.undo}"


def _clean_notes(report: CleanReport) -> Iterator[str]:
    yield f"{len(report.entries)} of {report.examined} memories"
    if report.dry_run and report.entries:
        yield "nothing was changed; do it with: hindsight clean --apply"
    if report.pending:
        yield "the language model writes the summaries in the background"
    if report.degraded:
        yield f"near copies were not looked for without: {', '.join(report.degraded)}"

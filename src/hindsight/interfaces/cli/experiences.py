"""Commands about experiences: write, list, show, merge, feedback, reflect, prune."""

from __future__ import annotations

from itertools import chain
from typing import Annotated

import typer

from hindsight.domain.experience import Experience
from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.call import Agent, Call, MemoryId, Session, Tags, command, fraction
from hindsight.interfaces.cli.render import experience_lines, memory_lines, receipt_lines, receipt_notes
from hindsight.interfaces.schemas import Arguments
from hindsight.interfaces.shapes import Shape, memory_shape, receipt_shape, revision_shape

MAX_LISTED = 500

app = typer.Typer()
experience = typer.Typer(help="Keep what worked or failed.")
app.add_typer(experience, name="experience")


@command(experience, "write")
def write_experience(
    call: Call,
    trigger: Annotated[str, typer.Argument(help="The situation it applies to.")],
    *,
    step: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="A step, in order; repeat for each.")] = None,
    outcome: Annotated[str, typer.Option(metavar="HOW", help="success or failure.")] = "success",
    tag: Tags = None,
    tool: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A tool used; may be repeated.")] = None,
    keyword: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="A word to know the situation by; may be repeated.")
    ] = None,
    session: Session = None,
    agent: Agent = None,
) -> None:
    """Keep what worked or failed: in which situation, which steps, how it ended."""
    with call.open(warm=True) as memory:
        receipt = memory.write_experience(
            trigger,
            step or (),
            outcome_status=outcome,
            tags=tag or (),
            tools_used=tool or (),
            keywords=keyword or (),
            session_id=session,
            agent=agent,
        )
    call.answer(receipt_shape(receipt), receipt_lines(receipt))
    call.note(receipt_notes(receipt))


@command(experience, "list")
def list_experiences(
    call: Call,
    *,
    tag: Tags = None,
    min_confidence: Annotated[
        str | None, typer.Option(metavar="X", help="Trusted at least this much, 0 to 1; else all.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=MAX_LISTED, help="How many at most.")] = 50,
    after: Annotated[str | None, typer.Option(metavar="PLACE", help="Go on after this one.")] = None,
) -> None:
    """The experiences that are in use, newest first."""
    filters = {"types": ["experience"], "tags": tag, "min_confidence": fraction("min_confidence", min_confidence)}
    given = {name: value for name, value in filters.items() if value is not None}
    with call.open() as memory:
        page = memory.list(filters=given, limit=limit, after=after)
    shape: Shape = {"items": [memory_shape(one) for one in page.items], "next": page.next}
    call.answer(shape, chain.from_iterable(map(memory_lines, page.items)))
    if page.next:
        call.note([f"more: --after {page.next}"])


@command(experience, "show")
def show_experience(call: Call, memory_id: MemoryId) -> None:
    """One experience with its record, who contributed, and its history."""
    with call.open() as memory:
        found = memory.get(memory_id)
        if not isinstance(found.body, Experience):
            raise InvalidInput("memory_id", memory_id, f"the id of an experience; this is a {found.kind.value}")
        history = memory.history(found.id)
    shape = memory_shape(found) | {"revisions": [revision_shape(one) for one in history]}
    call.answer(shape, experience_lines(found, history))


@command(experience, "merge")
def merge_experiences(call: Call, *, agent: Agent = None) -> None:
    """Merge experiences that are for the same situation. The token shown takes it back."""
    with call.open(warm=True) as memory:
        receipt = memory.merge_experiences(agent=agent)
    call.answer(receipt_shape(receipt), receipt_lines(receipt))
    call.note(receipt_notes(receipt))


@command(app)
def reflect(
    call: Call,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE", help="A transcript: JSON lines of Claude Code, or messages; - reads standard input."
        ),
    ] = None,
    *,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="A session that was written here, or whose transcript FILE is.")
    ] = None,
    agent: Agent = None,
) -> int:
    """Propose experiences from what was done in a session. They wait: see `hindsight review`."""
    from hindsight.interfaces.cli import reflecting  # noqa: PLC0415 - needed by no other command

    return reflecting.run(call, file, session, agent)


@command(app)
def prune(
    call: Call,
    *,
    archive: Annotated[bool, typer.Option("--apply", help="Archive them; without it they are only shown.")] = False,
    min_confidence: Annotated[
        str | None, typer.Option(metavar="X", help="Trusted less than this, 0 to 1; else 0.3.")
    ] = None,
    max_age_days: Annotated[
        str | None, typer.Option(metavar="N", help="Older and hardly used; else 90, or 180 if there are few.")
    ] = None,
    min_uses: Annotated[str | None, typer.Option(metavar="N", help="Used less often than this; else 3.")] = None,
    agent: Agent = None,
) -> None:
    """Show experiences that are not trusted, or old and hardly used; archive them with --apply."""
    from hindsight.interfaces import shapes_prune  # noqa: PLC0415 - needed by no other command
    from hindsight.interfaces.cli import pruning  # noqa: PLC0415 - as above

    given = Arguments({"max_age_days": max_age_days, "min_uses": min_uses}, ("max_age_days", "min_uses"))
    limits = {
        "min_confidence": fraction("min_confidence", min_confidence),
        "max_age_days": given.whole("max_age_days", 0, shapes_prune.MAX_DAYS),
        "min_uses": given.whole("min_uses", 0, shapes_prune.MAX_USES),
    }
    with call.open() as memory:
        report = memory.prune(dry_run=not archive, agent=agent, **limits)  # type: ignore[arg-type]  # as read above
    call.answer(shapes_prune.prune_shape(report), pruning.prune_lines(report))
    call.note(pruning.prune_notes(report))


@command(app)
def feedback(
    call: Call,
    memory_id: MemoryId,
    outcome: Annotated[str, typer.Argument(help="success or failure.")],
    *,
    note: Annotated[str, typer.Option(metavar="TEXT", help="What happened.")] = "",
    agent: Agent = None,
) -> None:
    """Say whether following an experience worked; its confidence moves."""
    with call.open() as memory:
        rated = memory.feedback(memory_id, outcome, note=note, agent=agent)
    call.answer(memory_shape(rated), memory_lines(rated))

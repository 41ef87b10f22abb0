"""Commands about experiences: write, merge, feedback, reflect, prune."""

from __future__ import annotations

from typing import Annotated

import typer

from hindsight.interfaces.cli.call import Agent, Call, MemoryId, Session, Tags, command, fraction
from hindsight.interfaces.cli.render import memory_lines, receipt_lines, receipt_notes
from hindsight.interfaces.schemas import Arguments
from hindsight.interfaces.shapes import memory_shape, receipt_shape

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


@command(experience, "merge")
def merge_experiences(call: Call) -> None:
    """Merge experiences that are for the same situation. The token shown takes it back."""
    with call.open(warm=True) as memory:
        receipt = memory.merge_experiences()
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

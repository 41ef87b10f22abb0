"""Commands about searches that were made: replay, eval."""

from __future__ import annotations

from typing import Annotated

import typer

from hindsight.errors import InvalidInput
from hindsight.interfaces.cli.call import Call, command
from hindsight.interfaces.cli.errors import FAILED, OK

app = typer.Typer()


@command(app)
def replay(
    call: Call,
    trace: Annotated[str, typer.Argument(metavar="TRACE", help="The trace_id of a search, as it showed it.")],
    *,
    why: Annotated[str | None, typer.Option("--why", metavar="ID", help="Only say what became of this memory.")] = None,
    as_of_then: Annotated[bool, typer.Option("--as-of-then", help="On the store as it was, not as it is.")] = False,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="Other weights than those of then: a preset, now (those in force), or relevance=0.5,freshness=0.2,...",
        ),
    ] = None,
) -> None:
    """Run a search again and show what is different and why, or why a memory was not returned."""
    from hindsight.interfaces import shapes_trace  # noqa: PLC0415 - needed by no other command
    from hindsight.interfaces.cli import replaying  # noqa: PLC0415 - as above

    if why is not None and (as_of_then or weights is not None):
        raise InvalidInput("--why", why, "alone: it is about the search as it was")
    with call.open(warm=True) as memory:
        if why is not None:
            found = memory.explain(trace, why)
            call.answer(shapes_trace.explanation_shape(found), replaying.explanation_lines(found))
            return
        again = memory.replay(trace, as_of_then=as_of_then, weights=weights)
    call.answer(shapes_trace.replay_shape(again), replaying.replay_lines(again))
    call.note(replaying.replay_notes(again))


@command(app, "eval")
def evaluate(
    call: Call,
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help='Questions, one JSON object a line: {"query": ..., "relevant": [ids]}; without it, the stored '
            "searches whose hits had feedback.",
        ),
    ] = None,
    *,
    a: Annotated[str | None, typer.Option("--a", metavar="SETTING", help="One setting; else the one in force.")] = None,
    b: Annotated[
        str | None,
        typer.Option("--b", metavar="SETTING", help="The other, e.g. 'weights=balanced;routes=keyword;rerank=off'."),
    ] = None,
) -> int:
    """Measure two settings side by side on questions with known answers. Exit code 1 if there are too few."""
    from hindsight.interfaces.cli import evaluation  # noqa: PLC0415 - needed by no other command

    questions = None if file is None else evaluation.questions_of(file)
    with call.open(warm=True) as memory:
        found = memory.evaluate(questions, a=a, b=b)
    call.answer(evaluation.evaluation_shape(found), evaluation.evaluation_lines(found))
    call.note(evaluation.evaluation_notes(found))
    return OK if found.sides else FAILED

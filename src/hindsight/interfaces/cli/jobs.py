"""Commands about work in the background: jobs list, jobs cancel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from hindsight.interfaces.cli.call import Call, command
from hindsight.interfaces.shapes_jobs import job_shape, jobs_shape

if TYPE_CHECKING:
    from hindsight.domain.change import Job
    from hindsight.domain.schedule import Due

app = typer.Typer()
jobs = typer.Typer(help="Work in the background.", no_args_is_help=True)
app.add_typer(jobs, name="jobs")


@command(jobs, "list")
def list_jobs(call: Call) -> None:
    """Jobs that are not done, of this namespace and of the store as a whole, and when upkeep is due."""
    with call.open() as memory:
        found, schedule = memory.jobs(whole=True), memory.schedule()
    now = datetime.now(UTC)
    call.answer(jobs_shape(found, schedule, now), _lines(found, schedule))
    if not found:
        call.note(["nothing waits"])


@command(jobs, "cancel")
def cancel(
    call: Call, job_id: Annotated[str, typer.Argument(metavar="ID", help="Which, as jobs list shows it.")]
) -> None:
    """Take a job out, also one at work."""
    with call.open() as memory:
        job = memory.cancel_job(job_id, whole=True)
    call.answer(job_shape(job), [f"cancelled  {job.id}  {job.kind}"])


def _lines(found: Sequence[Job], schedule: Sequence[Due]) -> Iterator[str]:
    for job in found:
        reason = f"  ({job.last_error})" if job.last_error else ""
        yield f"{job.state.value:<7} {job.run_at:%Y-%m-%d %H:%M}  {job.id}  {job.kind}, attempt {job.attempts}{reason}"
    for one in schedule:
        last = "never yet" if one.last is None else f"last {one.last:%Y-%m-%d %H:%M}"
        yield f"due     {one.due:%Y-%m-%d %H:%M}  {one.name}  ({one.cron}; {last})"

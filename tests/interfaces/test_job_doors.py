"""Jobs and the schedule at every door, and the alarm about work that waits for too long."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from hindsight import app
from hindsight.config import load
from hindsight.domain.change import Batch, Job, JobState, NewJob
from hindsight.domain.schedule import Due
from hindsight.embedded import AsyncHindsight
from hindsight.errors import ConfigError, NotFound
from hindsight.interfaces.cli import main as cli
from hindsight.ops.doctor import LONG_WAIT, State, check_jobs
from hindsight.storage.oracle import OracleStore
from hindsight.upkeep.schedule import Scheduler
from tests.serving import running_server

import httpx2  # isort: skip


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")


async def with_a_job(folder: Path | None = None) -> None:
    """A job that no handler takes up, in the namespace of the settings."""
    async with AsyncHindsight(folder) as memory:
        engine = await memory.engine()
        job = NewJob("job-1", "unknown", {}, run_at=engine.now())
        await engine.parts.store.apply(Batch("default", "b", engine.now(), jobs=(job,)))
        assert await engine.parts.scheduler.tick() == ()


async def test_on_the_command_line_jobs_are_listed_and_cancelled(capsys: pytest.CaptureFixture[str]) -> None:
    await with_a_job()
    assert cli.main(["jobs", "list", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [job["job_id"] for job in shown["items"]] == ["job-1"]
    assert [one["name"] for one in shown["schedule"]] == ["backup", "clean-up", "purge"]
    assert cli.main(["jobs", "list"]) == 0
    assert "never yet" in capsys.readouterr().out
    assert cli.main(["jobs", "cancel", "job-1"]) == 0
    assert "cancelled  job-1" in capsys.readouterr().out
    assert cli.main(["jobs", "cancel", "job-1"]) == 2
    assert "job-1" in capsys.readouterr().err


async def test_over_rest_jobs_are_listed_and_cancelled(tmp_path: Path) -> None:
    await with_a_job(tmp_path)
    with running_server(tmp_path, {"EMBEDDING_MODEL": "none"}) as base, httpx2.Client(base_url=base) as client:
        shown = client.get("/v1/jobs").json()
        assert [(job["job_id"], job["state"]) for job in shown["items"]] == [("job-1", "ready")]
        assert shown["oldest_seconds"] >= 0
        elsewhere = {"X-Hindsight-Namespace": "other"}
        assert client.get("/v1/jobs", headers=elsewhere).json()["items"] == []
        assert client.delete("/v1/jobs/job-1", headers=elsewhere).status_code == 404
        assert client.delete("/v1/jobs/job-1").json()["kind"] == "unknown"
        assert client.delete("/v1/jobs/job-1").status_code == 404


async def test_a_job_about_the_whole_store_is_cancelled_only_by_who_owns_the_folder(tmp_path: Path) -> None:
    async with AsyncHindsight(tmp_path) as memory:
        engine = await memory.engine()
        entry = (await _ticked(memory))[0]
        job = NewJob("job-2", "unknown", {}, run_at=engine.now())
        await engine.parts.store.put_scheduled(entry, expected=entry.due, jobs=(("", job),))
        with pytest.raises(NotFound):
            await memory.cancel_job("job-2")
        assert [job.id for job in await memory.jobs(whole=True)] == ["job-2"]
        assert (await memory.cancel_job("job-2", whole=True)).kind == "unknown"


async def _ticked(memory: AsyncHindsight) -> list[Due]:
    engine = await memory.engine()
    await engine.parts.scheduler.tick()
    return list(await memory.schedule())


async def test_what_is_due_is_done_by_the_worker(tmp_path: Path) -> None:
    async with AsyncHindsight(tmp_path) as memory:
        await memory.write("我住在北京")
        engine = await memory.engine()
        parts = engine.parts
        for entry in await _ticked(memory):
            moved = Due(entry.name, entry.cron, engine.now(), None)
            assert await parts.store.put_scheduled(moved, expected=entry.due)
        assert await parts.scheduler.tick() == ("backup", "clean-up", "purge")
        while await parts.worker.run_one():
            pass
        assert list(await memory.jobs(whole=True)) == []
        assert len(list((tmp_path / "backups").glob("*.db"))) == 1


def scheduler(**settings: object) -> Scheduler:
    return app.make_scheduler(load(**settings), OracleStore(), app.SystemClock(), app.TimeSortedIds())


def test_the_schedule_is_set_by_name_and_the_hour_of_the_backup_by_itself() -> None:
    assert {one.name: one.cron for one in scheduler(backup_hour=5, schedule="purge=@weekly").entries} == {
        "backup": "0 5 * * *",
        "clean-up": "0 4 * * sun",
        "purge": "@weekly",
    }
    assert scheduler(backup_hour=-1).entries[0].cron == "off"
    for wrong in ("unknown=off", "purge=whenever", "purge"):
        with pytest.raises(ConfigError, match="schedule"):
            scheduler(schedule=wrong)


def test_work_that_has_waited_for_long_is_an_alarm() -> None:
    now = app.SystemClock().now()
    job = Job("j", "n", "embed", {}, JobState.READY, now - LONG_WAIT, 3, last_error="model away")
    assert check_jobs([job], now).state is State.OK
    late = check_jobs([job], now + timedelta(hours=1))
    assert late.state is State.WARN
    assert "7 hours" in late.found
    assert "model away" in late.remedy

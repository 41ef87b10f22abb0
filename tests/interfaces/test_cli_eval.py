"""`hindsight eval`: two settings side by side on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hindsight import Hindsight
from hindsight.interfaces.cli.main import main

THINGS = ("花生", "green tea", "the gate", "咖啡", "a bicycle", "projector", "挂号单", "invoice", "passport", "钥匙")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HINDSIGHT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("HINDSIGHT_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    return tmp_path


def question_file(folder: Path) -> Path:
    lines = []
    with Hindsight() as memory:
        for number, thing in enumerate(THINGS, 1):
            receipt = memory.write(f"{thing} 在第{number}个抽屉里", kind="fact")
            written = receipt.outcomes[0].memory_id or ""
            lines.append(json.dumps({"query": f"{thing} 在哪里", "relevant": [written[-8:]]}))
    path = folder / "questions.jsonl"
    path.write_text("\n\n".join(lines), encoding="utf-8")
    return path


def test_two_settings_stand_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = question_file(folder)
    assert main(["eval", str(path), "--b", "weights=balanced"]) == 0
    told = capsys.readouterr().out
    assert "10 questions, 0 of them without an answer" in told
    assert "recall@10" in told
    assert main(["eval", str(path), "--b", "weights=balanced", "--json"]) == 0
    shape = json.loads(capsys.readouterr().out)
    assert shape["a"]["recall@5"] == 1.0
    assert shape["b"]["setting"]["weights"]["relevance"] == 0.5
    assert shape["differ"] >= 0


def test_too_little_feedback_is_said_and_is_no_figure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    question_file(folder)
    assert main(["eval", "--b", "balanced"]) == 1
    told = capsys.readouterr()
    assert "not measured: 0 questions with a known answer" in told.out
    assert "hindsight feedback" in told.err
    assert main(["eval", "--json"]) == 1
    shape = json.loads(capsys.readouterr().out)
    assert (shape["a"], shape["b"], shape["differ"]) == (None, None, None)


def test_a_file_that_can_not_be_read_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(folder / "none.jsonl")]) == 2
    assert "FILE" in capsys.readouterr().err
    broken = folder / "broken.jsonl"
    broken.write_text("{}\nnot json\n", encoding="utf-8")
    assert main(["eval", str(broken)]) == 2
    assert "line 2" in capsys.readouterr().err

"""The page of results is made of the files of figures alone."""

from pathlib import Path

import pytest

from bench import results
from bench.report import write_json

RECALL = {
    "talk": {"queries": 2, "recall@10": 0.75, "mrr": 0.5, "search_p50_ms": 9.5, "abstain_confident": 0.25},
    "talk/plain": {"queries": 1, "recall@10": 0.5, "mrr": 0.25},
}
RUNS = {
    "recall": {
        "command": "python -m bench.recall --data DIR --json bench/results/recall.json",
        "date": "2026-01-02",
        "processors": 2,
        "python": "3.11.0",
        "system": "Linux x86_64",
    }
}


@pytest.fixture
def figures(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    write_json(folder / "recall.json", RECALL)
    write_json(folder / "runs.json", RUNS)  # type: ignore[arg-type]  # the same file format, other values
    return folder


def test_the_same_files_give_the_same_page(figures: Path, tmp_path: Path) -> None:
    page = tmp_path / "RESULTS.md"
    assert results.main([], figures=figures, made=page) == 0
    first = page.read_text(encoding="utf-8")
    assert results.main([], figures=figures, made=page) == 0
    assert page.read_text(encoding="utf-8") == first
    assert "| talk | 2 | 0.750 | 0.500 |" in first
    assert "| talk/plain | 1 | 0.500 | 0.250 |" in first
    assert "python -m bench.recall --data DIR" in first
    assert "2026-01-02, 2 processors, Python 3.11.0, Linux x86_64" in first


def test_recall_and_the_tokens_it_costs_stand_in_one_row(figures: Path) -> None:
    whole = {"recall@5": 0.5, "tokens@5": 210.0, "recall@10": 0.75, "tokens@10": 420.0, "recall@20": 0.8}
    write_json(figures / "recall.json", {name: whole | {"tokens_per_block": 900.0} for name in ("talk", "talk/plain")})
    page = results.page(figures)
    assert "| set | recall@5 | tokens@5 | recall@10 | tokens@10 | recall@20 | tokens_per_block |" in page
    for name in ("talk", "talk/plain"):
        assert f"| {name} | 0.500 | 210.0 | 0.750 | 420.0 | 0.800 | 900.0 |" in page


def test_what_each_stage_adds_stands_beside_everything_set_by_set(figures: Path) -> None:
    assert "What each stage adds" not in results.page(figures)
    rows = {
        "talk/everything": {"queries": 2, "recall@10": 0.75, "in_block": 0.5, "tokens_per_block": 400.0},
        "talk/the session": {"queries": 2, "recall@10": 0.7, "in_block": 0.4, "tokens_per_block": 410.0},
        "talk/bm25": {"queries": 2, "recall@10": 0.6},
        "realmem/everything": {
            "queries": 3, "recall@10": 0.1, "session_recall@10": 0.8, "in_block": 0.7, "tokens_per_block": 600.0
        },
        "realmem/the session": {"queries": 3, "session_recall@10": 0.81},
    }  # fmt: skip
    write_json(figures / "ablation.json", rows)
    page = results.page(figures)
    assert "| without | talk recall@10 | realmem session_recall@10 | in_block | tokens_per_block |" in page
    assert "| everything | 0.750 | 0.800 | 0.600 | 500.0 |" in page
    assert "| the session | 0.700 (-0.050) | 0.810 (+0.010) | 0.400 | 410.0 |" in page
    assert "| bm25 | 0.600 (-0.150) |  |  |  |" in page
    assert "talk 2, realmem 3" in page
    assert "## Ablation" not in page


def test_a_page_without_figures_says_nothing_it_does_not_know(tmp_path: Path) -> None:
    page = results.page(tmp_path)
    assert page.startswith("# Results")
    assert "|" not in page


def test_a_run_asked_for_without_data_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        results.main(["--run", "recall"])
    assert "--run needs --data" in capsys.readouterr().err


def test_circumstances_name_no_path_of_this_machine() -> None:
    for run in results.RUNS:
        told = str(results.circumstances(run)["command"])
        assert told.startswith(f"python -m {run.module} --data DIR")
        assert str(Path.cwd()) not in told

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


def test_routes_stand_side_by_side_once_both_ablations_are_there(figures: Path) -> None:
    assert "What each route adds" not in results.page(figures)
    for name, recall in (("keyword_only", 0.7), ("vector_only", 0.3)):
        write_json(figures / f"{name}.json", {"talk": {"recall@10": recall, "mrr": 0.1, "search_p50_ms": 4.0}})
    page = results.page(figures)
    assert "| recall@10 | both | keyword only | vector only |" in page
    assert "| talk | 0.750 | 0.700 | 0.300 |" in page


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

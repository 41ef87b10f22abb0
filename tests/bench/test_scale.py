"""Growth is measured on a real server; here one so small that only the figures' presence can be checked."""

from pathlib import Path

import pytest

from bench import scale
from tests.bench.made import lay, memory, question


def test_growth_compares_with_the_smallest_size_and_as_many_clients() -> None:
    def row(search: float, write: float) -> dict[str, float]:
        return {"search_p50_ms": search, "write_p50_ms": write}

    rows = {"n10_c1": row(2, 1), "n10_c8": row(8, 4), "n100_c1": row(3, 1.5), "n100_c8": row(8, 8)}
    scale.with_growth(rows, scale.Plan((10, 100), (1, 8)))
    assert (rows["n100_c1"]["search_p50_growth"], rows["n100_c8"]["write_p50_growth"]) == (1.5, 2)
    assert "search_p50_growth" not in rows["n10_c1"]


def test_a_wrong_number_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        scale.main(["--data", "nowhere", "--n", "0"])
    assert "argument --n: 0 is not accepted; allowed: 1 or more" in capsys.readouterr().err


def test_a_real_server_is_filled_asked_and_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    memories = [memory(str(n), f"word{n} said on day {n}", session_id=str(n % 5)) for n in range(30)]
    talk = lay(
        tmp_path / "talk", memories=memories, queries=[question(f"q{n}", [str(n)], f"word{n}?") for n in range(30)]
    )
    rows = scale.measure(talk, scale.Plan((20,), (1, 2), writes=2, searches=4))
    assert list(rows) == ["n20_c1", "n20_c2"]
    for row in rows.values():
        assert {"search_p50_ms", "search_per_s", "write_p95_ms", "disk_mb"} <= set(row)
        assert "degraded" not in row
    assert {"batch_per_s", "ready_ms", "first_answer_ms"} <= set(rows["n20_c1"])

"""The bench of backups runs through and finds the import equal."""

import json
from pathlib import Path

from bench.backup import main


def test_a_small_store_goes_all_the_way_and_comes_back_equal(tmp_path: Path) -> None:
    assert main(["--n", "30", "--json", str(tmp_path / "rows.json")]) == 0
    row = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))["n30"]
    assert row["equal"] == 1
    assert row["backup_mb"] > 0
    assert row["write_alone_ms"] > 0

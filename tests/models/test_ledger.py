"""Tokens per day survive a restart and are shared by the processes of a data folder."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from hindsight.errors import StorageUnavailable
from hindsight.models.ledger import KEPT_DAYS, Ledger, Spent

DAY = date(2024, 1, 15)


@pytest.mark.parametrize("kept", [True, False])
def test_a_day_adds_up_and_the_next_begins_at_nothing(tmp_path: Path, kept: bool) -> None:
    ledger = Ledger(tmp_path / "usage" if kept else None)
    assert ledger.spent(DAY) == Spent(0, 0)
    ledger.add(DAY, 10, 1)
    ledger.add(DAY, 20, 2)
    assert ledger.spent(DAY) == Spent(30, 3)
    assert ledger.spent(DAY).total == 33
    assert ledger.spent(DAY + timedelta(days=1)) == Spent(0, 0)


def test_another_process_of_the_folder_counts_too(tmp_path: Path) -> None:
    mine = Ledger(tmp_path)
    mine.add(DAY, 10, 1)
    assert mine.spent(DAY).total == 11
    program = (
        "import sys; from datetime import date; from pathlib import Path; from hindsight.models.ledger import Ledger; "
        "[Ledger(Path(sys.argv[1])).add(date(2024, 1, 15), 1, 1) for _ in range(200)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    for _ in range(200):
        mine.add(DAY, 1, 1)
    assert [process.wait() for process in running] == [0, 0]
    assert mine.spent(DAY).total == 11 + 3 * 400
    assert Ledger(tmp_path).spent(DAY).total == 11 + 3 * 400


def test_half_a_line_is_not_counted(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(DAY, 10, 1)
    (file,) = tmp_path.iterdir()
    with file.open("ab") as out:
        out.write(b"999 9")
    assert ledger.spent(DAY).total == 11


def test_old_days_are_dropped_and_foreign_files_stay(tmp_path: Path) -> None:
    old, foreign = tmp_path / "llm-2023-01-01.txt", tmp_path / "llm-some-th-in.txt"
    old.write_text("1 1\n")
    foreign.write_text("mine")
    recent = DAY - timedelta(days=KEPT_DAYS)
    ledger = Ledger(tmp_path)
    ledger.add(recent, 5, 5)
    ledger.add(DAY, 1, 1)
    assert not old.exists()
    assert foreign.exists()
    assert ledger.spent(recent).total == 10


def test_a_folder_that_can_not_be_written_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StorageUnavailable, match="llm-2024-01-15"):
        Ledger(blocked).add(DAY, 1, 1)

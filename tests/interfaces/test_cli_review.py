"""`hindsight review` in real processes: shown, decided, taken back; in both languages."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from hindsight.interfaces.cli import main as cli

COMMAND = [sys.executable, "-m", "hindsight.interfaces.cli"]
PAIRS = [("我住在北京", "用户搬到上海了"), ("The user lives in Florence", "The user now lives in Rome")]


def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HINDSIGHT_EMBEDDING_MODEL": "none"}
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, encoding="utf-8", env=environment, check=False)
    assert done.returncode == code, done.stderr
    return done


def asked(*arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return answer


@pytest.mark.parametrize(("said", "read"), PAIRS, ids=("zh", "en"))
def test_what_waits_is_said_shown_decided_and_taken_back(said: str, read: str) -> None:
    run("write", said)
    written = run("write", read, "--role", "document").stdout
    assert "waits for your decision: hindsight review " in written
    name = written.split("hindsight review ")[1].split()[0]

    shown = run("review")
    for words in (read, name, "document", "user", "new", "old"):
        assert words in shown.stdout
    assert f"hindsight review ID {'--new | --old | --both'}" in shown.stderr
    (item,) = asked("review")["items"]
    assert (item["short_id"], item["state"]) == (name, "open")
    assert item["old"][0]["content"] in shown.stdout

    decided = asked("review", name, "--old")
    assert [one["action"] for one in decided["outcomes"]] == ["superseded"]
    nothing = run("review")
    assert (nothing.stdout, nothing.stderr) == ("", "nothing waits for a decision\n")
    assert "superseded" in run("review", "--state", "closed").stdout

    late = run("review", name, "--new", code=1)
    assert late.stdout == ""
    assert late.stderr.startswith("conflict: ")
    assert "decided already" in late.stderr

    run("undo", decided["undo"])
    assert [one["short_id"] for one in asked("review")["items"]] == [name]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["review", "nothere1", "--new"], ("memory_id", "nothere1")),
        (["review", "nothere1"], ("decision", "--new, --old and --both")),
        (["review", "nothere1", "--new", "--both"], ("decision", "--new --both", "one of")),
        (["review", "--old"], ("ID", "newer memory")),
        (["review", "--state", "关闭"], ("state", "关闭", "open, closed")),
        (["review", "--limit", "501"], ("limit", "501", "from 1 to 500")),
        (["review", "--after", "昨天"], ("after", "昨天", "page before")),
    ],
)
def test_bad_input_ends_with_2_and_one_line_that_names_it(
    arguments: Sequence[str],
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")
    assert cli.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    for word in words:
        assert word in said.err

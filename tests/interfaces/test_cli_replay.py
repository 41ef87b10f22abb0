"""`hindsight replay` in real processes: the same again, what moved, and why a memory was not returned."""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import pytest

from hindsight.domain.ranking import PRESETS

COMMAND = [sys.executable, "-m", "hindsight.interfaces.cli"]


def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HINDSIGHT_EMBEDDING_MODEL": "none"}
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, encoding="utf-8", env=environment, check=False)
    assert done.returncode == code, done.stderr
    return done


def asked(*arguments: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(*arguments, "--json").stdout)
    return answer


def test_a_search_shows_its_trace_and_is_run_again() -> None:
    run("write", "用户对花生过敏", "--kind", "fact")
    written = asked("write", "花生酱在柜子里", "--kind", "fact")["outcomes"][0]["memory_id"]
    trace = run("search", "花生过敏", "--top-k", "1").stderr.splitlines()[-1].removeprefix("trace ")

    same = run("replay", trace)
    assert "the same ranking: 1 hits" in same.stdout
    why = run("replay", trace, "--why", written[-8:])
    assert why.stdout.splitlines()[0] == f"{written[-8:]}  beyond_top_k  花生酱在柜子里"
    assert asked("replay", trace, "--why", written)["stage"] == "beyond_top_k"

    run("forget", written)
    changed = run("replay", trace)
    assert " 2  →   -" in changed.stdout
    assert "it is forgotten since" in changed.stdout
    assert "花生酱" not in changed.stdout
    assert "* is among the hits" in changed.stderr
    assert asked("replay", trace, "--as-of-then")["changes"] == 1


def test_other_weights_are_shown_beside_those_of_then() -> None:
    run("write", "green tea", "--kind", "fact")
    trace = asked("search", "green tea")["trace_id"]
    weights = asked("replay", trace, "--weights", "relevance=0.5,freshness=0.5")["weights"]
    assert weights["after"] == {"relevance": 0.5, "freshness": 0.5, "importance": 0.0, "use": 0.0}
    assert weights["before"] == asdict(PRESETS["default"])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("none",), 2, "not_found"),
        (("none", "--why", "x", "--as-of-then"), 2, "--why"),
        ((), 2, "TRACE"),
    ],
)
def test_what_cant_be_done_says_why(arguments: tuple[str, ...], code: int, said: str) -> None:
    done = run("replay", *arguments, code=code)
    assert said in done.stderr
    assert done.stdout == ""

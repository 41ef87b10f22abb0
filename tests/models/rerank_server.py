"""What rerank endpoints answer, for the loopback server: a text scores the share of the query's words that it has."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from tests.models.openai_server import Asked, Reply


def share(query: str, text: str) -> float:
    """0 to 1."""
    words = set(query.split())
    return len(words & set(text.split())) / len(words) if words else 0.0


def rows(key: str, scores: Sequence[object]) -> list[dict[str, object]]:
    """Rows in the order of such servers: not that of the texts."""
    return [{"index": place, key: score} for place, score in reversed(list(enumerate(scores)))]


def reply(answer: object) -> Reply:
    return Reply(200, json.dumps(answer).encode())


def results(*scores: object) -> Reply:
    """An answer in the form of Jina, Cohere and vLLM."""
    return reply({"id": "r", "model": "m", "results": rows("relevance_score", scores), "usage": {"total_tokens": 9}})


def scored(asked: Asked) -> Reply:
    """Answer a request of that form; `top_n` gives the best few only."""
    shares = [share(asked.body["query"], text) for text in asked.body["documents"]]
    best = sorted(rows("relevance_score", shares), key=lambda row: -float(str(row["relevance_score"])))
    return reply({"results": best[: asked.body["top_n"]]})


def scored_as_logits(asked: Asked) -> Reply:
    """The same, as llama.cpp answers: the logit of the share."""
    shares = [min(0.999, max(0.001, share(asked.body["query"], text))) for text in asked.body["documents"]]
    return results(*(math.log(one / (1.0 - one)) for one in shares))


def scored_by_tei(asked: Asked) -> Reply:
    """Answer in the form of text-embeddings-inference, which refuses what it does not know and too much at once."""
    if set(asked.body) - {"query", "texts", "raw_scores", "return_text", "truncate"} or len(asked.body["texts"]) > 32:
        return Reply(422, b'{"error": "batch size > maximum allowed batch size 32", "error_type": "Validation"}')
    return reply(rows("score", [share(asked.body["query"], text) for text in asked.body["texts"]]))

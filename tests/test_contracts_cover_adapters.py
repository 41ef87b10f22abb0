"""Every adapter that `app` can choose is held to the contract of its port."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import pytest

from hindsight import app, config
from hindsight.models.cross_encoder import CrossEncoder
from hindsight.testing.cache_contract import CacheContract
from hindsight.testing.index_contract import LexicalIndexContract, VectorIndexContract
from hindsight.testing.reranker_contract import RerankerContract
from hindsight.testing.store_contract import StoreContract

TESTS = Path(__file__).parent


def modules_of(folder: str) -> Iterator[ModuleType]:
    for path in sorted((TESTS / folder).glob("test_*.py")):
        name = f"contract_census_{folder}_{path.stem}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        yield module


def held_to(contract: type, folder: str) -> set[type]:
    """The adapters that test classes of a folder make and hold to a contract."""
    return {
        get_type_hints(vars(found)["make"])["return"]
        for module in modules_of(folder)
        for name, found in vars(module).items()
        if name.startswith("Test") and isinstance(found, type) and issubclass(found, contract) and found is not contract
    }


def missing(adapters: set[type], contract: type, folder: str) -> set[str]:
    return {adapter.__name__ for adapter in adapters - held_to(contract, folder)}


def test_every_store_runs_the_store_contract() -> None:
    assert missing(set(app.STORES.values()), StoreContract, "storage") == set()


def test_every_vector_index_runs_its_contract(tmp_path: Path) -> None:
    adapters = {type(make(tmp_path)) for make in app.VECTOR_INDEXES.values()}
    assert missing(adapters, VectorIndexContract, "index") == set()


def test_every_lexical_index_runs_its_contract(tmp_path: Path) -> None:
    adapters = {type(make(tmp_path)) for make in app.LEXICAL_INDEXES.values()}
    assert missing(adapters, LexicalIndexContract, "index") == set()


def test_every_reranker_runs_its_contract() -> None:
    by_url = app.make_reranker(config.load(reranker_url="http://127.0.0.1:1"))
    run = {
        found.adapter
        for module in modules_of("models")
        for name, found in vars(module).items()
        if name.startswith("Test") and isinstance(found, type) and issubclass(found, RerankerContract)
    }
    assert run == {type(by_url), CrossEncoder}


def test_every_cache_runs_its_contract() -> None:
    adapters = {type(make(app.SystemClock())) for make in app.CACHES.values()}
    run = {
        found.adapter
        for module in modules_of("cache")
        for name, found in vars(module).items()
        if name.startswith("Test") and isinstance(found, type) and issubclass(found, CacheContract)
    }
    assert run == adapters


@pytest.mark.parametrize(("contract", "folder"), [(StoreContract, "storage"), (VectorIndexContract, "index")])
def test_an_adapter_without_a_run_is_named(contract: type, folder: str) -> None:
    class Stranger:
        pass

    assert missing({Stranger}, contract, folder) == {"Stranger"}

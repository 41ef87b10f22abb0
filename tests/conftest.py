"""What every test can rely on: asyncio, no network beyond loopback, no settings of the person who runs it."""

import asyncio
import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from hindsight.models.embedder import UseMultilingual

LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0", "::ffff:127.")
# Settings of hindsight that do not start with its name (SPEC: names people already use).
FOREIGN_SETTINGS = (
    "POSTGRES_URL", "REDIS_URL", "QDRANT_URL", "LLM_API_KEY", "LLM_BASE_URL", "LLM_MODEL", "MEMORY_DB_PATH",
    "EMBEDDING_MODEL", "LOG_LEVEL",
)  # fmt: skip

# A deadline would assert on the wall clock of a busy machine.
settings.register_profile("hindsight", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("hindsight")


def refuse_the_network(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: sees every connection this process makes, by whichever library."""
    if event != "socket.connect":
        return
    address = arguments[1]
    # Unix sockets have a path, not a tuple; they never leave the machine.
    if isinstance(address, tuple) and not str(address[0]).startswith(LOOPBACK):
        raise RuntimeError(f"a test tried to connect to {address!r}; only loopback is allowed")


sys.addaudithook(refuse_the_network)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def weights() -> Iterator[None]:
    """Keeps the built-in encoder's weights in memory between tests that open and close their own memory."""
    embedder = UseMultilingual()
    asyncio.run(embedder.warm())
    yield
    asyncio.run(embedder.aclose())


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No test reads or writes what belongs to the person who runs it: clean settings, data and home in a new folder."""
    for name in list(os.environ):
        if name.startswith("HINDSIGHT_") or name in FOREIGN_SETTINGS:
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HINDSIGHT_DATA_DIR", str(home / "data"))
    return home


def pytest_runtest_setup(item: pytest.Item) -> None:
    """`@pytest.mark.needs("mount", "root")`: not run where one is missing, and in CI a failure."""
    wanted = [str(tool) for mark in item.iter_markers("needs") for tool in mark.args]
    missing = [tool for tool in wanted if not is_here(tool)]
    if not missing:
        return
    reason = f"not run: needs {', '.join(missing)}"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason}, which .ci/run must bring", pytrace=False)
    pytest.skip(reason)


def is_here(tool: str) -> bool:
    if tool == "root":
        return hasattr(os, "geteuid") and os.geteuid() == 0
    if tool.startswith("module:"):
        return importlib.util.find_spec(tool.removeprefix("module:")) is not None
    return shutil.which(tool) is not None

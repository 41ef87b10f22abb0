"""The import rule really refuses what it says it refuses: violations planted in an empty house are found."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = ("errors", "config", "ports", "projection", "engine", "app", "embedded", "client", "server", "mcp_server")
ROOMS = (
    "domain", "language", "write", "search", "experience", "upkeep", "storage", "index", "cache", "models",
    "interfaces", "integrations", "observe", "ops", "testing",
)  # fmt: skip


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A package with every room and nothing in them, under the project's own contracts."""
    package = tmp_path / "hindsight"
    for room in ("", *ROOMS):
        (package / room).mkdir()
        (package / room / "__init__.py").touch()
    for module in MODULES:
        (package / f"{module}.py").touch()
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    return package


def broken_contracts(house: Path) -> set[str]:
    lint = Path(sys.executable).with_name("lint-imports")
    command = [str(lint), "--no-cache"]
    finished = subprocess.run(command, cwd=house.parent, capture_output=True, text=True, encoding="utf-8", check=False)
    broken = {line.removesuffix(" BROKEN") for line in finished.stdout.splitlines() if line.endswith(" BROKEN")}
    assert finished.returncode == (1 if broken else 0), finished.stdout + finished.stderr
    return broken


FLOORS = "Imports go down the floors, siblings never import each other"
ADAPTERS = "Only app and testing import an adapter"
SETTINGS = "Only app, embedded, ops and interfaces import the settings"
TESTING = "Nothing in the product imports what is shipped for tests"
PURE = "Domain and language do no input or output"


def test_allowed_imports_break_nothing(house: Path) -> None:
    (house / "app.py").write_text("from hindsight import config, engine, storage, index, cache, models\n")
    (house / "testing/store_contract.py").write_text("from hindsight import ports, storage\n")
    (house / "interfaces/http.py").write_text("from hindsight import config, embedded, app, engine, domain\n")
    (house / "storage/sql.py").write_text("from hindsight import ports, domain, language, observe, errors\n")
    (house / "write/pipeline.py").write_text("from hindsight import ports, domain, language, observe, errors\n")

    assert broken_contracts(house) == set()


@pytest.mark.parametrize(
    ("importer", "imported", "contracts"),
    [
        ("write/reconcile.py", "hindsight.search", {FLOORS}),
        ("experience/merge.py", "hindsight.upkeep", {FLOORS}),
        ("storage/sql.py", "hindsight.index", {FLOORS, ADAPTERS}),
        ("storage/sql.py", "hindsight.engine", {FLOORS}),
        ("domain/memory.py", "hindsight.ports", {FLOORS}),
        ("domain/memory.py", "hindsight.language", {FLOORS}),
        ("observe/trace.py", "hindsight.domain", {FLOORS}),
        ("interfaces/http.py", "hindsight.integrations", {FLOORS}),
        ("engine.py", "hindsight.storage", {ADAPTERS}),
        ("embedded.py", "hindsight.models", {ADAPTERS}),
        ("search/rank.py", "hindsight.config", {SETTINGS}),
        ("models/llm.py", "hindsight.config", {SETTINGS}),
        ("interfaces/cli.py", "hindsight.testing", {FLOORS, TESTING}),
        ("domain/query.py", "apsw", {PURE}),
        ("utils.py", "hindsight.errors", {FLOORS}),
    ],
)
def test_a_planted_import_is_found_even_inside_a_function(
    house: Path, importer: str, imported: str, contracts: set[str]
) -> None:
    (house / importer).write_text(f"def late() -> None:\n    import {imported}\n")

    assert broken_contracts(house) == contracts

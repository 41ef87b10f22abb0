"""No index is offered that has not been held to the contract."""

import ast
from pathlib import Path

import pytest

from hindsight.app import LEXICAL_INDEXES, VECTOR_INDEXES

CONTRACTS = {"VectorIndexContract": VECTOR_INDEXES, "LexicalIndexContract": LEXICAL_INDEXES}


def made_under(contract: str) -> set[str]:
    """The classes that tests in this folder make and hold to a contract, by their names."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("test_*.py")]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    held = [node for node in classes if contract in [ast.unparse(parent) for parent in node.bases]]
    calls = [call.func for node in held for call in ast.walk(node) if isinstance(call, ast.Call)]
    return {called.id for called in calls if isinstance(called, ast.Name)}


@pytest.mark.parametrize("contract", CONTRACTS)
async def test_every_index_that_can_be_chosen_runs_under_its_contract(contract: str, tmp_path: Path) -> None:
    for name, make in CONTRACTS[contract].items():
        index = make(tmp_path)
        await index.aclose()
        assert type(index).__name__ in made_under(contract), f"{name} has no contract run in tests/index"

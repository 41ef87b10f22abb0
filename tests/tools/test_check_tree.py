"""The tree's rules find what breaks them."""

import shutil
from pathlib import Path

import pytest

from tools import check_tree

ROOT = Path(__file__).resolve().parents[2]
# Assembled, so that this file keeps the rules it tests.
SUPPRESSION = "# no" + "qa"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree that keeps every rule."""
    for name in ("pyproject.toml", "README.md", "README.zh-CN.md"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    (tmp_path / "src/hindsight").mkdir(parents=True)
    (tmp_path / "src/hindsight/room.py").write_text('"""A room."""\n', encoding="utf-8")
    return tmp_path


def breaches_of(tree: Path, capsys: pytest.CaptureFixture[str]) -> str:
    failed = check_tree.main(tree)
    out = capsys.readouterr().out
    assert failed == (0 if out == "check_tree: clean\n" else 1)
    return out


def test_a_tree_that_keeps_the_rules_is_clean(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert breaches_of(tree, capsys) == "check_tree: clean\n"


@pytest.mark.parametrize(
    ("source", "breach"),
    [
        ('"""Long."""\n' + "a = 1\n" * 500, "501 lines, 500 are allowed"),
        ('"""Long."""\ndef f():\n' + "    a = 1\n" * 60, "f has 61 lines, 60 are allowed"),
        ("a = 1\n", "no docstring"),
        ('"""Reads."""\nimport os\na = os.environ["A"]\n', "only config.py reads the environment"),
        ('"""Reads."""\nfrom os import getenv\n', "only config.py reads the environment"),
        ('"""Unfinished."""\n# TO' + "DO later\n", "unfinished work"),
        (f'"""Silent."""\nimport os  {SUPPRESSION}: F401\n', "names its rule and its reason"),
        (f'"""Silent."""\nimport os  {SUPPRESSION}\n', "names its rule and its reason"),
    ],
)
def test_a_source_that_breaks_a_rule_is_named(
    tree: Path, capsys: pytest.CaptureFixture[str], source: str, breach: str
) -> None:
    (tree / "src/hindsight/room.py").write_text(source, encoding="utf-8")

    out = breaches_of(tree, capsys)

    assert breach in out
    assert "room.py" in out


def test_a_suppression_with_rule_and_reason_is_allowed(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = f'"""Late."""\nimport os  {SUPPRESSION}: F401 (kept for its side effect)\n'
    (tree / "src/hindsight/room.py").write_text(source, encoding="utf-8")

    assert breaches_of(tree, capsys) == "check_tree: clean\n"


def test_a_translation_without_its_original_is_named(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "README.md").unlink()

    assert "README.zh-CN.md: README.md is missing" in breaches_of(tree, capsys)


def test_a_requirement_without_a_hash_or_with_an_address_is_named(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (tree / "requirements/test-py311.txt").open("a", encoding="utf-8") as file:
        file.write("left-pad==1.0\n--index-url https://example.invalid/simple\n")

    out = breaches_of(tree, capsys)

    assert "no hash for left-pad==1.0" in out
    assert "names an index address" in out

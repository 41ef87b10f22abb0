"""The two READMEs say the same and name only what is there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tools.readme import shell_commands

ROOT = Path(__file__).resolve().parents[1]
ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")


def code_blocks(text: str) -> list[str]:
    return re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def test_both_readmes_show_the_same_code() -> None:
    assert code_blocks(ENGLISH) == code_blocks(CHINESE)


def test_both_readmes_name_the_same_things() -> None:
    quoted = re.compile(r"`([^`\n]+)`")

    assert sorted(quoted.findall(prose(ENGLISH))) == sorted(quoted.findall(prose(CHINESE)))


def test_both_readmes_have_the_same_sections() -> None:
    headings = re.compile(r"^#+", re.MULTILINE)

    assert headings.findall(prose(ENGLISH)) == headings.findall(prose(CHINESE))


@pytest.mark.parametrize("readme", [ENGLISH, CHINESE], ids=["English", "Chinese"])
def test_every_link_of_a_readme_leads_to_a_file(readme: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", readme):
        assert (ROOT / target).exists(), target


def test_the_first_commands_are_the_round_trip_and_the_tests() -> None:
    run, test, *_ = shell_commands(ENGLISH)

    assert "\n" not in run
    assert run.endswith("examples/first_memory.py")
    assert test == "python3 tools/test.py"


def test_every_folder_of_the_layout_is_there() -> None:
    layout = next(block for block in code_blocks(ENGLISH) if "src/hindsight/" in block)

    for folder in re.findall(r"^(\S+/)\s", layout, re.MULTILINE):
        assert (ROOT / folder).is_dir(), folder


def test_the_python_example_is_python() -> None:
    examples = re.findall(r"^```python\n(.*?)^```$", ENGLISH, re.MULTILINE | re.DOTALL)

    assert examples
    for example in examples:
        ast.parse(example)


def test_every_supported_python_is_named_in_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))

    assert versions
    for version in versions:
        assert version in ENGLISH

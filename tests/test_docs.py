"""The pages of docs/ hold against the code."""

import re
from pathlib import Path

import pytest

from hindsight.config import Settings
from tools import settings_page

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_the_page_of_settings_is_the_one_the_code_makes() -> None:
    written = settings_page.PAGE.read_text(encoding="utf-8")

    assert written == settings_page.page(), "run: .venv-test/bin/python tools/settings_page.py"


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_every_setting_is_documented_with_its_default_and_meaning(name: str) -> None:
    written = settings_page.PAGE.read_text(encoding="utf-8")
    variable = settings_page.variables_of(name, Settings.model_fields[name])[0]
    (row,) = re.findall(rf"^\| `{variable}`.*$", written, re.MULTILINE)
    _, _, default, meaning, _ = (cell.strip() for cell in row.split("|"))

    assert default
    assert meaning


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_room_of_the_package_has_its_line_in_the_table() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    named = {name for line in lines if "to come:" not in line for name in re.findall(r"`([a-z_]+(?:\.py|/))`", line)}
    package = ROOT / "src" / "hindsight"
    rooms = {f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").exists()}
    files = {path.name for path in package.glob("*.py")} - {"__init__.py"}

    assert named == rooms | files

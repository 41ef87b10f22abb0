"""The two READMEs say the same and name only what is there."""

import json
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from examples import first_memory
from hindsight.config import Settings, Toolset
from hindsight.interfaces.cli.main import app as command_line
from hindsight.interfaces.http.app import create_app
from hindsight.interfaces.mcp.tools import TOOLSETS
from tests.serving import running_server
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


IDS = re.compile(r"#[0-9a-z]{8}")


def blocks_of(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", ENGLISH, re.MULTILINE | re.DOTALL)


@pytest.mark.usefixtures("weights")
def test_the_first_command_prints_what_the_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (shown,) = (block for block in blocks_of("") if block.startswith("? "))
    question, *lines = IDS.sub("#", shown.strip()).splitlines()

    first_memory.main()
    asked, answer = IDS.sub("#", capsys.readouterr().out).split(question)

    assert asked
    assert [line for line in lines if line not in answer.splitlines()] == []


@pytest.mark.usefixtures("weights")
def test_the_python_example_finds_what_it_wrote(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded, _ = blocks_of("python")
    monkeypatch.chdir(tmp_path)

    exec(compile(embedded, "README.md", "exec"), {})

    assert "Lisbon" in capsys.readouterr().out


def test_the_example_of_a_client_finds_what_it_wrote(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, over_http = blocks_of("python")
    with running_server(tmp_path / "data") as base:
        exec(compile(over_http.replace("http://127.0.0.1:8080", base), "README.md", "exec"), {})

    assert "Siemens" in capsys.readouterr().out


def test_the_mcp_configuration_starts_a_module_with_known_settings() -> None:
    (written,) = blocks_of("json")
    server = json.loads(written)["mcpServers"]["hindsight"]

    assert find_spec(server["args"][-1])
    assert {name.removeprefix("HINDSIGHT_").lower() for name in server["env"]} <= set(Settings.model_fields)


def test_every_setting_that_a_readme_names_exists() -> None:
    named = re.findall(r"HINDSIGHT_(\w+)", ENGLISH)

    assert {name.lower() for name in named} <= set(Settings.model_fields)


def test_the_table_of_tools_is_what_the_server_offers() -> None:
    named = re.findall(r"^\| `(\w+)`", ENGLISH, re.MULTILINE)

    assert sorted(named) == sorted(tool.name for tool in TOOLSETS[Toolset.FULL])


def test_every_command_is_named_in_the_readme() -> None:
    section = ENGLISH[ENGLISH.index("## On the command line") : ENGLISH.index("## Over REST")]

    commands = typer.main.get_group(command_line).commands

    assert commands
    for command in commands:
        assert f"`{command}`" in section or f"bin/hindsight {command}" in section, command


def test_every_route_that_the_readme_names_exists(tmp_path: Path) -> None:
    served = set(create_app(Settings(data_dir=tmp_path)).openapi()["paths"])
    named = re.findall(r"(?:127\.0\.0\.1:8080|`)(/(?:v1/|healthz|readyz)[\w/{}]*)", ENGLISH)

    assert len(named) > 5
    assert set(named) <= served


def test_every_supported_python_is_named_in_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))

    assert versions
    for version in versions:
        assert version in ENGLISH

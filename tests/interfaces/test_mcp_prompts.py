"""Prompts: how to use the memory and how to reflect, in both languages, naming only tools that are offered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from hindsight.config import Toolset
from hindsight.errors import InvalidInput, NotFound
from hindsight.interfaces.mcp.prompts import prompt_text, prompts_of
from hindsight.interfaces.mcp.tools import TOOLSETS
from tests.interfaces.test_mcp_stdio import connected

EACH = [(toolset, one.name) for toolset in Toolset for one in prompts_of(toolset)]


@pytest.mark.parametrize(("toolset", "name"), EACH)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_prompt_names_only_tools_of_its_toolset_and_numbers_its_points(
    toolset: Toolset, name: str, language: str
) -> None:
    text = prompt_text(name, {"language": language}, toolset)
    offered = {spec.name for spec in TOOLSETS[toolset]}
    assert set(re.findall(r"\b(?:memory|experience)_[a-z]+", text)) <= offered
    numbers = re.findall(r"^(\d)\. ", text, re.MULTILINE)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert (re.search("[\u4e00-\u9fff]", text) is not None) is (language == "zh")
    assert "{" not in text


def test_without_a_language_both_are_given() -> None:
    text = prompt_text("use_memory", {}, Toolset.FULL)
    assert text.startswith(prompt_text("use_memory", {"language": "zh"}, Toolset.FULL))
    assert text.endswith(prompt_text("use_memory", {"language": "en"}, Toolset.FULL))


def test_what_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(NotFound, match="nothing"):
        prompt_text("nothing", {}, Toolset.FULL)
    with pytest.raises(NotFound, match="reflect_on_task"):
        prompt_text("reflect_on_task", {}, Toolset.LAYERED)
    with pytest.raises(InvalidInput, match="fr"):
        prompt_text("use_memory", {"language": "fr"}, Toolset.FULL)
    with pytest.raises(InvalidInput, match="tone"):
        prompt_text("use_memory", {"tone": "kind"}, Toolset.FULL)


async def test_a_client_lists_and_gets_them(tmp_path: Path) -> None:
    async with connected(tmp_path, HINDSIGHT_MCP_TOOLSET="experience", EMBEDDING_MODEL="none") as client:
        offered = await client.list_prompts()
        assert [one.name for one in offered.prompts] == ["use_memory", "reflect_on_task"]
        got = await client.get_prompt("reflect_on_task", {"language": "zh"})
        (message,) = got.messages
        assert isinstance(message.content, TextContent)
        assert "memory_write" in message.content.text
        with pytest.raises(MCPError, match="use_memory, reflect_on_task"):
            await client.get_prompt("nothing")

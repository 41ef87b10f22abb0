"""Every tool is described so that any client's LLM can call it (SPEC §7)."""

from collections.abc import Iterator
from typing import Any

import pytest

from hindsight.config import Toolset
from hindsight.interfaces.mcp import texts
from hindsight.interfaces.mcp.tools import TOOLSETS, ToolSpec

ALL = [pytest.param(spec, id=f"{toolset}-{spec.name}") for toolset, specs in TOOLSETS.items() for spec in specs]

# SPEC §7's table, as far as the tools are served; the required ones come first, up to the bar.
PARAMETERS = {
    Toolset.FULL: {
        "memory_write": "content | session_id type importance metadata",
        "experience_write": "trigger_context action_steps outcome_status | tags tools_used",
        "memory_search": "query | top_k session_id time_range filters",
        "memory_update": "memory_id | new_content confidence importance",
        "memory_forget": "memory_id | decay_factor reason",
        "memory_feedback": "memory_id outcome | note",
        "memory_prune": "| dry_run min_confidence max_age_days min_uses",
        "memory_reflect": "session_id |",
        "memory_summarize": "| session_id time_range",
        "memory_answer": "question |",
        "working_memory": "session_id | set ttl",
    },
    Toolset.LAYERED: {
        "memory_write": "content | session_id type importance metadata",
        "memory_search": "query | top_k session_id time_range filters",
        "memory_update": "memory_id | new_content confidence importance",
        "memory_forget": "memory_id | decay_factor reason",
        "memory_summarize": "| session_id time_range",
    },
    Toolset.EXPERIENCE: {
        "memory_write": "trigger_context action_steps outcome_status | tags",
        "memory_search": "query | top_k min_confidence",
        "memory_forget": "memory_id | decay_factor reason",
        "memory_feedback": "memory_id outcome | note",
        "memory_prune": "| dry_run min_confidence max_age_days min_uses",
    },
}

SHORT = ("memory_answer", "memory_reflect", "memory_summarize")  # which the table itself gives fewer


def properties(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return dict(schema["properties"])


def leaves(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field that is not an object, those of nested objects included."""
    for name, field in properties(schema).items():
        if field["type"] == "object":
            yield from leaves(field)
        else:
            yield name, field


@pytest.mark.parametrize("toolset", Toolset)
def test_a_toolset_offers_the_tools_and_parameters_of_the_table(toolset: Toolset) -> None:
    offered = {spec.name: (list(spec.fields), spec.input_schema.get("required", [])) for spec in TOOLSETS[toolset]}
    wanted = {}
    for name, row in PARAMETERS[toolset].items():
        required, _, optional = row.partition("|")
        wanted[name] = (required.split() + optional.split(), required.split())
    assert offered == wanted


@pytest.mark.parametrize("spec", ALL)
def test_a_tool_has_three_to_five_parameters_of_which_few_are_required(spec: ToolSpec) -> None:
    required = spec.input_schema.get("required", [])
    assert isinstance(required, list)
    assert (1 if spec.name in SHORT else 3) <= len(spec.fields) <= 5
    assert len(required) <= (3 if "trigger_context" in spec.fields else 2)


@pytest.mark.parametrize("spec", ALL)
def test_a_schema_is_a_plain_object_nested_at_most_once(spec: ToolSpec) -> None:
    def check(schema: dict[str, Any], depth: int) -> None:
        assert not {"oneOf", "anyOf", "allOf", "not", "$ref", "$defs"} & set(schema)
        assert isinstance(schema["type"], str)
        if schema["type"] == "object":
            assert depth <= 1
            # An object of the caller's own names has none of ours.
            assert schema["additionalProperties"] is (not schema["properties"])
            for field in properties(schema).values():
                check(field, depth + 1)
        elif schema["type"] == "array":
            assert schema["items"] == {"type": "string"}

    check(spec.input_schema, 0)


@pytest.mark.parametrize("spec", ALL)
def test_every_field_is_described_and_bounds_stand_in_words_too(spec: ToolSpec) -> None:
    for name, field in leaves(spec.input_schema):
        assert field["description"], name
        if field["type"] in ("integer", "number"):
            assert str(field["minimum"]) in field["description"], name
            assert str(field["maximum"]) in field["description"], name
        if "minLength" in field:
            assert "Not empty" in field["description"] or "Id of" in field["description"], name


@pytest.mark.parametrize("spec", ALL)
def test_a_description_says_when_to_call_and_when_not(spec: ToolSpec) -> None:
    assert "WHEN:" in spec.description
    assert "WHEN NOT:" in spec.description
    assert len(spec.description) < 1024


def test_only_what_tells_is_read_only_and_only_forget_destroys() -> None:
    telling = {"memory_search", "memory_summarize", "memory_answer"}
    for specs in TOOLSETS.values():
        assert {spec.name for spec in specs if spec.read_only} == telling & {spec.name for spec in specs}
        assert {spec.name for spec in specs if spec.destructive} == {"memory_forget"}


def test_instructions_are_in_both_languages_and_short_enough_for_every_client() -> None:
    assert "memory_search" in texts.INSTRUCTIONS
    assert "长期记忆" in texts.INSTRUCTIONS
    assert len(texts.INSTRUCTIONS) < 2048  # the least that a known client shows its model

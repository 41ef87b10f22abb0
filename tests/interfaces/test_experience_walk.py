"""The walk of the original design: an agent learns in one session and does it better in the next, over MCP."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp.client.client import ConnectMode

from tests.interfaces.test_mcp_stdio import call, connected, refusal, text_of

TRIGGER = "用户要求把 PDF 文件转换成 Markdown"
STEPS = ["用 pdftotext -layout 抽取文本", "按字号和空行识别标题", "写成 Markdown 并核对表格"]
ASKED = "帮我把这份 pdf 报告转成 markdown"


async def test_pdf_to_markdown_is_written_in_one_session_found_in_the_next_and_pruned_once_it_fails(
    tmp_path: Path,
) -> None:
    settings = {"HINDSIGHT_MCP_TOOLSET": "experience", "HINDSIGHT_AGENT": "文档助手"}
    async with connected(tmp_path, **settings) as client:
        written = await call(
            client,
            "memory_write",
            trigger_context=TRIGGER,
            action_steps=STEPS,
            outcome_status="success",
            tags=["pdf", "markdown"],
        )
        assert written["outcomes"][0]["action"] == "added"

    async with connected(tmp_path, **{**settings, "HINDSIGHT_AGENT": "第二个智能体"}) as client:
        found = await client.call_tool("memory_search", {"query": ASKED})
        assert found.structured_content is not None
        (hit,) = found.structured_content["hits"]
        text = text_of(found)
        places = [text.index(step) for step in STEPS]
        assert places == sorted(places)
        assert hit["confidence"] == 0.5
        assert [one["agent"] for one in hit["contributors"]] == ["文档助手"]

        short = f"#{hit['short_id']}"
        once = await call(client, "memory_feedback", memory_id=short, outcome="failure", note="扫描件没有文本层")
        assert once["confidence"] == 0.3
        again = await call(client, "memory_search", query=ASKED)
        assert [one["memory_id"] for one in again["hits"]] == [hit["memory_id"]]
        assert again["hits"][0]["confidence"] == 0.3
        assert (await call(client, "memory_prune"))["pruned"] == []

        twice = await call(client, "memory_feedback", memory_id=short, outcome="failure")
        assert twice["confidence"] == 0.1
        assert twice["outcome"]["status"] == "failure"
        assert (await call(client, "memory_search", query=ASKED))["hits"] == []
        told = await client.call_tool("memory_prune", {"dry_run": "true"})
        assert told.structured_content is not None
        (candidate,) = told.structured_content["pruned"]
        assert (candidate["memory_id"], candidate["rule"]) == (hit["memory_id"], "confidence")
        assert TRIGGER in text_of(told)
        assert "confidence 0.10 is below 0.30" in text_of(told)
        warned = await client.call_tool("memory_search", {"query": ASKED, "min_confidence": 0})
        assert warned.structured_content is not None
        assert warned.structured_content["hits"][0]["warning"]
        assert {one["agent"]: one["failures"] for one in warned.structured_content["hits"][0]["contributors"]} == {
            "文档助手": 0,
            "第二个智能体": 2,
        }

        done = await call(client, "memory_prune", dry_run=False)
        assert done["undo"]
        assert (await call(client, "memory_search", query=ASKED, min_confidence=0))["hits"] == []


async def test_a_trigger_that_fits_everything_is_sent_back_with_what_is_missing(tmp_path: Path) -> None:
    async with connected(tmp_path, HINDSIGHT_MCP_TOOLSET="experience", EMBEDDING_MODEL="none") as client:
        for trigger, steps, parts in (
            ("用户要求处理文件", ["打开它", "处理一下"], ("trigger_context", "格式", "错误信息", "打开它")),
            ("user asks to handle a file", ["read it", "process it"], ("trigger_context", "format", "read it")),
        ):
            said = await refusal(
                client,
                "memory_write",
                {"trigger_context": trigger, "action_steps": steps, "outcome_status": "success"},
            )
            for part in parts:
                assert part in said
        kept = await call(
            client,
            "memory_write",
            trigger_context="用户要求处理文件",
            action_steps=["用 pdftotext 抽取文本", "写成 Markdown"],
            outcome_status="success",
        )
        assert kept["outcomes"][0]["content"].startswith("用户要求处理文件（pdftotext、Markdown）")
        assert kept["outcomes"][0]["reason"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_without_a_name_of_its_own_an_agent_goes_by_that_of_its_client(tmp_path: Path, mode: ConnectMode) -> None:
    settings = {"HINDSIGHT_MCP_TOOLSET": "experience", "EMBEDDING_MODEL": "none"}
    async with connected(tmp_path, mode, "文档助手 1", **settings) as client:
        written = await call(
            client, "memory_write", trigger_context=TRIGGER, action_steps=STEPS, outcome_status="success"
        )
    async with connected(tmp_path, mode, "Coder\n" + "x" * 300, **settings) as client:
        memory_id = written["outcomes"][0]["memory_id"]
        await call(client, "memory_feedback", memory_id=memory_id, outcome="success")
    async with connected(tmp_path, mode, "Other", HINDSIGHT_AGENT="named", **settings) as client:
        rated = await call(client, "memory_feedback", memory_id=memory_id, outcome="failure")
    assert [(one["agent"], one["successes"], one["failures"]) for one in rated["contributors"]] == [
        ("文档助手 1", 0, 0),
        (("Coder" + "x" * 300)[:200], 1, 0),
        ("named", 0, 1),
    ]

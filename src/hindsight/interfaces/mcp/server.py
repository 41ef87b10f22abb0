"""The MCP server: one set of tools over standard input and output and over streamable HTTP."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.requests import Request

from hindsight.config import Toolset
from hindsight.domain.access import Role
from hindsight.errors import HindsightError
from hindsight.interfaces.mcp.prompts import ABOUT_LANGUAGE, LANGUAGE, PROMPTS, PromptText, prompt_text, prompts_of
from hindsight.interfaces.mcp.texts import INSTRUCTIONS, SERVER_INFO
from hindsight.interfaces.mcp.tools import TOOLSETS, ToolSpec, error_text
from hindsight.write.request import MAX_NAME

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.types import ASGIApp

    from hindsight.embedded import AsyncHindsight

MemoryOf: TypeAlias = "Callable[[Request | None, Role], AsyncHindsight]"
"""The memory a call may use, for what it needs to do: by the HTTP request it came with, `None` over stdio.

May raise `Forbidden`.
"""


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """An ASGI app for the path `/mcp`, and the context it must be served in: enter `run()` once, in the lifespan."""

    app: ASGIApp
    run: Callable[[], AbstractAsyncContextManager[None]]


def build_server(memory_of: MemoryOf, toolset: Toolset) -> Server[object]:
    """A server that offers the tools of one toolset. Nothing is opened before a tool is called."""
    specs = {spec.name: spec for spec in TOOLSETS[toolset]}
    tools = [_tool(spec) for spec in specs.values()]

    async def list_tools(
        context: ServerRequestContext[object], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(context: ServerRequestContext[object], params: CallToolRequestParams) -> CallToolResult:
        spec = specs.get(params.name)
        if spec is None:
            raise MCPError(INVALID_PARAMS, f"no tool is called {params.name!r}; the tools are {', '.join(specs)}")
        try:
            needed = Role.READ if spec.read_only else Role.WRITE
            memory = memory_of(context.request, needed)
            if (name := _client_of(context)) is not None:
                memory = memory.reporting_as(name)
            reply = await spec.run(memory, params.arguments or {})
        except HindsightError as error:
            return CallToolResult(content=[TextContent(text=error_text(error))], is_error=True)
        return CallToolResult(content=[TextContent(text=reply.text)], structured_content=reply.structured)

    async def list_prompts(
        context: ServerRequestContext[object], params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return ListPromptsResult(prompts=[_prompt(one) for one in prompts_of(toolset)])

    async def get_prompt(context: ServerRequestContext[object], params: GetPromptRequestParams) -> GetPromptResult:
        try:
            words = prompt_text(params.name, params.arguments or {}, toolset)
        except HindsightError as error:
            names = ", ".join(one.name for one in prompts_of(toolset))
            raise MCPError(INVALID_PARAMS, f"{error} The prompts are {names}.") from error
        return GetPromptResult(
            description=PROMPTS[params.name].description,
            messages=[PromptMessage(role="user", content=TextContent(text=words))],
        )

    return Server(
        SERVER_INFO["name"],
        version=SERVER_INFO["version"],
        title=SERVER_INFO["title"],
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def http_endpoint(server: Server[object]) -> HttpEndpoint:
    """The server over streamable HTTP. Stateless: every request stands alone, so any worker may answer it.

    Whoever mounts it checks Host, Origin and key.
    """
    manager = StreamableHTTPSessionManager(server, stateless=True)
    return HttpEndpoint(StreamableHTTPASGIApp(manager), manager.run)


def _client_of(context: ServerRequestContext[object]) -> str | None:
    """What the client calls itself, as the name of an agent; `None` where it does not say."""
    told = context.session.client_params
    name = "".join(one for one in told.client_info.name if one.isprintable()).strip() if told is not None else ""
    return name[:MAX_NAME].strip() or None


def _prompt(one: PromptText) -> Prompt:
    language = PromptArgument(name=LANGUAGE, description=ABOUT_LANGUAGE, required=False)
    return Prompt(name=one.name, title=one.title, description=one.description, arguments=[language])


def _tool(spec: ToolSpec) -> Tool:
    return Tool(
        name=spec.name,
        title=spec.title,
        description=spec.description,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        annotations=ToolAnnotations(
            title=spec.title,
            read_only_hint=spec.read_only,
            destructive_hint=spec.destructive,
            idempotent_hint=spec.idempotent,
            open_world_hint=False,
        ),
    )

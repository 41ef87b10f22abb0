"""Parse, call the engine, render: MCP, REST, command line."""
